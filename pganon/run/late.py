"""Versions that were approved late: judged again if others were published meanwhile."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import psycopg

from pganon.errors import PrivacyRefusal
from pganon.forms.groups import GROUPS
from pganon.history import populations
from pganon.history import versions as memory
from pganon.history.model import New, Tables
from pganon.history.versions import Judged, MemoryMoved, manner_of
from pganon.ledger import repository as ledger
from pganon.loading import policy_from
from pganon.policy.partition import part_hash
from pganon.publish.audience import granted, roles_of
from pganon.publish.staged import Staged
from pganon.run.cleanup import run_tables
from pganon.run.executor import Executor
from pganon.run.granted import with_readers
from pganon.run.reading import tells_apart
from pganon.run.ruling import held_for, hold
from pganon.run.tables import drop_tables
from pganon.steps import State

Connection = psycopg.Connection[Any]


def judged_again(conn: Connection, staged: Staged) -> Staged:
    """The same version with what it tells beside all others now; under the population's lock.

    What a version that grows or keeps value sets adds to may be another one by now, so it is made
    again.

    Raises:
        PrivacyRefusal: republication; the ledger has the reason.
        MemoryMoved: see above.
        LedgerError: memory.
    """
    judged = staged.judged
    if judged is None or populations.counter(conn, judged.population) == judged.counter:
        return staged
    if staged.increments or judged.sets is not None:
        raise MemoryMoved
    drop_tables(conn, judged.tables)
    try:
        return replace(staged, judged=_judged(conn, staged, judged))
    except PrivacyRefusal as refusal:
        ledger.append(
            conn,
            "refused",
            run_id=staged.run_id,
            release=staged.release,
            policy_hash=staged.policy_hash,
            details=ledger.error_details(refusal),
        )
        raise
    finally:
        drop_tables(conn, run_tables(conn, staged.run_id))


def _judged(conn: Connection, staged: Staged, judged: Judged) -> Judged:
    policy = policy_from(staged.policy)
    counter = populations.counter(conn, judged.population)
    about, _ = with_readers(conn, judged.population)
    past = memory.pasts(about)
    memory.check(conn, tuple(past.values()))
    names = {*staged.readers, *granted(conn, [view.name for view in staged.views])}
    roles = roles_of(conn, names) if tells_apart(policy, about) else ()
    drawn = memory.drawn(conn, staged.run_id, staged.prints.source)
    manner = manner_of(staged.run_id, judged.manner, part_hash(staged.partition), drawn)
    executor = Executor(conn, State(staged.run_id))
    stage = executor.state.stage
    new = New(manner, Tables(stage("members"), stage(GROUPS), judged.manner["link"]))
    found = hold(
        conn,
        executor.run,
        lambda: executor.state,
        held_for(policy, new, about, past, roles),
        policy,
    )
    return replace(
        judged,
        counter=counter,
        manner={**judged.manner, "functions": found.functions is not None},
        over_versions=found.over_versions,
        finer_k=found.finer_k,
        functions=found.functions,
        readers=roles if policy.audiences == "by_reader" else None,
        figures=found.figures,
        crossings=found.crossings,
    )
