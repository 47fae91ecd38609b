"""A bound on how many people of a population are alone with their values, by an estimate.

The estimators of :mod:`pganon.risk` read class sizes alone, in Python. So no query measures it, but
what judges classes brings their sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field
from sqlglot import exp

from pganon.policy.refusals import known_word
from pganon.privacy.base import Bound, Judged
from pganon.privacy.declaration import MeasuredModel
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


class PopulationUniqueness(MeasuredModel):
    """Few people of the population are estimated to be alone with their values.

    Attributes:
        population_size: people of whom the source is a random sample.
        share: of them who may be alone.
        estimator: of their number; `dankar` takes the one that did best by sampling fraction.
    """

    symbol: ClassVar[str] = "share"
    bound: ClassVar[Bound] = Bound.AT_MOST
    merging_keeps: ClassVar[bool] = False
    from_histogram: ClassVar[bool] = False
    judged: ClassVar[Judged] = Judged.NOTHING
    tolerance: ClassVar[float] = 0.0
    needs_values: ClassVar[bool] = False
    said: ClassVar[str] = (
        "Of a population of {model.population_size:,} people, of whom the records are taken for"
        " a random sample, at most {percent} are estimated to be the only ones"
        " with what they have in {known}."
    )

    model: Literal["population_uniqueness"]
    population_size: Annotated[int, Field(ge=2, le=2**63 - 1)]
    share: Annotated[float, Field(ge=0, lt=1)]
    estimator: Annotated[
        Literal["dankar", "zayatz", "pitman", "snb"],
        known_word("estimator of population_uniqueness"),
    ] = "dankar"

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
