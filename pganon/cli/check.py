"""`pganon check`: a gate for pipelines that change the tables below releases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pganon.cli import common
from pganon.cli.progress import progress
from pganon.errors import EXIT_REFUSED, InstallError, PolicyError, UsageError
from pganon.install.owner import become_owner
from pganon.sqlfiles import Connection

if TYPE_CHECKING:
    from pganon.checks.gate import Checked, Wrong


def register(app: typer.Typer) -> None:
    app.command("check")(check)


def check(
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="DIR|NAME...",
            help="Folders and files of policies, or names of policies in the database.",
        ),
    ],
    values: Annotated[
        bool,
        typer.Option("--values", help="Also read the sources: hierarchies that lack values."),
    ] = False,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Check that policies fit their sources: that every column is mentioned and none has changed.

    Exit code 1 if anything is wrong. For files, the role needs no privilege on any table.
    """
    from pganon.checks.gate import CheckOptions
    from pganon.checks.gate import check as check_policies
    from pganon.cli.policy_choice import is_file

    files = [target for target in targets if is_file(target)]
    if files and len(files) < len(targets):
        raise UsageError("folders and names do not mix", hint="check one after the other")
    with common.connect(dsn) as conn, ExitStack() as kept:
        steward = _become_steward(conn, owner, required=not files or values)
        wrong: list[Wrong] = []
        if files:
            policies = list(_from_files(files, wrong))
        else:
            policies = list(_stored(conn, targets, wrong, kept))
        options = CheckOptions(
            steward,
            privileges=not files,
            values=values,
            dsn=common.chosen_dsn(dsn),
            owner=common.chosen_owner(owner),
        )
        with progress("checking policies", quiet=json):
            wrong += check_policies(conn, policies, options)
    if json:
        common.emit_json({"holds": not wrong, "policies": len(policies), "wrong": wrong})
    else:
        _show(wrong, len(policies))
    if wrong:
        raise typer.Exit(EXIT_REFUSED)


def _become_steward(conn: Connection, owner: str | None, *, required: bool) -> bool:
    """Whether the session is the owner of pganon now; files can be checked without."""
    try:
        become_owner(conn, named=common.chosen_owner(owner))
    except InstallError:
        if required:
            raise
        return False
    return True


def _from_files(targets: Sequence[str], wrong: list[Wrong]) -> Iterator[Checked]:
    from pganon.checks.gate import Checked

    for target in targets:
        for file in _files(Path(target)):
            try:
                yield Checked(str(file), common.read_policy(str(file)))
            except PolicyError as error:
                wrong += _unusable(str(file), error)


def _files(path: Path) -> list[Path]:
    """Of a folder of release migrations, the newest policy of every release that is not gone."""
    from pganon.applied.files import policy_files
    from pganon.migrate.files import is_migrations, read_folder

    if not path.is_dir() or not is_migrations(path):
        return policy_files(path)
    newest = {file.release: file for file in read_folder(path)}
    return [file.path for file in newest.values() if file.kind == "release"]


def _stored(
    conn: Connection, names: Sequence[str], wrong: list[Wrong], kept: ExitStack
) -> Iterator[Checked]:
    from pganon.applied.store import loaded, read
    from pganon.checks.gate import Checked

    for name in names:
        stored = read(conn, name)
        try:
            yield Checked(name, kept.enter_context(loaded(conn, stored)))
        except PolicyError as error:
            wrong += _unusable(name, error)


def _unusable(label: str, error: PolicyError) -> list[Wrong]:
    from pganon.checks.gate import Wrong

    return [Wrong(label, "", "unresolved", line) for line in PolicyError(error.problems).lines]


def _show(wrong: Sequence[Wrong], checked: int) -> None:
    for one in wrong:
        common.line(f"{one.policy}: {one.message}")
        if one.add:
            common.line("add to `columns`, after a look at every line:")
        for text in one.add:
            common.line(text)
    if not wrong:
        common.line(f"checked {checked} {'policy' if checked == 1 else 'policies'}: nothing wrong")
