"""How columns of a policy are divided among tables, and whether they can be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag

from pganon.policy.labels import no_repeats
from pganon.policy.refusals import Refusal, nearest, refuse_one, show

ColumnNames = Annotated[
    tuple[str, ...], Field(strict=False, min_length=1), AfterValidator(no_repeats)
]


def _form(tables: object) -> str:
    """Names one of the forms of :data:`Tables`."""
    if isinstance(tables, str):
        return "auto"
    return "lists" if isinstance(tables, list | tuple) else "number"


def _one_form(tables: object) -> object:
    whole = isinstance(tables, int) and not isinstance(tables, bool)
    if not whole and tables != "auto" and not isinstance(tables, list | tuple):
        refuse_one(
            f"must be a number of tables, auto or a list of lists of columns, not {show(tables)}",
            suggestion=_nearest_form(tables),
        )
    return tables


def _nearest_form(tables: object) -> str:
    if isinstance(tables, str) and tables.isdecimal() and len(tables) < 5:
        return f"write {tables} without quotes"
    if isinstance(tables, str) and (near := nearest(tables, ["auto"])) and "mean" in near:
        return near
    return "for example 2, or [[cancer, treatment], [symptom]]"


Tables = Annotated[
    Annotated[int, Field(ge=1, le=1000), Tag("number")]
    | Annotated[Literal["auto"], Tag("auto")]
    | Annotated[tuple[ColumnNames, ...], Field(strict=False, min_length=1), Tag("lists")],
    Discriminator(_form),
    BeforeValidator(_one_form),
]
"""How columns are divided among tables: into how many, or which go together."""


def division_refusals(
    option: str, tables: Tables | None, names: Sequence[str]
) -> Iterable[Refusal]:
    """Numbers and lists of tables, given as an option, that the columns cannot be divided into."""
    if isinstance(tables, int) and tables > len(names):
        yield Refusal(
            ("method", option),
            f"{len(names)} columns cannot be divided into {tables}",
            f"write a number up to {len(names)}",
        )
    elif isinstance(tables, tuple):
        at = ("method", option)
        listed = [name for table in tables for name in table]
        for name in dict.fromkeys(listed):
            if name not in names:
                yield Refusal(at, f"{show(name)} is not one of the columns", nearest(name, names))
            elif listed.count(name) > 1:
                yield Refusal(at, f"column {show(name)} is listed twice", "keep it in one list")
        for name in names:
            if name not in listed:
                yield Refusal(at, f"column {show(name)} is in no list", "add it to one")
