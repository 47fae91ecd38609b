"""Updates to an existing version by a run over an unchanged source and policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pganon import locks
from pganon.catalog.roles import unchanged as unchanged_roles
from pganon.ledger import repository as ledger
from pganon.policy.partition import shown_part
from pganon.publish import recording, views
from pganon.publish.listing import find
from pganon.publish.readers import set_readers
from pganon.publish.release_state import History, Version
from pganon.publish.transaction import publishing, retire, show_version
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.republication import Republication, same_source
from pganon.sqlfiles import Connection, ask
from pganon.steps.relations import CheckQuery, PublishedView


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
    spec: ReleaseSpec,
    run_id: int,
    shown: tuple[PublishedView, ...],
    *,
    last: Callable[[int], None] = lambda version: None,
) -> tuple[str, ...]:
    """Apply the parts of a policy that do not need a new version; returns the changes, as texts.

    Readers, the number of versions kept, and comments are those of the policy afterwards, and
    views that somebody changed or dropped are made again. The session must hold the locks of the
    release and the run.

    Args:
        shown: views of the current version, as this program would make them.
        last: called with the version at the end of the transaction, and may raise.

    Raises:
        PreconditionError: lock_lost, name_taken, missing_role, replaced_role, no_grant, in_use,
            open_privileges.
    """
    name = spec.policy.release
    with publishing(conn):
        locks.assert_held(conn, release=name, run_id=run_id)
        history = find(conn, name)
        current = history.current
        assert current is not None
        done = _views(conn, spec, shown, history, current)
        done += set_readers(conn, history, spec.reading).texts
        kept = spec.policy.publish.keep
        old = [v for v in history.versions[kept:] if v.version != current.version]
        retired = retire(conn, name, old)
        if retired:
            done.append(f"versions no longer stored: {', '.join(map(str, sorted(retired)))}")
        ledger.append(
            conn,
            "unchanged",
            run_id=run_id,
            release=name,
            version=current.version,
            policy_hash=spec.policy_hash,
            details={"applied": done},
        )
        last(current.version)
    return tuple(done)


def _views(
    conn: Connection,
    spec: ReleaseSpec,
    shown: tuple[PublishedView, ...],
    history: History,
    current: Version,
) -> list[str]:
    done: list[str] = []
    name = history.release.name
    standing = ask(conn, "publish", "view_stands", release=name, version=current.version)
    if not all(stands for (stands,) in standing):
        dependents = show_version(
            conn,
            name,
            history,
            current.version,
            shown,
            unchanged_roles(conn, history.release.roles),
            trusted=spec.trusted,
        )
        done.append("the views were made again")
        done += views.dependent_texts(dependents)
    if shown != current.views:
        views.describe(conn, shown)
        recording.set_views(conn, name, current.version, shown)
        recording.remember_views(conn, name, current.version)
        done.append("comments")
    return done
