"""Options of the methods that publish exact values of some columns and unlink them from others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag

from pganon.policy.columns import Columns, of_role
from pganon.policy.labels import no_repeats
from pganon.policy.options import GROUP_ID, UNPUBLISHED, Encoding, MethodOptions
from pganon.policy.refusals import Refusal, known_word, nearest, refuse_one, show

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


SEPARATE_TABLES = "not which values of different sensitive tables go together"
"""Assumption about a reader where sensitive tables have separate buckets; follows "a reader who
knows"."""


def word(what: str, *words: str):
    return known_word(what, words)


Association = Annotated[
    Literal["contingency", "pearson", "msc"],
    word("measure of association", "contingency", "pearson", "msc"),
]
Division = Annotated[Literal["public", "eligible"], word("rule of division", "public", "eligible")]
Clustering = Annotated[
    Literal["aca+pam", "aca", "pam"], word("way to cluster columns", "aca+pam", "aca", "pam")
]


def numbered(name: str, tables: int) -> tuple[str, ...]:
    """Names of so many tables: one has the plain name."""
    return (name,) if tables == 1 else tuple(f"{name}{i}" for i in range(1, tables + 1))


def link(part: str) -> str:
    """The column of a QIT with the bucket of a sensitive table."""
    return f"{part}_{GROUP_ID}"


def most_tables(tables: Tables, columns: int) -> int:
    """The largest number of tables that so many columns can be divided into."""
    match tables:
        case int():
            return tables
        case "auto":
            return max(columns - 1, 1)
        case _:
            return len(tables)


def possible(name: str, tables: Tables, columns: int) -> tuple[str, ...]:
    most = most_tables(tables, columns)
    names = numbered(name, most)
    return (name, *names) if tables == "auto" and most > 1 else names


class Unlinked(MethodOptions):
    """Base of the methods that publish sensitive values apart from exact quasi-identifiers."""

    roles = UNPUBLISHED | {"quasi_identifying", "sensitive", "insensitive"}
    grouped = "quasi_identifying"
    shows = "exact"
    unlinks = True

    @property
    def encoding(self) -> Encoding:
        return Encoding(codes_sensitive=True)


class Divided(Unlinked):
    """Base of the methods that divide sensitive columns among tables by their association."""

    example = "{model: slicing_l_diversity, l: 3}"
    sensitive = "some"

    sensitive_tables: Tables | None = None
    association: Association = "contingency"
    clustering: Clustering = "aca+pam"
    link_threshold: Annotated[float, Field(ge=0, le=1)] = 0.1

    def tables(self, sensitive: int) -> Tables:
        """How the sensitive columns are divided; by default two to a table."""
        return self.sensitive_tables or (sensitive + 1) // 2

    def part_names(self, columns: Columns) -> tuple[str, ...]:
        return ("qit", *self.sensitive_parts(columns))

    def sensitive_parts(self, columns: Columns) -> tuple[str, ...]:
        sensitive = len(of_role(columns, "sensitive"))
        return possible("st", self.tables(sensitive), sensitive)

    def links(self, columns: Columns) -> tuple[str, ...]:
        """Columns with the buckets of tables that have buckets of their own."""
        return tuple(link(part) for part in self.sensitive_parts(columns))

    def refusals(self, columns: Columns) -> Iterable[Refusal]:
        names = of_role(columns, "sensitive")
        yield from division_refusals("sensitive_tables", self.sensitive_tables, names)


Priority = Annotated[Literal["mbf", "msdcf", "mmdcf"], word("priority", "mbf", "msdcf", "mmdcf")]
