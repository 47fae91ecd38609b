"""What others than the owner may do with what pganon has and shows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg

from pganon import sqlfiles
from pganon.catalog.roles import unchanged
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.identifiers import OWN_SCHEMAS, QualifiedName, first_few, quote
from pganon.publish.release_state import History

Connection = psycopg.Connection[Any]

_SHOWN = 5
_MORE = "others may do more than the policies say"


@contextmanager
def unopened(conn: Connection, *, withdraws: bool = False) -> Iterator[None]:
    """Refuse the changes of a block, in a transaction, if others may do more by them.

    Event triggers and other sessions may grant privileges meanwhile. At the end of the block
    nobody else may use what is private. Of everything else others may do what the policies say,
    and what they could do before, by a grant of the steward's, for instance.

    Args:
        withdraws: whether it only takes away, which what others could do before never prevents.

    Raises:
        psycopg.Error: PA103, which is open_privileges.
    """
    row = conn.execute(
        sqlfiles.query("publish", "held_before"), {"withdraws": withdraws}
    ).fetchone()
    assert row is not None
    yield
    conn.execute(sqlfiles.query("publish", "assert_unopened"), {"before": row[0]})


@dataclass(frozen=True)
class Right:
    """What a role may do beyond the policies.

    Attributes:
        place: `private schemas`, a schema as `schema name`, a view, a kind of right that only
            :func:`unopened` compares, or `beside` for one that is in no list of privileges.
        role: who may; `public` for everybody, None where it is not about a role.
        text: such as `SELECT on published.t to public`.
    """

    place: str
    role: str | None
    text: str


def beyond_policy(conn: Connection) -> list[Right]:
    """What others may do with what is private or shown, and no policy says."""
    values = {"private": list(OWN_SCHEMAS[1:])}  # but for what everybody may read
    rows = conn.execute(sqlfiles.query("publish", "rights"), values).fetchall()
    return [Right(*row) for row in rows]


def check_closed(rights: Sequence[Right]) -> None:
    """Refuse to work while others than the owner have privileges in a private schema.

    Raises:
        PreconditionError: open_privileges.
    """
    private = [right.text for right in rights if right.place == "private schemas"]
    if private:
        raise PreconditionError(
            f"others than the owner may use what is private: {first_few(private, _SHOWN)}",
            hint="REVOKE these privileges, and find out who has read there",
            code=ErrorCode.OPEN_PRIVILEGES,
        )


def opened(
    rights: Sequence[Right], names: Sequence[QualifiedName], readers: Collection[str]
) -> tuple[str, ...]:
    """A warning of what others may do with views, their schemas and schema pganon, if anything.

    Args:
        readers: roles that are, or will be, readers.
    """
    shown = {*map(str, names), *(f"schema {quote(name.schema)}" for name in names)}
    texts = [
        right.text
        for right in rights
        if right.place == "schema pganon"
        or (
            right.place in shown
            and not (right.role in readers and right.text.startswith("SELECT on "))
        )
    ]
    return (f"{_MORE}: {first_few(texts, _SHOWN)}",) if texts else ()


def beside(rights: Sequence[Right]) -> tuple[str, ...]:
    """A warning of who may read or change what is private by rights that are in no list, if any."""
    texts = [right.text for right in rights if right.place == "beside"]
    if not texts:
        return ()
    return (
        "what is private can be read or changed by rights that no list of privileges has:"
        f" {first_few(texts, _SHOWN)}",
    )


@dataclass(frozen=True)
class RoleAccess:
    """A role that can read views of a release, whoever granted it.

    Attributes:
        because: "reader", "owner", "superuser", the roles through which it can, or the roles that
            it can become.
        login: whether somebody can log in as it.
    """

    role: str
    because: str
    login: bool


def can_read(conn: Connection, history: History) -> list[RoleAccess]:
    """Every role but the server's own ones that can read any view of the current version."""
    current = history.current
    if current is None or not current.stored:
        return []
    rows = conn.execute(
        sqlfiles.query("publish", "can_read"),
        {
            "schemas": [view.name.schema for view in current.views],
            "names": [view.name.name for view in current.views],
            "readers": list(unchanged(conn, history.release.roles)),
        },
    ).fetchall()
    return [RoleAccess(*row) for row in rows]
