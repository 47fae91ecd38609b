"""Dry runs of all candidates on one snapshot of the source, with one seed and one workload.

The snapshot belongs to a run of its own, which publishes nothing. Every candidate is another run.
Each of them is in the ledger from its beginning, so that what was tried can be counted.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pganon import database
from pganon.candidates.figures import LIMIT, Compared, Row, judged, measured_row, refused_row
from pganon.candidates.policies import Candidate
from pganon.encode.snapshot import records_kept
from pganon.error_codes import ErrorCode
from pganon.errors import (
    PganonError,
    PolicyError,
    Stopped,
)
from pganon.forms.request import Request, Workload
from pganon.identifiers import first_few
from pganon.methods.registry import methods
from pganon.policy.loader import LoadedPolicy
from pganon.publish import sessions
from pganon.resolved.model import ReleaseSpec
from pganon.run.causes import source_changed
from pganon.run.context import resolve_policy
from pganon.run.dry_run import is_of_one, refuse_growing, sharing
from pganon.run.options import Options, SharedSnapshot, connect_run
from pganon.run.pipeline import Pipeline
from pganon.sqlfiles import Connection


def compare(
    loaded: LoadedPolicy,
    candidates: Sequence[Candidate],
    *,
    dsn: str | None = None,
    owner: str | None = None,
    seed: int = 1,
    settings: database.Settings = database.RUN_SETTINGS,
    options: Options,
) -> Compared:
    """Measure all candidates of a policy.

    Args:
        seed: that all random choices follow.
        options: of every dry run, with the workload of all.

    Raises:
        UsageError: the release grows, so that dry runs measure nothing.
        PolicyError, PreconditionError: the policy itself does not fit the source.
        DatabaseError: the server failed.
    """
    refuse_growing(loaded, "compare")

    def connect() -> Connection:
        return connect_run(dsn, owner=owner, settings=settings, options=options)

    with contextlib.closing(connect()) as conn, sessions.translated():
        made = _Comparison(conn, connect, loaded, candidates, options, settings, seed)
        return made.run()


class _Comparison:
    def __init__(
        self,
        conn: Connection,
        connect: Any,
        loaded: LoadedPolicy,
        candidates: Sequence[Candidate],
        options: Options,
        settings: database.Settings,
        seed: int,
    ) -> None:
        self.conn = conn
        self.connect = connect
        self.loaded = loaded
        self.candidates = candidates
        self.timeout = {"statement_timeout": settings.statement_timeout}
        self.seed = seed
        self.workload = _one(candidates, options)
        self.options = replace(
            options,
            dry_run=True,
            seed=str(seed).encode(),
            metrics=Request(workload=self.workload),
        )
        self.records: int | None = None

    def run(self) -> Compared:
        spec = resolve_policy(self.conn, self.loaded)
        found = [self._resolved(candidate, spec) for candidate in self.candidates]
        number = sum(isinstance(one, ReleaseSpec) for one in found)
        if not number:
            return self._compared(spec, None, self._rows(found, None))
        details = {"candidates": number}
        with sharing(
            self.conn, self.connect, self.loaded, spec, self.options, "comparison", details
        ) as shared:
            self.records = records_kept(shared.state)
            try:
                rows = self._rows(found, shared.snapshot)
            except Stopped as stopped:
                stopped.found = self._compared(spec, shared.snapshot.run_id, stopped.found)
                raise
            refused = sum(row.verdict == "refused" for row in rows) - (len(rows) - number)
            shared.details["refused"] = refused
        return self._compared(spec, shared.snapshot.run_id, rows)

    def _compared(self, spec: ReleaseSpec, run_id: int | None, rows: Sequence[Row]) -> Compared:
        return Compared(
            release=spec.policy.release,
            source=str(spec.source.name),
            comparison=run_id,
            records=self.records,
            seed=self.seed,
            workload=self.workload,
            limit=LIMIT,
            candidates=judged(rows),
        )

    def _resolved(self, candidate: Candidate, base: ReleaseSpec) -> ReleaseSpec | PganonError:
        """A candidate against the catalog, or why there is none."""
        if isinstance(candidate.policy, PolicyError):
            return candidate.policy
        try:
            spec = resolve_policy(self.conn, candidate.policy)
        except PolicyError as error:
            return error
        if spec.source != base.source:
            raise source_changed(base.source, spec.source)
        return spec

    def _rows(
        self, found: Sequence[ReleaseSpec | PganonError], snapshot: SharedSnapshot | None
    ) -> list[Row]:
        """
        Raises:
            Stopped: by the user, once a candidate was measured; the others have no figures.
        """
        options, rows = replace(self.options, snapshot=snapshot), list[Row]()
        pairs = list(zip(self.candidates, found, strict=True))
        for number, (candidate, one) in enumerate(pairs, 1):
            try:
                rows.append(
                    refused_row(number, candidate, one)
                    if isinstance(one, PganonError)
                    else self._row(number, candidate, one, self._shown(options, number))
                )
            except KeyboardInterrupt as interrupt:
                if all(row.figures is None for row in rows):
                    raise
                raise _stopped(interrupt, rows, pairs) from None
        return rows

    def _row(self, number: int, candidate: Candidate, spec: ReleaseSpec, options: Options) -> Row:
        if methods()[spec.policy.method.name].form.statistics.on_request is None:
            options = replace(options, metrics=Request())
        assert isinstance(candidate.policy, LoadedPolicy)  # it was resolved
        try:
            result = Pipeline(self.conn, self.connect, candidate.policy, options).run_locked(spec)
        except PganonError as error:
            if not is_of_one(error):
                raise
            # The end of a run that failed may take longer.
            database.set_session(self.conn, self.timeout)
            return refused_row(number, candidate, error)
        return measured_row(number, candidate, spec.policy_hash, result)

    def _shown(self, options: Options, number: int) -> Options:
        """The same, with the candidate's number in what is shown of its steps."""
        text, on_step = f"candidate {number} of {len(self.candidates)}", options.on_step
        return replace(
            options,
            on_step=lambda phase, step, purpose: on_step(f"{text}: {phase}", step, purpose),
        )


def _stopped(
    interrupt: KeyboardInterrupt,
    rows: Sequence[Row],
    pairs: Sequence[tuple[Candidate, ReleaseSpec | PganonError]],
) -> Stopped:
    """With rows of all candidates, of which the last ones were not measured."""
    missing = PganonError(
        "not measured before the comparison was interrupted", code=ErrorCode.INTERRUPTED
    )
    left = [
        refused_row(number, candidate, one if isinstance(one, PganonError) else missing)
        for number, (candidate, one) in list(enumerate(pairs, 1))[len(rows) :]
    ]
    numbers = [str(row.number) for row in left if row.code == missing.code]
    said = "candidates" if len(numbers) > 1 else "candidate"
    return Stopped(
        interrupt, [*rows, *left], f"{said} {first_few(numbers)} may be better, and had no dry run"
    )


def _one(candidates: Sequence[Candidate], options: Options) -> Workload:
    """The workload of all candidates: if a form restricts a sensitive column, all do."""
    workload = options.metrics.workload or Workload()
    if workload.sensitive is not None:
        return workload
    policies = [c.policy.policy for c in candidates if isinstance(c.policy, LoadedPolicy)]
    asked = [methods()[policy.method.name].form.statistics.on_request for policy in policies]
    restricts = any(one is not None and one.restricts != "no" for one in asked)
    sensitive = any(p.with_role("sensitive") or p.with_role("semi_sensitive") for p in policies)
    return replace(workload, sensitive=restricts and sensitive)
