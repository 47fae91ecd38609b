"""Files that were not applied: which, and whether they can be, before any of them is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pganon.applied.compare import KeyDifference, differences
from pganon.applied.store import loaded as of_stored
from pganon.applied.store import newest_revision, read
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PolicyError, UsageError
from pganon.loading import load_policy
from pganon.migrate.files import MigrationFile, read_folder
from pganon.migrate.history import FileState, applied, check_own, check_unchanged, compared
from pganon.policy.loader import LoadedPolicy
from pganon.policy.model import Policy
from pganon.publish.views import check_readers
from pganon.run.context import resolve_policy
from pganon.sqlfiles import Connection


@dataclass(frozen=True)
class Pending:
    """A file to apply.

    Attributes:
        loaded: its policy; None for a withdrawal.
    """

    file: MigrationFile
    loaded: LoadedPolicy | None


@dataclass(frozen=True)
class Planned:
    """Effect that applying a file would have.

    Attributes:
        differences: to the policy of the release before it, weaker ones named; None if there is
            none.
    """

    file: str
    kind: str
    release: str
    differences: list[KeyDifference] | None

    @property
    def weaker(self) -> bool:
        return any(difference.effect == "weaker" for difference in self.differences or ())


def file_states(conn: Connection, folder: Path, history: str) -> list[FileState]:
    """The folder beside its history."""
    return compared(read_folder(folder), applied(conn, history))


def checked(
    conn: Connection, folder: Path, history: str, to: int | None = None
) -> tuple[list[FileState], list[Pending]]:
    """Compare a folder with its history, and check all files that are to be applied.

    Repeatable files come last, and only once all numbers are applied. They are applied each time:
    a run finds out whether anything changed.

    Raises:
        UsageError, LedgerError: the folder, or a file of it, is not as it has to be.
        PolicyError, PreconditionError: a policy cannot be used with this database.
    """
    compared = file_states(conn, folder, history)
    check_unchanged(compared)
    wanted = wanted_files(compared, to)
    check_own(conn, history, wanted)
    pending = [Pending(file, _policy(conn, file)) for file in wanted]
    return compared, pending


def wanted_files(file_states: Sequence[FileState], to: int | None) -> list[MigrationFile]:
    """Files to apply, in order.

    Raises:
        UsageError: unknown_number, applied_already.
    """
    numbered = [s for s in file_states if s.number is not None]
    last = numbered[-1].number or 0 if numbered else 0
    if to is not None and to > last:
        raise UsageError(
            f"there is no file with the number {to}; the last one is {last}",
            code=ErrorCode.UNKNOWN_NUMBER,
        )
    beyond = [s.name for s in numbered if to is not None and s.applied and (s.number or 0) > to]
    if beyond:
        raise UsageError(
            f"{beyond[-1]} is applied already",
            hint=f"to take it back: pganon migrate down DIR --to {to}",
            code=ErrorCode.APPLIED_ALREADY,
        )
    up_to = last if to is None else to
    files = [
        s.file for s in file_states if s.file and s.state == "pending" and s.number is not None
    ]
    again = [s.file for s in file_states if s.file and s.number is None]
    return [f for f in files if (f.number or 0) <= up_to] + (again if up_to == last else [])


def _policy(conn: Connection, file: MigrationFile) -> LoadedPolicy | None:
    """The policy of a file, which fits its files and the catalog as they are now."""
    if file.kind == "withdraw":
        return None
    loaded = load_policy(file.path)
    try:
        spec = resolve_policy(conn, loaded)
        check_readers(conn, spec.readers, spec.roles)
    except PolicyError:
        raise  # it names the file
    except PganonError as error:
        raise error.within(file.name) from None
    return loaded


def planned(conn: Connection, pending: Sequence[Pending]) -> list[Planned]:
    """Effects of these files, applied one after the other."""
    before: dict[str, Policy | None] = {}
    plans: list[Planned] = []
    for item in pending:
        file = item.file
        if file.release not in before:
            before[file.release] = _newest(conn, file.release)
        was, now = before[file.release], item.loaded.policy if item.loaded else None
        changes = differences(was, now) if was and now else None
        plans.append(Planned(file.name, file.kind, file.release, changes))
        before[file.release] = now or was
    return plans


def _newest(conn: Connection, release: str) -> Policy | None:
    """The policy of the release in the database, if there is one that this program understands."""
    if newest_revision(conn, release) is None:
        return None
    try:
        with of_stored(conn, read(conn, release)) as policy:
            return policy.policy
    except PolicyError:
        return None
