"""Policy x catalog: attributes of both roles, published names, views of parts."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from pganon.catalog.model import Kind
from pganon.identifiers import QualifiedName
from pganon.resolved.model import Scale, Shown
from tests.unit.policy.examples import policy, qs_policy
from tests.unit.resolved import registry

TYPES: dict[str, tuple[Kind, str]] = {
    "plate": ("text", "text"),
    "reg_year": ("integer", "integer"),
    "colour": ("text", "character varying(10)"),
    "zone": ("enum", "public.zone"),
    "hour": ("integer", "smallint"),
    "speed": ("numeric", "numeric"),
    "age": ("integer", "integer"),
    "job": ("text", "text"),
    "person": ("text", "text"),
    "hours": ("integer", "integer"),
    "photo": ("unsupported", "bytea"),
}
VEHICLES = registry.relation("vehicles", TYPES)

resolved = partial(registry.resolved, over=VEHICLES)
problems = partial(registry.problems, over=VEHICLES)


def changed(column: str, **keys: Any) -> dict[str, Any]:
    data = qs_policy()
    data["columns"][column].update(keys)
    return data


def test_quasi_sensitive_columns_are_attributes() -> None:
    spec = resolved(qs_policy())
    assert [(a.index, a.column.name, a.qs_set) for a in spec.attributes] == [
        (0, "reg_year", "registration"),
        (1, "colour", "registration"),
        (2, "zone", "sighting"),
        (3, "hour", "sighting"),
    ]
    assert {a.form for a in spec.attributes} == {Shown.VALUES}
    assert {a.null_column for a in spec.attributes} == {None}
    assert [a.published_type for a in spec.attributes] == [
        *("integer[]", "character varying(10)[]", "text[]", "smallint[]")
    ]
    assert [item.column.name for item in spec.carried] == ["speed"]


@pytest.mark.parametrize(
    ("column", "keys", "scale"),
    [
        ("hour", {}, Scale.ORDERED),
        ("hour", {"type": "categorical"}, Scale.NOMINAL),
        ("hour", {"hierarchy": {"intervals": [6, 12]}}, Scale.TREE),
        ("zone", {}, Scale.NOMINAL),
        ("zone", {"type": "ordinal"}, Scale.ORDERED),
        ("zone", {"hierarchy": {"prefix": [1]}}, Scale.TREE),
    ],
)
def test_scales_are_those_of_quasi_identifiers(
    column: str, keys: dict[str, Any], scale: Scale
) -> None:
    sensitive = resolved(changed(column, **keys))
    identifying = policy(columns={column: {"role": "quasi_identifying", **keys}})
    attribute = next(a for a in sensitive.attributes if a.column.name == column)
    assert attribute.scale is resolved(identifying).attributes[0].scale is scale
    assert attribute.form is Shown.VALUES


def test_quasi_identifiers_are_in_no_set() -> None:
    spec = resolved(policy())
    (age,) = spec.attributes
    assert (age.qs_set, age.form, age.published_type) == (None, Shown.RANGE, "numrange")
    assert age.null_column == "age_null"
    assert spec.qs_sets == {}
    assert spec.minimum_size == 5


def test_sets_are_in_the_order_of_the_policy() -> None:
    data = qs_policy()
    data["columns"] = dict(reversed(data["columns"].items()))
    data["columns"]["job"] = {"role": "quasi_sensitive", "set": "sighting"}
    sets = resolved(data).qs_sets
    assert {name: [a.column.name for a in found] for name, found in sets.items()} == {
        "sighting": ["hour", "zone", "job"],
        "registration": ["colour", "reg_year"],
    }
    assert list(sets) == ["sighting", "registration"]


def test_views_of_parts() -> None:
    spec = resolved(qs_policy(release="Seen", publish={"schema": "open"}))
    assert spec.view == QualifiedName("open", "Seen")
    assert spec.view_of("expanded") == QualifiedName("open", "Seen_expanded")


@pytest.mark.parametrize("name", ["cluster_no", "size"])
@pytest.mark.parametrize("column", ["hour", "speed"])
def test_names_that_the_method_adds_are_taken(column: str, name: str) -> None:
    assert problems(changed(column, **{"as": name})) == {
        f"columns.{column}": f"{name} is a column that pganon adds"
    }


def test_names_that_another_method_adds_are_free() -> None:
    assert resolved(changed("hour", **{"as": "class_id"})).attributes[3].published == "class_id"
    data = policy()
    data["columns"]["age"]["as"] = "size"
    assert resolved(data).attributes[0].published == "size"
    data["columns"]["age"]["as"] = "class_id"
    assert problems(data) == {"columns.age": "class_id is a column that pganon adds"}


def test_no_column_shows_nulls_of_a_quasi_sensitive_column() -> None:
    data = changed("speed", **{"as": "hour_null"})
    assert resolved(data).carried[0].published == "hour_null"
    assert "two published columns" in problems(changed("speed", **{"as": "hour"}))["columns.speed"]


def test_columns_that_cannot_be_released() -> None:
    data = qs_policy()
    data["columns"]["photo"] = {"role": "quasi_sensitive", "set": "sighting"}
    data["columns"]["zone"]["type"] = "numeric"
    assert problems(data) == {
        "columns.photo": "column photo has the type bytea, which cannot be released",
        "columns.zone.type": "column zone is public.zone, not a number or date",
    }
