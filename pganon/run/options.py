"""How to run, as opposed to what."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from pganon import database
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.forms.request import Request
from pganon.identifiers import QualifiedName
from pganon.install.owner import connect_as_owner
from pganon.plan.build import NOTHING_MORE, Plan
from pganon.requests.claim import Claim
from pganon.sqlfiles import Connection
from pganon.steps import State

OnStep = Callable[[str, str, str], None]
"""Called with phase, step and purpose before each step."""


@dataclass(frozen=True)
class Ended:
    """How a run ends, in its last transaction.

    Attributes:
        version: that readers see from now on; None where somebody must approve.
        made: whether it is a new one.
        request: that waits for approval.
    """

    conn: Connection
    version: int | None
    made: bool
    request: int | None = None


PartOf = Literal["comparison", "attack"]


@dataclass
class SharedSnapshot:
    """The source as one run read it, or a part of it, for several dry runs.

    Their policies have the same columns: those of the snapshot have the numbers of attributes.

    Attributes:
        run_id: of the run that read it, and keeps it.
        table: where it is.
        part_of: what the dry runs are parts of, for the ledger.
        others: digests of what candidates have read beside it: hierarchies and the like.
    """

    run_id: int
    table: QualifiedName
    part_of: PartOf
    others: dict[tuple[str, str], bytes] = field(default_factory=dict)

    def part(self, table: QualifiedName) -> SharedSnapshot:
        """Some of its rows, once others were read with all: they may have fewer values to label."""
        others = {key: found for key, found in self.others.items() if key[0] != "tree"}
        return replace(self, table=table, others=others)

    def check(self, others: Mapping[tuple[str, str], bytes]) -> None:
        """Refuse a candidate that read other rows of a relation than those before it.

        Args:
            others: see :func:`pganon.encode.source.others_of`.

        Raises:
            PreconditionError: source_changed.
        """
        if any(self.others.setdefault(key, found) != found for key, found in others.items()):
            raise PreconditionError(
                "hierarchies or other relations that the policy names changed between the dry runs",
                hint="run the command again",
                code=ErrorCode.SOURCE_CHANGED,
            )


OnEnd = Callable[[Ended], None]
"""Called at the end of the transaction that ends a run, of which it becomes a part; may raise."""

OnMeasured = Callable[[Plan, State], None]


@dataclass(frozen=True)
class Options:
    """How to run, as opposed to what.

    Attributes:
        force: make a new version even if source and policy are those of the current one.
        dry_run: compute, verify and measure, and publish nothing.
        costs: with a dry run, what would be lost without each quasi-identifier; one more dry run
            for each.
        jobs: server processes that may work on one statement, or connections on which steps run
            side by side, and processes of this program that search; None is the server's own
            setting, or one per core of this machine where the server is on it and has fewer; and
            one per core.
        seed: of a dry run, whose secrets derive from it: to draw again, or to repeat a draw. Its
            groups are nobody's to see: no version's are taken over, and what other versions tell
            is not held against them.
        metrics: what to measure beyond the statistics of every run.
        claim: the request that is served; None: that of a command.
        revision: of the policy in the database; None: it is stored there when the run ends well.
        snapshot: of a dry run that is compared with others, in place of the source.
        on_step: progress; called from several threads where steps run side by side.
        on_end: not called by a dry run.
        lineage: file, or address of a server, for an event of OpenLineage about a new version.
        on_measured: called with the plan and the state of a dry run while its tables are there.
    """

    force: bool = False
    dry_run: bool = False
    costs: bool = False
    jobs: int | None = None
    seed: bytes | None = None
    metrics: Request = NOTHING_MORE
    claim: Claim | None = None
    revision: int | None = None
    snapshot: SharedSnapshot | None = None
    on_step: OnStep = lambda phase, step, purpose: None
    on_end: OnEnd = lambda ended: None
    lineage: str | None = None
    on_measured: OnMeasured = lambda plan, state: None


PER_STATEMENT = "max_parallel_workers_per_gather"
"""Setting: server processes that may help with a statement."""

# Row estimates over chains of work tables with many join columns are often far too low. A nested
# loop then is slow without bound, and a merge join sorts large tables that a hash join would not.
# Work is in few, large statements, so a parallel plan soon pays. A sample of 3,000 rows is enough
# for a join order, and a full one costs more than the join.
_PLANNER = {
    "enable_nestloop": "off",
    "enable_mergejoin": "off",
    "parallel_setup_cost": "100",
    "parallel_tuple_cost": "0.01",
    "default_statistics_target": "10",
}


def connect_run(
    dsn: str | None,
    *,
    owner: str | None = None,
    settings: database.Settings = database.RUN_SETTINGS,
    options: Options | None = None,
) -> Connection:
    """A connection for a run, as the owner of pganon."""
    conn = connect_as_owner(dsn, owner=owner, settings=settings)
    try:
        advise_planner(conn, options or Options())
    except BaseException:
        conn.close()
        raise
    return conn


def advise_planner(conn: Connection, options: Options) -> None:
    """Settings of the session of a run.

    All heavy statements are parallel ones, so the server processes of one are what divides work.
    Where the server has those of this program and would start more than it has cores, they get in
    each other's way: so many keep all cores busy.
    """
    local = conn.info.host.startswith("/")
    processes = options.jobs or ((os.cpu_count() or 1) if local else None)
    settings = dict(_PLANNER)
    if processes is not None:
        settings[PER_STATEMENT] = str(processes - 1)
    database.set_session(conn, settings, at_most=() if options.jobs else (PER_STATEMENT,))
