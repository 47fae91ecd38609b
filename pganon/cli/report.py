"""`pganon report`: what a steward shows to a data protection officer or a board."""

from __future__ import annotations

import json as jsonlib
from pathlib import Path
from typing import Annotated

import typer

from pganon.cli import common
from pganon.cli.release import Name
from pganon.errors import UsageError

ENDINGS = (".html", ".json")


def register(app: typer.Typer) -> None:
    app.command()(report)


def report(
    name: Name,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="File: .html or .json.", show_default=False),
    ],
    version: Annotated[
        int | None,
        typer.Option("--version", help="Which version; default: the one that is shown."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Write a report for a data protection officer or a board.

    It is made of stored figures; the source is not read. It is confidential.
    """
    from pganon import files
    from pganon.cli.collected import collect
    from pganon.report.document import document
    from pganon.report.page import page

    if output.suffix.lower() not in ENDINGS:
        raise UsageError(
            f"{output}: the name of a report ends in .html or .json", hint="for example report.html"
        )
    if output.exists() and not force:
        raise UsageError(f"{output} exists", hint="choose another name, or add --force")
    with common.connect_owner(dsn, owner) as conn:
        made = document(collect(conn, name, version))
    html = output.suffix.lower() == ".html"
    text = page(made) if html else f"{jsonlib.dumps(made, indent=2, sort_keys=True)}\n"
    with files.writing(output, private=True) as file:
        file.write(text.encode())
    if json:
        common.emit_json(
            {
                "file": str(output),
                "release": name,
                "version": made["properties"]["version"],
                "status": made["status"],
                "comments": made["comments"],
            }
        )
        return
    number = made["properties"]["version"]
    points = len(made["comments"])
    look = f"{points} to look at" if points else "nothing to look at"
    common.line(f"{output}: {name}, version {number}; {look}")
