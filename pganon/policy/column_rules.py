"""Rules about one column of a policy; they work on input that was not checked, too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pganon.policy import sensitive_when
from pganon.policy.domains import domain_refusals
from pganon.policy.refusals import Refusal, alternatives
from pganon.policy.words import (
    NULLS,
    QUASI_IDENTIFYING_NULLS,
    QUASI_SENSITIVE_NULLS,
    ROLES,
    SENSITIVE_NULLS,
)

_QUASI = ("quasi_identifying", "semi_sensitive")
_GROUPED = (*_QUASI, "quasi_sensitive")
_OPTIONAL_KEYS = (
    ("weight", ("quasi_identifying",), 1),
    ("levels", ("quasi_identifying",), None),
    ("domain", _QUASI, None),
    ("sensitive_when", ("semi_sensitive",), None),
    ("set", ("quasi_sensitive",), None),
    *((key, (*_GROUPED, "sensitive"), None) for key in ("hierarchy", "type", "order")),
    ("nulls", (*_GROUPED, "sensitive"), "as_value"),
    ("unprotected", sensitive_when.HIDDEN, "warn"),
)
"""Keys of a column, the roles that they are for, and the value that says nothing."""


def column_refusals(column: Mapping[str, Any]) -> list[Refusal]:
    """Refusals of combinations in one column; works on unchecked input, too."""
    role = column.get("role")
    if role not in ROLES:
        return []
    out = [
        Refusal(
            (key,),
            f"{key} is for {alternatives(roles)} columns; this one is {role}",
            f"remove {key}",
        )
        for key, roles, default in _OPTIONAL_KEYS
        if role not in roles and column.get(key, default) not in (default, None)
    ]
    if role == "sensitive":
        out += _sensitive_column(column)
    elif role in _GROUPED and column.get("order") is not None and column.get("type") != "ordinal":
        out.append(Refusal(("order",), "order needs type: ordinal", "add type: ordinal"))
    if role in _QUASI:
        out += domain_refusals(column)
        out += _other_nulls(column, QUASI_IDENTIFYING_NULLS)
    if role == "semi_sensitive":
        out += sensitive_when.column_refusals(column.get("sensitive_when"))
    if role == "quasi_sensitive":
        out += _quasi_sensitive_column(column)
    if role in ("identifying", "weight") and column.get("as") is not None:
        article = "an" if role == "identifying" else "a"
        out.append(Refusal(("as",), f"{article} {role} column is never published", "remove as"))
    return out


def _sensitive_column(column: Mapping[str, Any]) -> Iterable[Refusal]:
    hierarchy = column.get("hierarchy")
    forms = hierarchy if isinstance(hierarchy, Mapping) else {}
    for key in ("intervals", "date"):
        if key in forms:
            yield Refusal(
                ("hierarchy",),
                f"a hierarchy by {key} is not for sensitive columns",
                "numbers and dates have distance: ordered",
            )
    yield from _other_nulls(column, SENSITIVE_NULLS)
    if column.get("order") is not None:
        # Distances take the natural order; an order that nothing obeys would mislead.
        message = "an order of one's own is not available for sensitive columns in this version"
        yield Refusal(("order",), message, "use the natural order of a number, date or enum")


def _quasi_sensitive_column(column: Mapping[str, Any]) -> Iterable[Refusal]:
    if column.get("set") is None:
        yield Refusal(
            ("set",),
            "is missing; a quasi_sensitive column belongs to a QS set",
            "write set: and a name that it shares with the columns from the same source",
        )
    said = "as_value: a NULL is a value of its own in a cluster"
    yield from _other_nulls(column, QUASI_SENSITIVE_NULLS, said)


def _other_nulls(
    column: Mapping[str, Any], words: tuple[str, ...], suggestion: str | None = None
) -> Iterable[Refusal]:
    """A way to treat NULLs that columns of another role have."""
    nulls = column.get("nulls", "as_value")
    if nulls in NULLS and nulls not in words:
        said = f"nulls of a {column['role']} column are {alternatives(words)}, not {nulls}"
        yield Refusal(("nulls",), said, suggestion)
