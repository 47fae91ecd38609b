"""Declared domains: which values a column could have, whichever the source has.

Numbers, dates and timestamps lie between two bounds; categories are listed.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag

from pganon.policy.hierarchies import RANGED, Declaration
from pganon.policy.labels import Labels, no_repeats
from pganon.policy.refusals import Refusal, refuse_one, show
from pganon.policy.values import Unreadable, bound, on_one_line

_EXAMPLE = "for example domain: [0, 120] or domain: [2020-01-01, 2020-12-31]"


def _as_text(value: object) -> object:
    """A bound as the database would read it; numbers and dates need no quotes."""
    has_text = isinstance(value, str | int | float | Decimal | datetime.date)
    try:
        if not has_text or isinstance(value, bool):
            raise Unreadable
        text = str(value).strip()
        bound(text)
    except ValueError:  # too many digits for a text, too
        refuse_one(
            f"{show(value)} is not a finite number, a date or a timestamp", suggestion=_EXAMPLE
        )
    return text


BESIDE_HIERARCHY = (
    "a domain does nothing beside a hierarchy, which says how much values lose",
    "remove one of the two",
)
"""Why it is refused, and what to do."""


def _upwards(domain: tuple[str, str]) -> tuple[str, str]:
    low, high = map(bound, domain)
    try:
        low, high = on_one_line(low, high)
    except Unreadable:
        refuse_one("one value is a number and the other is not", suggestion=_EXAMPLE)
    if low == high:
        refuse_one(
            "the lowest value is the highest",
            suggestion="write the lowest and the highest value that there could be",
        )
    if low > high:  # pyright: ignore[reportOperatorIssue]
        refuse_one("the lowest value is above the highest", suggestion="exchange the two")
    return domain


_Bound = Annotated[str, BeforeValidator(_as_text, json_schema_input_type=str | int | float)]

Span = Annotated[tuple[_Bound, _Bound], Field(strict=False), AfterValidator(_upwards)]
"""The lowest and the highest value that there could be, both included, as texts."""


class ValueSet(Declaration):
    """All values that a categorical column could have, as texts."""

    values: Annotated[Labels, AfterValidator(no_repeats)]


def _form(value: object) -> str:
    listed = isinstance(value, ValueSet) or (isinstance(value, Mapping) and "values" in value)
    return "listed" if listed else "span"


Domain = Annotated[
    Annotated[Span, Tag("span")] | Annotated[ValueSet, Tag("listed")], Discriminator(_form)
]


def domain_refusals(column: Mapping[str, Any]) -> Iterator[Refusal]:
    """Refusals of a domain beside other keys of its column; works on unchecked input, too."""
    if column.get("domain") is None:
        return
    listed, kind = _form(column["domain"]) == "listed", column.get("type")
    if kind == "ordinal" or (kind == "categorical" and not listed):
        hint = "write type: numeric" if kind == "ordinal" else "list all values: {values: [a, b]}"
        message = f"a domain is for numbers, dates and timestamps; this column is {kind}"
        yield Refusal(("domain",), message, f"remove domain, or {hint}")
    if kind == "numeric" and listed:
        yield Refusal(
            ("domain",),
            "a domain of listed values is for categories; this column is numeric",
            "write the lowest and the highest value, domain: [0, 120]",
        )
    hierarchy = column.get("hierarchy")
    ranged = isinstance(hierarchy, RANGED) or (
        isinstance(hierarchy, Mapping) and any(form.kind in hierarchy for form in RANGED)
    )
    # A span beside a hierarchy of ranges can be its highest.
    if hierarchy is not None and (listed or not ranged):
        yield Refusal(("domain",), *BESIDE_HIERARCHY)
