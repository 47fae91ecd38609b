"""deFinetti attacks on hidden values, measured before publication.

    attacked                (rows of local_grouped)
    guesses<j>, taught<j>   (learner, posterior, correct)   of the attacked values of column j

There are two attacks (:mod:`pganon.methods.common.search.inference`). One learns from the buckets,
as in every release with buckets. The other learns from the records that show a value of the column,
where people decide who does. Both get the exact quasi-identifiers of every record, as the strongest
reader knows them. That a record hides a quasi-identifier is one more value of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from sqlglot import exp

from pganon.catalog.values import equal_key
from pganon.encode.axis import Axis, OrderedAxis
from pganon.encode.number_line import place
from pganon.encode.work import dictionary
from pganon.forms.facts import NUMBERED
from pganon.forms.inference import Inferred
from pganon.forms.work import EXTENTS, LOCAL_GROUPED
from pganon.methods.common.form import attacks
from pganon.methods.common.form.attacks import (
    Bounds,
    code_of,
    first_groups,
    hashed,
    inferred_from,
    on_line,
)
from pganon.methods.common.search import inference as search
from pganon.methods.local.form.facts import hidden
from pganon.methods.local.form.layout import Layout, forms, in_bucket, is_generalized
from pganon.methods.local.form.staging import GROUPS, bucket, part_of
from pganon.methods.local.local_names import bucket_column, form_column
from pganon.methods.local.search.subsets import GENERALIZED
from pganon.policy.model import Inference
from pganon.policy.options import GROUP_ID
from pganon.privacy.frequency import LocalBucketDiversity
from pganon.resolved.model import Attribute, Sensitive
from pganon.sqltools import cast, col, fragment, named, num, query, stacked, text
from pganon.steps import Chains, Rows, State, Step, table
from pganon.steps.facts import Facts
from pganon.steps.tasks import TaskResult

_ATTACKED = "attacked"

_EACH = attacks.CANDIDATES // attacks.RECORDS
"""Fewest candidates that a record counts for."""

Learner = Callable[[search.Layout, Rows], TaskResult]


def chains(layout: Layout) -> Chains:
    """Steps that observe the facts of :func:`inferred` and :func:`taught`."""
    learners = [_Attack(layout, item, "guesses", search.guesses) for item in hidden_in(layout)]
    learners += [
        _Attack(layout, item, "taught", search.taught_guesses) for item in shown_in(layout)
    ]
    if not learners:
        return []
    attacked = table(
        _ATTACKED, "records that are attacked, or teach", lambda s: _attacked(learners, s)
    )
    return [[attacked, *[step for attack in learners for step in attack.steps]]]


def _attacked(learners: Sequence[_Attack], state: State) -> exp.Select:
    """A small part of all records, which are read once for all attacks."""
    tree = query("select r.* from r", {"r": state.work(LOCAL_GROUPED)})
    return tree.where(exp.or_(*[learner.reads(state) for learner in learners]))


def hidden_in(layout: Layout) -> list[Sensitive]:
    """Columns of which a reader has to infer hidden values."""
    return [] if layout.single else list(layout.spec.sensitive)


def shown_in(layout: Layout) -> list[Sensitive]:
    """Columns that some records show and others hide."""
    return [item for item in hidden_in(layout) if item.hidden is not None]


def bounds(layout: Layout, item: Sensitive, facts: Facts) -> Bounds:
    """The bounds that guesses are compared with: those of the column's principle.

    Under t-closeness this is the share of the most frequent hidden value, plus t.
    """
    principle = layout.principle(item)
    if isinstance(principle, LocalBucketDiversity):
        allowed, factor = 1 / principle.l, attacks.FACTOR
    else:
        cells, most, _ = (facts[fact] for fact in hidden(item.index))
        allowed, factor = principle.t + most / max(cells, 1), 1.0
    limit = (layout.spec.policy.inference or Inference()).limit
    return Bounds(max(limit, factor * allowed), allowed)


@dataclass(frozen=True)
class _Attack:
    """An attack on one column."""

    layout: Layout
    item: Sensitive
    name: str
    learner: Learner

    @property
    def steps(self) -> list[Step]:
        table = f"{self.name}{self.item.index}"
        return attacks.Attack(
            self.layout.spec,
            self.item,
            name=table,
            of=f"inferred_{table}",
            rows=self._rows,
            task=lambda s, rows: partial(self.learner, self._columns(), rows),
            bounds=lambda facts: bounds(self.layout, self.item, facts),
            values="hidden values",
            source="buckets" if self.name == "guesses" else "records that show it",
        ).steps

    def reads(self, state: State) -> exp.Expr:
        """Condition: this attack reads the record `r`."""
        number, choice, most = col(bucket(self.item), "r"), self._buckets(state), self._most_buckets
        if self.name == "taught":
            number, choice = col(GROUP_ID, "r"), self._groups(self._taught, state)
            most = self._most_groups
        # Nearly all records are beyond these numbers, and a comparison is cheaper than a lookup.
        near = fragment(":n <= :most", n=number, most=_first(state, most))
        return exp.paren(exp.and_(near, exp.In(this=number.copy(), query=choice.subquery())))

    @property
    def _taught(self) -> Attribute:
        attribute = self.attribute
        assert attribute is not None  # only columns that some show are taught
        return attribute

    @property
    def attribute(self) -> Attribute | None:
        """The column as an attribute."""
        attributes = [a for a in self.layout.spec.attributes if a.hidden == self.item.hidden]
        return attributes[0] if self.item.hidden is not None else None

    @property
    def others(self) -> list[Axis]:
        return [axis for axis in self.layout.axes if axis.attribute != self.attribute]

    def _columns(self) -> search.Layout:
        lines = [isinstance(axis, OrderedAxis) for axis in self.others]
        lines += [on_line(item) for item in self.layout.spec.carried]
        return search.Layout(1, tuple(lines), on_line(self.item))

    def _rows(self, state: State) -> exp.Select:
        """SELECT of the bucket, or 0, the attributes and the value, all whole numbers."""
        parts = [self._hidden(state)]
        if self.name == "taught":
            parts.append(self._shown(state))
        names = [f"x{at}" for at in range(len(self.others) + len(self.layout.spec.carried))]
        rows = query("select y.bucket from y", {"y": stacked(parts)})
        return rows.select(*[col(name, "y") for name in names], named(self._code(), "value"))

    def _code(self) -> exp.Expr:
        """Code of the value `y.value`, which is a place on a line or else a hash."""
        if not on_line(self.item):
            return fragment("y.value")
        return fragment("case when y.value is null then 0 else rank() over (order by y.value) end")

    # -- records that hide the value ------------------------------------------------------------

    def _hidden(self, state: State) -> exp.Select:
        tree = query(
            "select :b as bucket from r join c on c.number = :b join f on f.display = r.display"
            " where :here",
            {
                "r": state.work(_ATTACKED),
                "c": self._buckets(state),
                "f": forms(state),
            },
            b=col(bucket(self.item), "r"),
            here=in_bucket(self.item, col("form", "f")),
        )
        return self._with_others(tree, state).select(
            named(self._value(col(f"v{self.item.index}", "r"), state), "value")
        )

    def _buckets(self, state: State) -> exp.Select:
        """(number): the first buckets, whose numbers are random, as many as the limits allow."""
        number = col(bucket_column(self.item.published), "t")
        sized = query(
            "select :b as number, sum(t.count) * greatest(count(*), :each) as n from t"
            " where :b <= :most group by :b",
            {"t": state.stage(part_of(self.item))},
            b=number,
            each=num(_EACH),
            most=_first(state, self._most_buckets),
        )
        return first_groups(sized, attacks.CANDIDATES)

    @property
    def _most_buckets(self) -> int:
        """Most buckets of the attack, as every bucket has a least number of different values."""
        least = self.layout.least(self.item)
        diverse = isinstance(self.layout.principle(self.item), LocalBucketDiversity)
        return attacks.CANDIDATES // (least * max(least if diverse else 1, _EACH))

    @property
    def _most_groups(self) -> int:
        return attacks.RECORDS // self.layout.k

    def _with_others(self, tree: exp.Select, state: State) -> exp.Select:
        """`tree` with the columns of the record `r` that a reader knows; `f` has its form."""
        columns: list[exp.Expr] = []
        for axis in self.others:
            code: exp.Expr = col(axis.code, "r")
            if axis.attribute.hidden is not None:
                code = fragment(
                    "case when :shown then :code else :hidden end",
                    shown=is_generalized(axis.attribute, col("form", "f")),
                    code=code,
                    hidden=num(search.HIDDEN),
                )
            columns.append(code)
        columns += [code_of(i, f"p{i.index}", state) for i in self.layout.spec.carried]
        return tree.select(
            *[named(cast(value, "bigint"), f"x{at}") for at, value in enumerate(columns)]
        )

    def _value(self, value: exp.Expr, state: State) -> exp.Expr:
        if not on_line(self.item):
            key = cast(exp.paren(equal_key(self.item.column, value)), "text")
            return hashed([key], state)
        if self.attribute is None:
            return fragment("extract(epoch from :v)" if self.item.column.is_time else ":v", v=value)
        return place(self.attribute, value)

    # -- records that show it -------------------------------------------------------------------

    def _shown(self, state: State) -> exp.Select:
        attribute = self._taught
        tree = query(
            "select :shown as bucket from r join g on g.number = r.group_id"
            " join f on f.display = r.display left join d on d.code = :code",
            {
                "r": state.work(_ATTACKED),
                "g": self._groups(attribute, state),
                "f": forms(state),
                "d": state.work(dictionary(attribute.index)),
            },
            shown=num(search.SHOWN),
            code=col(f"c{attribute.index}", "r"),
        )
        return self._with_others(tree, state).select(
            named(self._value(col("value", "d"), state), "value")
        )

    def _groups(self, attribute: Attribute, state: State) -> exp.Select:
        """(number): the first groups that show the column, up to the limit of records."""
        sized = query(
            "select g.group_id as number, e.n from g join e on e.class_id = g.group_id"
            " where :form = :shown and g.group_id <= :most",
            {"g": state.stage(GROUPS), "e": state.work(EXTENTS)},
            form=col(form_column(attribute.published), "g"),
            shown=text(GENERALIZED),
            most=_first(state, self._most_groups),
        )
        return first_groups(sized, attacks.RECORDS, any_size=True)


def _first(state: State, most: int) -> exp.Expr:
    """The `most`-th of the numbers that the run has drawn for groups, or for buckets."""
    return num((state.facts.get(NUMBERED) or 0) + most)


# -- results ------------------------------------------------------------------------------------


def inferred(layout: Layout, facts: Facts) -> dict[str, Inferred]:
    """Results of the attack from buckets, by published column."""
    return _results(layout, hidden_in(layout), "guesses", facts)


def taught(layout: Layout, facts: Facts) -> dict[str, Inferred]:
    """Results of the attack from records that show the column, by published column."""
    return _results(layout, shown_in(layout), "taught", facts)


def _results(
    layout: Layout, items: Sequence[Sensitive], name: str, facts: Facts
) -> dict[str, Inferred]:
    return {
        item.published: inferred_from(
            f"inferred_{name}{item.index}", bounds(layout, item, facts), facts
        )
        for item in items
    }
