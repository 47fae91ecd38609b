"""A table with columns of most types, for policies of tests/unit/policy/examples.py."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.catalog.model import Column, Kind, Relation
from pganon.errors import PolicyError
from pganon.identifiers import QualifiedName
from pganon.loading import policy_from
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.resolve import resolve

TYPES: dict[str, tuple[Kind, str]] = {
    "person": ("text", "text"),
    "age": ("integer", "smallint"),
    "sex": ("text", "text"),
    "born": ("date", "date"),
    "cancer": ("text", "text"),
    "treatment": ("boolean", "boolean"),
    "symptom": ("numeric", "numeric(5,2)"),
    "clinic": ("text", "text"),
}


def column(name: str, kind: Kind, base: str, type_name: str | None = None) -> Column:
    labels = ("I", "II", "III") if kind == "enum" else ()
    built_in = kind not in ("enum", "citext")
    return Column(
        1,
        name,
        1,
        type_name or base,
        1,
        base,
        kind,
        nullable=True,
        built_in=built_in,
        labels=labels,
    )


def relation(name: str, types: dict[str, tuple[Kind, str]]) -> Relation:
    columns = tuple(column(known, kind, base) for known, (kind, base) in types.items())
    return Relation(1, QualifiedName("public", name), "table", columns, (), False, "owner")


REGISTRY = relation("registry", TYPES)


def resolved(data: dict[str, Any], over: Relation = REGISTRY) -> ReleaseSpec:
    return resolve(policy_from(data), over)


def problems(data: dict[str, Any], over: Relation = REGISTRY) -> dict[str | None, str]:
    """Messages by field."""
    with pytest.raises(PolicyError) as caught:
        resolved(data, over)
    return {problem.field: problem.message for problem in caught.value.problems}
