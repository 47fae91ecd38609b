"""`pganon quasi`: columns of a table that together tell records apart."""

from __future__ import annotations

from typing import Annotated

import typer

from pganon.cli import common
from pganon.cli.progress import progress
from pganon.identifiers import quote


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
    trust: common.TrustOption = None,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Find the smallest sets of columns that tell records of a table or view apart."""
    from pganon.assessment import quasi_identifiers

    with common.connect(dsn) as conn, progress(f"measuring {table}", quiet=json):
        found = quasi_identifiers(
            table,
            common.names(columns),
            separation=separation,
            largest=largest,
            trust=trust or (),
            owner=common.chosen_owner(owner),
            conn=conn,
        )
    if json:
        common.emit_json({"sets": [item.__dict__ for item in found]})
        return
    common.table(
        ["columns", "distinction", "separation"],
        [
            (
                ", ".join(quote(name) for name in item.columns),
                f"{item.distinction:.6g}",
                f"{item.separation:.6g}",
            )
            for item in found
        ],
        title=f"minimal quasi-identifiers of {table}",
        right=["distinction", "separation"],
    )
