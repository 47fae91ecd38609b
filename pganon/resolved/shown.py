"""How the values of a quasi-identifier are arranged, and what of them is published."""

from __future__ import annotations

from pganon.catalog.model import Column
from pganon.hierarchies import has_ranges
from pganon.policy.columns import ColumnPolicy
from pganon.policy.model import Policy
from pganon.resolved.model import Scale, Shown

RANGE_TYPES = {
    "integer": "numrange",
    "numeric": "numrange",
    "float": "numrange",
    "date": "daterange",
    "timestamp": "tsrange",
    "timestamptz": "tstzrange",
}


def scale_of(declared: ColumnPolicy, kind: str) -> Scale:
    if declared.hierarchy is not None:
        return Scale.TREE
    return Scale.NOMINAL if kind == "categorical" else Scale.ORDERED


def form_of(policy: Policy, declared: ColumnPolicy, kind: str) -> Shown:
    match policy.method.shows:
        case "values":
            return Shown.VALUES
        case "exact":
            return Shown.EXACT
        case "centre":
            mean = kind == "numeric" and declared.hierarchy is None
            return Shown.MEAN if mean else Shown.MODE
        case "generalized":
            pass
    if declared.hierarchy is not None:
        return Shown.RANGE if has_ranges(declared.hierarchy) else Shown.LABEL
    return Shown.RANGE if kind == "numeric" else Shown.SET


def published_type(form: Shown, column: Column) -> str:
    """SQL name of the type of the published column."""
    return {
        Shown.RANGE: RANGE_TYPES.get(column.kind, ""),
        Shown.SET: f"{column.stored_type}[]",
        Shown.LABEL: "text",
        Shown.VALUES: f"{column.stored_type}[]",
        Shown.EXACT: column.stored_type,
        Shown.MEAN: column.stored_type,
        Shown.MODE: column.stored_type,
    }[form]
