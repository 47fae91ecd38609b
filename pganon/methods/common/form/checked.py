"""Verification queries, the same for every form."""

from __future__ import annotations

from sqlglot import exp

from pganon.privacy.base import Requirement
from pganon.sqltools import query, render
from pganon.steps.relations import CheckQuery


def requirement_check(
    requirement: Requirement,
    measured: exp.Select,
    against: str = "",
    *,
    empty: bool = False,
    hint: str | None = None,
) -> CheckQuery:
    """Check that every group satisfies its requirements; `measured` selects the measures.

    Args:
        empty: whether there may be no group; that holds, too.
        hint: what to do if the release as a whole misses it; None where groups do.
    """
    model = requirement.model
    worst = model.worst(measured)
    if empty:
        limit = exp.Literal.number(repr(float(model.parameter)))
        text = "select w.failing, coalesce(w.measured, :p) as measured from w"
        worst = query(text, {"w": worst}, p=limit)
    return CheckQuery(
        model=model.name,
        symbol=model.symbol,
        column=requirement.column,
        parameter=float(model.parameter),
        bound=model.comparison,
        against=against,
        sql=render(worst),
        hint=hint,
    )


def violations_check(name: str, counted: exp.Select, column: str | None = None) -> CheckQuery:
    """Nothing is wrong; `counted` selects one row with the number of violations, `measured`."""
    tree = query("select b.measured, b.measured as failing from b", {"b": counted})
    return CheckQuery(name, "violations", column, 0, "<=", "", render(tree))
