"""`pganon assess`: privacy measures of any table or view, as a table or as a gate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from pganon import plain
from pganon.cli import common
from pganon.cli.progress import progress
from pganon.errors import EXIT_REFUSED, Stopped, UsageError
from pganon.identifiers import quote

if TYPE_CHECKING:
    from pganon.assessment import figures
    from pganon.risk.estimate import Estimate

SETS_SHOWN = 10


def register(app: typer.Typer) -> None:
    app.command("assess")(assess)


PopulationOption = Annotated[
    str | None,
    typer.Option("--population", help="Table of the population, same column names."),
]
PopulationSizeOption = Annotated[
    int | None,
    typer.Option("--population-size", help="People that the table is a random sample of.", min=1),
]
WeightOption = Annotated[
    str | None,
    typer.Option("--weight", help="Column of sample weights: people a record stands for."),
]
HouseholdOption = Annotated[
    str | None, typer.Option("--household", help="Column that says who lives together.")
]
MaxGlobalOption = Annotated[
    float | None,
    typer.Option("--max-global", help="Share of the records that may be re-identified."),
]
SudaOption = Annotated[
    int | None,
    typer.Option("--suda", help="Find records that so many columns single out.", min=1),
]
RequireOption = Annotated[
    list[str] | None,
    typer.Option("--require", help="Such as k=5 or t=0.2; exit 1 when missed; repeatable."),
]
OthersOption = Annotated[
    bool,
    typer.Option("--others-as-qi", help="Take the other sensitive columns as known."),
]


def assess(
    table: Annotated[str, typer.Argument(help="table or schema.table", show_default=False)],
    qi: Annotated[
        list[str],
        typer.Option("--qi", help="Quasi-identifiers, separated by commas; repeatable."),
    ],
    sensitive: Annotated[
        list[str] | None,
        typer.Option("--sensitive", help="Sensitive columns, separated by commas; repeatable."),
    ] = None,
    individual: Annotated[
        str | None, typer.Option("--individual", help="Column that says whose record it is.")
    ] = None,
    population: PopulationOption = None,
    population_size: PopulationSizeOption = None,
    weight: WeightOption = None,
    household: HouseholdOption = None,
    max_global: MaxGlobalOption = None,
    suda: SudaOption = None,
    require: RequireOption = None,
    recursive_l: Annotated[
        int, typer.Option("--recursive-l", help="The l of recursive (c, l)-diversity.")
    ] = 2,
    others_as_qi: OthersOption = False,
    trust: common.TrustOption = None,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the measures as CSV.")] = False,
) -> None:
    """Measure privacy and risk of a table or view that you can read."""
    from pganon import assessment

    if json and as_csv:
        raise UsageError("--json and --csv exclude each other")
    stopped: Stopped | None = None
    with common.connect(dsn) as conn, progress(f"measuring {table}", quiet=json or as_csv):
        try:
            assessed = assessment.assess(
                table,
                common.names(qi),
                common.names(sensitive),
                individual=individual,
                population=population,
                population_size=population_size,
                weight=weight,
                household=household,
                max_global=max_global,
                suda=suda,
                require=_requirements(require or []),
                recursive_l=recursive_l,
                others_as_qi=others_as_qi,
                trust=trust or (),
                owner=common.chosen_owner(owner),
                conn=conn,
            )
        except Stopped as interrupt:
            stopped, assessed = interrupt, interrupt.found
    if json:
        common.warn(assessed.warnings)
        common.emit_result(
            {
                "table": assessed.relation,
                "holds": not assessed.missed,
                "measures": [item.__dict__ for item in assessed.measures],
                "risk": [item.__dict__ for item in assessed.risks if item.size is None],
                "class_sizes": [
                    {"size": item.size, "classes": int(item.value)}
                    for item in assessed.risks
                    if item.size is not None
                ],
                "population_size": assessed.population_size,
                "population_uniques": [
                    {"estimator": name, **found.__dict__, "share": share}
                    for name, found, share in _uniques(assessed)
                ],
                "suda_population": assessed.suda_population,
                "suda": [item.__dict__ for item in assessed.suda],
                "quasi_identifiers": [item.__dict__ for item in assessed.sets],
                "warnings": list(assessed.warnings),
            },
            stopped,
        )
    elif as_csv:
        from pganon.assessment.figures import Measure

        values = (item.__dict__.values() for item in assessed.measures)
        common.emit_csv(Measure.__dataclass_fields__, values)
    else:
        _show(assessed)
    if not json:
        common.warn(assessed.warnings)
    if stopped is not None:
        raise stopped
    if assessed.missed:
        raise typer.Exit(EXIT_REFUSED)


def _requirements(texts: Sequence[str]) -> dict[str, float]:
    from pganon.assessment import required
    from pganon.privacy.assessment_measures import short_names

    pairs: list[tuple[str, float]] = []
    for text in texts:
        name, sign, value = (part.strip() for part in text.partition("="))
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not sign or not math.isfinite(number):
            raise UsageError(
                f'"{text}" is not a requirement',
                hint=f"write a name and a number, k=5; names: {', '.join(short_names())}",
            )
        pairs.append((name, number))
    return required(pairs)


def _show(assessed: figures.Assessment) -> None:
    common.table(
        ["measure", "column", "worst class"],
        [(item.measure, item.column, plain.number(item.value)) for item in assessed.measures],
        title=f"privacy of {assessed.relation}",
        right=["worst class"],
    )
    _show_required([item for item in assessed.measures if item.required is not None])
    common.table(
        ["risk", "value"],
        [(item.measure, plain.number(item.value)) for item in assessed.risks if item.size is None],
        title="risk",
        right=["value"],
    )
    _show_uniques(assessed)
    _show_suda(assessed)
    common.table(
        ["quasi-identifiers", "distinction", "separation"],
        [
            (
                ", ".join(quote(name) for name in item.columns),
                plain.number(item.distinction),
                plain.number(item.separation),
            )
            for item in assessed.sets[:SETS_SHOWN]
        ],
        title="what singles people out most",
        right=["distinction", "separation"],
    )
    for item in assessed.missed:
        on = f" on {quote(item.column)}" if item.column else ""
        common.note(
            f"missed: {item.measure}{on} is {plain.number(item.value)},"
            f" required {plain.number(item.required)}"
        )


def _uniques(
    assessed: figures.Assessment,
) -> list[tuple[str, Estimate, float | None]]:
    """Estimates with their share of the population."""
    size = assessed.population_size or 1
    return [
        (name, found, None if found.uniques is None else found.uniques / size)
        for name, found in assessed.population_uniques.items()
    ]


def _show_uniques(assessed: figures.Assessment) -> None:
    if not assessed.population_uniques:
        return
    numbers = ["people", "share"]
    common.table(
        ["estimator", *numbers, "not estimable"],
        [
            (
                name if found.by == name else f"{name} ({found.by})",
                plain.number(found.uniques),
                plain.number(share),
                found.reason,
            )
            for name, found, share in _uniques(assessed)
        ],
        title=f"population uniques of {assessed.population_size} people",
        right=numbers,
    )


def _show_suda(assessed: figures.Assessment) -> None:
    found, size = assessed.suda, assessed.suda_population
    if not found:
        return
    by = "" if assessed.population_size else f", population {plain.number(size)} by weights"
    common.table(
        ["figure", "columns", "value"],
        [
            (
                item.measure,
                item.column or item.size,
                plain.number(item.value),
            )
            for item in found
        ],
        title=f"records that few columns single out (SUDA2){by}",
        right=["value"],
    )


def _show_required(measures: Sequence[figures.Measure]) -> None:
    if not measures:
        return
    numbers = ["required", "classes", "records", "individuals"]
    common.table(
        ["requirement", "column", "required", "holds", *numbers[1:]],
        [
            (
                item.measure,
                item.column,
                plain.number(item.required),
                "yes" if item.holds else "no",
                item.violating_classes,
                item.violating_records,
                item.violating_individuals,
            )
            for item in measures
        ],
        title="required, and what violates it",
        right=numbers,
    )
