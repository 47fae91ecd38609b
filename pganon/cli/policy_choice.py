"""The policy that a command is about: one in a file, or one in the database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pganon.applied.files import SUFFIXES
from pganon.applied.store import loaded, read
from pganon.cli import common
from pganon.policy.loader import STDIN, LoadedPolicy


def is_file(policy: str) -> bool:
    """Whether it names a file, which it does if there is one, or if it looks like one."""
    path = Path(policy)
    return policy == STDIN or path.exists() or path.suffix in SUFFIXES or len(path.parts) > 1


@contextmanager
def chosen_policy(
    policy: str, dsn: str | None, owner: str | None
) -> Iterator[tuple[LoadedPolicy, int | None]]:
    """A policy, and its revision if it is in the database; its files are there for the block.

    Raises:
        PolicyError: with every problem.
        LedgerError: unknown_policy.
    """
    if is_file(policy):
        yield common.read_policy(policy), None
        return
    with common.connect_owner(dsn, owner) as conn:
        stored = read(conn, policy)
        with loaded(conn, stored) as policy_here:
            yield policy_here, stored.revision
