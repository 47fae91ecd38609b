"""Answers from published relations held against those on the source.

mexact, mestimate   (query, and a column per answer); no row: nothing matches
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from sqlglot import exp

from pganon.forms.facts import SUPPRESSED
from pganon.forms.metrics import Bounds, Errors
from pganon.identifiers import QualifiedName
from pganon.sqltools import col, fragment, named, num, query
from pganon.steps import Check, State
from pganon.steps.facts import Fact, Facts, count, measure, or_null


def error_step(name: str) -> Check:
    """Observes what :func:`errors_of` reads, of the answer in column `name`."""
    return Check(
        f"workload_error_{name}",
        "errors of counts" if name == "n" else "errors of sums",
        lambda s: _errors(name, s),
        gives=_facts(name),
    )


def errors_of(name: str, facts: Facts) -> Errors:
    read: dict[str, Any] = {fact.column: finite(facts[fact]) for fact in _facts(name)}
    return Errors(**read)


_WIDTH = or_null(measure("width", "workload_bounds_"))
_OUTSIDE = or_null(count("outside", "workload_bounds_"))


def bounds_step(bounds: Callable[[State], QualifiedName | None]) -> Check:
    """Observes what :func:`bounds_of` reads, of (query, lower, upper); None if there are none."""
    return Check(
        "workload_bounds",
        "how far the bounds of counts are apart",
        lambda s: _bounds(bounds(s), s),
        gives=[_WIDTH, _OUTSIDE],
    )


def bounds_of(facts: Facts) -> Bounds | None:
    outside = facts[_OUTSIDE]
    return None if outside is None else Bounds(finite(facts[_WIDTH]), outside)


def _bounds(bounds: QualifiedName | None, state: State) -> exp.Expr:
    """One row. Bounds are about released records."""
    if bounds is None:
        return query("select null::float8 as width, null::bigint as outside")
    found = query(
        "select coalesce(e.n, 0) as n, coalesce(b.lower, 0) as lower, coalesce(b.upper, 0) as upper"
        " from q left join e on e.query = q.query left join b on b.query = q.query",
        {"q": state.work("mqueries"), "e": state.work("mexact"), "b": bounds},
    )
    return query(
        "select percentile_cont(0.5) within group (order by (x.upper - x.lower) / nullif(x.n, 0))"
        " as width, count(*) filter (where x.n < x.lower or x.n > x.upper + :more) as outside"
        " from x",
        {"x": found},
        more=num(state[SUPPRESSED]),
    )


_QUANTILES = {"quarter": "0.25", "three_quarters": "0.75", "most": "0.95"}


def _facts(name: str) -> list[Fact[Any]]:
    """Of the fields of :class:`Errors`."""
    of = f"workload_{name}_"
    measures = [or_null(measure(column, of)) for column in ("median", "mean", *_QUANTILES)]
    return [*measures, count("empty", of)]


def finite(value: float | None) -> float | None:
    """None for NULL, and for values that JSON cannot represent."""
    return value if value is not None and math.isfinite(value) else None


def _errors(name: str, state: State) -> exp.Expr:
    """One row: mean relative error and quantiles, and queries with an exact answer of 0."""
    tree = query(
        "select percentile_cont(0.5) within group (order by x.error) as median,"
        " avg(x.error order by x.query) as mean,"
        " count(*) filter (where x.error is null) as empty from x",
        {
            "x": query(
                "select q.query, abs(coalesce(p.v, 0) - e.v) / nullif(abs(e.v), 0) as error"
                " from q left join e on e.query = q.query left join p on p.query = q.query",
                {
                    "q": state.work("mqueries"),
                    "e": _answers("mexact", name, state),
                    "p": _answers("mestimate", name, state),
                },
            )
        },
    )
    return tree.select(
        *[
            named(
                fragment(
                    "percentile_cont(:part) within group (order by x.error)",
                    part=exp.Literal.number(part),
                ),
                column,
            )
            for column, part in _QUANTILES.items()
        ]
    )


def _answers(table: str, name: str, state: State) -> exp.Select:
    return query("select a.query, :v as v from a", {"a": state.work(table)}, v=col(name, "a"))
