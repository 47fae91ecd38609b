"""A request of the demo: the steward's policy, a worker, and an analyst who asks in SQL."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from pganon import database
from pganon.applied.check import check
from pganon.applied.store import store
from pganon.demo.hospital import Hospital
from pganon.install.owner import become_owner
from pganon.loading import load_policy
from pganon.worker.log import Log
from pganon.worker.service import Worker
from pganon.worker.signals import Stop


@dataclass(frozen=True)
class Served:
    """Call of the analyst, and notices that it returned."""

    call: str
    notices: tuple[str, ...]


def serve_request(hospital: Hospital, policy: Path) -> Served:
    """Apply the policy as the steward, ask for its release as the analyst, and wait for it."""
    loaded = load_policy(policy)
    with contextlib.closing(database.connect(hospital.steward)) as conn:
        become_owner(conn)
        release = check(conn, loaded.policy.release, store(conn, loaded)).release
    call = f"CALL pganon.release('{release}')"
    notices: list[str] = []
    with _worker(hospital.steward), psycopg.connect(hospital.analyst, autocommit=True) as analyst:
        analyst.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
        analyst.execute(call.encode())
    return Served(call, tuple(notices))


@contextmanager
def _worker(dsn: str) -> Iterator[None]:
    """A worker in a thread; elsewhere it is a service of its own."""
    stop = Stop(grace=60)
    begun = threading.Event()
    worker = Worker(dsn, None, Log(lambda line: begun.set()), stop)
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        # The analyst is told otherwise that no worker is alive. One that fails sets nothing.
        begun.wait(timeout=30)
        yield
    finally:
        stop.asked = True
        thread.join()
