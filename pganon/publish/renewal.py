"""Updates to an existing version by a run over an unchanged source and policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pganon import locks
from pganon.catalog.roles import Roles
from pganon.catalog.roles import unchanged as unchanged_roles
from pganon.ledger import repository as ledger
from pganon.policy.model import Policy
from pganon.policy.partition import shown_part
from pganon.publish import recording, views
from pganon.publish.listing import find
from pganon.publish.readers import set_readers
from pganon.publish.release_state import History, Version
from pganon.publish.transaction import publishing, retire, show_version
from pganon.resolved.republication import Republication, same_source
from pganon.sqlfiles import Connection, ask
from pganon.steps.relations import CheckQuery, PublishedView


@dataclass(frozen=True)
class Renewal:
    """A run whose release is up to date.

    Attributes:
        views: of the current version, as this program would make them.
        readers, trusted: roles of the policy with their numbers.
    """

    run_id: int
    policy: Policy
    policy_hash: str
    views: tuple[PublishedView, ...]
    readers: Roles
    trusted: Roles


def up_to_date_version(
    history: History | None, republication: Republication, source_fingerprint: bytes
) -> Version | None:
    """The current version if a new one over this source would be equal; else None."""
    current = history.current if history else None
    if current is None or not current.stored:
        return None
    same = any(
        candidate.run_id == current.run_id
        and same_source(candidate.source_fingerprint, source_fingerprint)
        for candidate in republication.candidates
    )
    document = republication.policy.document()
    return current if same and shown_part(current.policy) == shown_part(document) else None


def shows_the_same(
    planned: Sequence[PublishedView], checks: Sequence[CheckQuery], current: Version
) -> bool:
    """Whether these are the views of the version, but for their comments, and its verification."""

    def shown(views: Sequence[PublishedView]) -> list[Any]:
        return [(v.name, v.select, [(c.name, c.type) for c in v.columns]) for v in views]

    verified = [check.as_dict() for check in checks]
    return shown(planned) == shown(current.views) and verified == current.checks


def renew(
    conn: Connection,
    renewal: Renewal,
    *,
    last: Callable[[int], None] = lambda version: None,
) -> tuple[str, ...]:
    """Apply the parts of a policy that do not need a new version; returns the changes, as texts.

    Readers, the number of versions kept, and comments are those of the policy afterwards, and
    views that somebody changed or dropped are made again. The session must hold the locks of the
    release and the run.

    Args:
        last: called with the version at the end of the transaction, and may raise.

    Raises:
        PreconditionError: lock_lost, name_taken, missing_role, replaced_role, no_grant, in_use,
            open_privileges.
    """
    name = renewal.policy.release
    publish = renewal.policy.publish
    with publishing(conn):
        locks.assert_held(conn, release=name, run_id=renewal.run_id)
        history = find(conn, name)
        current = history.current
        assert current is not None
        done = _views(conn, renewal, history, current)
        done += set_readers(conn, history, renewal.readers).texts
        old = [v for v in history.versions[publish.keep :] if v.version != current.version]
        retired = retire(conn, name, old)
        if retired:
            done.append(f"versions no longer stored: {', '.join(map(str, sorted(retired)))}")
        ledger.append(
            conn,
            "unchanged",
            run_id=renewal.run_id,
            release=name,
            version=current.version,
            policy_hash=renewal.policy_hash,
            details={"applied": done},
        )
        last(current.version)
    return tuple(done)


def _views(conn: Connection, renewal: Renewal, history: History, current: Version) -> list[str]:
    done: list[str] = []
    name = history.release.name
    standing = ask(conn, "publish", "view_stands", release=name, version=current.version)
    if not all(stands for (stands,) in standing):
        dependents = show_version(
            conn,
            history.release.name,
            history,
            current.version,
            renewal.views,
            unchanged_roles(conn, history.release.roles),
            trusted=renewal.trusted,
        )
        done.append("the views were made again")
        done += views.dependent_texts(dependents)
    if renewal.views != current.views:
        views.describe(conn, renewal.views)
        recording.set_views(conn, history.release.name, current.version, renewal.views)
        recording.remember_views(conn, history.release.name, current.version)
        done.append("comments")
    return done
