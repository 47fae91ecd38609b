"""`pganon migrate`: apply the release migrations of a folder, or take them back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pganon import files
from pganon.cli import common
from pganon.cli.progress import progress
from pganon.errors import UsageError
from pganon.migrate.words import DEFAULT_HISTORY, Tool

if TYPE_CHECKING:
    from pganon.migrate.history import FileState
    from pganon.migrate.pending import Planned
    from pganon.migrate.up import Done


class _Migrate(common.WithDefault):
    """`pganon migrate DIR` is `pganon migrate up DIR`."""

    default = "up"


group = typer.Typer(
    cls=_Migrate, no_args_is_help=True, help="Apply the release migrations of a folder, in order."
)


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="migrate")


FolderArgument = Annotated[Path, typer.Argument(help="Folder of release migrations.")]
HistoryOption = Annotated[
    str, typer.Option("--history", help="Which history; every folder has its own.")
]


@group.command("up")
def migrate(
    folder: FolderArgument,
    to: Annotated[
        int | None,
        typer.Option("--to", min=1, help="The last number to apply.", show_default=False),
    ] = None,
    show: Annotated[
        bool, typer.Option("--status", help="Show what is applied; nothing is done.")
    ] = False,
    dry: Annotated[
        bool, typer.Option("--dry-run", help="Check everything and show what would be done.")
    ] = False,
    tool: Annotated[
        Tool | None,
        typer.Option("--emit", help="Write files for another tool.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for --emit.", show_default=False),
    ] = None,
    history: HistoryOption = DEFAULT_HISTORY,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Apply the files of FOLDER that are not applied, in order; one that fails is the last."""
    from pganon.migrate.emit import emit
    from pganon.migrate.up import Target, dry_run, status, up

    if sum((show, dry, tool is not None)) > 1 or (to is not None and (show or tool)):
        raise UsageError(
            "--status, --dry-run and --emit exclude each other; --to is for none but --dry-run",
            hint="give one of them",
        )
    if (tool is None) != (output is None):
        raise UsageError("--emit and --output belong together", hint="--emit sql --output FOLDER")
    if tool is not None and output is not None:
        _write(emit(folder, tool), output, json=json)
        return
    target = Target(folder, common.chosen_dsn(dsn), common.chosen_owner(owner), _history(history))
    if show:
        _show_status(status(target), json=json)
    elif dry:
        _show_planned(dry_run(target, to), json=json)
    else:
        _walk(folder, json, lambda **how: up(target, to, **how))


@group.command("down")
def down(
    folder: FolderArgument,
    to: Annotated[
        int, typer.Option("--to", min=0, help="The last number that stays; 0: none does.")
    ],
    history: HistoryOption = DEFAULT_HISTORY,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Take the files of FOLDER after a number back, the last one first."""
    from pganon.migrate.down import down as take_back
    from pganon.migrate.up import Target

    target = Target(folder, common.chosen_dsn(dsn), common.chosen_owner(owner), _history(history))
    _walk(folder, json, lambda **how: take_back(target, to, **how))


def _write(wanted: Mapping[str, str], folder: Path, *, json: bool) -> None:
    from pganon.migrate.emit import HEAD

    for name, text in wanted.items():
        files.write(folder / name, text)
    try:
        stale = sorted(
            path.relative_to(folder).as_posix()
            for path in folder.rglob("*.sql")
            if HEAD in path.read_text("utf-8", errors="replace")
        )
    except OSError as error:
        raise UsageError(f"{folder} cannot be read: {error.strerror}") from None
    common.warn(
        f"{folder / name} was written before and is not among these files: remove it?"
        for name in stale
        if name not in wanted
    )
    if json:
        common.emit_json({"folder": folder, "written": list(wanted)})
        return
    for name in wanted:
        common.line(f"wrote {folder / name}")


def _history(name: str) -> str:
    if not name.strip() or len(name) > 200:
        raise UsageError("--history needs a name of at most 200 characters")
    return name


def _walk(folder: Path, json: bool, act: Callable[..., Sequence[Done]]) -> None:
    from pganon.publish.views import dependent_texts

    with progress(f"{folder}: looking at all files", quiet=json) as bar:
        task = bar.task_ids[0]

        def on_step(phase: str, step: str, purpose: str) -> None:
            bar.update(task, description=f"{folder}: {phase}: {purpose}")

        def report(done: Done) -> None:
            if not json:
                match done.outcome:
                    case "withdrawn":
                        what = f"{done.release} is withdrawn"
                    case "awaiting_approval":
                        what = f"{done.release} waits for approval, request {done.request}"
                    case "reverted" if done.version is None:
                        what = f"{done.release} will not be published"
                    case _:
                        what = f"{done.release}, version {done.version}: {done.outcome}"
                common.line(f"{done.file}: {what}")
                common.warn(dependent_texts(done.dependents))

        outcomes = act(report=report, on_step=on_step)
    if json:
        common.emit_json(outcomes)
    elif not outcomes:
        common.line("nothing to do")


@dataclass(frozen=True)
class MigrationState:
    """A file as `--status` shows it."""

    file: str
    number: int | None
    kind: str
    release: str
    state: str
    version_before: int | None
    version: int | None
    applied_at: datetime | None
    login: str | None


def _plain(file_state: FileState) -> MigrationState:
    row = file_state.applied
    return MigrationState(
        file_state.name,
        file_state.number,
        file_state.kind,
        file_state.release,
        file_state.state,
        row and row.version_before,
        row and row.version,
        row and row.applied_at,
        row and row.login,
    )


def _show_status(file_states: Sequence[FileState], *, json: bool) -> None:
    states = [_plain(file_state) for file_state in file_states]
    if json:
        common.emit_json(states)
        return
    common.table(
        ["file", "release", "state", "version", "applied", "by"],
        [
            (
                s.file,
                s.release,
                s.state.replace("_", " "),
                s.version,
                common.moment(s.applied_at),
                s.login,
            )
            for s in states
        ],
        right=["version"],
        whole=["file", "release"],
    )


def _show_planned(plans: Sequence[Planned], *, json: bool) -> None:
    if json:
        common.emit_json(plans)
        return
    for planned in plans:
        what = "withdraws" if planned.kind == "withdraw" else "releases"
        common.line(f"{planned.file} {what} {planned.release}")
        for difference in planned.differences or ():
            common.line(f"  {difference.text}")
        if planned.weaker:
            common.warn([f"{planned.file} makes the guarantee of {planned.release} weaker"])
    if not plans:
        common.line("nothing to do")
