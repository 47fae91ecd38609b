"""What predicates of random queries ask of published values: leaves of an estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.forms.match_counts import Matched, both, call
from pganon.metrics.source import discrete, on_line
from pganon.sqltools import col, computed_once, fragment, named, num, query
from pganon.steps import State


@dataclass(frozen=True)
class Asked:
    """What a predicate asks of the values that a published value may stand for.

    Attributes:
        size, matching: how many these are, NULL among them, and how many of them match. Of other
            numbers than whole ones there are two: those that match, and the others.
        share: of values that match, if all are equally likely; NULL if nothing is covered.
        attained, certain: values that some record surely has, and those of them that match.
    """

    size: exp.Expr
    matching: exp.Expr
    share: exp.Expr
    attained: exp.Expr
    certain: exp.Expr


def asked_on_line(axis: Axis, below: exp.Expr, above: exp.Expr, table: str) -> Asked:
    """Of the values between two distances from the source's lowest, as `away` of mplaces<i>."""
    i = axis.index
    parts = {name: col(f"{name}{i}", table) for name in ("low", "high", "z")}
    parts |= {"below": below, "above": above}

    def read(text: str) -> exp.Expr:
        return fragment(text, **{k: v.copy() for k, v in parts.items() if f":{k}" in text})

    nothing = "case when :low is null or :below is null then 0 else {} end"
    inside = "greatest(0, least(:high, :above) - greatest(:low, :below){})"
    ends, hold = "0", "0"
    if axis.attribute.attained:
        ends = "case when :low is null then 0 when :low = :high then 1 else 2 end"
        hold = nothing.format(
            "(:low between :below and :above)::int"
            " + (:high > :low and :high between :below and :above)::int"
        )
    if discrete(axis):
        size, matching = "coalesce(:high - :low + 1, 0) + :z::int", inside.format(" + 1")
        share = fragment(":m / :n", m=read(nothing.format(matching)), n=exp.paren(read(size)))
    else:
        size = "2 + :z::int"
        matching = "(:low <= :above and :high >= :below)::int"
        matching += " + (:low >= :below and :high <= :above)::int"
        one = "(:low between :below and :above)::int::float8 / (1 + :z::int)"
        length = f"{inside.format('')} / (:high - :low)"
        share = read(nothing.format(f"case when :low = :high then {one} else {length} end"))
    ends = _and_null(axis, read(ends), table)
    return Asked(read(size), read(nothing.format(matching)), share, ends, read(hold))


def _and_null(axis: Axis, attained: exp.Expr, table: str) -> exp.Expr:
    """Some record lacks the value where NULL is shown, unless a region is."""
    if axis.attribute.in_regions:
        return attained
    return fragment(":s + :z::int", s=attained, z=col(f"z{axis.index}", table))


def asked_of_set(axis: Axis, bits: exp.Expr, table: str) -> Asked:
    """Of the values whose bit is set."""
    size = col(f"covers{axis.index}", table)
    matching = fragment("bit_count(:q & :b)", q=bits, b=col(f"bits{axis.index}", table))
    share = fragment(":m::float8 / nullif(:n, 0)", m=matching, n=size)
    if axis.attribute.attained:
        return Asked(size, matching, share, size, matching)
    return Asked(size, matching, share, _and_null(axis, num(0), table), num(0))


def leaf(n: exp.Expr, asked: Asked) -> Matched:
    """Bounds of how many of the n records of a group match, and their share.

    As in the papers that ask random queries, no value is taken as attained in the share.
    """
    return Matched(
        call("box_lower", n=n, size=asked.size, matching=asked.matching, certain=asked.certain),
        call(
            "box_upper",
            n=n,
            matching=asked.matching,
            attained=asked.attained,
            certain=asked.certain,
        ),
        asked.share,
        exp.null(),
    )


def asked_by_query(axis: Axis) -> Asked:
    """What a query `q` of mqueries asks of a row `b` of mboxes; without a predicate all match."""
    i = axis.index
    if on_line(axis):
        given = col(f"first{i}", "q")
        asked = asked_on_line(axis, col(f"low{i}", "q"), col(f"high{i}", "q"), "b")
    else:
        given = col(f"bits{i}", "q")
        asked = asked_of_set(axis, given, "b")
    free = {"size": 1, "matching": 1, "share": 1, "attained": 0, "certain": 0}
    return Asked(
        **{
            name: fragment(f"case when :q is null then {free[name]} else :v end", q=given, v=value)
            for name, value in asdict(asked).items()
        }
    )


def shares(attributes: Sequence[Axis], state: State) -> exp.Expr:
    """mshares of :mod:`pganon.metrics.workload`: every attribute is a condition of an estimate."""
    found = query(
        "select q.query, b.group_id, b.n from q cross join b",
        {"q": state.work("mqueries"), "b": state.work("mboxes")},
    )
    leaves: list[Matched] = []
    for axis in attributes:
        asked = asdict(asked_by_query(axis))
        # Most groups miss one of the predicates.
        found = found.where(fragment(":m > 0", m=asked["matching"].copy()))
        found = found.select(*[named(v, f"{name}{axis.index}") for name, v in asked.items()])
        shown = Asked(**{name: col(f"{name}{axis.index}", "x") for name in asked})
        leaves.append(leaf(col("n", "x"), shown))
    return query(
        "select x.query, x.group_id, :share as share, :fewest as fewest, :most as most from x",
        {"x": computed_once(found)},
        **{k: v for k, v in vars(both(col("n", "x"), leaves)).items() if k != "pair"},
    )
