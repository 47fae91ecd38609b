"""The readers of a release: roles that its policy or the steward named."""

from __future__ import annotations

from dataclasses import dataclass

from pganon.catalog.roles import Roles
from pganon.identifiers import quote
from pganon.publish import views
from pganon.publish.privileges import record_readers
from pganon.publish.release_state import History
from pganon.publish.transaction import with_lock_retry
from pganon.publish.views import check_readers
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
