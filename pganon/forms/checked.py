"""Verification queries, the same for every form."""

from __future__ import annotations

from sqlglot import exp

from pganon.privacy.base import Requirement
from pganon.sqltools import query, render
from pganon.steps.relations import CheckQuery


def requirement_check(
    requirement: Requirement, measured: exp.Select, against: str = ""
) -> CheckQuery:
    """Check that every group satisfies its requirements; `measured` selects the measures."""
    model = requirement.model
    return CheckQuery(
        model=model.name,
        symbol=model.symbol,
        column=requirement.column,
        parameter=float(model.parameter),
        bound=model.comparison,
        against=against,
        sql=render(model.worst(measured)),
    )


def violations_check(name: str, counted: exp.Select, column: str | None = None) -> CheckQuery:
    """Nothing is wrong; `counted` selects one row with the number of violations, `measured`."""
    tree = query("select b.measured, b.measured as failing from b", {"b": counted})
    return CheckQuery(name, "violations", column, 0, "<=", "", render(tree))
