"""`pganon extension`: pganon as an extension of PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pganon import install as engine
from pganon.cli import common
from pganon.identifiers import quote
from pganon.install import scripts
from pganon.install.state import program_version


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="pganon as an extension of PostgreSQL.", no_args_is_help=True, rich_markup_mode=None
    )
    group.command()(build)
    group.command()(detach)
    app.add_typer(group, name="extension")


def build(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder; scripts of earlier versions in it stay.")
    ],
    json: common.JsonOption = False,
) -> None:
    """Write the files that CREATE EXTENSION pganon needs on the server."""
    version = program_version()
    written = scripts.build(folder, version)
    if json:
        common.emit_json({"version": version, "files": written})
        return
    common.line(f"pganon {version} as an extension:")
    for path in written:
        common.line(f"  {path}")


def detach(
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Make an installation of its own of the extension in a database; all data stay."""
    with common.connect(dsn) as conn:
        done = engine.detach(conn, named=common.chosen_owner(owner))
        database = conn.info.dbname
    if json:
        common.emit_json({**done.as_dict(), "database": database})
    elif done.changed:
        common.line(f"pganon in the database {quote(database)} is no extension any more")
    else:
        common.line(f"nothing to do: pganon in the database {quote(database)} is no extension")
