"""`pganon status`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import psycopg
import typer

from pganon.cli import common
from pganon.cli.progress import progress
from pganon.error_codes import ErrorCode
from pganon.errors import LedgerError
from pganon.identifiers import quote
from pganon.requests.status import Open, Shown, Status
from pganon.requests.status import status as look

if TYPE_CHECKING:
    from pganon.checks.releases import Drift


def register(app: typer.Typer) -> None:
    app.command("status")(status)


def status(
    name: Annotated[
        str | None, typer.Argument(help="Name of a release; default: all.", show_default=False)
    ] = None,
    fast: Annotated[
        bool,
        typer.Option("--fast", help="With NAME: do not read its source, ask the statistics."),
    ] = False,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Show what is released, how old it is and what has changed, what waits, and workers.

    With NAME its source is read, to see whether it changed and its hierarchies have all values.
    """
    read = name is not None and not fast
    with common.connect_owner(dsn, owner) as conn:
        shown = look(conn, name)
        drifts: list[Drift] = []
        if shown.releases:
            with progress("looking at sources", quiet=json):
                warnings, drifts = _changes(conn, shown, read, dsn, owner)
            shown = replace(shown, warnings=(*shown.warnings, *warnings))
    if name is not None and not shown.releases:
        raise LedgerError(
            f"there is no release and no policy {quote(name)}",
            hint="`pganon status` lists them",
            code=ErrorCode.UNKNOWN_RELEASE,
        )
    if json:
        common.emit_json({**shown.as_dict(), "drift": drifts})
        return
    _show(shown, {change.release: change for change in drifts})


def _changes(
    conn: psycopg.Connection[Any], shown: Status, read: bool, dsn: str | None, owner: str | None
) -> tuple[tuple[str, ...], list[Drift]]:
    """Warnings about roles that were let read by hand, and changes under releases.

    Args:
        read: sources are read; else the server's statistics are asked.
    """
    # Here, because a status without releases needs neither policies nor runs.
    from pganon.checks.releases import Reading, drift
    from pganon.run.grants import look_at

    names = [one.release for one in shown.releases]
    reading = Reading(common.chosen_dsn(dsn), common.chosen_owner(owner)) if read else None
    warnings = look_at(conn, names)
    changes = (drift(conn, name, reading) for name in names)
    return warnings, [change for change in changes if change is not None]


def _show(status: Status, drifts: Mapping[str, Drift]) -> None:
    common.table(
        ["release", "version", "age", "source", "readers", "next"],
        [_release(shown, drifts.get(shown.release)) for shown in status.releases],
        right=["version"],
        whole=["release", "age"],
    )
    if status.requests:
        common.table(
            ["request", "release", "what", "state", "asked by", "since"],
            [_request(request) for request in status.requests],
            title="not done yet",
            right=["request"],
            whole=["release"],
        )
    if status.workers:
        common.table(
            ["worker", "where", "login", "request"],
            [(w.id, w.name, w.login, w.request) for w in status.workers],
            right=["worker", "request"],
        )
    common.warn([*status.warnings, *(text for d in drifts.values() for text in d.texts)])


def _release(shown: Shown, change: Drift | None) -> tuple[object, ...]:
    return (
        shown.release,
        shown.version if shown.version is not None else "-",
        _age(shown.confirmed_at or shown.published_at),
        change.source.replace("_", " ") if change else "",
        ", ".join(shown.readers or ()) if shown.version is not None else "",
        f"{shown.next_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if shown.next_at else "",
    )


def _request(request: Open) -> tuple[object, ...]:
    state = request.state
    if request.state == "awaiting_approval":
        state = f"waits for approval by {' or '.join(request.approvers)}"
    elif request.step:
        state = f"{state}: {request.step}"
    return (
        request.id,
        request.release,
        request.kind,
        state,
        f"{request.requester} ({request.origin})",
        _age(request.requested_at),
    )


def _age(since: datetime | None) -> str:
    """The two largest units of the time since then."""
    if since is None:
        return "-"
    seconds = max(int((datetime.now(UTC) - since).total_seconds()), 0)
    days, rest = divmod(seconds, 86_400)
    hours, rest = divmod(rest, 3600)
    minutes, rest = divmod(rest, 60)
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min" if minutes else f"{rest} s"
