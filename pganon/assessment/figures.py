"""Figures of a relation, as `pganon.assess` gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pganon.frames import Frame, frame
from pganon.risk.estimate import Estimate


@dataclass(frozen=True)
class Measure:
    """One measure, of the worst class.

    Attributes:
        column: the sensitive column, None for measures of classes as such.
        value: infinite where no parameter would do.
        required: the parameter asked for; then `holds` and what violates it.
    """

    measure: str
    column: str | None
    value: float
    required: float | None = None
    holds: bool | None = None
    violating_classes: int | None = None
    violating_records: int | None = None
    violating_individuals: int | None = None


@dataclass(frozen=True)
class Risk:
    """One figure of risk; `size` is the class size that a row of the distribution is about."""

    measure: str
    size: int | None
    value: float


@dataclass(frozen=True)
class Suda:
    """One figure of SUDA2, of a column or of sets of `size` columns where it has one."""

    measure: str
    column: str | None
    size: int | None
    value: float


@dataclass(frozen=True)
class ColumnSet:
    """How far some quasi-identifiers together single records out."""

    columns: tuple[str, ...]
    distinction: float
    separation: float


@dataclass(frozen=True)
class QuasiIdentifier(ColumnSet):
    """Columns that tell most pairs of records apart; where it is `minimal`, no part of them does.

    One that was found column by column may have parts that do.
    """

    minimal: bool = True


@dataclass(frozen=True)
class Assessment:
    """Everything measured of one relation.

    Attributes:
        warnings: of sensitive columns with values that look the same.
        population_size: people that the relation was said to be a sample of.
        population_uniques: estimates by estimator; empty without that size.
        suda: figures of SUDA2, where they were asked for.
        suda_population: people that they take the relation for a sample of: those of
            `population_size`, or the sum of its weights.
    """

    relation: str
    measures: tuple[Measure, ...]
    risks: tuple[Risk, ...]
    sets: tuple[ColumnSet, ...]
    warnings: tuple[str, ...] = ()
    population_size: int | None = None
    population_uniques: Mapping[str, Estimate] = field(default_factory=dict)
    suda: tuple[Suda, ...] = ()
    suda_population: float | None = None

    @property
    def missed(self) -> tuple[Measure, ...]:
        """Measures that miss their required value."""
        return tuple(measure for measure in self.measures if measure.holds is False)

    def to_frame(self) -> Frame:
        """The measures, one row each."""
        return frame(self.measures)
