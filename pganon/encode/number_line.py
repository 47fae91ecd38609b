"""Numbers, dates and timestamps on a line, and the span that losses on it are shares of."""

from __future__ import annotations

from sqlglot import exp

from pganon.resolved.model import Attribute
from pganon.sqltools import cast, fragment, text

_PLACES = {
    "date": "(:v - date '2000-01-01')::numeric",
    "timestamp": "extract(epoch from :v)::numeric * 1000000",
    "timestamptz": "extract(epoch from :v)::numeric * 1000000",
}
"""Numbers, days and microseconds: units in which the values of a discrete type are 1 apart."""


def place(attribute: Attribute, value: exp.Expr) -> exp.Expr:
    """The position (numeric) of a value of the attribute's canonical type."""
    return fragment(_PLACES.get(attribute.column.kind, ":v::numeric"), v=value)


def ends(attribute: Attribute, placed: exp.Expr, over: str = "") -> tuple[exp.Expr, exp.Expr]:
    """Where the span starts and stops: at the declared domain's bounds, else at the least and the
    greatest of the places `placed`, which are aggregated (`over` them, if not grouped)."""
    if attribute.domain is None:
        return fragment(f"min(:p){over}", p=placed), fragment(f"max(:p){over}", p=placed)
    low, high = (place(attribute, value) for value in bounds(attribute))
    return low, high


def share(placed: exp.Expr, low: exp.Expr, high: exp.Expr) -> exp.Expr:
    """The relative position between `low` and `high`, as float8; 0 where these are the same."""
    # A quotient below the least float8 would be an error.
    return fragment(
        "round(coalesce((:p - :low) / nullif(:high - :low, 0), 0), 40)::float8",
        p=placed,
        low=low,
        high=high,
    )


def position(attribute: Attribute, value: exp.Expr) -> exp.Expr:
    """The place of a value in [0, 1] over the span of all rows; 0 where the span is one value."""
    placed = place(attribute, value)
    return share(placed, *ends(attribute, placed, " over ()"))


def bounds(attribute: Attribute) -> list[exp.Expr]:
    """The declared domain's lowest and highest value."""
    return [cast(text(value), attribute.value_type) for value in attribute.domain or ()]


def outside(attribute: Attribute, value: exp.Expr) -> exp.Expr:
    """Whether a value is outside the declared domain; NULL is nowhere."""
    if attribute.values is not None:
        listed = [cast(text(item), attribute.value_type) for item in attribute.values]
        return exp.not_(exp.In(this=value.copy(), expressions=listed))
    low, high = bounds(attribute)
    return fragment(":v < :low or :v > :high", v=value, low=low, high=high)
