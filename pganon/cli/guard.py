"""`pganon guard`, `forget`: what is remembered of the people whom versions are about."""

from __future__ import annotations

from typing import Annotated

import typer

from pganon.cli import common
from pganon.cli.release import Name
from pganon.errors import UsageError
from pganon.identifiers import quote
from pganon.run.forgetting import forget_people, forget_version
from pganon.run.rebuilding import Guarded, guarded


def register(app: typer.Typer) -> None:
    app.command("guard")(guard)
    app.command("forget")(forget)


def guard(
    policy: common.PolicyArgument,
    rebuild: Annotated[
        bool,
        typer.Option("--rebuild", help="Make it again from all versions, in their order."),
    ] = False,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Show what is remembered of the people of POLICY, which new versions are judged by."""
    loaded = common.read_policy(policy)
    with common.connect_owner(dsn, owner) as conn:
        found = guarded(conn, loaded, rebuild=rebuild)
    if json:
        common.emit_json(found.as_dict())
        return
    _show(found)


def forget(
    name: Name,
    people: Annotated[
        str | None,
        typer.Option("--people", help="Table with the keys of people.", show_default=False),
    ] = None,
    version: Annotated[
        int | None, typer.Option("--version", help="Version that nobody has.", show_default=False)
    ] = None,
    reason: Annotated[
        str | None,
        typer.Option("--reason", help="How it is known that nobody has it.", show_default=False),
    ] = None,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Forget people of release NAME, or who was in a version of which no copy is left."""
    if (people is None) == (version is None):
        raise UsageError("name either --people or --version")
    if (version is None) != (reason is None):
        raise UsageError("--version needs --reason, and only that does")
    with common.connect_owner(dsn, owner) as conn:
        if people is not None:
            found = forget_people(conn, name, people)
        else:
            assert version is not None
            assert reason is not None
            found = forget_version(conn, name, version, reason)
    if json:
        common.emit_json(found.__dict__)
    elif found.people is not None:
        common.line(f"{found.people} people are known by a random digest from now on")
    else:
        common.line(f"forgot who was in version {found.version} of {quote(name)}")


def _show(found: Guarded) -> None:
    common.facts(
        {
            "population": found.population or "without a name",
            "key": ", ".join(found.key),
            "sources": ", ".join(found.sources),
            "changes": f"{found.changes}{', made again just now' if found.rebuilt else ''}",
        }
    )
    common.table(
        ["audience", "versions", "people", "cells", "smallest cell", "promised", "memory"],
        [
            (
                one.name or "everybody",
                ", ".join(one.versions),
                one.people,
                one.cells,
                one.smallest_cell,
                "; ".join(one.floors),
                one.state,
            )
            for one in found.audiences
        ],
        right=["people", "cells", "smallest cell"],
    )
    if not found.audiences:
        common.note("nothing is remembered; make it again with --rebuild")
