"""A staged release as attacks see it.

Some show quasi-identifiers in several tables, which only buckets link. A reader must take every
combination of rows of a bucket for possible. Such combinations are what a table of all
quasi-identifiers would show, each with its expected number of records: the product of the shares
that its parts have of the bucket. A sensitive column that stands beside quasi-identifiers is linked
to these, so records of a bucket that agree in them are a group of their own, a *cell*.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from pganon.attacks.shown import ShownView, cells
from pganon.forms.elements import text_key
from pganon.identifiers import QualifiedName
from pganon.plan.build import Plan
from pganon.plan.verification import staged_tables
from pganon.policy.options import COUNT
from pganon.resolved.model import Attribute, ReleaseSpec, Sensitive
from pganon.sqltools import aliased, col, fragment, named, num, query, render
from pganon.steps import State
from pganon.steps.relations import PublishedView, ViewColumn


def with_cells(view: ShownView, taken: Collection[str]) -> ShownView:
    """A table of sensitive columns beside quasi-identifiers, by cells in place of buckets.

    Args:
        taken: names of columns that the number of the cell must not have.
    """
    if not view.sensitive or not view.attributes:
        return view
    name = "cell"
    while name in taken:
        name += "_"
    keys = [col(view.group, "v")]
    keys += [fragment(':k collate "C"', k=text_key(col(a.published, "v"))) for a in view.attributes]
    number = exp.Window(
        this=exp.func("dense_rank", dialect="postgres"), order=exp.Order(expressions=keys)
    )
    rows = query("select v.* from v", {"v": view.rows}).select(named(number, name))
    return replace(
        view, view=replace(view.view, select=render(rows)), group=name, bucket=view.group
    )


def combined(views: Sequence[ShownView], attributes: Sequence[Attribute]) -> ShownView | None:
    """All combinations of rows of tables that together have every quasi-identifier once.

    None where there are no such tables.
    """
    slices = [view for view in views if view.attributes]
    plain = [view for view in slices if not view.sensitive]
    shown = sorted(a.index for view in slices for a in view.attributes)
    if not plain or shown != sorted(a.index for a in attributes):
        return None
    # All have the same buckets. The last one says in which of sensitive tables a record is, where
    # these have others.
    bearing = plain[-1]
    groups = [bearing.group, *bearing.links.values()]
    tree = query("select 1 from b", {"b": _rows(bearing, groups)})
    columns = [*[col(name, "b") for name in groups], *_published(bearing, "b")]
    share: exp.Expr = col("n", "b")
    for place, view in enumerate(one for one in slices if one is not bearing):
        part, whole = f"s{place}", f"z{place}"
        bucket = view.bucket or view.group
        apart = [] if view.bucket is None else [view.group]
        sized = query(
            "select :g as g, sum(:n)::numeric as n from v group by 1",
            {"v": view.rows},
            g=col(bucket, "v"),
            n=view.records,
        )
        on = exp.EQ(this=col(bucket, part), expression=col(bearing.group, "b"))
        tree = tree.join(aliased(_rows(view, [bucket, *apart]), part), on=on)
        on = exp.EQ(this=col("g", whole), expression=col(bearing.group, "b"))
        tree = tree.join(aliased(sized, whole), on=on)
        share = fragment(":s * :n / :z", s=share, n=col("n", part), z=col("n", whole))
        columns += [*[col(name, part) for name in apart], *_published(view, part)]
    tree = tree.select(*columns, named(share, COUNT), append=False)
    name = QualifiedName("", "combinations")
    made = PublishedView(name, render(tree), bearing.view.columns, "")
    return ShownView(made, bearing.group, tuple(attributes), (), (), COUNT)


def _rows(view: ShownView, groups: Sequence[str]) -> exp.Select:
    """SELECT n, these groups, x<i>, z<i>, e<i>: every row of a table once, and of how many."""
    tree = query("select sum(:n)::numeric as n from v", {"v": view.rows}, n=view.records)
    shown = [*[col(name, "v") for name in groups], *cells(view, "v")]
    return tree.select(*shown).group_by(*[num(place) for place in range(2, 2 + len(shown))])


def _published(view: ShownView, table: str) -> list[exp.Expr]:
    """The quasi-identifiers under their published names."""
    found: list[exp.Expr] = []
    for a in view.attributes:
        found.append(named(col(f"x{a.index}", table), a.published))
        if a.null_column is not None:
            found.append(named(col(f"z{a.index}", table), a.null_column))
    return found


@dataclass(frozen=True)
class Release:
    """A release whose relations are staged.

    Attributes:
        views: that show something of groups.
        home: what shows all quasi-identifiers, a view or combinations of several.
    """

    spec: ReleaseSpec
    views: tuple[ShownView, ...]
    home: ShownView | None

    @property
    def stated(self) -> list[ShownView]:
        """Views with quasi-identifiers, of whose rows something can be stated."""
        return [self.home] if self.home in self.views else [v for v in self.views if v.attributes]

    def of(self, item: Sensitive) -> ShownView | None:
        """The view with the values of a sensitive column by group."""
        return next((view for view in self.views if item in view.sensitive), None)

    def group_of(self, item: Sensitive) -> str | None:
        """The column of :attr:`home` with the group that the values of a column are of."""
        view, home = self.of(item), self.home
        if view is None or home is None:
            return None
        return view.group if view.bucket is not None else home.links.get(view.part, home.group)


def release_of(plan: Plan, state: State) -> Release:
    """The staged release of a run."""
    tables = staged_tables(plan.spec, plan.method, state)
    views = plan.method.form.publication.views(plan.spec, state, tables)
    found = [_shown(plan.spec, view) for view in views]
    every = set(plan.spec.attributes)
    some = [view for view in found if view is not None]
    home = next((view for view in some if set(view.attributes) == every), None)
    if home is None:
        taken = {column.name for view in views for column in view.columns}
        some = [with_cells(view, taken) for view in some]
        home = combined(some, plan.spec.attributes)
    return Release(plan.spec, tuple(some), home)


def _shown(spec: ReleaseSpec, view: PublishedView) -> ShownView | None:
    located = {c.name: c for c in view.columns if c.bucket is not None}
    if not located:
        return None
    weight = next((c.name for c in view.columns if c.form == "count"), None)
    first = next(iter(located.values()))
    assert first.bucket is not None
    displays = {str(c.kind): c.name for c in view.columns if c.form == "display"}
    return ShownView(
        view,
        first.bucket,
        # A table of buckets has a column that some hide only as what is hidden.
        tuple(
            a
            for a in spec.attributes
            if a.published in located and (a.hidden is None or a.published in displays)
        ),
        tuple(s for s in spec.sensitive if _exactly(located.get(s.published))),
        tuple(p for p in spec.carried if _exactly(located.get(p.published))),
        weight,
        displays=displays,
    )


def _exactly(column: ViewColumn | None) -> bool:
    return column is not None and column.form == "exact"
