"""Runs of releases that grow: what they add to, and how they end where there is nothing to add."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import psycopg

from pganon.encode.people import identity
from pganon.encode.valued import referenced
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError, PrivacyRefusal
from pganon.forms.facts import LEAVING, PUBLISHED, SUPPRESSED
from pganon.forms.form import PublishedForm, Tables
from pganon.forms.remembered import is_remembered, linked
from pganon.history import populations
from pganon.history.increments.removed import LEAVING_PEOPLE, LEAVING_RECORDS, REMOVED
from pganon.history.increments.stale import STALE
from pganon.history.increments.steps import COHORTS, DUE, NEW_INDIVIDUALS, UNPLACED
from pganon.identifiers import quote
from pganon.methods.registry import method_of
from pganon.plan.build import Plan
from pganon.publish import growth as stored
from pganon.publish import recording, release_state
from pganon.publish.release_state import Version
from pganon.resolved.increments import Growth, group_column
from pganon.resolved.model import ReleaseSpec
from pganon.run.computation import Computation
from pganon.run.record import Added, RunResult, Totals, result_of
from pganon.steps import State
from pganon.steps.facts import RECORDS
from pganon.steps.relations import PublishedView

Connection = psycopg.Connection[Any]

FAILED = (ErrorCode.INFEASIBLE, ErrorCode.ALL_SUPPRESSED, ErrorCode.TOO_FEW_RECORDS)
"""Codes of refusals that say that the people of all cohorts, as a whole, miss a requirement."""


def added(growth: Growth, state: State) -> Added:
    """Figures of a run that knows who is new."""
    formed = state[DUE] if growth.unfinished is None else 0
    return Added(
        newcomers=state[NEW_INDIVIDUALS],
        cohorts=state[COHORTS],
        tested=state[DUE],
        released=state.facts.get(PUBLISHED) or 0,
        suppressed=state.facts.get(SUPPRESSED) or 0,
        waiting=state[NEW_INDIVIDUALS] - formed,
        unplaced=state[UNPLACED],
        left=state.facts.get(REMOVED) or 0,
        withdrawn_groups=state.facts.get(LEAVING) or 0,
        withdrawn_people=state.facts.get(LEAVING_PEOPLE) or 0,
        withdrawn_records=state.facts.get(LEAVING_RECORDS) or 0,
        stale=state.facts.get(STALE) or 0,
    )


def population_that_grows(
    conn: Connection, spec: ReleaseSpec, sources: Sequence[str]
) -> int | None:
    """The population that only one run at a time may form cohorts of; None for other policies."""
    if spec.policy.refresh != "increments" or identity(spec) is None:
        return None
    population = populations.find(conn, spec, sources)
    return populations.make(conn, spec, sources) if population is None else population


def growth_of(
    conn: Connection, spec: ReleaseSpec, sources: Sequence[str], run_id: int | None = None
) -> Growth | None:
    """The version that a run adds to; None for a policy that makes every version anew.

    Args:
        run_id: the run, whose digests become those of its population; None for a plan.

    Raises:
        PreconditionError: no_identity, other_regions, other_reference, population, partitions.
        LedgerError: not_stored.
        PrivacyRefusal: changed_after_verification.
    """
    if spec.policy.refresh != "increments":
        return None
    if identity(spec) is None:
        raise PreconditionError(
            f"{spec.source.name} has no key, so nobody can tell who is new",
            hint="declare `individual`, or give the table a primary key",
            code=ErrorCode.NO_IDENTITY,
        )
    population = populations.find(conn, spec, sources)
    if run_id is not None:
        if population is None:
            population = populations.make(conn, spec, sources)
        populations.set_of_run(conn, run_id, population)
    growth = stored.growth(
        conn,
        spec.policy.release,
        population,
        increment_size(spec),
        divides=spec.policy.regions == "leaves",
    )
    check_ranges(spec, growth)
    check_regions(spec, growth)
    check_compared(spec, growth)
    return _numbered(spec, growth)


def _numbered(spec: ReleaseSpec, growth: Growth) -> Growth:
    """With the column that numbers the groups of people in every view.

    Raises:
        PreconditionError: partitions.
    """
    form = method_of(spec).form
    views = growth.views or form.publication.views(spec, State(0), _tables(spec, form))
    links = linked(spec, form, State(0)).links if is_remembered(spec, form) else ()
    number = group_column(links, views)
    if number is None and spec.policy.leavers == "withdraw":
        raise PreconditionError(
            "leavers: withdraw takes back the group of who left, and people of this release are in"
            " several groups, of which each has other people",
            hint="use leavers: keep, or a method with one partition of the people",
            code=ErrorCode.PARTITIONS,
        )
    return replace(growth, number=number)


def _tables(spec: ReleaseSpec, form: PublishedForm) -> Tables:
    return {r.part: r.stored for r in form.staging.relations(spec, State(0))}


def check_population(expected: int | None, actual: int | None) -> None:
    """Refuse people who turn out to be others than those whose cohorts were formed.

    Raises:
        PreconditionError: population.
    """
    if expected != actual:
        raise PreconditionError(
            "the same rows were released from another table",
            hint="write population: {name: NAME} in the policies of both",
            code=ErrorCode.POPULATION,
        )


def increment_size(spec: ReleaseSpec) -> int:
    """Fewest people of a cohort."""
    return spec.policy.increment_size or spec.minimum_size


def check_columns(plan: Plan, state: State) -> None:
    """Refuse views with other columns than those of the version that the run adds to.

    Raises:
        PreconditionError: other_columns.
    """
    growth, form = plan.spec.growth, plan.method.form
    if growth is None or growth.version is None:
        return
    if state.run_id == 0 and not form.publication.settled(plan.spec):
        return  # its columns follow from the data

    def shown(views: Sequence[PublishedView]) -> list[Any]:
        return [(v.name, [(c.name, c.type) for c in v.columns]) for v in views]

    if shown(plan.stored_views(state)) != shown(growth.views):
        raise PreconditionError(
            f"the release would have other views or columns than version {growth.version}, which"
            " increments are added to",
            hint="undo the change of the policy or of the source, or use refresh: recompute",
            code=ErrorCode.OTHER_COLUMNS,
        )


def looked(plan: Plan, state: State, totals: Totals, added: Added) -> RunResult:
    """The result of a dry run: who would be tested; nothing is."""
    return replace(result_of(plan, state.run_id, totals), outcome="dry_run", added=added)


def standing(conn: Connection, plan: Plan, growth: Growth, state: State) -> Version:
    """The version that readers go on seeing, as there are too few new individuals.

    Raises:
        PrivacyRefusal: too_few_records, there is no version yet.
        LedgerError: not_stored.
    """
    shown = release_state.read(conn, plan.spec.policy.release)
    if shown is None or not shown.versions:
        new = state[NEW_INDIVIDUALS]
        said, hint = f"{new} people, a cohort needs {growth.size}", "run again when there are more"
        if growth.unfinished is not None and new >= growth.size:
            said = f"{new} new people, and nobody whom an earlier run was to test is left"
            hint = "run again: the next run tests the new ones"
        raise PrivacyRefusal(
            f"{plan.spec.source.name} has {said}",
            required=growth.size,
            observed=new,
            hint=hint,
            code=ErrorCode.TOO_FEW_RECORDS,
        )
    return release_state.check_stored(shown, shown.current, None)


def only_withdraws(state: State) -> bool:
    """Whether groups go, and nobody is tested."""
    return state[DUE] == 0 and bool(state.facts.get(LEAVING))


def withdraws_alone(refusal: PrivacyRefusal, state: State) -> bool:
    """Whether groups of removed individuals go although the cohorts of the run failed.

    They need not wait for new individuals, of whom a cohort may be refused again and again.
    """
    return refusal.code in FAILED and bool(state.facts.get(LEAVING))


@contextmanager
def remembering_failure(conn: Connection, plan: Plan, computation: Computation) -> Iterator[None]:
    """Where all cohorts of a run fail and the limit allows it, people are permanently suppressed.

    Otherwise they stay cohorts, which the next run tests.
    """
    try:
        yield
    except PrivacyRefusal as refusal:
        growth, tested = plan.spec.growth, computation.state.facts.get(RECORDS)
        if growth is None or refusal.code not in FAILED or not tested:
            raise
        suppressed = growth.suppressed + tested
        limit = plan.spec.policy.suppression_limit
        if suppressed > limit * (growth.released + suppressed):
            raise
        release = plan.spec.policy.release
        recording.finish_cohorts(conn, release, computation.state.run_id, tested)
        raise PrivacyRefusal(
            f"{refusal}; the {tested} records of these people are permanently suppressed",
            model=refusal.model,
            required=refusal.required,
            observed=refusal.observed,
            hint="later newcomers are tested by the next run",
            code=refusal.code,
        ) from None


def check_ranges(spec: ReleaseSpec, growth: Growth) -> None:
    """Refuse groups that show what they contain beside those that show their region.

    Raises:
        PreconditionError: other_regions.
    """
    if growth.version is None or spec.shows_regions == (growth.bounds is not None):
        return
    before = "tight" if growth.bounds is None else "region"
    raise PreconditionError(
        f"the policy has ranges: {spec.policy.ranges}, but version {growth.version}, which"
        f" increments are added to, has ranges: {before}",
        hint=f"use ranges: {before}, or another name for the release",
        code=ErrorCode.OTHER_REGIONS,
    )


_REPLAYED = ("role", "type", "order", "hierarchy", "nulls")
"""Keys of a column that cuts are replayed by."""


def check_regions(spec: ReleaseSpec, growth: Growth) -> None:
    """Refuse cuts that were made under another hierarchy or order, or of other columns.

    Raises:
        PreconditionError: other_regions.
    """
    if growth.cuts is None:
        return
    before = growth.partition or {}
    keys, instead = _REPLAYED, ", or use regions: none"
    if growth.bounds is not None:  # made of what the column could have
        keys, instead = (*_REPLAYED, "domain"), ""
    for attribute in spec.attributes:
        name = attribute.column.name
        for key in keys:
            path = f"columns.{name}.{key}"
            if before.get(path) != spec.partition.get(path):
                raise PreconditionError(
                    f"{key} of column {quote(name)} is not that of the version whose cuts divide"
                    " newcomers",
                    hint=f"undo the change{instead}",
                    code=ErrorCode.OTHER_REGIONS,
                )


def check_compared(spec: ReleaseSpec, growth: Growth) -> None:
    """Refuse other distances than those of the first version.

    Raises:
        PreconditionError: other_reference.
    """
    if growth.first is None:
        return
    for item in referenced(spec):
        name = item.column.name
        path = f"columns.{name}.hierarchy"
        before = (growth.partition or {}).get(path)
        if item.hierarchy and before and before != spec.partition.get(path):
            raise PreconditionError(
                f"the hierarchy of column {quote(name)} is not that of the first version, which"
                " newcomers are compared with",
                hint="undo the change",
                code=ErrorCode.OTHER_REFERENCE,
            )
