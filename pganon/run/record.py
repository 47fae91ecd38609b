"""The row of a run in the ledger, for the length of a block."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import psycopg

from pganon import locks
from pganon.errors import PganonError
from pganon.forms.facts import LEAVING, PUBLISHED, SUPPRESSED
from pganon.forms.metrics import Metrics
from pganon.forms.utility import Utility
from pganon.frames import Frame, frame
from pganon.history.increments.removals import LEAVING_PEOPLE, LEAVING_RECORDS, REMOVED
from pganon.history.increments.steps import COHORTS, DUE, NEW_INDIVIDUALS, STALE, UNPLACED
from pganon.ledger import repository as ledger
from pganon.metrics.reasons import Reason
from pganon.plan.build import Plan
from pganon.publish.figures import IncrementFigures, Totals, Verified
from pganon.publish.release_state import Version
from pganon.resolved.increments import Growth
from pganon.resolved.periods import LATE, LEFT_OUT, PERIOD, closes
from pganon.run.causes import undeclared
from pganon.run.tables import drop_run, end_dead
from pganon.server_errors import translate
from pganon.sqlfiles import Connection
from pganon.steps import State


@contextlib.contextmanager
def recorded(
    conn: Connection,
    release: str,
    policy_hash: str,
    *,
    seed: bytes | None = None,
    details: Mapping[str, Any] | None = None,
    connect: Callable[[], Connection] | None = None,
) -> Iterator[int]:
    """Begin a run and hold its lock; gives its number.

    The block writes how it ended. If it raises, that is the end, and its tables go.

    Args:
        details: for the row that it starts with.
        connect: opens another connection, where this one may break; without, the next run finds
            one that died.
    """
    with contextlib.ExitStack() as held:
        run_id = ledger.start_run(conn, release, policy_hash, seed=seed, details=details, held=held)
        try:
            yield run_id
        except BaseException as error:
            _failed(conn, run_id, error, connect)
            raise


def _failed(
    conn: Connection, run_id: int, error: BaseException, connect: Callable[[], Connection] | None
) -> None:
    """Ledger row and clean-up of a failed run, as far as the server can be asked."""
    cause = translate(error) if isinstance(error, psycopg.Error) else error
    with contextlib.suppress(psycopg.Error, PganonError):
        if not locks.usable(conn):
            # Gone, or an interrupt came between sending a statement and waiting for it.
            conn.close()
            if connect is not None:
                with contextlib.closing(connect()) as another:
                    if end_dead(another, run_id, cause):
                        _note(error)
            return
        # What made the run fail must not keep its end from being recorded.
        conn.execute("SET statement_timeout = 0")
        ended = ledger.finish_with(conn, run_id, cause)
        drop_run(conn, run_id)
        if ended:
            _note(error)


def _note(error: BaseException) -> None:
    """For who interrupted the run: it had not been published before."""
    note = "nothing was published, and its tables were removed"
    # One that is part of another run ends that as well.
    if isinstance(error, KeyboardInterrupt) and note not in getattr(error, "__notes__", ()):
        error.add_note(note)


@dataclass(frozen=True)
class StepSeconds:
    """Time of one step; rounds of a repetition are added up."""

    phase: str
    step: str
    seconds: float
    times: int


@dataclass(frozen=True)
class Added:
    """Individuals that a run added to a version; of a release under m-invariance, those whom a
    dry run would test.

    Attributes:
        newcomers: people who were never released and were in no cohort before the run.
        cohorts: cohorts that it tested, or would test.
        tested: people in them.
        released, suppressed: their records in new groups, and those that are permanently
        suppressed. waiting: newcomers in no cohort yet. unplaced: those of them in no region, as
        nobody had such NULLs before, or no region could
            have their values.
        left: people in groups that were shown so far, who are not in the source any more.
        withdrawn_groups, withdrawn_people, withdrawn_records: what is shown no longer for that,
            of which these people are a part.
        stale: people in groups that stay, who have other values, quasi-identifiers or rows of
            events now than those that they are shown with.
        late: rows of people in the version that came after their period was published.
        period: the one that the run added to the groups that there were, if it did.
        left_out: groups that it left out of it.
    """

    newcomers: int
    cohorts: int
    tested: int
    released: int
    suppressed: int
    waiting: int
    unplaced: int = 0
    left: int = 0
    withdrawn_groups: int = 0
    withdrawn_people: int = 0
    withdrawn_records: int = 0
    stale: int = 0
    late: int = 0
    period: str | None = None
    left_out: int = 0

    @classmethod
    def of(cls, growth: Growth, state: State) -> Added:
        """Of a run that knows who is new; of one that adds a period, which tests nobody."""
        period = state[PERIOD] if closes(state) else None
        formed = state[DUE] if growth.unfinished is None and period is None else 0
        return cls(
            newcomers=state[NEW_INDIVIDUALS],
            cohorts=0 if period else state[COHORTS],
            tested=0 if period else state[DUE],
            released=state.facts.get(PUBLISHED) or 0,
            suppressed=state.facts.get(SUPPRESSED) or 0,
            waiting=state[NEW_INDIVIDUALS] - formed,
            unplaced=state[UNPLACED],
            left=state.facts.get(REMOVED) or 0,
            withdrawn_groups=state.facts.get(LEAVING) or 0,
            withdrawn_people=state.facts.get(LEAVING_PEOPLE) or 0,
            withdrawn_records=state.facts.get(LEAVING_RECORDS) or 0,
            stale=state.facts.get(STALE) or 0,
            late=state.facts.get(LATE) or 0,
            period=period,
            left_out=state.facts.get(LEFT_OUT) or 0,
        )


@dataclass(frozen=True)
class RunResult:
    """The result of a run.

    Attributes:
        version: the version that readers see; None after a dry run.
        verified: of the whole version, also where the run only added to it.
        utility: the same; None after a dry run that tests nothing, as people are tested once, and
            where the form of a version that grows has no statistics of a whole.
        metrics: if they were asked for; of a version that grows in `increment`.
        outcome: "unchanged" if source and policy were those of the current version, whose figures
            these are then.
        applied: what an unchanged run changed nevertheless, such as readers.
        reasons: of a dry run, what every quasi-identifier costs.
        refusal: why a dry run would have been refused, where only publication is at fault.
        refusal_hint: what can be done then.
        request: the request that waits for approval, where one must approve.
        guard: figures of what all versions about the same people tell together; nothing where they
            cannot be told apart.
        added: of a release that grows.
        increment: statistics of the groups that the run added to the version before.
        dependents: what others have built on views that are gone, or have other columns now, and
            may not use any more; of a dry run, what they could not use.
        weighted: risk in the population by sample weights, of the values of the source: the records
            that are expected to be found (`expected`), and their share (`global`).
    """

    release: str
    version: int | None
    run_id: int
    view: str
    method: str
    records: int
    released: int
    suppressed: int
    verified: tuple[Verified, ...] = ()
    utility: Utility | None = None
    metrics: Metrics | None = None
    unreleased_columns: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    steps: tuple[StepSeconds, ...] = field(repr=False, default=())
    outcome: Literal["released", "unchanged", "dry_run", "awaiting_approval"] = "released"
    applied: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()
    refusal: str | None = None
    refusal_hint: str | None = None
    request: int | None = None
    guard: dict[str, Any] = field(default_factory=dict)
    added: Added | None = None
    increment: IncrementFigures | None = None
    dependents: tuple[str, ...] = ()
    weighted: dict[str, float] | None = None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def to_frame(self) -> Frame:
        """The verified requirements as a pandas DataFrame, one row each."""
        return frame(self.verified)


def result_of(plan: Plan, run_id: int, totals: Totals) -> RunResult:
    """A result before anything is measured, the same for all runs of a plan."""
    return RunResult(
        release=plan.spec.policy.release,
        version=None,
        run_id=run_id,
        view=str(plan.spec.view),
        method=plan.method.name,
        records=totals.records,
        released=totals.released,
        suppressed=totals.suppressed,
        unreleased_columns=plan.spec.unreleased,
    )


def unchanged_result(
    plan: Plan, current: Version, run_id: int, applied: tuple[str, ...]
) -> RunResult:
    """The statistics of the version that stays, as recorded when it was made."""
    statistics, measures = plan.method.form.statistics, current.measures
    recorded = measures.get("metrics")
    warnings = [*undeclared(plan.spec)]
    if not plan.request.nothing:
        warnings.append("metrics are measured with --dry-run or --force: nothing new was made")
    totals = Totals(measures["records"], current.row_count, current.suppressed)
    return replace(
        result_of(plan, run_id, totals),
        version=current.version,
        method=current.method,
        verified=tuple(Verified(**found) for found in measures["verified"]),
        utility=statistics.figures.recorded(measures["utility"]) if "utility" in measures else None,
        metrics=statistics.on_request.figures.recorded(recorded)
        if statistics.on_request and recorded
        else None,
        warnings=tuple(warnings),
        outcome="unchanged",
        applied=applied,
    )
