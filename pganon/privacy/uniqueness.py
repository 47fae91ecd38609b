"""A bound on how many people of a population are alone with their values, by an estimate.

The estimators of :mod:`pganon.risk` read class sizes alone, in Python. So no query measures it, but
what judges classes brings their sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from sqlglot import exp

from pganon.privacy.base import Bound, Model
from pganon.privacy.judged import Judged
from pganon.sqltools import col


@dataclass(frozen=True)
class Estimated:
    """An estimated share of the population.

    Attributes:
        share: None where it cannot be estimated.
        reason: why not, as :class:`pganon.risk.estimate.Reason` has it; empty with a share.
    """

    share: float | None
    reason: str = ""


@dataclass(frozen=True)
class PopulationUniqueness(Model):
    """At most the share `share` of a population of N people is alone with its values.

    Attributes:
        population_size: N, above the number of records.
        estimator: the name of an estimator, or of the rule that takes one.
    """

    population_size: int
    share: float
    estimator: str
    name: ClassVar[str] = "population_uniqueness"
    symbol: ClassVar[str] = "share"
    bound: ClassVar[Bound] = Bound.AT_MOST
    merging_keeps: ClassVar[bool] = False
    from_histogram: ClassVar[bool] = False
    judged_of: ClassVar[Judged] = Judged.NOTHING
    tolerance: ClassVar[float] = 0.0

    @property
    def parameter(self) -> float:
        return self.share

    @property
    def parameters(self) -> dict[str, object]:
        return {
            "population_size": self.population_size,
            "share": self.share,
            "estimator": self.estimator,
        }

    @property
    def needs_values(self) -> bool:
        return False

    def sentence(self, known: str, column: str) -> str:
        return (
            f"Of a population of {self.population_size:,} people, of whom the records are taken for"
            f" a random sample, at most {100 * self.share:.3g} % are estimated to be the only ones"
            f" with their values of {known}."
        )

    def estimated(self, frequencies: Mapping[int, int]) -> Estimated:
        """Of classes, by size how many there are.

        Raises:
            PreconditionError: the population is not larger than the records.
        """
        from pganon.risk.sample import Sample
        from pganon.risk.uniques import required

        found = required(Sample.of(frequencies, self.population_size), self.estimator)
        if found.uniques is None:
            return Estimated(None, found.reason or "")
        return Estimated(found.uniques / self.population_size)

    def allows(self, found: Estimated) -> bool:
        """What cannot be estimated is not."""
        return found.share is not None and self.satisfied_by(found.share)

    def aggregate(self, rows: str) -> exp.Expr:
        """Of the one row of the release, with its `measure`."""
        return exp.func("max", col("measure", rows))
