"""Runs of the steps that make priors, without a method around them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from psycopg import sql

from pganon import database
from pganon.encode.codes import encode_steps
from pganon.encode.snapshot import snapshot_steps
from pganon.encode.source import decision_steps, source_check
from pganon.methods.background.prior import prior_steps
from pganon.policy import loader
from pganon.policy.loader import LoadedPolicy
from pganon.policy.model import ColumnPolicy
from pganon.policy.options import CLASS_ID, UNPUBLISHED, Encoding, MethodOptions
from pganon.policy.refusals import Refusal
from pganon.policy.registry import Registry
from pganon.privacy.models import MODELS
from pganon.resolved.model import ReleaseSpec
from pganon.run.context import resolve_policy
from pganon.run.executor import Executor
from pganon.run.options import Options, advise_planner
from pganon.steps import State
from tests.support.harness.driver import Connection, fetch
from tests.support.sources.builders import policy

_RUNS = itertools.count(7_000)


class Priors(MethodOptions):
    """A method that would group by priors."""

    roles = UNPUBLISHED | {"quasi_identifying", "sensitive", "insensitive"}
    grouped = "quasi_identifying"
    models = frozenset({"k_anonymity", "background_knowledge"})
    example = "{model: k_anonymity, k: 5}"
    adds = (CLASS_ID,)
    sensitive = "one"

    name: Literal["priors"]

    @property
    def encoding(self) -> Encoding:
        return Encoding(codes_sensitive=True)

    def column_refusals(self, name: str, column: ColumnPolicy) -> Iterable[Refusal]:
        return ()


KNOWN = Registry({"priors": Priors}, MODELS)


def priors_policy(
    columns: dict[str, Any], knowledge: Any, *, j: float = 0.3, **model: Any
) -> dict[str, Any]:
    """A policy over public.t."""
    wanted = {"model": "background_knowledge", "j": j, "knowledge": knowledge, **model}
    return policy(columns, [wanted], method={"name": "priors"}, trust=["source_owner"])


@dataclass(frozen=True)
class Made:
    """What the steps made."""

    conn: Connection
    spec: ReleaseSpec
    state: State

    def rows(self, table: str, order: str) -> list[dict[str, Any]]:
        text = sql.SQL("SELECT * FROM {} ORDER BY {}")
        return fetch(
            self.conn, text.format(self.state.work(table).identifier, sql.Identifier(order))
        )

    def values(self, index: int) -> dict[int, Any]:
        """Of a quasi-identifier, by code."""
        return {row["code"]: row["value"] for row in self.rows(f"dict{index}", "code")}

    @property
    def sensitive(self) -> list[Any]:
        return [row["value"] for row in self.rows("sdict0", "code")]

    @property
    def priors(self) -> dict[tuple[Any, ...], tuple[float, ...]]:
        """Probabilities by the values of the quasi-identifiers, in the order of cells."""
        vectors = {row["vector"]: row["probabilities"] for row in self.rows("vectors", "vector")}
        chosen = {row["cell"]: row["vector"] for row in self.rows("cell_vectors", "cell")}
        numbers = [attribute.index for attribute in self.spec.attributes]
        values = [self.values(i) for i in numbers]
        return {
            tuple(values[i][row[f"c{i}"]] for i in numbers): tuple(vectors[chosen[row["cell"]]])
            for row in self.rows("qi_cells", "cell")
        }


def loaded(data: dict[str, Any]) -> LoadedPolicy:
    return LoadedPolicy(loader.policy_from(data, KNOWN), None, Path.cwd())


def made(conn: Connection, data: dict[str, Any]) -> Made:
    """Everything from the source to priors; `conn` belongs to the owner of pganon."""
    database.set_up(conn, database.RUN_SETTINGS)
    advise_planner(conn, Options())
    spec = resolve_policy(conn, loaded(data))
    state = State(next(_RUNS))
    conn.execute(
        "INSERT INTO pganon_private.run_secret (run_id, key, seed_a, seed_b, partition_seed)"
        " VALUES (%s, sha256('x'), 1, 2, 3)",
        [state.run_id],
    )
    executor = Executor(conn, state)
    executor.run(snapshot_steps(spec))
    executor.run(encode_steps(spec, beside=[source_check(spec)], then=decision_steps(spec, None)))
    executor.run(prior_steps(spec))
    return Made(conn, spec, executor.state)
