"""`pganon quasi`: columns of a table that tell records apart, together or by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pganon import plain
from pganon.cli import common
from pganon.cli.progress import progress
from pganon.errors import Stopped
from pganon.identifiers import quote

if TYPE_CHECKING:
    from pganon.assessment.figures import QuasiIdentifier
    from pganon.policy.safe_harbor import Hint


class Identifiers(StrEnum):
    """Values of `--identifiers`: whose law says what identifies people."""

    US = "us"


def register(app: typer.Typer) -> None:
    app.command("quasi")(quasi)


def quasi(
    table: Annotated[str, typer.Argument(help="table or schema.table", show_default=False)],
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns", help="Columns to try, separated by commas, else all; repeatable."
        ),
    ] = None,
    separation: Annotated[
        float, typer.Option("--separation", help="Share of the pairs of records that differ.")
    ] = 0.99,
    largest: Annotated[int, typer.Option("--largest", help="Most columns of a set.", min=1)] = 4,
    rows: Annotated[
        int, typer.Option("--rows", help="About so many rows of a larger table; 0: all.", min=0)
    ] = 10_000,
    identifiers: Annotated[
        Identifiers | None,
        typer.Option(
            "--identifiers",
            help="Instead of sets: columns that may identify people by themselves;"
            " us: the 18 kinds of HIPAA Safe Harbor.",
        ),
    ] = None,
    trust: common.TrustOption = None,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Find the smallest sets of columns that tell records of a table or view apart."""
    from pganon.assessment import identifying_columns, quasi_identifiers

    names = common.names(columns)
    hints: list[Hint] = []
    found: list[QuasiIdentifier] = []
    stopped: Stopped | None = None
    with common.connect(dsn) as conn, progress(f"measuring {table}", quiet=json) as bar:

        def told(tried: int, total: int) -> None:
            bar.update(bar.tasks[0].id, description=f"{table}: {tried:,} of {total:,} sets")

        if identifiers is not None:
            hints = identifying_columns(table, names, trust=trust or (), conn=conn)
        else:
            try:
                found = quasi_identifiers(
                    table,
                    names,
                    separation=separation,
                    largest=largest,
                    rows=rows,
                    trust=trust or (),
                    owner=common.chosen_owner(owner),
                    conn=conn,
                    told=told,
                )
            except Stopped as interrupt:
                stopped, found = interrupt, interrupt.found
    if identifiers is not None:
        _show_hints(table, hints, json=json)
        return
    if rows:
        common.note(f"Of about {rows:,} rows, or of all if there are fewer; --rows 0 takes all.")
    if json:
        common.emit_result({"sets": [item.__dict__ for item in found]}, stopped)
        return
    _show_sets(table, found)
    if stopped is not None:
        raise stopped


def _show_hints(table: str, hints: Sequence[Hint], *, json: bool) -> None:
    if json:
        common.emit_json({"identifiers": [item.__dict__ | {"label": item.label} for item in hints]})
        return
    common.table(
        ["column", "may be", "why", "share"],
        [
            (
                quote(item.column),
                item.label,
                item.why,
                "" if item.share is None else f"{item.share:.3g}",
            )
            for item in hints
        ],
        title=f"columns of {table} that may identify by themselves",
        right=["share"],
    )
    common.line("These are hints; no hint proves nothing.")


def _show_sets(table: str, found: Sequence[QuasiIdentifier]) -> None:
    minimal = all(item.minimal for item in found)
    common.table(
        ["columns", "distinction", "separation"],
        [
            (
                ", ".join(quote(name) for name in item.columns),
                plain.number(item.distinction),
                plain.number(item.separation),
            )
            for item in found
        ],
        title=f"{'minimal quasi-identifiers' if minimal else 'a quasi-identifier'} of {table}",
        right=["distinction", "separation"],
    )
    if not minimal:
        common.line("More than 4,096 sets: found column by column, so a part of it may do, too.")
