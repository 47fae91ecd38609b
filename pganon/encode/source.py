"""Whether the source is the one that the previous version was made from.

The snapshot's fingerprint is a keyed hash of its rows as a multiset, of what was read (columns
and filter) and of nothing else. A version keeps it, so a later run can compute it again under the
same key. Two versions over different records can be intersected: what changed shows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from pganon.encode.secrets import row_sums, run_secret
from pganon.encode.snapshot import snapshot_select
from pganon.errors import PganonError, PrivacyRefusal
from pganon.plan.sqltools import cast, col, named, query, render, text
from pganon.plan.steps import Check, State
from pganon.spec.model import ReleaseSpec


@dataclass(frozen=True)
class Previous:
    """The last version that was readable: what a new one is compared with."""

    version: int
    run_id: int
    source_fingerprint: bytes | None


def source_check(spec: ReleaseSpec, previous: Previous | None) -> Check:
    """Facts `source_fingerprint` and, with a previous version, `source_unchanged`."""
    signature = hashlib.sha256(render(snapshot_select(spec)).encode()).hexdigest()

    def select(state: State) -> exp.Expr:
        snapshot = {"t": state.work("snap")}
        row = _row(spec)
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


def _row(spec: ReleaseSpec) -> exp.Expr:
    """A row of the snapshot; enums as text, since they hash by a number of the catalog."""
    items = [(f"q{item.index}", item.column) for item in spec.attributes]
    items += [(f"s{item.index}", item.column) for item in spec.sensitive]
    items += [(f"p{item.index}", item.column) for item in spec.carried]
    parts = [
        cast(col(name, "t"), "text") if column.kind == "enum" else col(name, "t")
        for name, column in items
    ]
    parts += [col("record", "t")] if spec.record_key else []
    parts += [col("individual", "t")] if spec.individual else []
    return exp.func("row", *parts)


def _digest(
    state: State,
    snapshot: dict[str, Any],
    row: exp.Expr,
    signature: str,
    run_id: int | None,
    name: str,
) -> exp.Expr:
    sums = query("select 1 from t", snapshot).select(*row_sums(state, row, run_id), append=False)
    digest = query(
        "select sha256(:key || convert_to(:signature || ':' || x.row_count || ':' || x.sum_a"
        " || ':' || x.sum_b, 'UTF8')) from x",
        {"x": sums},
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
    if row["previous_fingerprint"] == previous.source_fingerprint:
        return None
    return PrivacyRefusal(
        f"the source, its filter or the released columns changed since version"
        f" {previous.version} of {spec.policy.release}; who compares two versions may learn what"
        " neither shows",
        hint="accept the risk with republication: warn or allow, or publish under another name"
        " for other readers",
        code="republication",
    )
