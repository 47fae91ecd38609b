"""Tables of the oracles of local generalization and bucketization, as sources and as releases.

A source has an integer `id` from 1 in the order of the table's keys, and for each column that some
hide a companion `<column>_private`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from psycopg.types.range import Range

from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged
from tests.support.oracles.lgb import Attribute, Key, Table
from tests.support.oracles.lgb_release import Element, Release, Row
from tests.support.sources.builders import make_table

Roles = Mapping[str, str]
"""quasi_identifying, semi_sensitive or sensitive, by column."""


def roles(table: Table) -> dict[str, str]:
    """What follows from who hides what."""
    found = {}
    for a, attribute in enumerate(table.attributes):
        hiding = sum(a in hidden for hidden in table.hidden.values())
        role = "sensitive" if hiding == len(table.values) else "semi_sensitive"
        found[attribute.name] = role if hiding else "quasi_identifying"
    return found


def build(
    db: Database, table: Table, known: Roles | None = None, types: Mapping[str, str] | None = None
) -> None:
    """Args: types: SQL types, by column; integer for numbers and text for others by default."""
    known = known or roles(table)
    semi = [a for a, one in enumerate(table.attributes) if known[one.name] == "semi_sensitive"]
    columns: dict[str, str] = {}
    for attribute in table.attributes:
        default = "integer" if attribute.kind == "numeric" else "text"
        columns[attribute.name] = (types or {}).get(attribute.name, default)
    columns |= {f"{table.attributes[a].name}_private": "boolean" for a in semi}
    rows = [
        [*table.values[key], *[a in table.hidden[key] for a in semi]]
        for key in sorted(table.values)
    ]
    make_table(db.connect("source_owner"), columns, rows)


def policy(
    table: Table,
    method: Mapping[str, Any],
    k: int,
    principles: Collection[Mapping[str, Any]],
    known: Roles | None = None,
    **others: Any,
) -> dict[str, Any]:
    """Columns may be associated: that is a matter of its own."""
    columns: dict[str, Any] = {}
    for name, role in (known or roles(table)).items():
        (attribute,) = [a for a in table.attributes if a.name == name]
        columns[name] = {"role": role}
        if role == "semi_sensitive":
            columns[name]["sensitive_when"] = {"column": f"{name}_private"}
        if attribute.kind == "tree" and role != "sensitive":
            columns[name]["hierarchy"] = {"inline": _nested(attribute)}
    return {
        "release": "r",
        "source": "public.t",
        "columns": columns,
        "privacy": [{"model": "k_anonymity", "k": k}, *principles],
        "method": {"link_threshold": 1, **method},
        **others,
    }


def _nested(attribute: Attribute) -> dict[str, Any]:
    below: dict[Any, list[Any]] = defaultdict(list)
    for child, parent in attribute.parents.items():
        below[parent].append(child)
    (root,) = set(below) - set(attribute.parents)

    def of(node: Any) -> Any:
        inner = [child for child in below[node] if child in below]
        return {child: of(child) for child in inner} if inner else below[node]

    return {root: of(root)}


def diverse(column: str, l: int) -> dict[str, Any]:  # noqa: E741 (the field's own letter)
    return {"model": "local_bucket_diversity", "column": column, "l": l}


def close(column: str, t: float, min_size: int, distance: str = "equal") -> dict[str, Any]:
    return {
        "model": "t_closeness",
        "column": column,
        "t": t,
        "min_size": min_size,
        "distance": distance,
    }


# -- what was made ------------------------------------------------------------------------------


def keys(staged: Staged, table: Table) -> dict[int, Key]:
    """Keys of the table by the source's."""
    return dict(enumerate(sorted(table.values), 1))


def groups(staged: Staged, table: Table) -> set[frozenset[Key]]:
    return _gathered(staged, table, "group_id")


def buckets(staged: Staged, table: Table, column: str) -> set[frozenset[Key]]:
    return _gathered(staged, table, f"{column}_bucket")


def _gathered(staged: Staged, table: Table, number: str) -> set[frozenset[Key]]:
    key = keys(staged, table)
    found: dict[Any, set[Key]] = defaultdict(set)
    for row in staged.table("members"):
        found[row[number]].add(key[int(row["member"])])
    found.pop(None, None)
    return {frozenset(one) for one in found.values()}


def forms(staged: Staged, table: Table, known: Roles | None = None) -> dict[int, str]:
    """A letter per attribute, by group."""
    known = known or roles(table)
    return {row["group_id"]: _form(table, known, row) for row in staged.table("groups")}


def _form(table: Table, known: Roles, row: Mapping[str, Any]) -> str:
    plain = {"quasi_identifying": "g", "sensitive": "b"}
    return "".join(row.get(f"{a.name}_form") or plain[known[a.name]] for a in table.attributes)


def release(staged: Staged, table: Table, known: Roles | None = None) -> Release:
    """The staged relations as the oracle has them."""
    known = known or roles(table)
    shown = {row["group_id"]: row for row in staged.table("groups")}
    rows = []
    for record in staged.table("records"):
        group = shown[record["group_id"]]
        form = _form(table, known, group)
        rows.append(
            Row(
                record["group_id"],
                form,
                tuple(
                    _element(attribute, group) if letter == "g" else None
                    for attribute, letter in zip(table.attributes, form, strict=True)
                ),
                tuple(record.get(f"{a.name}_bucket") for a in table.attributes),
            )
        )
    values = {}
    hidden = [a for a in table.attributes if known[a.name] != "quasi_identifying"]
    for j, attribute in enumerate(hidden):
        held = staged.table(_part(staged, j, attribute.name))
        values[table.attributes.index(attribute)] = tuple(
            (row[f"{attribute.name}_bucket"], row[attribute.name], row["count"]) for row in held
        )
    return Release(table.attributes, tuple(rows), values)


def _part(staged: Staged, j: int, column: str) -> str:
    parts = [relation.part for relation in staged.plan.method.form.staging.relations(
        staged.plan.spec, staged.state)]  # fmt: skip
    return next(part for part in (f"values{j}", f"values_{column}") if part in parts)


def _element(attribute: Attribute, row: Mapping[str, Any]) -> Element:
    value, null = row[attribute.name], row.get(f"{attribute.name}_null", False)
    if attribute.kind == "nominal":
        return frozenset([*(value or ()), *([None] if null else [])])
    if attribute.kind == "tree":
        return value
    if value is None:
        return (None, None, "a")
    assert isinstance(value, Range)
    return (int(value.lower), int(value.upper), "s" if null else "n")


def domains(table: Table) -> dict[int, list[Any]]:
    """Values of every attribute that are shown to somebody, in order; not NULL."""
    found: dict[int, list[Any]] = {}
    for a, attribute in enumerate(table.attributes):
        shown = {row[a] for key, row in table.values.items() if a not in table.hidden[key]}
        found[a] = sorted(shown - {None}, key=attribute.place)
    return found
