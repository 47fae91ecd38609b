"""What others than the owner may do with what pganon has and shows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from pganon.catalog.roles import Roles, unchanged
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.identifiers import OWN_SCHEMAS, QualifiedName, first_few, quote
from pganon.publish import views
from pganon.publish.release_state import History, Version
from pganon.sqlfiles import Connection, ask

AdmissionCheck = Callable[[Version, Sequence[str]], AbstractContextManager[tuple[str, ...]]]
"""Checks the rule for roles that get to read a version; yields warnings.

The history that the rule was checked against stays as it is within the block."""


def roles_of(conn: Connection, readers: Iterable[str]) -> tuple[str, ...]:
    """Roles that are, or can become, one of these; only `public` if everybody is.

    Superusers, and roles that can become the owner, are left out: they can read the source.
    """
    ((roles,),) = ask(conn, "publish", "members_of", readers=sorted(set(readers)))
    return tuple(roles)


def granted(conn: Connection, names: Sequence[QualifiedName]) -> set[str]:
    """Roles with SELECT on some column of one of these views, as far as the views exist."""
    found = views.standing(conn, names).values()
    return {role for view in found for role in view.readers}


def new_readers(conn: Connection, history: History, readers: Roles) -> tuple[str, ...]:
    """Readers who cannot read the current version yet: newly named, or without a grant."""
    current = history.current
    views = [view.name for view in current.views] if current else []
    may, before = granted(conn, views), history.release.roles
    return tuple(
        role for role, number in readers.items() if before.get(role) != number or role not in may
    )


def unrecorded_readers(conn: Connection, history: History) -> tuple[str, ...]:
    """Roles that can read the current version of a release, and are not recorded as its readers."""
    current = history.current
    if current is None:
        return ()
    views = [view.name for view in current.views]
    return _asked(conn, "unknown_readers", history.release.name, current.version, views)


def record_readers(
    conn: Connection, release: str, version: int, views: Sequence[QualifiedName]
) -> tuple[str, ...]:
    """Record the roles that can read a version, which these views show; return the new ones."""
    return _asked(conn, "remember_readers", release, version, views)


def _asked(
    conn: Connection, query: str, release: str, version: int, views: Sequence[QualifiedName]
) -> tuple[str, ...]:
    readers = list(roles_of(conn, granted(conn, views)))
    row = ask(conn, "publish", query, release=release, version=version, readers=readers).fetchone()
    return tuple(row[0]) if row else ()


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
    ((before,),) = ask(conn, "publish", "held_before", withdraws=withdraws)
    yield
    ask(conn, "publish", "assert_unopened", before=before)


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
    private = list(OWN_SCHEMAS[1:])  # but for what everybody may read
    return [Right(*row) for row in ask(conn, "publish", "rights", private=private)]


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
    rows = ask(
        conn,
        "publish",
        "can_read",
        schemas=[view.name.schema for view in current.views],
        names=[view.name.name for view in current.views],
        readers=list(unchanged(conn, history.release.roles)),
    ).fetchall()
    return [RoleAccess(*row) for row in rows]
