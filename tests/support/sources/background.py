"""Tables and policies of releases against background knowledge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged
from tests.support.sources.builders import make_table

TYPES = {"age": "numeric", "sex": "text", "s": "text"}
ROLES: dict[str, Any] = {
    "age": {"role": "quasi_identifying"},
    "sex": {"role": "quasi_identifying"},
    "s": {"role": "sensitive"},
}


def build(
    db: Database, rows: Sequence[Sequence[Any]], types: Mapping[str, str] | None = None
) -> None:
    """Table public.t, with keys from 1."""
    make_table(db.connect("source_owner"), dict(types or TYPES), rows)


def beta_policy(
    method: str | Mapping[str, Any],
    *,
    k: int = 2,
    beta: float = 1.0,
    j: float = 0.3,
    knowledge: Any = None,
    closeness: Mapping[str, Any] | None = None,
    columns: Mapping[str, Any] | None = None,
    **others: Any,
) -> dict[str, Any]:
    """A policy over public.t; beta-likeness, unless `closeness` is another model."""
    privacy: list[Any] = [
        {"model": "k_anonymity", "k": k},
        dict(closeness or {"model": "beta_likeness", "beta": beta}) | {"column": "s"},
    ]
    if knowledge is not None:
        privacy.append({"model": "background_knowledge", "j": j, "knowledge": knowledge})
    return {
        "release": "r",
        "source": "public.t",
        "columns": dict(columns or ROLES),
        "privacy": privacy,
        "method": {"name": method} if isinstance(method, str) else dict(method),
        **others,
    }


SUPPRESSES = {"on_infeasible": "suppress", "suppression_limit": 1.0}


def groups(staged: Staged) -> list[list[int]]:
    """Keys of the records of every class, in order."""
    return sorted(sorted(keys) for keys in staged.members.values())
