"""Staged releases, which a finished run passes to publication."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pydantic import ConfigDict

from pganon.forms.confidential import JUDGEMENT, WITHHELD, few_left_out, told_evidence
from pganon.forms.facts import PUBLISHED, SUPPRESSED
from pganon.forms.growing import standing_check, standing_increments
from pganon.forms.stored_relations import greatest_number
from pganon.history.versions import Judgement
from pganon.plan.build import Plan
from pganon.plan.verification import FINGERPRINT, kept
from pganon.policy.partition import Part
from pganon.privacy.base import FINER, over_finer
from pganon.publish.figures import Figures, circumstances, totals
from pganon.resolved.guarantee import guarantee
from pganon.resolved.increments import Increment, all_checks, all_views, promised
from pganon.resolved.periods import END, TIMED_ROWS
from pganon.resolved.republication import Prints
from pganon.steps import State, stamp_of
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


def staged_release(
    plan: Plan,
    state: State,
    statistics: Figures,
    prints: Prints,
    sources: tuple[str, ...],
    source_mark: str | None,
) -> Staged:
    """The verified release for publication.

    Args:
        statistics: of the version.
        prints: of the source.
        sources: names of the source and of all that its rows come from.
        source_mark: of these, from before they were read.
    """
    spec = plan.spec
    relations = plan.relations(state)
    views, checks, whole = plan.stored_views(state), plan.stored_checks(state), totals(plan, state)
    increments = _increments(plan, state, views, checks)
    found, few = plan.evidence(state), few_left_out(spec.policy, whole.suppressed)
    measures = {**statistics.as_dict(whole.records), **circumstances(spec, state)}
    return Staged(
        run_id=state.run_id,
        release=spec.policy.release,
        source=str(spec.source.name),
        method=plan.method.name,
        policy=spec.policy.document(),
        policy_hash=spec.policy_hash,
        guarantee=promised(increments) if increments else _stated(plan, state),
        relations=relations,
        views=all_views(increments, views) if increments else views,
        checks=_checks(plan, state, increments, checks),
        readers=spec.reading,
        trusted=spec.trusted,
        keep=spec.policy.publish.keep,
        row_count=whole.released,
        suppressed=whole.suppressed,
        stamps=tuple(state[stamp_of(r.staged)] for r in relations),
        fingerprint=state[FINGERPRINT],
        prints=prints,
        partition=spec.partition,
        sources=sources,
        compared_with=_compared_with(plan, prints.source),
        measures={**measures, WITHHELD: True} if few else measures,
        shared=kept(spec, state),
        increments=increments,
        decides=(spec.growth.adds if spec.growth is not None else spec.signatures is not None),
        source_columns=tuple((c.name, c.type_name) for c in spec.source.columns),
        source_mark=source_mark,
        evidence=told_evidence(found) if found and few else found,
    )


def _stated(plan: Plan, state: State) -> list[dict[str, Any]]:
    """The guarantee with what the form says of this version."""
    further = plan.method.form.publication.stated(plan.spec, state)
    return [{**item, **further} for item in guarantee(plan.spec)]


def _checks(
    plan: Plan, state: State, increments: tuple[Increment, ...], mine: tuple[CheckQuery, ...]
) -> tuple[CheckQuery, ...]:
    """Over the tables of all increments, if there are several."""
    growth = plan.spec.growth
    if growth is None:
        return mine
    return (*all_checks(increments), *standing_check(growth, state))


def _increments(
    plan: Plan, state: State, views: Sequence[PublishedView], checks: tuple[CheckQuery, ...]
) -> tuple[Increment, ...]:
    """Increments of a version that grows, with the one that the run adds."""
    if plan.spec.growth is None:
        return ()
    growth = plan.spec.growth
    before = standing_increments(growth, state)
    if not growth.adds and not growth.closes:
        return before
    if growth.closes:
        checks = checks[len(all_checks(growth.increments)) :]
    mine = Increment(
        state.run_id,
        tuple(view.select for view in views),
        checks,
        state[PUBLISHED] if growth.adds else 0,
        state[SUPPRESSED] if growth.adds else 0,
        greatest_number(state.facts),
        tuple(guarantee(plan.spec)),
        state.facts.get(END),
        state.facts.get(TIMED_ROWS) or 0,
    )
    return (*before, mine)


def _compared_with(plan: Plan, fingerprint: bytes) -> frozenset[int] | None:
    """Runs beside whose versions alone the release may appear; None if beside any other."""
    republication = plan.republication
    if republication is None or not republication.refuses:
        return None
    if republication.repeated(fingerprint) is not None:
        return None  # it shows nothing new
    return frozenset(earlier.run_id for earlier in republication.earlier)
