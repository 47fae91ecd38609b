"""What labels lose, as whole numbers, and what a suppressed record loses beyond its labels.

slots<i>   (code, level, slot, n, cost, gap)  of every value and level: the number of its label,
           `n` records, what one of them loses if it is suppressed, and how much less its label
           loses
losses     (attribute, level, loss, whole)  loss of all records on a level, and of all if they are
           suppressed
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.facts import KEPT
from pganon.identifiers import QualifiedName
from pganon.methods.classes.full_domain.keys import Layout, slots, slots_of
from pganon.methods.classes.full_domain.search.lattice import Node
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, finished, fragment, named, num, query, scalar, stacked, total

UNIT = 1_000_000_000
"""Losses are counted in so many parts of the loss of one record."""


def weights(spec: ReleaseSpec) -> list[int]:
    """The most that a record loses of every quasi-identifier; they add up to about :data:`UNIT`."""
    every = [attribute.weight for attribute in spec.attributes]
    return [round(UNIT * weight / sum(every)) for weight in every]


def priced(spec: ReleaseSpec, layout: Layout, place: int) -> exp.Select:
    """SELECT of `slots<i>`."""
    axis, field = layout.axes[place], layout.fields[place]
    top = num(len(field.widths))
    counted = query(
        "select c.code, sum(c.n)::bigint as n from c group by c.code",
        {
            "c": query(
                "select :code as code, c.n from c",
                {"c": layout.state.work("cells")},
                code=col(axis.code, "c"),
            )
        },
    )
    found = query(
        "select s.code, s.level, s.slot, s.loss, coalesce(c.n, 0) as n,"
        " sum(c.n) over (partition by s.level, case when :joined then 1 else s.lo end) as below"
        " from s left join c on c.code = s.code",
        {"s": slots_of(layout, place), "c": counted},
        joined=_joined(layout, place, "s"),
    )
    weight = num(weights(spec)[place])
    joined = _joined(layout, place, "p")
    match getattr(spec.policy.method, "objective", "gcp"):
        case "entropy":
            bits = "round(:w * coalesce(ln(:all::float8 / nullif(p.below, 0)) / ln(2), 0))::bigint"
            gap = fragment(bits, w=weight, all=num(layout.state[KEPT]))
        case "precision":
            gap = fragment(
                "case when p.code = 0 and not :joined then :w"
                " else round(:w::numeric * (:top - p.level) / greatest(:top, 1))::bigint end",
                joined=joined,
                w=weight,
                top=top,
            )
            if not field.widths:
                gap = weight
        case _:
            gap = fragment(
                "case when :joined then 0 else round(:w * (1 - p.loss))::bigint end",
                joined=joined,
                w=weight,
            )
    return query(
        "select g.code, g.level, g.slot, g.n, g.gap,"
        " max(g.gap) over (partition by g.code) as cost from g",
        {
            "g": query("select p.code, p.level, p.slot, p.n from p", {"p": found}).select(
                named(gap, "gap")
            )
        },
    )


def _joined(layout: Layout, place: int, table: str) -> exp.Expr:
    """Whether a label is a root that NULL and values share."""
    field = layout.fields[place]
    if not field.root_joins:
        return exp.false()
    return fragment(":level = :top", level=col("level", table), top=num(len(field.widths)))


def losses(layout: Layout, rest: QualifiedName | None = None) -> exp.Select:
    """SELECT (attribute, level, loss, whole).

    Args:
        rest: records by key, if they are not all.
    """
    return stacked(
        [
            query(
                "select :i as attribute, s.level,"
                " sum(s.n * (s.cost - s.gap))::bigint as loss,"
                " sum(s.n * s.cost)::bigint as whole from s group by s.level",
                {"s": slots(axis, layout.state) if rest is None else _counted(layout, place, rest)},
                i=num(place),
            )
            for place, axis in enumerate(layout.axes)
        ]
    )


def _counted(layout: Layout, place: int, rest: QualifiedName) -> exp.Select:
    """SELECT level, n, cost, gap: `slots<i>` with so many records as are left of every value."""
    counted = query(
        "select :slot as slot, sum(t.n) as n from t group by 1",
        {"t": rest},
        slot=layout.slot(place, 0, "t"),
    )
    return query(
        "select s.level, s.cost, s.gap, c.n from s"
        " join v on v.code = s.code and v.level = 0 join c on c.slot = v.slot",
        {
            "s": slots(layout.axes[place], layout.state),
            "v": slots(layout.axes[place], layout.state),
            "c": counted,
        },
    )


def gap_arrays(layout: Layout) -> exp.Select:
    """SELECT (attribute, level, slots, gaps): what suppression loses by the number of a label.

    Numbers are paths, so most of those up to the highest are no label's: arrays have labels alone.
    """
    return stacked(
        [
            query(
                "select :i as attribute, g.level, array_agg(g.slot order by g.slot) as slots,"
                " array_agg(g.gap order by g.slot) as gaps from g group by g.level",
                {
                    "g": query(
                        "select distinct s.level, s.slot, s.gap from s",
                        {"s": slots(axis, layout.state)},
                    )
                },
                i=num(place),
            )
            for place, axis in enumerate(layout.axes)
        ]
    )


class Gaps:
    """What suppression loses beyond the labels of a node, from the keys of its classes."""

    def __init__(self, spec: ReleaseSpec, layout: Layout) -> None:
        self.spec = spec
        self.layout = layout
        self.exact = getattr(spec.policy.method, "objective", "gcp") != "entropy"
        self._terms: dict[tuple[int, int], exp.Var] = {}

    def of(self, node: Node) -> exp.Expr:
        """For one record of a class `c` of the node."""
        return total([self._term(place, level) for place, level in enumerate(node)])

    def _term(self, place: int, level: int) -> exp.Expr:
        # Rendered once: hundreds of such terms are in a statement.
        if (place, level) not in self._terms:
            self._terms[place, level] = finished(self._made(place, level))
        return self._terms[place, level]

    def _made(self, place: int, level: int) -> exp.Expr:
        if level == 0 and self.exact:
            return num(weights(self.spec)[place])
        # Of a column without values no label is at the root, which nothing loses more than.
        return fragment(
            "coalesce((:gaps)[width_bucket(:slot, :slots)], 0)",
            gaps=self._array("gaps", place, level),
            slots=self._array("slots", place, level),
            slot=self.layout.slot(place, level, "c"),
        )

    def _array(self, column: str, place: int, level: int) -> exp.Expr:
        # What is stored is packed; joined to nothing it is unpacked once, not for every class.
        array = query(
            "select :column || '{}'::bigint[] from g where g.attribute = :i and g.level = :level",
            {"g": self.layout.state.work("gaps")},
            column=col(column, "g"),
            i=num(place),
            level=num(level),
        )
        return scalar(array)
