"""The partition part of a policy: keys that decide which groups are made and how they are shown.

Two versions of one part over one source, under one seed, have the same groups and show the same
of them. Whatever else a policy says (readers, names, versions kept) changes nothing of that.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pganon.identifiers import QualifiedName
from pganon.policy.columns import ColumnPolicy
from pganon.policy.hierarchies import CsvHierarchy
from pganon.policy.model import Policy
from pganon.policy.registry import ModelDeclaration
from pganon.policy.words import UNPUBLISHED_ROLES

REVISION = 1
"""Raised when records are encoded in another way, so that every method may give other groups. Where
only one does, its own `revision` is raised."""

PRACTICE = frozenset({"requests", "schedule", "time_zone", "undeclared", "about", "report"})
"""Keys about when a release is made, who may ask for it, and what is reported of it."""

ELSE = PRACTICE | {
    "release",
    "republication",
    "audiences",
    "population",
    "aliases",
    "publish",
    "trust",
    "inference",
    "variables",
}
"""All keys that change neither which groups are made nor what is shown of their people."""

DECIDES = frozenset(Policy.model_fields) - ELSE
"""The others decide that."""

APPLIED = PRACTICE | {"republication", "aliases", "trust", "variables"}
PUBLISH_APPLIED = frozenset({"readers", "keep", "approval", "review_by"})
"""Keys, of the policy and under `publish`, that can be applied to an existing version."""

COLUMN_ELSE = frozenset({"published_as", "shown", "mean", "unprotected"})
COLUMN_DECIDES = frozenset(ColumnPolicy.model_fields) - COLUMN_ELSE
"""The same for the keys of a column."""

Part = Mapping[str, Any]
"""Values of JSON by path, such as `privacy.k_anonymity.k`; omitted keys have their default."""

_PLAIN = DECIDES - {"source", "individual", "columns", "privacy", "method", "tables"}
"""Those of them that are compared as they stand."""

_GROUPED = ("quasi_identifying", "semi_sensitive", "quasi_sensitive")
_WORDS = frozenset({"role", "type", "nulls", "weight", "levels", "set"})
"""Keys of a column that hold no values of it."""

_MOST = 4
"""Differences that a message names."""


def partition_part(policy: Policy, source: QualifiedName, base_dir: Path) -> Part:
    """The part of a policy about this source; files in `base_dir` count by their content."""
    part: dict[str, Any] = {"revision": REVISION, "source": str(source)}
    part |= _given(policy, _PLAIN)
    key = policy.individual_key
    part["individual"] = key[0] if len(key) == 1 else list(key) or None
    part |= _columns(policy.columns, base_dir)
    part |= _tables(policy)
    part |= _privacy(policy.privacy)
    method = policy.method
    given = method.model_dump(
        mode="json", by_alias=True, exclude_defaults=True, exclude=set(method.idle)
    )
    given["revision"] = method.revision
    part |= {f"method.{key}": value for key, value in given.items()}
    return {path: value for path, value in part.items() if value is not None}


def _given(declared: Policy | ColumnPolicy, fields: Iterable[str]) -> dict[str, Any]:
    """Values of these fields that are not the default, under the keys of the file."""
    return declared.model_dump(
        mode="json", by_alias=True, exclude_defaults=True, include=set(fields)
    )


def _columns(columns: Mapping[str, ColumnPolicy], base_dir: Path) -> dict[str, Any]:
    """Columns that are read. Their order counts among those of one kind: it decides ties."""
    part: dict[str, Any] = {}
    order: dict[str, list[str]] = {}
    for name, column in columns.items():
        if column.role in UNPUBLISHED_ROLES:
            continue
        kind = "grouped" if column.role in _GROUPED else column.role
        order.setdefault(kind, []).append(name)
        given = _given(column, COLUMN_DECIDES)
        if not isinstance(column.shown, str):  # groups within classes
            given |= _given(column, ("shown",))
        if isinstance(column.hierarchy, CsvHierarchy):
            given["hierarchy"] |= {
                "csv": hashlib.sha256((base_dir / column.hierarchy.csv).read_bytes()).hexdigest()
            }
        part |= {f"columns.{name}.{key}": value for key, value in given.items()}
    return {"columns": order, **part}


def _tables(policy: Policy) -> dict[str, Any]:
    """The other tables of related ones, in their order, which decides names of columns."""
    given = policy.model_dump(mode="json", by_alias=True, exclude_defaults=True, include={"tables"})
    tables = {n: t for n, t in given.get("tables", {}).items() if n != policy.root}
    part = {f"tables.{name}.{key}": value for name, t in tables.items() for key, value in t.items()}
    return {**part, "tables": [*tables], "root": policy.root} if tables else {}


def _privacy(models: Iterable[ModelDeclaration]) -> dict[str, Any]:
    part: dict[str, Any] = {}
    for model in models:
        given = model.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        label = given.pop("model")
        column, table = given.pop("column", None), given.pop("table", None)
        if column is not None or table is not None:
            label = f"{label}({'.'.join(filter(None, (table, column)))})"
        elif given.get("level") == "tuple":
            label = f"{label}[tuple]"  # beside it one of single columns may stand
        part |= {f"privacy.{label}.{key}": value for key, value in given.items()}
    return part


def shown_part(document: Mapping[str, Any]) -> Part:
    """The other keys that decide what readers see, as plain data: names, schema, inference.

    A version whose policy agrees in these and in the partition part can replace another.
    """
    part = {key: value for key, value in document.items() if key in ELSE - APPLIED}
    publish = part.pop("publish", {})
    part |= {f"publish.{k}": v for k, v in publish.items() if k not in PUBLISH_APPLIED}
    keys = {ColumnPolicy.model_fields[field].alias or field for field in COLUMN_ELSE}
    names = {n: {k: c[k] for k in keys & c.keys()} for n, c in document["columns"].items()}
    return {**part, "columns": {name: given for name, given in names.items() if given}}


def part_hash(part: Part) -> str:
    """sha256 (hex) of the part's canonical JSON."""
    text = json.dumps(part, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def differences(before: Part, now: Part) -> str:
    """Differences for messages: `privacy.anatomy_l_diversity(disease).l 4 -> 5, ...`.

    Values are named where they are numbers and words of policies, never those of columns.
    """
    paths = [p for p in sorted(before.keys() | now.keys()) if before.get(p) != now.get(p)]
    if any(path.startswith("columns.") for path in paths):
        paths = [path for path in paths if path != "columns"]
    shown = [_difference(path, before, now) for path in paths[:_MOST]]
    if len(paths) > _MOST:
        shown.append(f"{len(paths) - _MOST} more")
    return ", ".join(shown)


def _difference(path: str, before: Part, now: Part) -> str:
    if path == "columns":
        return "the order of columns"
    old, new = (side.get(path) for side in (before, now))
    if path not in before or path not in now:
        return f"{path} {'added' if path in now else 'removed'}"
    if path.startswith("columns."):
        told = path.rpartition(".")[2] in _WORDS
    else:
        told = path not in ("where", "exclusions")
    if not told or isinstance(old, list | dict) or isinstance(new, list | dict):
        return path
    return f"{path} {old} -> {new}"
