"""Roles that policies and stewards name. Each is meant by its name and its number together.

The name alone would be that of whoever has it later, and numbers are other ones after a restore
into another server. So a role that was renamed, or dropped and made again, is not the one that was
named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.identifiers import quote
from pganon.sqlfiles import Connection, ask

Roles = Mapping[str, int]
"""Numbers of roles by name, as they were when they were named."""

EVERYBODY = "public"
"""The name that is no role's; its number is 0."""


def numbers(conn: Connection, names: Iterable[str]) -> dict[str, int]:
    """The roles that have these names now, as far as there are any; `public` is one of them."""
    wanted = list(dict.fromkeys(names))
    if not wanted:
        return {}
    rows = ask(conn, "catalog", "role_numbers", names=wanted).fetchall()
    found = {EVERYBODY: 0, **dict(rows)}
    return {name: found[name] for name in wanted if name in found}


def names_of(conn: Connection, roles: Iterable[int]) -> dict[int, str]:
    """The names that roles with these numbers have now, as far as there are any."""
    wanted = list(roles)
    if not wanted:
        return {}
    rows = ask(conn, "catalog", "role_names", numbers=wanted).fetchall()
    return {**dict(rows), **({0: EVERYBODY} if 0 in wanted else {})}


def unchanged(conn: Connection, roles: Roles) -> dict[str, int]:
    """Those that are what they were when they were named."""
    now = numbers(conn, roles)
    return {name: number for name, number in roles.items() if now.get(name) == number}


def check_roles(
    conn: Connection,
    names: Iterable[str],
    roles: Roles,
    what: str,
    *,
    remedy: str,
    again: str,
    now: Roles | None = None,
) -> None:
    """Refuse names that no role has, or another role than the one that was named.

    Args:
        what: whom they are named as, such as "readers".
        remedy: the alternative to creating a role.
        again: how to name the roles that have the names now.
        now: these roles; None: they are asked for.

    Raises:
        PreconditionError: missing_role, replaced_role.
    """
    now = numbers(conn, names) if now is None else now
    missing = [name for name in names if name not in now]
    if missing:
        raise PreconditionError(
            f"these {what} are not roles of the server: {_listed(conn, missing, roles)}",
            hint=f"create the role, or {remedy}",
            code=ErrorCode.MISSING_ROLE,
        )
    others = [name for name in names if now[name] != roles.get(name)]
    if others:
        raise PreconditionError(
            f"these {what} are other roles than those that were named:"
            f" {_listed(conn, others, roles)}",
            hint=f"{again}, if you mean the roles that have these names now; else {remedy}",
            code=ErrorCode.REPLACED_ROLE,
        )


def _listed(conn: Connection, names: Iterable[str], roles: Roles) -> str:
    """The names, with those that the roles have now."""
    named = {name: roles[name] for name in names if name in roles}
    called = names_of(conn, named.values())
    now = {name: called[number] for name, number in named.items() if number in called}
    return ", ".join(
        f"{quote(name)}, which is called {quote(now[name])} now" if name in now else quote(name)
        for name in names
    )
