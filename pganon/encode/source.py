"""Whether the source is the one that the previous version was made from.

The snapshot's fingerprint is a keyed hash of its rows as a multiset, of what was read (columns
and filter) and of nothing else. A version keeps it, so a later run can compute it again under the
same key. Two versions over different records can be intersected: what changed shows. So can two
that differ in their random choices alone: a version over an unchanged source takes over the seed
of the one before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from psycopg import sql
from sqlglot import exp

from pganon.encode.records import snapshot_row
from pganon.encode.secrets import SECRETS, row_sums, run_secret
from pganon.encode.snapshot import snapshot_select
from pganon.errors import PganonError, PrivacyRefusal
from pganon.identifiers import QualifiedName
from pganon.plan.sqltools import named, query, render, text
from pganon.plan.steps import Check, State, Statement, Step
from pganon.spec.model import ReleaseSpec


@dataclass(frozen=True)
class Previous:
    """The last version that was readable: what a new one is compared with."""

    version: int
    run_id: int
    source_fingerprint: bytes | None


def source_steps(spec: ReleaseSpec, previous: Previous | None) -> tuple[Step, ...]:
    """The source compared with the previous version's, if there is one, and what follows."""
    check = _source_check(spec, previous)
    return (check,) if previous is None else (check, _inheritance(previous))


def source_unchanged(previous: Previous, facts: Mapping[str, Any]) -> bool:
    """Whether the check of the source found the records of the previous version."""
    before = previous.source_fingerprint
    return before is not None and facts["previous_fingerprint"] == before


def _source_check(spec: ReleaseSpec, previous: Previous | None) -> Check:
    """Facts `source_fingerprint` and, with a previous version, `previous_fingerprint`."""
    signature = hashlib.sha256(render(snapshot_select(spec)).encode()).hexdigest()

    def select(state: State) -> exp.Expr:
        snapshot = state.work("snap")
        row = snapshot_row(spec, "t")
        tree = exp.select(_digest(state, snapshot, row, signature, None, "source_fingerprint"))
        if previous is not None:
            tree = tree.select(
                _digest(state, snapshot, row, signature, previous.run_id, "previous_fingerprint")
            )
        return tree

    return Check(
        "source",
        "fingerprint of the source, compared with the previous version's",
        select,
        lambda row, state: _republication(spec, previous, row),
    )


def _inheritance(previous: Previous) -> Statement:
    """From version to version, so all those over one source have the seed of the first."""

    def render(state: State) -> sql.Composed:
        return sql.SQL(
            "UPDATE {secrets} AS s SET partition_seed = p.partition_seed FROM {secrets} AS p"
            " WHERE s.run_id = {run} AND p.run_id = {previous}"
        ).format(
            secrets=SECRETS.identifier,
            run=sql.Literal(state.run_id),
            previous=sql.Literal(previous.run_id),
        )

    return Statement(
        "inherit",
        "an unchanged source keeps its groups: the seed of the previous version",
        render,
        when=lambda state: source_unchanged(previous, state.facts),
    )


def _digest(
    state: State,
    snapshot: QualifiedName,
    row: exp.Expr,
    signature: str,
    run_id: int | None,
    name: str,
) -> exp.Expr:
    digest = query(
        "select sha256(:key || convert_to(:signature || ':' || x.row_count || ':' || x.sum_a"
        " || ':' || x.sum_b, 'UTF8')) from x",
        {"x": row_sums(state, snapshot, row, run_id)},
        key=run_secret(state, "key", run_id).subquery(),
        signature=text(signature),
    )
    return named(digest.subquery(), name)


def _republication(
    spec: ReleaseSpec, previous: Previous | None, row: Mapping[str, Any]
) -> PganonError | None:
    if row["source_fingerprint"] is None:
        return PganonError("the secrets of the run are missing")
    if previous is None or spec.policy.republication != "refuse":
        return None
    if source_unchanged(previous, row):
        return None
    return PrivacyRefusal(
        f"the source, its filter or the released columns changed since version"
        f" {previous.version} of {spec.policy.release}; who compares two versions may learn what"
        " neither shows",
        hint="accept the risk with republication: warn or allow, or publish under another name"
        " for other readers",
        code="republication",
    )
