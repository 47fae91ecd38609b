"""Models that count the people of a population, whom the policy gives as a relation.

F_E is the number of people of the relation whom the published values of a class E cover. They
depend on quasi-identifiers alone, so nothing is learned from why records were left out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from sqlglot import exp

from pganon.privacy.base import Bound, Judged, Model, Requirement, share
from pganon.privacy.release import AboveHighest
from pganon.privacy.rows import Relation
from pganon.sqltools import col, fragment, num, query


@dataclass(frozen=True)
class PopulationModel(Model, ABC):
    """A bound on what is measured of classes beside a population.

    Attributes:
        population: name of the relation, as the policy writes it.
    """

    population: str
    judged: ClassVar[Judged] = Judged.NOTHING
    from_histogram: ClassVar[bool] = False
    measure_column: ClassVar[str] = "covered"
    """The column of what is measured: `covered` (F_E) of classes, `presence` of people."""
    searched: ClassVar[bool] = True
    """Whether the search for classes heeds it; else verification alone does."""
    exact: ClassVar[bool] = True
    needs_values: ClassVar[bool] = False

    def aggregate(self, rows: str) -> exp.Expr:
        extreme = "min" if self.bound is Bound.AT_LEAST else "max"
        return exp.func(extreme, col(self.measure_column, rows))

    def measure(
        self, histogram: Relation, by: Sequence[str], reference: Relation | None = None
    ) -> exp.Select:
        """SELECT the columns `by` and `measure`, from a relation that has what is measured."""
        measured = col(self.measure_column, "h")
        tree = query("select :m as measure from h", {"h": histogram}, m=measured)
        return tree.select(*[col(name, "h") for name in by])

    def worst(self, measured: exp.Select) -> exp.Select:
        """The same, with `measured` in the digits that people read."""
        row = super().worst(measured)
        return query("select w.failing, w.measured::float8 as measured from w", {"w": row})


def searched(requirements: Iterable[Requirement]) -> list[Requirement]:
    """Those beside a population that the search for classes heeds."""
    return [
        requirement
        for requirement in requirements
        if isinstance(requirement.model, PopulationModel) and requirement.model.searched
    ]


def with_presence(counted: Relation) -> exp.Select:
    """SELECT *, presence: of classes with `n` records that cover so many people `covered`."""
    part = share(col("n", "x"), col("covered", "x"))
    text = "select x.*, case when x.covered = 0 then 1 else least(1, :part) end as presence from x"
    return query(text, {"x": counted}, part=part)


@dataclass(frozen=True)
class KMap(PopulationModel):
    """Every class covers at least k people of the population."""

    k: int
    name: ClassVar[str] = "k_map"
    counts_distinct: ClassVar[bool] = True  # people, of whom a larger class covers no fewer
    said: ClassVar[str] = (
        "Every group looks like at least {model.k} people of {model.population} in {known}."
    )

    @property
    def label(self) -> str:
        return f"{self.name} k = {self.k}"


@dataclass(frozen=True)
class Presence(PopulationModel, ABC):
    """Of the chance that a person of the population is in the table: |E| / F_E, over all classes
    that cover the person."""

    delta: float
    name: ClassVar[str] = "delta_presence"
    measure_column: ClassVar[str] = "presence"

    @property
    def parameter(self) -> float:
        return self.delta


@dataclass(frozen=True)
class MostPresent(Presence):
    """Nobody is in the table with a chance above `max`."""

    symbol: ClassVar[str] = "max"
    bound: ClassVar[Bound] = Bound.AT_MOST
    said: ClassVar[str] = (
        "Who knows {known} of a person of {model.population} concludes with a chance of at most"
        " {percent} that the person is in the table."
    )


@dataclass(frozen=True)
class LeastPresent(Presence):
    """Everybody is in the table with a chance of at least `min`."""

    symbol: ClassVar[str] = "min"
    merging_keeps: ClassVar[bool] = False
    searched: ClassVar[bool] = False

    def sentence(self, known: str, column: str) -> str:
        return (
            f"Who knows {known} of a person of {self.population} concludes with a chance of at most"
            f" {100 * (1 - self.delta):.3g} % that the person is not in the table."
        )


@dataclass(frozen=True)
class _OfAllClasses(PopulationModel, ABC):
    """An upper bound on a share of the whole release; no class satisfies it by itself.

    Of a relation with a row (n, covered) per class.
    """

    bound: ClassVar[Bound] = Bound.AT_MOST
    searched: ClassVar[bool] = False

    @property
    @abstractmethod
    def part(self) -> exp.Expr:
        """What a class `h` adds to the share, in records."""

    def measure(
        self, histogram: Relation, by: Sequence[str], reference: Relation | None = None
    ) -> exp.Select:
        """SELECT `measure`: one row, of all classes together."""
        # Rounded to fewer decimals than parts have, thirds are a whole again.
        whole = share(fragment("sum(:part)", part=self.part), fragment("sum(h.n)"))
        return query("select round(:whole, 30) as measure from h", {"h": histogram}, whole=whole)


@dataclass(frozen=True)
class AverageRisk(_OfAllClasses):
    """The mean of 1 / F_E over all records is at most `risk`; 1 where a class covers nobody."""

    risk: float
    name: ClassVar[str] = "average_risk"
    symbol: ClassVar[str] = "risk"
    said: ClassVar[str] = (
        "Who knows {known} of all people of {model.population} picks the person of a record"
        " with a chance of at most {percent}, on average over all records."
    )

    @property
    def part(self) -> exp.Expr:
        return share(fragment("h.n"), fragment("greatest(h.covered, 1)"))


@dataclass(frozen=True)
class RecordsAtRisk(AboveHighest, _OfAllClasses):
    """At most the share `share_of_records` of all records have a risk 1 / F_E above `highest`."""

    @property
    def part(self) -> exp.Expr:
        return fragment("case when h.covered < :least then h.n else 0 end", least=num(self.least))

    def sentence(self, known: str, column: str) -> str:
        return (
            f"At most {100 * self.share_of_records:.3g} % of the records look like fewer than"
            f" {self.least} people of {self.population} in {known}."
        )
