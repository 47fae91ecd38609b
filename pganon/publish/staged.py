"""Staged releases, which a finished run passes to publication."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from pydantic import ConfigDict

from pganon.forms.evidence import JUDGEMENT
from pganon.history.versions import Judgement
from pganon.policy.partition import Part
from pganon.privacy.judged import FINER, over_finer
from pganon.resolved.increments import Increment
from pganon.resolved.republication import Prints
from pganon.steps.relations import CheckQuery, PublishedView, StoredRelation


@dataclass(frozen=True)
class Staged:
    """A verified release in the staging schema, ready to be published.

    Attributes:
        guarantee: the guarantee of the release, as shown to analysts: list of
            {model, parameter..., column}.
        readers, trusted: roles with their numbers when the run began.
        measures: utility and risk for the steward.
        stamps: pganon.stamp() of each of `relations`, of when it was made.
        fingerprint: keyed fingerprint of `shared` and the published relations when they were
            verified.
        partition: the partition part of the policy.
        sources: names of the source and of all relations that its rows come from.
        prints: fingerprints with which the source of later versions is compared.
        compared_with: runs of the versions over these sources that this one was compared with;
            None if it may be published whatever the others show.
        judged: result of the rule over time; None if versions cannot be compared.
        shared: tables of the version before that this one shows, too: part, schema, name, rows.
        increments: of a version that grows, what each run added, this one last.
        decides: whether the run tested the cohorts that its release committed to.
        source_columns: name and type of all columns of the source.
        evidence: what the run measured for reports; None if nothing did.
        source_mark: see :func:`pganon.publish.release_state.source_mark`, before it was read.
    """

    # Kept as JSON while it waits for approval.
    __pydantic_config__: ClassVar = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    run_id: int
    release: str
    source: str
    method: str
    policy: dict[str, Any]
    policy_hash: str
    guarantee: list[dict[str, Any]]
    relations: tuple[StoredRelation, ...]
    views: tuple[PublishedView, ...]
    checks: tuple[CheckQuery, ...]
    readers: dict[str, int]
    trusted: dict[str, int]
    keep: int
    row_count: int
    suppressed: int
    stamps: tuple[str, ...]
    fingerprint: bytes
    prints: Prints
    partition: Part
    sources: tuple[str, ...]
    compared_with: frozenset[int] | None = None
    judged: Judgement | None = None
    measures: dict[str, Any] = field(default_factory=dict)
    shared: tuple[dict[str, Any], ...] = ()
    increments: tuple[Increment, ...] = ()
    decides: bool = False
    source_columns: tuple[tuple[str, str], ...] = ()
    source_mark: str | None = None
    evidence: dict[str, Any] | None = None

    @property
    def promised(self) -> list[dict[str, Any]]:
        """The guarantee, with a statement about readers of other versions."""
        judged = self.judged
        if judged is None or judged.finer_k is None or judged.over_versions != FINER:
            return self.guarantee
        statement = over_finer(judged.finer_k)
        return [{**item, "over_versions": statement} for item in self.guarantee]

    @property
    def shown_evidence(self) -> dict[str, Any]:
        """What is to be seen before somebody approves: the evidence, if there is any, and what the
        version promises beside others, to whom. The ledger has its digest."""
        judged = self.judged
        crossings = judged.crossings if judged else ()
        judgement = {
            "guarantee": self.promised,
            "over_versions": judged.over_versions if judged else None,
            "crossings": [[one.run_id, one.label, one.reason, one.people] for one in crossings],
            "readers": sorted(self.readers),
            "judged_for": sorted((judged and judged.readers) or ()),
        }
        return {**(self.evidence or {}), JUDGEMENT: judgement}
