"""The readers of a release: the roles that its policy, or the steward since, has named."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import psycopg

from pganon import locks, sqlfiles
from pganon.errors import UsageError
from pganon.identifiers import quote
from pganon.ledger import repository as ledger
from pganon.publish import history, views
from pganon.publish.audience import Judged, grant_readers, remember_readers
from pganon.publish.history import History
from pganon.publish.lifecycle import find, translated
from pganon.publish.privileges import unchanged
from pganon.publish.target import check_readers
from pganon.publish.transaction import publishing

Connection = psycopg.Connection[Any]


@dataclass(frozen=True)
class Access:
    """Readers after a change, and what changed.

    Attributes:
        warnings: who could read other versions since these were published.
    """

    readers: tuple[str, ...]
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def texts(self) -> list[str]:
        found = (("added", self.added), ("removed", self.removed))
        return [f"readers {what}: {', '.join(map(quote, who))}" for what, who in found if who]


def access(known: History, readers: Sequence[str]) -> Access:
    """What it takes to make these the readers of a release."""
    before = known.release.readers
    return Access(
        tuple(readers),
        tuple(role for role in readers if role not in before),
        tuple(role for role in before if role not in readers),
    )


def set_readers(conn: Connection, known: History, readers: Sequence[str]) -> Access:
    """Make these, and no other roles, the readers of the views of a release; in a transaction.

    Raises:
        PreconditionError: missing_role, no_grant.
    """
    check_readers(conn, readers)
    change = access(known, readers)
    shown = known.current.views if known.current else ()
    for view in sorted(shown, key=lambda view: view.name):
        views.grant(conn, view.name, readers, change.removed)
    conn.execute(
        sqlfiles.query("publish", "set_readers"),
        {"release": known.release.name, "readers": list(readers)},
    )
    remember_readers(conn, known)
    return change


def change_readers(
    conn: Connection,
    name: str,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
    judged: Judged = lambda current, roles: nullcontext(()),
) -> Access:
    """Add readers to the current version and remove others; as the steward.

    The next run of a policy that says otherwise goes by the policy.

    Args:
        judged: given the current version and who is let read it, holds what they are judged by
            until they are; gives warnings, may raise.

    Raises:
        LedgerError: unknown_release, unknown_version.
        UsageError: a role is in both lists, or to be removed and no reader.
        PreconditionError: busy, missing_role, no_grant, open_privileges.
    """
    with translated(), locks.hold(conn, release=name):
        known = find(conn, name)
        current = history.check_stored(known, known.current, None)
        wanted = _wanted(known, add, remove)
        check_readers(conn, access(known, wanted).added, "name another one")
        with (
            judged(current, grant_readers(conn, known, wanted)) as warnings,
            publishing(conn),
            unchanged(conn, name),
        ):
            return replace(_change(conn, name, wanted), warnings=warnings)


def _change(conn: Connection, name: str, wanted: Sequence[str]) -> Access:
    locks.assert_held(conn, release=name)
    known = find(conn, name)
    current = history.check_stored(known, known.current, None)
    kept = [role for role in wanted if role in known.release.readers]
    check_readers(conn, kept, f"`pganon readers {quote(name)} --remove ROLE`")
    change = set_readers(conn, known, wanted)
    if change.added or change.removed:
        ledger.append(
            conn,
            "readers",
            run_id=current.run_id,
            release=name,
            version=current.version,
            details={"added": list(change.added), "removed": list(change.removed)},
        )
    return change


def _wanted(known: History, add: Sequence[str], remove: Sequence[str]) -> list[str]:
    before = known.release.readers
    both = [role for role in add if role in remove]
    if both:
        raise UsageError(f"{quote(both[0])} is to be added and to be removed")
    strangers = [role for role in remove if role not in before]
    if strangers:
        raise UsageError(
            f"{quote(strangers[0])} is no reader of {quote(known.release.name)};"
            f" its readers: {', '.join(map(quote, before)) or 'none'}",
            hint="other grants are the owner's own; `pganon readers NAME` says why a role can read",
        )
    return list(dict.fromkeys([*(role for role in before if role not in remove), *add]))
