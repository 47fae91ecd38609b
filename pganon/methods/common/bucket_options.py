"""Options of the methods that publish exact values of some columns and unlink them from others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from pganon.methods.common.divisions import Tables, division_refusals
from pganon.policy.columns import Columns, of_role
from pganon.policy.encoding import Encoding
from pganon.policy.options import GROUP_ID, UNPUBLISHED, MethodOptions
from pganon.policy.refusals import Refusal, known_word

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


class Divided(Unlinked):
    """Base of the methods that divide sensitive columns among tables by their association."""

    example = "{model: slicing_l_diversity, l: 3}"
    sensitive = "some"

    sensitive_tables: Tables | None = None
    association: Association = "contingency"
    clustering: Clustering = "aca+pam"
    link_threshold: Annotated[float, Field(ge=0, le=1)] = 0.1

    @property
    def encoding(self) -> Encoding:
        return Encoding(codes_sensitive=True)

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
