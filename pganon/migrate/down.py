"""Takes release migrations back: readers see what they saw before, and the policy is that again.

Nothing is computed but for a withdrawal, of which the release is made anew. Copies that analysts
made stay with them, and pganon remembers what was published.
"""

from __future__ import annotations

from pganon import locks
from pganon.applied.check import check
from pganon.applied.store import loaded, read, restore
from pganon.catalog.roles import Roles, unchanged
from pganon.error_codes import ErrorCode
from pganon.errors import LedgerError, PolicyError, UsageError
from pganon.ledger import repository as ledger
from pganon.migrate.history import Applied, Session, alone, applied, check_unchanged
from pganon.migrate.pending import file_states
from pganon.migrate.up import Done, Report, Target, named, session
from pganon.publish import lifecycle, listing
from pganon.publish.readers import set_readers
from pganon.publish.transaction import publishing
from pganon.run import grants
from pganon.run.context import named_roles
from pganon.run.grants import change_readers
from pganon.run.options import Ended, OnStep, Options
from pganon.run.release import run_release
from pganon.sqlfiles import Connection, ask


def down(
    target: Target,
    to: int,
    *,
    report: Report = lambda done: None,
    on_step: OnStep = lambda phase, step, purpose: None,
) -> list[Done]:
    """Take back the files with a number above `to`, the last one first.

    Raises:
        PganonError: of the folder, before anything is done; of a file, which stays applied.
    """
    outcomes: list[Done] = []
    options = Options(on_step=on_step)
    with session(target) as conn, alone(conn, target.history) as mine:
        check_unchanged(file_states(conn, target.folder, target.history))
        rows = [row for row in applied(conn, target.history) if row.number is not None]
        last = rows[-1].number or 0 if rows else 0
        if to > last:
            raise UsageError(
                f"number {to} is not applied; the last one is {last}", code=ErrorCode.UNKNOWN_NUMBER
            )
        for row in reversed([row for row in rows if (row.number or 0) > to]):
            with named(row.file):
                done = _take_back(conn, target, mine, row, options)
            outcomes.append(done)
            report(done)
    return outcomes


def _take_back(
    conn: Connection, target: Target, mine: Session, row: Applied, options: Options
) -> Done:
    if row.kind == "withdraw":
        return _release_again(conn, target, mine, row, options)
    if row.version is None:
        return _give_up(conn, mine, row)
    if row.version_before is None:
        return _withdraw(conn, mine, row)
    if row.version_before == row.version:
        return _as_before(conn, mine, row)
    return _roll_back(conn, mine, row, options)


def _roll_back(conn: Connection, mine: Session, row: Applied, options: Options) -> Done:
    if listing.find(conn, row.release).release.current == row.version_before:
        return _as_before(conn, mine, row)  # somebody went back already
    changed = grants.rollback(
        conn,
        row.release,
        row.version_before,
        last=lambda version: _restore_policy(conn, mine, row),
    )
    _admit(conn, mine, row)
    return Done(
        row.file, row.release, "reverted", row.version_before, dependents=changed.dependents
    )


def _as_before(conn: Connection, mine: Session, row: Applied) -> Done:
    """The version stays; the policy, and readers, are those from before."""
    with locks.hold(conn, release=row.release), publishing(conn):
        locks.assert_held(conn, release=row.release)
        _restore_policy(conn, mine, row)
    _admit(conn, mine, row)
    return Done(row.file, row.release, "reverted", listing.find(conn, row.release).release.current)


def _withdraw(conn: Connection, mine: Session, row: Applied) -> Done:
    """Nothing was shown before."""
    built: tuple[str, ...] = ()
    with lifecycle.withdrawing(conn, row.release):
        if listing.find(conn, row.release).release.current is not None:
            built = lifecycle.withdraw_within(conn, row.release)
        mine.take_back(conn, row)
    return Done(row.file, row.release, "withdrawn", dependents=built)


def _give_up(conn: Connection, mine: Session, row: Applied) -> Done:
    """It waits for approval, or nobody approved it; the worker drops its tables."""
    with publishing(conn):
        values = {"request": row.request}
        now = ask(conn, "migrations", "request_now", **values).fetchone()
        if now is not None and (now[1] is not None or now[0] == "running"):
            raise LedgerError(
                f"request {row.request} is being published",
                hint="run the command again",
                code=ErrorCode.PUBLISHED_MEANWHILE,
            )
        ended = ask(conn, "migrations", "end_waiting", **values).fetchone()
        if ended is not None:
            ledger.append(
                conn,
                "superseded",
                run_id=ended[0],
                release=row.release,
                details={"request": row.request},
            )
        _restore(conn, row)
        mine.take_back(conn, row)
    return Done(row.file, row.release, "reverted")


def _release_again(
    conn: Connection, target: Target, mine: Session, row: Applied, options: Options
) -> Done:
    """A release that was withdrawn is made anew, under the policy that it had."""
    stored = read(conn, row.release, row.revision_before)

    def last(ended: Ended) -> None:
        mine.take_back(ended.conn, row)

    with loaded(conn, stored) as policy:
        result = run_release(
            policy,
            dsn=target.dsn,
            owner=target.owner,
            options=Options(
                on_step=options.on_step,
                on_end=last,
                revision=stored.revision,
            ),
        )
    assert result.outcome != "dry_run"
    return Done(
        row.file, row.release, result.outcome, result.version, result.request, result.dependents
    )


def _restore_policy(conn: Connection, mine: Session, row: Applied) -> None:
    """The policy from before, whose readers alone may see the version, in its transaction."""
    mine.assert_mine(conn)
    wanted = _readers(conn, row, _restore(conn, row))
    release = listing.find(conn, row.release)
    before = release.release.roles
    stay = {role: number for role, number in before.items() if wanted.get(role) == number}
    change = set_readers(conn, release, stay)
    if release.current is not None and change.removed:
        ledger.append(
            conn,
            "readers",
            run_id=release.current.run_id,
            release=row.release,
            version=release.current.version,
            details={"added": [], "removed": list(change.removed)},
        )


def _admit(conn: Connection, mine: Session, row: Applied) -> None:
    """Readers of the policy from before, judged as new ones are; then the file is taken back.

    If they are refused, it stays applied, and the next call goes on here.
    """
    release = listing.find(conn, row.release)
    wanted = _readers(conn, row, _newest(conn, row.release))
    before = release.release.roles
    missing = [role for role, number in wanted.items() if before.get(role) != number]
    if missing:
        change_readers(conn, row.release, add=missing)
    with conn.transaction():
        mine.take_back(conn, row)


def _readers(conn: Connection, row: Applied, named: Roles | None) -> Roles:
    """Those that are what they were when they were named; without a policy those that there are."""
    if named is None or row.revision_before is None:
        named = listing.find(conn, row.release).release.roles
    return unchanged(conn, named)


def _restore(conn: Connection, row: Applied) -> Roles | None:
    """The policy from before is the newest again; gives its readers if it can be used."""
    if row.revision_before is None:
        return None
    revision = restore(conn, read(conn, row.release, row.revision_before))
    check(conn, row.release, revision)
    return _newest(conn, row.release)


def _newest(conn: Connection, release: str) -> Roles | None:
    """The readers of the newest policy of a release, if it can be used."""
    try:
        with loaded(conn, read(conn, release)) as policy:
            roles = named_roles(conn, policy)
            return {name: roles[name] for name in policy.policy.publish.readers if name in roles}
    except PolicyError:
        return None
