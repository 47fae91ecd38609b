"""`pganon init`, `upgrade`, `uninstall`: pganon's schemas in a database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from pganon import install as engine
from pganon.cli import common
from pganon.identifiers import quote
from pganon.install.access import installed_owner
from pganon.install.roles import PREFIX, make_roles
from pganon.install.state import program_version, read


def register(app: typer.Typer) -> None:
    app.command()(init)
    app.command()(upgrade)
    app.command()(uninstall)


def init(
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    with_roles: Annotated[
        bool,
        typer.Option("--roles", help="Also create roles for steward, worker, approver, requester."),
    ] = False,
    prefix: Annotated[
        str, typer.Option("--prefix", help="With --roles: what their names begin with.")
    ] = PREFIX,
    json: common.JsonOption = False,
) -> None:
    """Install pganon's schemas in a database.

    That needs CREATE on the database and nothing else; --roles needs an administrator.
    """
    with common.connect(dsn) as conn:
        if with_roles and read(conn).installed:
            # Roles are made by the login itself, which touches nothing of the owner's.
            role, outcome = installed_owner(conn), None
        else:
            outcome = engine.init(conn, named=common.chosen_owner(owner))
            role = outcome.owner
        made = make_roles(conn, role, prefix) if with_roles else []
        if outcome is None:
            outcome = engine.Outcome("init", bool(made), role, program_version())
        _show(outcome, json, conn.info.dbname, made)


def upgrade(
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Bring pganon's schemas to this program's version."""
    with common.connect(dsn) as conn:
        _show(engine.upgrade(conn, named=common.chosen_owner(owner)), json, conn.info.dbname)


def uninstall(
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    purge: Annotated[
        bool,
        typer.Option("--purge", help="Drop the ledger and the history of versions, too."),
    ] = False,
    json: common.JsonOption = False,
) -> None:
    """Drop pganon's functions and work schemas.

    Published releases stay readable; the ledger stays too.
    """
    with common.connect(dsn) as conn:
        done = engine.uninstall(conn, purge=purge, named=common.chosen_owner(owner))
        _show(done, json, conn.info.dbname)


def _show(outcome: engine.Outcome, json: bool, database: str, roles: Sequence[str] = ()) -> None:
    if json:
        common.emit_json({**outcome.as_dict(), "database": database, "roles": roles})
        return
    common.warn(f"dropped, since pganon's own had to go: {line}" for line in outcome.dropped)
    if not outcome.changed:
        what = "was not installed" if outcome.action == "uninstall" else "is installed"
        common.line(
            f"nothing to do: pganon {outcome.version} {what} in the database {quote(database)},"
            f' owner "{outcome.owner}"'
        )
        return
    if outcome.action == "uninstall":
        kept = f"these schemas stay: {', '.join(outcome.kept)}" if outcome.kept else "nothing stays"
        common.line(f"uninstalled from {quote(database)}; {kept}")
        return
    common.line(
        f"pganon {outcome.version} is installed in the database {quote(database)},"
        f' owner "{outcome.owner}"'
    )
    for name in outcome.migrations:
        common.line(f"  applied {name}")
    if outcome.objects:
        common.line(f"  created {outcome.objects} functions and views")
    for name in roles:
        common.line(f"  created the role {quote(name)}")
