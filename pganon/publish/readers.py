"""The readers of a release: roles that its policy or the steward named."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from pganon import locks
from pganon.catalog.roles import Roles, numbers
from pganon.errors import UsageError
from pganon.identifiers import quote
from pganon.ledger import repository as ledger
from pganon.publish import views
from pganon.publish.listing import find
from pganon.publish.privileges import AdmissionCheck, new_readers, record_readers
from pganon.publish.release_state import History
from pganon.publish.sessions import translated
from pganon.publish.target import check_readers
from pganon.publish.transaction import publishing, with_lock_retry
from pganon.sqlfiles import Connection, ask


@dataclass(frozen=True)
class ReaderChange:
    """Readers after a change, and what changed.

    Attributes:
        warnings: roles that could read other versions since these were published.
    """

    readers: tuple[str, ...]
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def texts(self) -> list[str]:
        changes = (("added", self.added), ("removed", self.removed))
        return [f"readers {what}: {', '.join(map(quote, who))}" for what, who in changes if who]


def reader_change(history: History, readers: Roles) -> ReaderChange:
    """The change that makes these roles the readers of a release.

    A role that has the name of one that could read is another one, which is added.
    """
    before = history.release.roles
    return ReaderChange(
        tuple(readers),
        tuple(role for role in readers if before.get(role) != readers[role]),
        tuple(role for role in before if readers.get(role) != before[role]),
    )


def set_readers(
    conn: Connection,
    history: History,
    readers: Roles,
    remedy: str = "correct publish.readers",
    again: str = "apply the policy again",
) -> ReaderChange:
    """Make these, and no other roles, the readers of the views of a release; in a transaction.

    Raises:
        PreconditionError: missing_role, replaced_role, no_grant, in_use.
    """
    check_readers(conn, readers, readers, remedy, again)
    change = reader_change(history, readers)
    former = views.former_readers(history, readers)
    shown = history.current.views if history.current else ()
    names = sorted(view.name for view in shown)

    def grant() -> None:
        for view in names:
            views.grant(conn, view, readers, former)

    with_lock_retry(conn, grant, used="other sessions hold the privileges of the published views")
    ask(
        conn,
        "publish",
        "set_readers",
        release=history.release.name,
        readers=list(readers),
        reader_ids=list(readers.values()),
    )
    if history.current is not None:
        record_readers(conn, history.release.name, history.current.version, names)
    return change


def change_readers(
    conn: Connection,
    name: str,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
    check_admission: AdmissionCheck = lambda current, roles: nullcontext(()),
) -> ReaderChange:
    """Add readers to the current version and remove others; as the steward.

    The next run of a policy that says otherwise goes by the policy. Roles to be added are those
    that have the names now, also where a reader had one before.

    Args:
        check_admission: given the current version and the new readers.

    Raises:
        LedgerError: unknown_release, unknown_version.
        UsageError: a role is in both lists, or to be removed and no reader.
        PreconditionError: busy, missing_role, replaced_role, no_grant, in_use,
            open_privileges.
    """
    with translated(), locks.hold(conn, release=name):
        history = find(conn, name)
        current = history.stored()
        added = numbers(conn, add)
        check_readers(conn, add, added, "name another one")
        before = history.release.roles
        both = [role for role in added if role in remove]
        if both:
            raise UsageError(f"{quote(both[0])} is to be added and to be removed")
        strangers = [role for role in remove if role not in before]
        if strangers:
            raise UsageError(
                f"{quote(strangers[0])} is no reader of {quote(history.release.name)};"
                f" its readers: {', '.join(map(quote, before)) or 'none'}",
                hint="the owner made other grants; `pganon readers NAME` says why a role can read",
            )
        wanted = {**{role: before[role] for role in before if role not in remove}, **added}
        with (
            check_admission(current, new_readers(conn, history, wanted)) as warnings,
            publishing(conn),
        ):
            return replace(_change(conn, name, wanted), warnings=warnings)


def _change(conn: Connection, name: str, wanted: Roles) -> ReaderChange:
    locks.assert_held(conn, release=name)
    history = find(conn, name)
    current = history.stored()
    command = f"`pganon readers {quote(name)}"
    change = set_readers(
        conn, history, wanted, f"{command} --remove ROLE`", f"{command} --add ROLE`"
    )
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
