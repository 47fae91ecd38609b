"""Sessions that serve requests, and what becomes of the requests of those that died."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from typing import Literal

from pganon import locks
from pganon.sqlfiles import Connection, ask


def enter(conn: Connection, kind: Literal["worker", "command"]) -> int:
    """Show that this session serves requests, as long as it lives; gives its number."""
    key = locks.hold_new_key(conn)
    row = ask(
        conn,
        "requests",
        "add_worker",
        key=key,
        kind=kind,
        name=f"{socket.gethostname()}, process {os.getpid()}",
    ).fetchone()
    assert row is not None
    return int(row[0])


def leave(conn: Connection, me: int) -> None:
    """Show that this session serves nothing any more."""
    ask(conn, "requests", "remove_worker", me=me)


@dataclass(frozen=True)
class Requeued:
    """A request of a dead worker; `state` is waiting, approved, or failed after three attempts."""

    id: int
    release: str
    state: str


def requeue(conn: Connection, me: int) -> list[Requeued]:
    """Give back the requests of workers that are dead."""
    dead = [row[0] for row in ask(conn, "requests", "lost", me=me)]
    if not dead:
        return []
    rows = ask(conn, "requests", "requeue", workers=dead).fetchall()
    return [Requeued(*row) for row in rows]


def forget_dead(conn: Connection) -> None:
    """Take away the rows of workers that have ended."""
    keys = [row[0] for row in ask(conn, "requests", "keys").fetchall()]
    alive = locks.held_keys(conn, keys)
    dead = [key for key in keys if key not in alive]
    if dead:
        ask(conn, "requests", "forget_workers", keys=dead)
