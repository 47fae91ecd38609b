"""`pganon server`: the embedded PostgreSQL."""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict, dataclass

import psycopg
import typer

from pganon import database, embedded
from pganon.cli import common
from pganon.cli.progress import progress
from pganon.data_directory import DataDirectory
from pganon.errors import PreconditionError

group = typer.Typer(no_args_is_help=True, help="The embedded PostgreSQL.")


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="server")


@dataclass(frozen=True)
class Status:
    """State of the embedded server; `version` is the server's, None while it does not run."""

    running: bool
    dsn: str
    version: str | None
    data_directory: str


def status_of(cluster: DataDirectory) -> Status:
    running = cluster.running()
    version = None
    if running:
        with psycopg.connect(cluster.dsn()) as conn:
            version = conn.info.parameter_status("server_version")
    return Status(running, cluster.user_dsn, version, str(cluster.data_dir))


def _show(cluster: DataDirectory, json: bool) -> None:
    status = status_of(cluster)
    if json:
        common.emit_json(asdict(status))
    else:
        common.facts({**asdict(status), "running": "yes" if status.running else "no"})


@group.command()
def start(json: common.JsonOption = False) -> None:
    """Start the server; the first time its data directory is made."""
    cluster = embedded.embedded()
    with progress("starting PostgreSQL", quiet=json):
        cluster.provide()
    _show(cluster, json)


@group.command()
def stop(json: common.JsonOption = False) -> None:
    """Stop the server; its data stay."""
    cluster = embedded.embedded()
    stopped = cluster.stop()
    if json:
        common.emit_json(asdict(status_of(cluster)))
    else:
        common.line("stopped" if stopped else "the server was not running")


@group.command()
def status(json: common.JsonOption = False) -> None:
    """Whether the server runs, and its connection string."""
    _show(embedded.embedded(), json)


@group.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def psql(context: typer.Context, dsn: common.DsnOption = None) -> None:
    """Open psql on the server; further arguments go to psql."""
    target = database.resolve_dsn(common.chosen_dsn(dsn), start=True)
    binaries = embedded.package_binaries()
    program = str(binaries / "psql") if binaries else shutil.which("psql")
    if program is None:
        raise PreconditionError(
            "psql was not found",
            hint="install PostgreSQL's client, or pip install 'pganon[embedded]'",
        )
    where = ["-d", target.dsn] if target.dsn else []
    os.execv(program, [program, *where, *context.args])  # noqa: S606
