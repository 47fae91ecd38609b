"""`pganon forget`: erasure of people, and the end of a version's retention."""

from __future__ import annotations

from pganon import locks
from pganon.error_codes import ErrorCode
from pganon.errors import Interrupted, LedgerError
from pganon.history import populations
from pganon.history import versions as memory
from pganon.identifiers import first_few, quote
from pganon.ledger import repository as ledger
from pganon.publish import forgetting
from pganon.publish.forgetting import Forgotten
from pganon.publish.listing import find
from pganon.publish.sessions import translated
from pganon.publish.transaction import publishing
from pganon.run.tables import Cleaned, clean
from pganon.sqlfiles import Connection


def forget_people(conn: Connection, name: str, table: str) -> Forgotten:
    """Know people by random digests from now on; `name` is a release about their population.

    What was published stays as it is. Who returns is left out of later versions.

    Raises:
        LedgerError: unknown_release, no_population.
        UsageError: the table has not the columns of the key.
        Interrupted: they are forgotten, but a table that another server keeps may have them.
    """
    with translated(), locks.hold(conn, release=name):
        history = find(conn, name)
        population = populations.of_release(conn, name)
        if population is None:
            raise LedgerError(
                f"nothing is remembered of the people of the release {quote(name)}",
                code=ErrorCode.NO_POPULATION,
            )
        newest = history.versions[0]
        with locks.hold(conn, population=population.id), publishing(conn):
            people, warnings = forgetting.forget_people(conn, population, table)
            ledger.append(
                conn,
                "forgotten",
                run_id=newest.run_id,
                release=name,
                details={"people": people},
            )
        # Tables of what waited for approval, or was interrupted, have them still.
        _check_clean(clean(conn))
    return Forgotten(name, people=people, warnings=warnings)


def forget_version(conn: Connection, name: str, number: int, reason: str) -> Forgotten:
    """Forget who was in a version of which no copy is left; nothing is judged beside it any more.

    Raises:
        LedgerError: unknown_release, unknown_version.
        UsageError: the version is shown.
    """
    with translated(), locks.hold(conn, release=name):
        history = find(conn, name)
        population = populations.of_release(conn, name)
        newest = history.versions[0]
        people = population.id if population else None
        with locks.hold(conn, population=people), publishing(conn):
            forgetting.forget_version(conn, history, number, reason)
            if population:
                memory.count(conn, population.id)
            ledger.append(
                conn,
                "forgotten",
                run_id=newest.run_id,
                release=name,
                details={"version": number, "reason": reason},
            )
    return Forgotten(name, version=number)


def _check_clean(cleaned: Cleaned) -> None:
    if cleaned.remaining:
        raise Interrupted(
            "the people are forgotten, but tables of ended runs may have them:"
            f" {first_few(cleaned.remaining, 5)}; another server of the cluster does not answer",
            hint="run `pganon clean` when it does",
        )
