"""Looks at policies in the database: whether they can be used, and what follows from them."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import psycopg

from pganon.applied.store import StoredPolicy, loaded, problems_of, read
from pganon.errors import Interrupted, PolicyError
from pganon.hierarchies.files import check_files
from pganon.policy.model import Policy, policy_hash
from pganon.policy.requests import day, next_time
from pganon.sqlfiles import Connection, ask


def check(
    conn: Connection,
    release: str,
    revision: int | None = None,
    *,
    applied: bool = False,
    stored: StoredPolicy | None = None,
) -> StoredPolicy:
    """Find out whether a policy can be used, and remember it; gives it as it is then.

    The newest revision decides when the release is made of itself, when it is applied or looked at
    for the first time: looking again brings back no schedule that ended with its release. One that
    cannot be used leaves that as it was.

    Args:
        applied: whether the policy is applied now, maybe again.
        stored: the revision, where it was read in this transaction.

    Raises:
        LedgerError: unknown_policy.
    """
    stored = stored or read(conn, release, revision)
    policy: Policy | None = None
    problems: list[str] = []
    try:
        with loaded(conn, stored) as found:
            check_files(found)
            policy = found.policy
    except PolicyError as error:
        problems = list(problems_of(error))
    except (psycopg.Error, Interrupted):
        raise
    except Exception as error:  # whatever it is, looking again would find the same
        problems = [f"the policy cannot be read: {type(error).__name__}"]
    until = policy.publish.review_by if policy else None
    schedules = policy is not None and (applied or stored.checked_at is None)
    values = {
        "policy_hash": policy_hash(policy) if policy else None,
        "problems": problems,
        "review_by": day(until) if until else None,
    }
    with conn.transaction() if policy and policy.schedule else contextlib.nullcontext():
        row = ask(
            conn,
            "policies",
            "checked",
            **values,
            release=release,
            revision=stored.revision,
            ends=schedules and policy is not None and policy.schedule is None,
        ).fetchone()
        assert row is not None
        checked_at, newest = row
        if policy is not None and policy.schedule is not None and schedules and newest:
            ask(
                conn,
                "policies",
                "set_schedule",
                release=policy.release,
                revision=stored.revision,
                expression=policy.schedule,
                time_zone=policy.time_zone,
                next_at=next_time(policy.schedule, policy.time_zone, checked_at),
            )
    return replace(stored, checked_at=checked_at, **values)


def unchecked(conn: Connection) -> list[tuple[str, int]]:
    """Newest revisions that nobody has looked at."""
    return ask(conn, "policies", "unchecked").fetchall()
