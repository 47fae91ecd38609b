"""A sensitive column with one value: who is in the release has it, whatever its classes are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pganon.encode.work import sensitive_values
from pganon.error_codes import ErrorCode
from pganon.errors import PrivacyRefusal
from pganon.identifiers import quote
from pganon.methods.background.shape import Shape
from pganon.sqltools import query
from pganon.steps import Check
from pganon.steps.facts import counts


def constant_check(shape: Shape) -> Check:
    """Refuses it, unless the policy accepts that the column is unprotected."""
    return Check(
        "constant",
        "whether the sensitive column has several values",
        lambda s: query(
            "select count(*) as values from d",
            {"d": s.work(sensitive_values(shape.sensitive.index))},
        ),
        lambda row, state: _refused(shape, row),
        gives=counts("values", of="sensitive_"),
    )


def _refused(shape: Shape, row: Mapping[str, Any]) -> PrivacyRefusal | None:
    name = shape.sensitive.column.name
    if row["values"] > 1 or shape.spec.policy.columns[name].unprotected == "accept":
        return None
    return PrivacyRefusal(
        f"the sensitive column {quote(name)} has the same value in all records, which"
        f" {shape.closeness.name} does not protect: everybody in the release has it",
        hint="leave the column out with the role identifying, or accept it with"
        " unprotected: accept",
        code=ErrorCode.CONSTANT,
    )
