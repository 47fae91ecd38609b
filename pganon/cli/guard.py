"""`pganon guard`, `forget`: what is remembered of the people whom versions are about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pganon.cli import common
from pganon.cli.release import Name
from pganon.errors import UsageError
from pganon.identifiers import quote

if TYPE_CHECKING:
    from pganon.history.guard import Guarded


def register(app: typer.Typer) -> None:
    app.command("guard")(guard)
    app.command("forget")(forget)


def guard(
    policy: common.PolicyArgument,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Show the versions about the people of POLICY, which new ones are compared with."""
    from pganon.run.grants import guarded

    loaded = common.read_policy(policy)
    with common.connect_owner(dsn, owner) as conn:
        about = guarded(conn, loaded)
    if json:
        common.emit_json(about.as_dict())
        return
    _show(about)


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
    from pganon.run.erasure import forget_people, forget_version

    if (people is None) == (version is None):
        raise UsageError("name either --people or --version")
    if (version is None) != (reason is None):
        raise UsageError("--version needs --reason, and only that does")
    with common.connect_owner(dsn, owner) as conn:
        if people is not None:
            forgotten = forget_people(conn, name, people)
        else:
            assert version is not None
            assert reason is not None
            forgotten = forget_version(conn, name, version, reason)
    common.warn(forgotten.warnings)
    if json:
        common.emit_json(forgotten.__dict__)
    elif forgotten.people is not None:
        common.line(f"{forgotten.people} people are known by a random digest from now on")
    else:
        common.line(f"forgot who was in version {forgotten.version} of {quote(name)}")


def _show(about: Guarded) -> None:
    common.facts(
        {
            "population": about.population or "without a name",
            "key": ", ".join(about.key) or "none: people cannot be told apart",
            "sources": ", ".join(about.sources),
        }
    )
    common.table(
        ["version", "form", "readers", "people", "groups", "smallest", "left out", "guarantee"],
        [
            (
                f"{one.release} {one.version}",
                one.form,
                ", ".join(one.readers),
                "missing" if one.people is None else one.people,
                one.groups,
                one.smallest,
                one.left_out,
                one.over_versions,
            )
            for one in about.versions
        ],
        right=["people", "groups", "smallest", "left out"],
    )
    for one in about.crossings:
        common.note(f"{one.one} and {one.other}: {one.reason}, {one.people} people; void together")
    common.warn(about.warnings)
    if not about.versions:
        common.note("nothing was released of these people")
