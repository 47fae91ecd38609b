"""ReleaseSpec -> Plan: phases of steps, the same for the executor and for `pganon plan`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pganon.encode.codes import encode_steps
from pganon.encode.snapshot import copy_steps, inspection, read_steps, snapshot_steps
from pganon.encode.source import decision_steps, source_check
from pganon.error_codes import ErrorCode
from pganon.errors import UsageError
from pganon.forms.form import Evidence, PublishedForm, Tables
from pganon.forms.group_data import (
    GROUPS,
    HISTOGRAM,
    is_remembered,
    linked,
    manner,
    relations,
    shown_columns,
    staging_steps,
)
from pganon.forms.metrics import Metrics
from pganon.forms.request import Request
from pganon.history.check import RuleCheck, rule_steps
from pganon.history.increments.invariant import commit_steps, resumed_steps
from pganon.history.increments.steps import gather_steps, restricted_step
from pganon.history.invariance.signatures import InvariantVersion, signature_steps
from pganon.history.model import EarlierVersion, GroupTables, NewVersion
from pganon.identifiers import QualifiedName
from pganon.methods.common.base import Method
from pganon.methods.registry import method_of
from pganon.metrics.classification import target_of
from pganon.metrics.reasons import reason_steps
from pganon.metrics.whole import whole_facts, whole_steps
from pganon.plan.verification import staged_tables, verify_step
from pganon.resolved.invariance import Resumed, Signatures
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.population import People
from pganon.resolved.republication import Republication
from pganon.steps import State, Step
from pganon.steps.relations import CheckQuery, PublishedView, StoredRelation

NOTHING_MORE = Request()


@dataclass(frozen=True)
class Phase:
    """A named part of the way of a release.

    Attributes:
        skipped: why a run of the plan has no such steps; None where it has.
    """

    name: str
    purpose: str
    steps: tuple[Step, ...]
    skipped: str | None = None


def judging_phase(steps: Sequence[Step], skipped: str | None = None) -> Phase:
    """In which others who publish about the same people wait."""
    purpose = "the rule about groups of all versions about the same people"
    return Phase("guard", purpose, tuple(steps), skipped)


@dataclass(frozen=True)
class Plan:
    """The phases of one run up to publication.

    Attributes:
        past: versions about the same people; a run reads them when it gets there.
        people: of the source, as versions know them; None where none does.
        resumed: new individuals of earlier runs, who are tested before later ones; None: the run
            reads the source as it is.
        snapshot: a table that another run read the source into, in place of the source.
        period: the one that is added to the groups that there are, where nobody is new.
    """

    spec: ReleaseSpec
    method: Method
    republication: Republication | None = None
    request: Request = NOTHING_MORE
    reasoned: bool = False
    past: tuple[EarlierVersion, ...] = ()
    people: People | None = None
    resumed: Resumed | None = None
    snapshot: QualifiedName | None = None
    period: str | None = None

    @property
    def phases(self) -> tuple[Phase, ...]:
        """All of them in order, those that a run skips, too."""
        computing = (*self.computing, *self.describing)
        return (self.gathering, *self.reading, self.committing, *computing, self.judging)

    @cached_property
    def gathering(self) -> Phase:
        """After it is known whether there is anybody to add to a version."""
        name, purpose = "cohorts", "who is new, and who is tested together"
        if self.spec.growth is None:
            return Phase(name, purpose, (), "the release does not grow (refresh: increments)")
        steps = gather_steps(
            self.spec,
            self.spec.growth,
            self.method.form,
            self.people,
            commits=not self.reasoned,
        )
        return Phase(name, purpose, steps)

    @cached_property
    def reading(self) -> tuple[Phase, Phase]:
        """After it is known whether an earlier version has the same source."""
        spec = self.spec
        encoding = encode_steps(
            spec,
            beside=[source_check(spec)],
            then=decision_steps(spec, self.republication),
            left_out=not self.request.nothing or self.is_remembered or self._has_evidence,
        )
        return (
            Phase(
                "snapshot",
                "read the source once and see whether it can be released",
                self._snapshot,
            ),
            Phase("encode", "values become codes", encoding),
        )

    @property
    def sharing(self) -> Phase:
        """Of a run that only reads the source, for others."""
        purpose = "read the source once, for several runs"
        return Phase("snapshot", purpose, read_steps(self.spec, self.people))

    @property
    def _snapshot(self) -> tuple[Step, ...]:
        if self.snapshot is not None:
            return copy_steps(self.spec, self.snapshot)
        inspected = inspection(self.spec, restricted=True)
        if self.spec.growth is not None:
            return (restricted_step(self.spec), inspected)
        if self.resumed is not None:
            return (*resumed_steps(self.spec, self.resumed, self.people), inspected)
        return snapshot_steps(self.spec, self.people)

    @cached_property
    def committing(self) -> Phase:
        """Of an m-invariant version; a dry run, or who resumes, commits to nobody."""
        spec, name, purpose = self.spec, "newcomers", "who is tested together"
        if not spec.invariant:
            return Phase(name, purpose, (), "people keep no signatures (refresh: invariant)")
        if spec.signatures is None:
            return Phase(name, purpose, (), "nobody was released yet")
        if self.resumed is not None and self.resumed.cohort is not None and not self.reasoned:
            return Phase(name, purpose, (), "newcomers of an interrupted run come first")
        return Phase(name, purpose, commit_steps(spec, spec.signatures, commits=not self.reasoned))

    @cached_property
    def computing(self) -> tuple[Phase, ...]:
        """Until all relations are staged, verified and measured.

        Rendering what verification asks takes a while, and not every plan is run.
        """
        spec, method = self.spec, self.method
        return (
            Phase("partition", f"groups by {method.name}", method.partition_steps(spec)),
            Phase("recode", "published relations, staged", staging_steps(spec, method.form)),
            Phase(
                "verify",
                "re-measure the staged relations against every requirement; utility",
                (verify_step(spec, method),),
            ),
            self._measuring,
        )

    @cached_property
    def describing(self) -> tuple[Phase, ...]:
        """What is told of the release beside that, once it is known to fit its earlier versions."""
        return (self.gathering_evidence, self.whole, self._explaining)

    @property
    def _measuring(self) -> Phase:
        nothing = "no metrics were asked for" if self.request.nothing else None
        steps = _requested(self.spec, self.method, self.request)
        return Phase("measure", "metrics on request", steps, nothing)

    @property
    def gathering_evidence(self) -> Phase:
        """What a report says of the version."""
        name, purpose = "evidence", "what a report says of the version"
        found = self._evidence
        if not self._has_evidence or found is None:
            skipped = "in a run that makes a whole version, where no value is one that nobody has"
            return Phase(name, purpose, (), skipped)
        return Phase(
            name,
            purpose,
            found.steps(
                self.spec,
                lambda s: staged_tables(self.spec, self.method, s),
                self._measuring.steps,
            ),
        )

    @property
    def _evidence(self) -> Evidence | None:
        """Of the form, where the release has it and the run tells it."""
        found = self.method.form.statistics.evidence
        told = found is not None and found.applies(self.whole_spec) and not self.reasoned
        return found if told else None

    @property
    def _has_evidence(self) -> bool:
        adds = self.spec.growth is not None and self.spec.growth.version is not None
        return self._evidence is not None and not adds

    def evidence(self, state: State) -> dict[str, Any] | None:
        """The evidence of the version, as JSON; None if nothing measured it."""
        found = self._evidence
        if found is None:
            return None
        if self._has_evidence:
            return found.document(self.spec, state.facts, False)
        if not self.whole.steps:
            return None
        return found.document(self.whole_spec, whole_facts(state.facts), True)

    @property
    def whole_spec(self) -> ReleaseSpec:
        """What figures of the whole version are about."""
        return self.spec

    @property
    def whole(self) -> Phase:
        """Statistics of a version that grows, over all its increments."""
        spec = self.whole_spec
        growth = spec.growth
        form, reasoned = self.method.form, self.reasoned
        steps = () if growth is None else whole_steps(spec, growth, form, reasoned=reasoned)
        skipped = None if steps else "there is no earlier increment that they are added to"
        return Phase("whole", "figures of all increments together", steps, skipped)

    @property
    def _explaining(self) -> Phase:
        name, purpose = "explain", "why the release loses what it loses"
        if not self.reasoned:
            return Phase(name, purpose, (), "of a dry run alone")
        return Phase(name, purpose, reason_steps(self.spec))

    @cached_property
    def judging(self) -> Phase:
        """The comparison with versions that exist when the run gets there."""
        policy = self.spec.policy
        if not self.is_remembered:
            return judging_phase((), "nobody can tell people of versions apart: there is no key")
        steps: list[Step] = []
        if self.past:
            rule = RuleCheck(new_version(self.spec, self.method.form, State(0)), self.past)
            refuses = policy.republication == "refuse"
            steps += rule_steps(rule, refuses=refuses)
        if self.spec.invariant:
            steps += signature_steps(
                invariant_version(self.spec, self.method.form, State(0), self.spec.signatures)
            )
        return judging_phase(steps, None if steps else "no other version is about these people")

    @property
    def is_remembered(self) -> bool:
        """Whether the rule about groups can be held against the release and others."""
        return is_remembered(self.spec, self.method.form)

    def relations(self, state: State) -> tuple[StoredRelation, ...]:
        return relations(self.spec, self.method.form, state)

    def stored_checks(self, state: State) -> tuple[CheckQuery, ...]:
        """The verification over the tables at their final place."""
        return self.method.form.verification.checks(self.spec, state, self._stored(state))

    def stored_views(self, state: State) -> tuple[PublishedView, ...]:
        return self.method.form.publication.views(self.spec, state, self._stored(state))

    def metrics(self, state: State) -> Metrics | None:
        """Metrics on request; None if nothing was asked for."""
        form = self.method.form.statistics.on_request
        if form is None or self.request.nothing:
            return None
        return form.report(self.spec, self.request, state)

    def _stored(self, state: State) -> Tables:
        """The relations at their final place, by their part of the release."""
        return {r.part: r.stored for r in self.relations(state)}


def build_plan(
    spec: ReleaseSpec,
    republication: Republication | None = None,
    request: Request = NOTHING_MORE,
    *,
    reasoned: bool = False,
    people: People | None = None,
    resumed: Resumed | None = None,
    snapshot: QualifiedName | None = None,
) -> Plan:
    """The plan of one run: deterministic, nothing is executed or read.

    `republication` has the earlier versions over the source; `request` are the metrics to compute
    beyond those of every run. A plan that is `reasoned` also finds out why they are as they are.
    `people`, `resumed` and `snapshot` are those of :class:`Plan`.

    Raises:
        UsageError: no_metrics, the published form has no metrics on request; or it has other
            queries than the workload.
    """
    if snapshot is not None or spec.shows_means or (people is not None and people.forgotten):
        # Rows of a snapshot that is not as it was read, or what else of records is added up.
        spec = replace(spec, shards=None, counted=False)
    method = method_of(spec)
    form = method.form.statistics.on_request
    if form is None and not request.nothing:
        raise UsageError(
            f"--metrics and --workload have nothing to measure in a release of"
            f" {method.form.publication.groups} that {method.name} makes",
            hint="leave them out; every run measures the loss of what it publishes",
            code=ErrorCode.NO_METRICS,
        )
    if request.classify is not None:
        if form is None or not form.classifies:
            raise UsageError(
                f"--classify is for releases of classes, and {method.name} makes"
                f" {method.form.publication.groups}",
                hint="leave it out",
                code=ErrorCode.NO_METRICS,
            )
        target_of(spec, request.classify)
    if form is not None:
        request = request.settled(form.restricts, sensitive=bool(spec.sensitive))
    return Plan(
        spec,
        method,
        republication,
        request,
        reasoned,
        people=people,
        resumed=resumed,
        snapshot=snapshot,
    )


def _requested(spec: ReleaseSpec, method: Method, request: Request) -> tuple[Step, ...]:
    if request.nothing or method.form.statistics.on_request is None:
        return ()
    return method.form.statistics.on_request.steps(
        spec, lambda state: staged_tables(spec, method, state), request
    )


def new_version(spec: ReleaseSpec, form: PublishedForm, state: State) -> NewVersion:
    """The version for the rule about groups, without what is known at publication."""
    link = linked(spec, form, state).links[0]
    return NewVersion(
        manner(spec, form, state), GroupTables(state.stage("members"), state.stage(GROUPS), link)
    )


def invariant_version(
    spec: ReleaseSpec, form: PublishedForm, state: State, before: Signatures | None
) -> InvariantVersion:
    """The version for m-invariance.

    Args:
        before: signatures of people in earlier versions.
    """
    names = spec.invariant_columns
    columns = [column.name for column in linked(spec, form, state).columns]
    return InvariantVersion(
        names,
        tuple(shown_columns(spec).index(name) + 1 for name in names),
        tuple(columns.index(name) + 1 for name in names),
        lambda s: new_version(spec, form, s).tables,
        lambda s: s.stage(HISTOGRAM),
        before,
        lambda s: linked(spec, form, s).rows,
    )
