"""Which values of an attribute a kernel counts together, and with which weight.

Distances are from 0 to 1: of ordered values by their positions, of leaves of a hierarchy by the
height of their lowest common ancestor; NULL is as far as can be from every value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlglot import exp

from pganon.encode.axis import Axis, OrderedAxis, TreeAxis
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PreconditionError
from pganon.forms.work import QI_CELLS
from pganon.identifiers import quote
from pganon.sqltools import cast, col, named, num, query, scalar, stacked
from pganon.steps import Check, State
from pganon.steps.facts import Fact, count

MOST_PAIRS = 50_000_000
"""Cells times values near them, of one attribute: beyond, tables would fill disks."""

MOST_SUMS = 250_000_000
"""Combinations near each other in an attribute, times sensitive values: about a minute's work."""

Smoothed = tuple[Axis, float]
"""An attribute with its bandwidth."""


def pairs_check(smoothed: Sequence[Smoothed]) -> Check:
    """Refuses attributes of which too many values are near each other."""
    return Check(
        "pairs",
        "how many values are near each other",
        lambda s: exp.select(*[_pairs(axis, s, width) for axis, width in smoothed]),
        lambda row, state: _problem(smoothed, row),
        gives=[_pairs_of(axis) for axis, _ in smoothed],
        guards=True,
    )


def joined_check(
    axis: Axis, joined: Callable[[State], exp.Select], values: Callable[[State], int]
) -> Check:
    """Refuses where combinations that are near in several attributes are too many.

    Args:
        joined: SELECT of their number as seen up to the attribute.
        values: number of sensitive values.
    """
    fact = count(f"joined{axis.index}")
    return Check(
        f"joined{axis.index}",
        "how many combinations are near each other",
        lambda s: exp.select(named(scalar(joined(s)), fact.column)),
        lambda row, state: _too_many(axis, row[fact.column], values(state)),
        gives=[fact],
        guards=True,
    )


def _too_many(axis: Axis, pairs: int, values: int) -> PganonError | None:
    if pairs * values <= MOST_SUMS:
        return None
    return PreconditionError(
        "the quasi-identifiers have so many different combinations that a kernel would have to add"
        f" up {pairs} pairs of them for column {quote(axis.attribute.column.name)}, each with"
        f" {values} sensitive values",
        hint="round numbers and dates in a view, lower bandwidths, or estimate priors by"
        " knowledge: {cells: {}}",
        code=ErrorCode.TOO_MANY_PAIRS,
    )


def neighbours(axis: Axis, state: State, bandwidth: float) -> exp.Expr:
    """SELECT q, c, k: codes with the Epanechnikov weight of c as seen from q."""
    width = _literal(bandwidth)
    parts = [_near(axis, state, width)]
    if axis.has_null(state):
        parts.append(query("select 0 as q, 0 as c, 0::float8 as u"))
        if bandwidth > 1:
            parts += [
                query(
                    "select :q as q, :c as c, 1 / :b as u from d where d.code > 0",
                    {"d": axis.dictionary(state)},
                    q=q,
                    c=c,
                    b=width.copy(),
                )
                for q, c in ((num(0), col("code", "d")), (col("code", "d"), num(0)))
            ]
    return query("select n.q, n.c, 1 - n.u * n.u as k from n where n.u < 1", {"n": stacked(parts)})


def _literal(number: float) -> exp.Expr:
    return cast(exp.Literal.number(repr(number)), "float8")


_ORDERED = """
    select a.code as q, b.code as c, abs(a.position - b.position) / :b as u
    from a cross join generate_series(-1, 1) as o(o)
    join b on floor(b.position / :b)::int = floor(a.position / :b)::int + o.o
    where a.code > 0 and b.code > 0
"""
"""Values nearer than a bandwidth are in the same stretch of that width, or in the next one."""

_TREE = """
    select a.code as q, b.code as c, min(a.level)::float8 / :h / :b as u
    from a join b on b.level = a.level and b.lo = a.lo
    where a.level::float8 / :h < :b group by 1, 2
"""

_NOMINAL = """
    select a.code as q, b.code as c, (a.code <> b.code)::int / :b as u from a cross join b
    where a.code > 0 and b.code > 0
"""


def _near(axis: Axis, state: State, width: exp.Expr) -> exp.Select:
    """(q, c, u): values with their distance over the bandwidth, at least all that are below 1."""
    if isinstance(axis, TreeAxis):
        levels = {"a": axis.table(state), "b": axis.table(state)}
        return query(_TREE, levels, h=num(max(axis.levels(state), 1)), b=width)
    values = {"a": axis.dictionary(state), "b": axis.dictionary(state)}
    return query(_ORDERED if isinstance(axis, OrderedAxis) else _NOMINAL, values, b=width)


def _pairs_of(axis: Axis) -> Fact[int]:
    return count(f"pairs{axis.index}")


def _pairs(axis: Axis, state: State, bandwidth: float) -> exp.Expr:
    near = query(
        "select coalesce(sum(f.n), 0)::bigint from q join f on f.code = :c",
        {"q": state.work(QI_CELLS), "f": _number_near(axis, state, _literal(bandwidth))},
        c=col(axis.code, "q"),
    )
    return named(scalar(near), _pairs_of(axis).column)


def _number_near(axis: Axis, state: State, width: exp.Expr) -> exp.Select:
    """(code, n): how many values are nearer to a value than the bandwidth, or just as near."""
    if isinstance(axis, TreeAxis):
        return query(
            "select l.code, max(l.hi - l.lo + 1) as n from l"
            " where l.level::float8 / :h < :b group by l.code",
            {"l": axis.table(state)},
            h=num(max(axis.levels(state), 1)),
            b=width,
        )
    values = {"d": axis.dictionary(state)}
    if not isinstance(axis, OrderedAxis):
        return query("select d.code, count(*) over () as n from d where d.code > 0", values)
    return query(
        "select d.code, count(*) over (order by d.position range between :b preceding and"
        " :b following) as n from d where d.code > 0",
        values,
        b=width,
    )


def _problem(smoothed: Sequence[Smoothed], row: Mapping[str, Any]) -> PganonError | None:
    for axis, _ in smoothed:
        pairs = row[_pairs_of(axis).column]
        if pairs > MOST_PAIRS:
            return PreconditionError(
                f"column {quote(axis.attribute.column.name)} has so many different values that a"
                f" kernel would have to compare {pairs} pairs of a combination and a value",
                hint="round it in a view, lower its bandwidth, or estimate priors by"
                " knowledge: {cells: {}}",
                code=ErrorCode.TOO_MANY_PAIRS,
            )
    return None
