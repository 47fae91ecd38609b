"""`pganon worker`, `approve` and `reject`."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import psycopg
import typer

from pganon.cli import common
from pganon.errors import UsageError
from pganon.install.access import admit_decider
from pganon.server_errors import translate
from pganon.sqlfiles import ask


def register(app: typer.Typer) -> None:
    app.command("worker")(worker)
    app.command("approve")(approve)
    app.command("reject")(reject)


def worker(
    once: Annotated[bool, typer.Option("--once", help="Serve what is due, then end.")] = False,
    idle_exit: Annotated[
        str | None,
        typer.Option("--idle-exit", help="End after this long without a request, e.g. 5min."),
    ] = None,
    grace: Annotated[
        str,
        typer.Option(
            "--grace", help="After SIGTERM, how long the request being served may still take."
        ),
    ] = "10min",
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: Annotated[bool, typer.Option("--json", help="Log a JSON object per line.")] = False,
) -> None:
    """Serve requests, schedules and approvals until stopped; any number may work side by side."""
    from pganon.worker.log import Log
    from pganon.worker.service import Worker, WorkerOptions
    from pganon.worker.signals import Stop

    idle = None if idle_exit is None else _duration("--idle-exit", idle_exit).total_seconds()
    stop = Stop(_duration("--grace", grace).total_seconds())
    log = Log(common.block if json else common.line, json)
    serving = Worker(
        common.chosen_dsn(dsn), common.chosen_owner(owner), log, stop, WorkerOptions(once, idle)
    )
    with stop.watching():
        serving.run()


def _duration(option: str, text: str) -> timedelta:
    from pydantic_core import PydanticCustomError

    from pganon.policy.requests import duration

    try:
        return duration(text)
    except PydanticCustomError:
        raise UsageError(
            f"{option} {text} is not a duration",
            hint="write 30s, 30min, 12h or 1d: number and unit",
        ) from None


ReasonOption = Annotated[str, typer.Option("--reason", help="Why; kept in the database.")]
RequestArgument = Annotated[int, typer.Argument(help="Number of the request.")]


def approve(
    request: RequestArgument,
    reason: ReasonOption,
    evidence: Annotated[
        str | None,
        typer.Option(
            "--evidence",
            metavar="SHA256",
            help="Digest of the evidence in the report that you looked at.",
        ),
    ] = None,
    dsn: common.DsnOption = None,
    json: common.JsonOption = False,
) -> None:
    """Approve a verified release that waits for a second person; a worker publishes it.

    If it was judged again since it first waited, say with --evidence that you looked at that.
    """
    _decide("approve", request, reason, evidence, dsn, json)


def reject(
    request: RequestArgument,
    reason: ReasonOption,
    dsn: common.DsnOption = None,
    json: common.JsonOption = False,
) -> None:
    """Reject a verified release that waits for a second person; it is never published."""
    _decide("reject", request, reason, None, dsn, json)


def _decide(
    decision: str, request: int, reason: str, evidence: str | None, dsn: str | None, json: bool
) -> None:
    with common.connect(dsn) as conn:
        values = {"decision": decision, "id": request, "reason": reason, "evidence": evidence}
        try:
            with conn.transaction():
                admit_decider(conn)
                ask(conn, "requests", "decide", **values)
                ask(conn, "requests", "decided")
        except psycopg.Error as error:
            raise translate(error) from None
    state = {"approve": "approved", "reject": "rejected"}[decision]
    if json:
        common.emit_json({"request": request, "state": state})
    else:
        common.line(f"request {request} is {state}")
