"""`pganon init`, `upgrade`, `uninstall`: pganon's schemas in a database."""

from __future__ import annotations

from typing import Annotated

import typer

from pganon import install as engine
from pganon.cli import common


def register(app: typer.Typer) -> None:
    app.command()(init)
    app.command()(upgrade)
    app.command()(uninstall)


def init(
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Install pganon's schemas in a database.

    That needs CREATE on the database and nothing else.
    """
    with common.connect(dsn) as conn:
        _show(engine.init(conn, named=common.chosen_owner(owner)), json)


def upgrade(
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Bring pganon's schemas to this program's version."""
    with common.connect(dsn) as conn:
        _show(engine.upgrade(conn, named=common.chosen_owner(owner)), json)


def uninstall(
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    purge: Annotated[
        bool,
        typer.Option("--purge", help="Drop the ledger and the memory of what was published too."),
    ] = False,
    json: common.JsonOption = False,
) -> None:
    """Drop pganon's functions and work schemas.

    Published releases stay readable; the ledger stays too.
    """
    with common.connect(dsn) as conn:
        _show(engine.uninstall(conn, purge=purge, named=common.chosen_owner(owner)), json)


def _show(outcome: engine.Outcome, json: bool) -> None:
    if json:
        common.emit_json(outcome.as_dict())
        return
    if not outcome.changed:
        what = "was not installed" if outcome.action == "uninstall" else "is installed"
        common.line(f'nothing to do: pganon {outcome.version} {what}, owner "{outcome.owner}"')
        return
    if outcome.action == "uninstall":
        kept = ", ".join(outcome.kept)
        common.line(f"uninstalled; {'these schemas stay: ' + kept if kept else 'nothing stays'}")
        return
    common.line(f'pganon {outcome.version} is installed, owner "{outcome.owner}"')
    for name in outcome.migrations:
        common.line(f"  applied {name}")
    common.line(f"  created {outcome.objects} functions and views")
