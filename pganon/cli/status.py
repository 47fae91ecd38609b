"""`pganon status`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from pganon.cli import common
from pganon.errors import LedgerError
from pganon.identifiers import quote
from pganon.requests.status import Open, Shown, Status
from pganon.requests.status import status as look


def register(app: typer.Typer) -> None:
    app.command("status")(status)


def status(
    name: Annotated[
        str | None, typer.Argument(help="Name of a release; default: all.", show_default=False)
    ] = None,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Show what is released and how old it is, what waits for whom, and which workers serve it."""
    with common.connect_owner(dsn, owner) as conn:
        found = look(conn, name)
    if name is not None and not found.releases:
        raise LedgerError(
            f"there is no release and no policy {quote(name)}",
            hint="`pganon status` lists them",
            code="unknown_release",
        )
    if json:
        common.emit_json(found.as_dict())
        return
    _show(found)


def _show(found: Status) -> None:
    common.table(
        ["release", "version", "age", "readers", "next"],
        [_release(shown) for shown in found.releases],
        right=["version"],
        whole=["release", "age"],
    )
    if found.requests:
        common.table(
            ["request", "release", "what", "state", "asked by", "since"],
            [_request(request) for request in found.requests],
            title="not done yet",
            right=["request"],
            whole=["release"],
        )
    if found.workers:
        common.table(
            ["worker", "where", "login", "request"],
            [(w.id, w.name, w.login, w.request) for w in found.workers],
            right=["worker", "request"],
        )
    common.warn(found.warnings)


def _release(shown: Shown) -> tuple[object, ...]:
    return (
        shown.release,
        shown.version if shown.version is not None else "-",
        _age(shown.confirmed_at or shown.published_at),
        ", ".join(shown.readers or ()) if shown.version is not None else "",
        f"{shown.next_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if shown.next_at else "",
    )


def _request(request: Open) -> tuple[object, ...]:
    state = request.state
    if request.state == "awaiting_approval":
        state = f"waits for approval by {' or '.join(request.approvers or ())}"
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
