"""ReleaseSpec -> Plan: phases of steps, the same for the executor and for `pganon plan`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any

from psycopg import sql
from sqlglot import exp

from pganon.encode.codes import encode_steps
from pganon.encode.facts import KEPT
from pganon.encode.snapshot import inspection, snapshot_steps
from pganon.encode.source import decision_steps, source_check
from pganon.encode.work import CODED
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PrivacyRefusal, Unbalanced, UsageError
from pganon.forms.facts import LEAVING, PUBLISHED, SUPPRESSED
from pganon.forms.form import Tables
from pganon.forms.groups import GROUPS
from pganon.forms.metrics import Metrics
from pganon.forms.remembered import (
    HISTOGRAM,
    is_remembered,
    linked,
    manner,
    relations,
    shown_columns,
    staging_steps,
)
from pganon.forms.request import Request
from pganon.history.check import RuleCheck, rule_steps
from pganon.history.increments.invariant import commit_steps, resumed_steps
from pganon.history.increments.steps import gather_steps, restricted_step
from pganon.history.invariance.signatures import signature_steps
from pganon.history.invariance.version import InvariantVersion
from pganon.history.model import EarlierVersion, GroupTables, NewVersion
from pganon.identifiers import QualifiedName
from pganon.methods.common.base import Method
from pganon.methods.registry import method_of
from pganon.metrics import alike
from pganon.metrics.reasons import reason_steps
from pganon.metrics.whole import whole_steps
from pganon.resolved.increments import all_checks
from pganon.resolved.invariance import Signatures
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.republication import Republication
from pganon.sqltools import num, query, stacked
from pganon.steps import Check, Parallel, State, Step
from pganon.steps.facts import RECORDS, Fact, count, counts, digest, measure, or_null
from pganon.steps.relations import CheckQuery, PublishedView, StoredRelation

NOTHING_MORE = Request()

FINGERPRINT = digest("fingerprint")
"""32 bytes: a keyed hash of all staged relations."""


def measured(number: int) -> Fact[float | None]:
    """What a query of the verification measured, at worst; None where there are no groups."""
    return or_null(measure("measured", f"verified{number}_"))


def earlier_measured(number: int) -> Fact[float | None]:
    """The same of a query about the increments that a version has already."""
    return or_null(measure("measured", f"earlier{number}_"))


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
    """What one run does up to publication.

    Attributes:
        past: versions about the same people; a run reads them when it gets there.
    """

    spec: ReleaseSpec
    method: Method
    republication: Republication | None = None
    request: Request = NOTHING_MORE
    reasoned: bool = False
    past: tuple[EarlierVersion, ...] = ()

    @property
    def phases(self) -> tuple[Phase, ...]:
        """All of them in order, those that a run skips, too."""
        return (self.gathering, *self.reading, self.committing, *self.computing, self.judging)

    @cached_property
    def gathering(self) -> Phase:
        """After it is known whether there is anybody to add to a version."""
        name, purpose = "cohorts", "who is new, and who is tested together"
        if self.spec.growth is None:
            return Phase(name, purpose, (), "the release does not grow (refresh: increments)")
        steps = gather_steps(
            self.spec, self.spec.growth, self.method.form, commits=not self.reasoned
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
            left_out=not self.request.nothing or self.is_remembered,
        )
        return (
            Phase(
                "snapshot",
                "read the source once and see whether it can be released",
                _snapshot(spec),
            ),
            Phase("encode", "values become codes", encoding),
        )

    @cached_property
    def committing(self) -> Phase:
        """Of an m-invariant version; a dry run, or who resumes, commits to nobody."""
        spec, name, purpose = self.spec, "newcomers", "who is tested together"
        if not spec.invariant:
            return Phase(name, purpose, (), "people keep no signatures (refresh: invariant)")
        if spec.signatures is None:
            return Phase(name, purpose, (), "nobody was released yet")
        if spec.resumed is not None and spec.resumed.cohort is not None and not self.reasoned:
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
                (_verify(spec, method),),
            ),
            self._measuring,
            self.whole,
            self._explaining,
        )

    @property
    def _measuring(self) -> Phase:
        nothing = "no metrics were asked for" if self.request.nothing else None
        steps = _requested(self.spec, self.method, self.request)
        return Phase("measure", "metrics on request", steps, nothing)

    @property
    def whole(self) -> Phase:
        """Of a version that grows, its figures."""
        growth = self.spec.growth
        steps = () if growth is None else whole_steps(self.spec, growth, self.method.form)
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
        """What a run does here depends on the versions that there are when it gets there."""
        policy = self.spec.policy
        if not self.is_remembered:
            return judging_phase((), "nobody can tell people of versions apart: there is no key")
        steps: list[Step] = []
        if self.past:
            rule = RuleCheck(new_of(self, State(0)), self.past)
            refuses = policy.republication == "refuse"
            steps += rule_steps(rule, refuses=refuses)
        if self.spec.invariant:
            steps += signature_steps(invariant_version(self, State(0), self.spec.signatures))
        return judging_phase(steps, None if steps else "no other version is about these people")

    @property
    def is_remembered(self) -> bool:
        """Whether the rule about groups can be held against the release and others."""
        return is_remembered(self.spec, self.method.form)

    def relations(self, state: State) -> tuple[StoredRelation, ...]:
        return relations(self.spec, self.method.form, state)

    def stored_checks(self, state: State) -> tuple[CheckQuery, ...]:
        """The verification over the tables at their final place."""
        return self.method.form.verification.checks(
            self.spec, state, self._tables(state, staged=False)
        )

    def stored_views(self, state: State) -> tuple[PublishedView, ...]:
        return self.method.form.publication.views(
            self.spec, state, self._tables(state, staged=False)
        )

    def metrics(self, state: State) -> Metrics | None:
        """What was measured on request, None if nothing was asked for."""
        form = self.method.form.statistics.on_request
        if form is None or self.request.nothing:
            return None
        return form.report(self.spec, self.request, state)

    def _tables(self, state: State, *, staged: bool) -> Tables:
        return _tables(self.relations(state), staged=staged)


def new_of(plan: Plan, state: State) -> NewVersion:
    """The staged version for the rule, but for what publication compares beside."""
    spec, form = plan.spec, plan.method.form
    link = linked(spec, form, state).links[0]
    return NewVersion(
        manner(spec, form, state), GroupTables(state.stage("members"), state.stage(GROUPS), link)
    )


def invariant_version(plan: Plan, state: State, known: Signatures | None) -> InvariantVersion:
    """The staged version as an m-invariant one.

    Args:
        known: those that people had before.
    """
    spec, form = plan.spec, plan.method.form
    names = spec.invariant_columns
    told = [column.name for column in linked(spec, form, state).columns]
    return InvariantVersion(
        names,
        tuple(shown_columns(spec).index(name) + 1 for name in names),
        tuple(told.index(name) + 1 for name in names),
        lambda s: new_of(plan, s).tables,
        lambda s: s.stage(HISTOGRAM),
        known,
        lambda s: linked(spec, form, s).rows,
    )


def build_plan(
    spec: ReleaseSpec,
    republication: Republication | None = None,
    request: Request = NOTHING_MORE,
    *,
    reasoned: bool = False,
) -> Plan:
    """The plan of one run: deterministic, nothing is executed or looked up.

    `republication` has the earlier versions over the source; `request` are the metrics to compute
    beyond those of every run. A plan that is `reasoned` also finds out why they are as they are.

    Raises:
        UsageError: no_metrics, the published form has no metrics on request; or it has other
            queries than the workload.
    """
    method = method_of(spec)
    form = method.form.statistics.on_request
    if form is None and not request.nothing:
        raise UsageError(
            f"--metrics and --workload have nothing to measure in a release of"
            f" {method.form.publication.groups} that {method.name} makes",
            hint="leave them out; every run measures the loss of what it publishes",
            code=ErrorCode.NO_METRICS,
        )
    if form is not None:
        request = request.settled(form.restricts, sensitive=bool(spec.sensitive))
    return Plan(spec, method, republication, request, reasoned)


def _snapshot(spec: ReleaseSpec) -> tuple[Step, ...]:
    if spec.growth is not None:
        return (restricted_step(spec), inspection(spec))
    if spec.resumed is not None:
        return (*resumed_steps(spec, spec.resumed), inspection(spec))
    return snapshot_steps(spec)


def _staged(spec: ReleaseSpec, method: Method, state: State) -> Tables:
    return _tables(relations(spec, method.form, state), staged=True)


def _tables(relations: tuple[StoredRelation, ...], *, staged: bool) -> Tables:
    return {r.part: r.staged if staged else r.stored for r in relations}


def _requested(spec: ReleaseSpec, method: Method, request: Request) -> tuple[Step, ...]:
    if request.nothing or method.form.statistics.on_request is None:
        return ()
    return method.form.statistics.on_request.steps(
        spec, lambda state: _staged(spec, method, state), request
    )


def _verify(spec: ReleaseSpec, method: Method) -> Step:
    checks = (
        fingerprint_check(spec, method),
        _balance(spec, method),
        *verification_checks(spec, method),
        *earlier_checks(spec),
    )
    # Figures come last, so that their errors hide no refusal, but some take long.
    alone = alike.chains(spec, method.form.statistics.histogram, lambda s: _staged(spec, method, s))
    chains = [*[[check] for check in checks], *method.form.statistics.measures(spec), *alone]
    early = (0, *range(len(checks), len(chains)))
    return Parallel("checks", "what must hold, and figures", chains, early)


def fingerprint_check(spec: ReleaseSpec, method: Method) -> Check:
    """FINGERPRINT of all relations in order, for the ledger: stored ones that the version goes on
    showing, and staged ones."""

    def select(state: State) -> sql.Composed:
        names = [str(QualifiedName(item["schema"], item["name"])) for item in kept(spec, state)]
        names += [str(r.staged) for r in relations(spec, method.form, state)]
        return sql.SQL(
            "SELECT pganon.fingerprint({}, ARRAY[{}]::pg_catalog.regclass[]) AS fingerprint"
        ).format(sql.Literal(state.run_id), sql.SQL(", ").join(map(sql.Literal, names)))

    return Check("fingerprint", "a keyed hash of the staged relations", select, gives=[FINGERPRINT])


def kept(spec: ReleaseSpec, state: State) -> tuple[dict[str, Any], ...]:
    """Stored tables that the version has from the one before it: part, schema, name, rows."""
    if spec.growth is None:
        return ()
    return spec.growth.shared(withdraws=bool(state.facts.get(LEAVING)))


def _balance(spec: ReleaseSpec, method: Method) -> Check:
    """Every record of the snapshot is in one group or in none, and those are the suppressed ones.

    Numbers alone would not do: a record that is there twice may stand for one that is gone.
    """

    def select(state: State) -> exp.Expr:
        tables = _staged(spec, method, state)
        return query(
            "select r.published, :in - :out - r.published as unaccounted,"
            " (select count(*) from c) as encoded,"
            " (select sum(m.repeated) from m)::bigint as duplicate_keys from r",
            {
                "r": method.form.verification.released(spec, state, tables),
                "c": state.work(CODED),
                "m": stacked(method.form.verification.duplicate_keys(spec, state)),
            },
            **{"in": num(state[RECORDS]), "out": num(state[SUPPRESSED])},
        )

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        records, suppressed = state[RECORDS], state[SUPPRESSED]
        whole = row["unaccounted"] == 0 and 0 <= suppressed < records
        if whole and row["encoded"] == state[KEPT] and row["duplicate_keys"] == 0:
            return None
        return Unbalanced(
            f"{records} records came in, {suppressed} were suppressed and {row['published']}"
            f" staged, {row['duplicate_keys']} more than once; the numbers do not add up"
        )

    return Check(
        "balance",
        "every record is released once or suppressed",
        select,
        problem,
        gives=[PUBLISHED, *counts("unaccounted", "encoded", "duplicate_keys")],
    )


def verification_checks(spec: ReleaseSpec, method: Method) -> tuple[Check, ...]:
    """One Check per query of the form, over the staged relations."""

    rendered: dict[int, tuple[CheckQuery, ...]] = {}
    rendering = Lock()  # checks are rendered side by side

    def queries(state: State) -> tuple[CheckQuery, ...]:
        with rendering:
            if state.run_id not in rendered:
                tables = _staged(spec, method, state)
                rendered[state.run_id] = method.form.verification.checks(spec, state, tables)
            return rendered[state.run_id]

    planned = queries(State(0))

    def check(number: int) -> Check:
        first = planned[number]
        return Check(
            f"{first.model}_{number}",
            f"{first.model}{_about(first)}",
            lambda state: sql.SQL(queries(state)[number].sql),  # pyright: ignore
            lambda row, state: verdict(first, row),
            gives=[measured(number), count("failing", f"verified{number}_")],
        )

    return tuple(check(number) for number in range(len(planned)))


def earlier_checks(spec: ReleaseSpec) -> tuple[Check, ...]:
    """One Check per requirement of the increments that the version has already."""
    growth = spec.growth
    if growth is None or not growth.adds:
        return ()

    def check(number: int, found: CheckQuery) -> Check:
        return Check(
            f"earlier_{found.model}_{number}",
            f"{found.model}{_about(found)} in the groups before",
            lambda state: sql.SQL(found.sql),  # pyright: ignore
            lambda row, state: verdict(found, row),
            gives=[earlier_measured(number), count("failing", f"earlier{number}_")],
        )

    return tuple(check(n, found) for n, found in enumerate(all_checks(growth.increments)))


def _about(check: CheckQuery) -> str:
    against = f" against the {check.against} distribution" if check.against else ""
    return f"{f' on {check.column}' if check.column else ''}{against}"


def verdict(check: CheckQuery, row: Mapping[str, Any]) -> PganonError | None:
    """Refusal with the required and the observed value, unless every group holds."""
    if row["failing"] == 0 and row["measured"] is not None:
        return None
    observed = row["measured"]
    on = f" on {check.column}" if check.column else ""
    against = f" (against the {check.against} distribution)" if check.against else ""
    missing = f"{row['failing']} groups of the staged release miss it, the worst measures"
    if check.hint is not None:
        missing = "the staged release measures"
    return PrivacyRefusal(
        f"verification: {check.model}{on} requires {check.symbol} {check.bound}"
        f" {check.parameter:g}{against}; {missing}"
        f" {'nothing' if observed is None else f'{observed:.6g}'}",
        hint=check.hint,
        model=check.model,
        required=check.parameter,
        observed=observed,
        code=ErrorCode.VERIFICATION,
    )
