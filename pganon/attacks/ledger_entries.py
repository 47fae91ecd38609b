"""Attacks in the ledger, for reports of what the same policy made of the same data.

Other versions of the release get none: their groups, or the people in them, are others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pganon.attacks.findings import Attacked
from pganon.forms.confidential import told_finding
from pganon.ledger import repository as ledger
from pganon.policy.partition import part_hash, shown_part
from pganon.publish import release_state
from pganon.publish.held import HeldRelease
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.republication import same_source
from pganon.sqlfiles import Connection, ask

_ELSEWHERE = {"release", "source", "run_id", "versions", "requests"}
"""What the row has beside its details, or what it is about."""


def recorded(
    conn: Connection, spec: ReleaseSpec, source_fingerprint: bytes, attacked: Attacked
) -> Attacked:
    """Write a row for every version, and what waits for approval, that was attacked.

    The session must hold the lock of the release.

    Args:
        source_fingerprint: of the data, see :func:`pganon.encode.source.source_fingerprint`.

    Returns:
        the same, with these versions and requests.
    """
    release, document = spec.policy.release, spec.policy.document()

    def same(partition_hash: str, policy: Mapping[str, Any], data: bytes) -> bool:
        of_part = (part_hash(spec.partition), shown_part(document))
        return (partition_hash, shown_part(policy)) == of_part and same_source(
            data, source_fingerprint
        )

    history = release_state.read(conn, release)
    waiting = ask(conn, "requests", "waiting_for", release=release)
    versions = {
        one.version: one.run_id
        for one in (history.versions if history else ())
        if same(one.partition_hash, one.policy, one.source_fingerprint)
    }
    requests = {
        request: kept.staged.run_id
        for request, kept in ((number, HeldRelease.of(text)) for number, text in waiting)
        if same(part_hash(kept.staged.partition), kept.staged.policy, kept.staged.prints.source)
    }
    found = {n: v for n, v in attacked.as_dict().items() if n not in _ELSEWHERE}
    # Approvers are told what the ledger has.
    smallest = spec.policy.report.smallest
    found["findings"] = [told_finding(one, smallest) for one in found["findings"]]
    about = [*versions.items(), *((None, run_id) for run_id in requests.values())]
    for version, run_id in about:
        ledger.append(
            conn,
            "attacked",
            run_id=run_id,
            release=release,
            version=version,
            policy_hash=spec.policy_hash,
            details={"attack": attacked.run_id, **found},
        )
    return replace(attacked, versions=tuple(sorted(versions)), requests=tuple(sorted(requests)))
