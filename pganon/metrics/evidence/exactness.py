"""How exact quasi-identifiers still are: the share with one value, and the width of the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from pganon.encode.axis import Axis, TreeAxis
from pganon.metrics.distribution import weights
from pganon.metrics.loss import level
from pganon.metrics.source import labelled
from pganon.resolved.model import Shown
from pganon.sqltools import fragment, query
from pganon.steps import Check, State
from pganon.steps.facts import Fact, Facts, measure, or_null

_DAY = {"timestamp": 86_400_000_000, "timestamptz": 86_400_000_000}
"""Places of timestamps are microseconds; their widths are told in days."""


def check(axis: Axis, extents: Callable[[State], exp.Select]) -> Check:
    """From `mshown` and `mcover<i>`, of labels from the extents of groups."""

    def select(state: State) -> exp.Expr:
        if labelled(axis):
            return _levels(axis, extents(state), state)
        shown = {"w": weights(axis, state)}
        if axis.attribute.form is Shown.RANGE:
            # As a float8 neither the largest nor the least would be one.
            mean = fragment(
                "sum(w.n::numeric * (w.high - w.low)::numeric)"
                " / nullif(sum(w.n::numeric) filter (where w.low is not null), 0)"
            )
            return query(
                "select sum(w.n) filter (where w.low = w.high and not w.z or w.low is null"
                " and w.covers <= 1) / sum(w.n) as exact,"
                " case when :mean < 1e308 then round(:mean, 40) end as width from w",
                shown,
                mean=mean,
            )
        return query(
            "select sum(w.n) filter (where w.covers <= 1) / sum(w.n) as exact,"
            " sum(w.n * w.covers) / sum(w.n) as width from w",
            shown,
        )

    return observed(axis, select)


def observed(axis: Axis, select: Callable[[State], exp.Expr]) -> Check:
    """`select` has a row with `exact` and `width`."""
    i = axis.index
    return Check(
        f"exactness{i}",
        f"how exact attribute {i + 1} still is",
        select,
        gives=[_exact(i), _width(i)],
    )


def document(axis: Axis, facts: Facts) -> dict[str, Any]:
    """As JSON: `exact`, a share; `width` in numbers or days, possible values, or
    levels of the hierarchy."""
    attribute, width = axis.attribute, facts[_width(axis.index)]
    ranged = attribute.form is Shown.RANGE
    unit = "values" if not ranged else "days" if attribute.column.is_time else "numbers"
    if width is not None and ranged:
        width /= _DAY.get(attribute.column.kind, 1)
    return {
        "form": attribute.form.value,
        "of": "all" if attribute.hidden is None else "shown",
        "exact": round(facts[_exact(axis.index)] or 0.0, 6) if attribute.covers else None,
        "width": None if width is None or not attribute.covers else round(width, 4),
        "unit": "levels" if labelled(axis) else unit,
    }


def _levels(axis: TreeAxis, extents: exp.Select, state: State) -> exp.Select:
    """Labels are levels of a hierarchy, of which 0 are the values."""
    return query(
        "select coalesce(sum(e.n) filter (where :level = 0), 0) / sum(e.n) as exact,"
        " sum(e.n * :level) / sum(e.n) as width from e",
        {"e": extents},
        level=exp.paren(level(axis, state)),
    )


def _exact(i: int) -> Fact[float | None]:
    return or_null(measure("exact", f"exactness{i}_"))


def _width(i: int) -> Fact[float | None]:
    return or_null(measure("width", f"exactness{i}_"))
