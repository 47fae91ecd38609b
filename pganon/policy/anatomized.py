"""Options of the methods that publish exact values of some columns and unlink them from others."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag

from pganon.policy.hierarchies import no_repeats
from pganon.policy.options import (
    CLASS_ID,
    COUNT,
    EXPECTED,
    GROUP_ID,
    PROBABILITY,
    UNPUBLISHED,
    BlockSize,
    MethodOptions,
)
from pganon.policy.refusals import known_word, nearest, refuse_one, show

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


def _words(what: str, *words: str):
    return known_word(what, words)


Association = Annotated[
    Literal["contingency", "pearson", "msc"],
    _words("measure of association", "contingency", "pearson", "msc"),
]
Division = Annotated[
    Literal["public", "eligible"], _words("rule of division", "public", "eligible")
]
Clustering = Annotated[
    Literal["aca+pam", "aca", "pam"], _words("way to cluster columns", "aca+pam", "aca", "pam")
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


def _possible(name: str, tables: Tables, columns: int) -> tuple[str, ...]:
    most = most_tables(tables, columns)
    names = numbered(name, most)
    return (name, *names) if tables == "auto" and most > 1 else names


class _Anatomized(MethodOptions):
    roles = UNPUBLISHED | {"quasi_identifying", "sensitive", "insensitive"}
    grouped = "quasi_identifying"
    shows = "exact"
    unlinks = True
    revision = 2


class Anatomy(_Anatomized):
    """Exact quasi-identifiers in one table, sensitive values in another, linked by groups."""

    models = frozenset({"anatomy_l_diversity"})
    example = "{model: anatomy_l_diversity, column: disease, l: 3}"
    adds = (GROUP_ID, COUNT, PROBABILITY)
    parts = ("qit", "st")
    sensitive = "one"
    levels = ("attribute", "unique")
    along_curve = True

    name: Literal["anatomy"]
    block_size: BlockSize = 100
    division: Division = "public"


class Slicing(_Anatomized):
    """Columns of associated attributes, each permuted within buckets; one sensitive column."""

    models = frozenset({"slicing_l_diversity"})
    example = "{model: slicing_l_diversity, column: disease, l: 3}"
    adds = (GROUP_ID, COUNT, EXPECTED)
    sensitive = "one"
    levels = ("attribute",)
    codes_sensitive = True

    name: Literal["slicing"]
    columns: Tables = 2
    alpha: Annotated[int, Field(ge=1, le=1000)] | None = None
    association: Association = "msc"
    clustering: Clustering = "pam"

    def part_names(self, grouped: int, sensitive: int) -> tuple[str, ...]:
        most = max(most_tables(self.columns, grouped + 1) - 1, 1)
        return (*dict.fromkeys(n for c in range(1, most + 1) for n in numbered("qit", c)), "st")


class Divided(_Anatomized):
    """Base of the methods that divide sensitive columns among tables by their association."""

    example = "{model: slicing_l_diversity, l: 3}"
    sensitive = "some"
    codes_sensitive = True

    sensitive_tables: Tables | None = None
    association: Association = "contingency"
    clustering: Clustering = "aca+pam"
    link_threshold: Annotated[float, Field(ge=0, le=1)] = 0.1

    def tables(self, sensitive: int) -> Tables:
        """How the sensitive columns are divided; by default two to a table."""
        return self.sensitive_tables or (sensitive + 1) // 2

    def part_names(self, grouped: int, sensitive: int) -> tuple[str, ...]:
        return ("qit", *_possible("st", self.tables(sensitive), sensitive))

    def links(self, sensitive: int) -> tuple[str, ...]:
        """Columns with the buckets of tables that have buckets of their own."""
        return tuple(link(part) for part in _possible("st", self.tables(sensitive), sensitive))


_OF_FIREFLIES = {
    "fireflies",
    "generations",
    "patience",
    "attraction",
    "absorption",
    "step",
    "cooling",
}


class Slamsa(Divided):
    """Sensitive columns in tables of associated ones, buckets of similar quasi-identifiers."""

    models = frozenset({"slicing_l_diversity"})
    adds = (GROUP_ID, COUNT, PROBABILITY, EXPECTED)
    levels = ("attribute", "tuple")
    excludes = True

    name: Literal["slamsa"]
    profile: Annotated[
        Literal["aligned", "independent"], _words("profile of slamsa", "aligned", "independent")
    ] = "aligned"
    quasi_tables: Tables = 1
    block_size: BlockSize = 500
    division: Division = "eligible"
    optimizer: Annotated[
        Literal["auto", "firefly", "base"],
        _words("optimizer of slamsa", "auto", "firefly", "base"),
    ] = "auto"
    fireflies: Annotated[int, Field(ge=1, le=1000)] = 12
    generations: Annotated[int, Field(ge=1, le=10_000)] = 20
    patience: Annotated[int, Field(ge=1, le=10_000)] = 5
    attraction: Annotated[float, Field(ge=0, le=100)] = 1.0
    absorption: Annotated[float, Field(ge=0, le=1e6)] = 1.0
    step: Annotated[float, Field(ge=0, le=1)] = 0.25
    cooling: Annotated[float, Field(gt=0, le=1)] = 0.95
    norm: Annotated[float, Field(ge=1, le=100)] = 2.0

    @property
    def idle(self) -> frozenset[str]:
        linking = {"link_threshold"} if self.profile == "aligned" else set()
        return frozenset(linking | (_OF_FIREFLIES if self.optimizer == "base" else set()))

    def part_names(self, grouped: int, sensitive: int) -> tuple[str, ...]:
        sts = super().part_names(grouped, sensitive)[1:]
        return (*_possible("qit", self.quasi_tables, grouped), *sts)

    def added_columns(self, sensitive: int) -> tuple[str, ...]:
        own = self.links(sensitive) if self.profile == "independent" else ()
        return (*self.adds, *own)


Priority = Annotated[
    Literal["mbf", "msdcf", "mmdcf"], _words("priority of msb", "mbf", "msdcf", "mmdcf")
]


class Msb(_Anatomized):
    """Groups of records that differ in every sensitive column (MSB), the baseline."""

    models = frozenset({"slicing_l_diversity"})
    example = "{model: slicing_l_diversity, l: 3, level: unique}"
    adds = (GROUP_ID, COUNT, PROBABILITY)
    parts = ("qit", "st")
    sensitive = "some"
    levels = ("unique",)
    codes_sensitive = True

    name: Literal["msb"]
    priority: Priority = "mmdcf"
    block_size: BlockSize = 50_000


class Sloms(Divided):
    """Generalized quasi-identifiers, sensitive tables with buckets of their own (SLOMS)."""

    models = frozenset({"k_anonymity", "slicing_l_diversity"})
    example = "{model: slicing_l_diversity, l: 3, level: unique}"
    adds = (CLASS_ID, GROUP_ID, COUNT, PROBABILITY)
    shows = "generalized"
    levels = ("unique",)

    name: Literal["sloms"]
    clustering: Clustering = "pam"
    priority: Priority = "mmdcf"
    block_size: BlockSize = 5000

    def added_columns(self, sensitive: int) -> tuple[str, ...]:
        return (*self.adds, *self.links(sensitive))
