"""What readers see of a staged release, in the form that attacks need.

A *box* is a row of published quasi-identifiers in a group, without others that look the same.

Some releases show quasi-identifiers in several tables, which only buckets link. A reader must take
every combination of rows of a bucket for possible. Such combinations are what a table of all
quasi-identifiers would show, each with its expected number of records: the product of the shares
that its parts have of the bucket. A sensitive column that stands beside quasi-identifiers is linked
to these, so records of a bucket that agree in them are a group of their own, a *cell*.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from pganon.forms.elements import text_key, value_key
from pganon.identifiers import QualifiedName
from pganon.plan.build import Plan
from pganon.plan.verification import staged_tables
from pganon.policy.options import COUNT
from pganon.resolved.model import Attribute, Carried, ReleaseSpec, Sensitive, Shown
from pganon.sqltools import aliased, col, fragment, named, num, query, render, unparsed
from pganon.steps import State
from pganon.steps.relations import PublishedView, ViewColumn


@dataclass(frozen=True)
class ShownView:
    """A published view with what it shows of records.

    Attributes:
        group: column with the number of the group of a row.
        weight: column with the number of records that a row stands for; None: one.
        bucket: column with the number of the bucket, where groups are cells of it.
        displays: columns that say how a record shows another one, by its published name.
    """

    view: PublishedView
    group: str
    attributes: tuple[Attribute, ...]
    sensitive: tuple[Sensitive, ...]
    carried: tuple[Carried, ...]
    weight: str | None
    bucket: str | None = None
    displays: Mapping[str, str] = field(default_factory=dict)

    @property
    def records(self) -> exp.Expr:
        """The number of records of a row of `v`."""
        return num(1) if self.weight is None else col(self.weight, "v")

    @property
    def rows(self) -> exp.Var:
        return unparsed(self.view.select)

    @property
    def links(self) -> dict[str | None, str]:
        """Columns with the numbers of buckets of other tables, by the part of these."""
        return {c.part: c.name for c in self.view.columns if c.form == "bucket"}

    @property
    def part(self) -> str | None:
        """What its sensitive columns are known together with."""
        names = {item.published for item in self.sensitive}
        return next((c.part for c in self.view.columns if c.name in names), None)


def rows(
    view: ShownView, groups: Sequence[exp.Expr] = (), beside: Sequence[exp.Expr] = ()
) -> exp.Select:
    """SELECT n, the groups, x<i>, z<i>, e<i>, d<i>, and what is beside them: every row of `v` once,
    and of how many records, which may be an expected number."""
    tree = query("select sum(:n)::numeric as n from v", {"v": view.rows}, n=view.records)
    shown = [*groups, *cells(view, "v"), *beside]
    return tree.select(*shown).group_by(*[num(place) for place in range(2, 2 + len(shown))])


def boxes(view: ShownView, groups: Sequence[str]) -> exp.Select:
    """SELECT box, n, these groups as `g<place>`, x<i>, z<i>, e<i>, d<i>: every box once."""
    found = rows(view, [named(col(group, "v"), f"g{place}") for place, group in enumerate(groups)])
    return query("select row_number() over () as box, b.* from b", {"b": found})


def cells(view: ShownView, table: str) -> list[exp.Expr]:
    """Published values as x<i>, whether they may be missing as z<i>, keys of exact ones as e<i>,
    and how values that somebody hides are shown as d<i>."""
    found: list[exp.Expr] = []
    for a in view.attributes:
        if a.hidden is not None:
            found.append(named(col(view.displays[a.published], table), f"d{a.index}"))
        found.append(named(col(a.published, table), f"x{a.index}"))
        if a.null_column is not None:
            found.append(named(col(a.null_column, table), f"z{a.index}"))
        if a.form is Shown.EXACT:
            found.append(named(text_key(col(a.published, table)), f"e{a.index}"))
    return found


def histogram(view: ShownView, item: Sensitive) -> exp.Select:
    """SELECT g, v, n, share: records of every group by the key of their sensitive value, and what
    part of the group they are."""
    found = query(
        "select :g as g, :value as v, sum(:n)::bigint as n from v group by 1, 2",
        {"v": view.rows},
        g=col(view.group, "v"),
        value=value_key(item, "v"),
        n=view.records,
    )
    return query("select h.*, h.n / sum(h.n) over (partition by h.g) as share from h", {"h": found})


def admits(attribute: Attribute, box: str, person: str) -> exp.Expr:
    """Condition: the published value of a box can be that of a person.

    Args:
        box: table with x<i>, z<i>, d<i>.
        person: table with the value q<i>, as text t<i>, its labels l<i>, and flags f<h>.
    """
    shown = _admits_shown(attribute, box, person)
    if attribute.hidden is None:
        return shown
    return fragment(
        "case :d when 'g' then not :f and :shown when 'b' then :f else true end",
        d=col(f"d{attribute.index}", box),
        f=col(attribute.hidden.flag, person),
        shown=exp.paren(shown),
    )


def _admits_shown(attribute: Attribute, box: str, person: str) -> exp.Expr:
    """The same of a value that nobody hides."""
    i = attribute.index
    parts: dict[str, exp.Expr] = {name: col(f"{name}{i}", box) for name in "xz"}
    parts |= {name: col(f"{name}{i}", person) for name in "qtle"}
    parts["f"] = col(f"e{i}", box)
    match attribute.form:
        case Shown.EXACT:
            return fragment(":f = :e", **_used(parts, "fe"))
        case Shown.RANGE:
            inside = fragment(
                "((lower_inf(:x) or :q > lower(:x) or (lower_inc(:x) and :q = lower(:x)))"
                " and (upper_inf(:x) or :q < upper(:x) or (upper_inc(:x) and :q = upper(:x))))",
                **_used(parts, "xq"),
            )
        case Shown.SET | Shown.VALUES:
            inside = fragment(":t = any(:x::text[])", **_used(parts, "xt"))
        case Shown.LABEL:
            inside = fragment(":x::text = any(:l)", **_used(parts, "xl"))
        case Shown.MEAN | Shown.MODE:
            return exp.true()
    mixed = attribute.null_column is not None
    absent = parts["z"] if mixed else fragment(":x is null", x=parts["x"])
    return fragment(
        "case when :q is null then :absent else coalesce(:inside, false) end",
        q=parts["q"],
        absent=absent,
        inside=inside,
    )


def _used(parts: dict[str, exp.Expr], names: str) -> dict[str, exp.Expr]:
    return {name: parts[name].copy() for name in names}


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
    linking = plain[-1]
    groups = [linking.group, *linking.links.values()]
    tree = query("select 1 from b", {"b": rows(linking, [col(name, "v") for name in groups])})
    columns = [*[col(name, "b") for name in groups], *_published(linking, "b")]
    share: exp.Expr = col("n", "b")
    for place, view in enumerate(one for one in slices if one is not linking):
        part, whole = f"s{place}", f"z{place}"
        bucket = view.bucket or view.group
        apart = [] if view.bucket is None else [view.group]
        sized = query(
            "select :g as g, sum(:n)::numeric as n from v group by 1",
            {"v": view.rows},
            g=col(bucket, "v"),
            n=view.records,
        )
        on = exp.EQ(this=col(bucket, part), expression=col(linking.group, "b"))
        own = rows(view, [col(name, "v") for name in (bucket, *apart)])
        tree = tree.join(aliased(own, part), on=on)
        on = exp.EQ(this=col("g", whole), expression=col(linking.group, "b"))
        tree = tree.join(aliased(sized, whole), on=on)
        share = fragment(":s * :n / :z", s=share, n=col("n", part), z=col("n", whole))
        columns += [*[col(name, part) for name in apart], *_published(view, part)]
    tree = tree.select(*columns, named(share, COUNT), append=False)
    name = QualifiedName("", "combinations")
    made = PublishedView(name, render(tree), linking.view.columns, "")
    return ShownView(made, linking.group, tuple(attributes), (), (), COUNT)


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
