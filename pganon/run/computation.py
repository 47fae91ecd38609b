"""The part of a run between its beginning and its publication: a plan becomes staged relations.

What stands before it (locks, the ledger, whether the view can be made) and after it is the
pipeline's.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import psycopg

from pganon.catalog.code import reading
from pganon.catalog.introspect import read_relation
from pganon.encode.snapshot import SNAPSHOT
from pganon.encode.work import SNAP
from pganon.error_codes import ErrorCode
from pganon.errors import DatabaseError, PganonError
from pganon.forms.facts import EARLIER_RECORDS, EARLIER_SUPPRESSED, NUMBERED
from pganon.identifiers import QualifiedName
from pganon.plan.build import Phase, Plan, judging_phase
from pganon.publish import release_state
from pganon.resolved.increments import Growth
from pganon.run.causes import (
    OUT_OF_RANGE,
    changed_meanwhile,
    computed,
    out_of_range,
    source_changed,
)
from pganon.run.executor import Executor
from pganon.run.options import Options
from pganon.run.pool import Pool
from pganon.run.record import StepSeconds
from pganon.sqlfiles import Connection
from pganon.steps import State, Step


class Computation:
    """Walks the phases of a plan.

    After `plan.reading` it is known whether a version with the same source exists; after
    `plan.computing` all relations are staged, verified and measured.

    Args:
        connect: opens a further connection, set up as `conn` is.
        run_id: of a run whose secrets are in `pganon_private.run_secret`.
        sources: names that the source is remembered by, as the plan found them.

    Attributes:
        executor: walks the steps and keeps the state of the run.
        steps: what was done, with its time.
    """

    def __init__(
        self,
        conn: Connection,
        connect: Callable[[], Connection],
        plan: Plan,
        run_id: int,
        options: Options,
        sources: Sequence[str],
    ) -> None:
        self.plan = plan
        self.steps: list[StepSeconds] = []
        self._conn = conn
        self._options = options
        self._sources = tuple(sources)
        self.executor = Executor(
            conn,
            _started(run_id, plan.spec.growth),
            created=self._check_source,
            reading=lambda conn, external: reading(
                conn, external, plan.spec.trusted.values(), at_once=True
            ),
            processes=options.jobs or os.cpu_count() or 1,
            pool=Pool(conn, run_id, connect),
        )

    @property
    def state(self) -> State:
        return self.executor.state

    def share(self) -> QualifiedName:
        """Read the source alone, for other runs; gives the table."""
        self.walk(self.plan.sharing)
        self.executor.assert_filled()
        return self.state.work(SNAP)

    def describe(self) -> State:
        """All that is left up to what other versions have to say."""
        self.walk(*self.plan.describing)
        self.executor.assert_filled()
        return self.state

    def guard(self, steps: Sequence[Step]) -> State:
        """Judge the staged release beside others about the same people."""
        self.walk(judging_phase(steps))
        if steps:
            self.executor.assert_filled()
        return self.state

    def walk(self, *phases: Phase) -> State:
        executor = self.executor
        for phase in phases:
            executor.seconds, executor.times = defaultdict(float), Counter()
            executor.on_step = lambda step, purpose, phase=phase: self._options.on_step(
                phase.name, step, purpose
            )
            try:
                executor.run(phase.steps)
            except DatabaseError as error:
                raise self._explained(error) from None
            self.steps += [
                StepSeconds(phase.name, name, executor.seconds[name], times)
                for name, times in executor.times.items()
            ]
        return self.state

    def _check_source(self, step: str) -> None:
        """Whether the plan fits what the snapshot read.

        Called while the snapshot's transaction holds its lock on the source, so nobody can change
        a type between reading and looking.
        """
        if step != SNAPSHOT:
            return
        spec = self.plan.spec
        others = spec.related.read if spec.related is not None else {}
        found = {spec.policy.source: spec.source}
        found |= {spec.policy.tables[name].source: relation for name, relation in others.items()}
        sources = release_state.sources_of(self._conn, *spec.about_people)
        for name, before in found.items():
            relation = read_relation(self._conn, name)
            if relation != before or sources != self._sources:
                raise source_changed(before, relation)

    def _explained(self, error: DatabaseError) -> PganonError:
        """The error of a step, with the column that caused it, if that can be found out now."""
        with contextlib.suppress(psycopg.Error):
            if error.code == ErrorCode.SOURCE_CHANGED and error.step == SNAPSHOT:
                return changed_meanwhile(self._conn, self.plan.spec) or error
            if error.code == ErrorCode.DATABASE and error.sqlstate == OUT_OF_RANGE:
                return out_of_range(self.plan.spec, error)
            if error.code == ErrorCode.EXPRESSION and error.step == SNAPSHOT:
                return computed(self._conn, self.plan.spec, error)
        return error


def _started(run_id: int, growth: Growth | None) -> State:
    """The state before the first step."""
    if growth is None:
        return State(run_id)
    return State(run_id).observing(
        {
            NUMBERED: growth.numbered,
            EARLIER_RECORDS: growth.released + growth.suppressed,
            EARLIER_SUPPRESSED: growth.suppressed,
        }
    )
