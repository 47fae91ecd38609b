"""The privacy models of this version, and those that several measures make up.

A model that is measured by itself is one class, which a policy declares and groups are measured
with; it stands beside what it has in common with others. A new one is such a class and one line in
:data:`MODELS`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field, model_validator

from pganon.policy.labels import Name
from pganon.policy.model import RelationName
from pganon.policy.refusals import known_word, refuse_one
from pganon.privacy import population, profit, release
from pganon.privacy.base import Model
from pganon.privacy.declaration import PrivacyModel
from pganon.privacy.frequency import (
    AnatomyLDiversity,
    AtLeastTwo,
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    LocalBucketDiversity,
    RecursiveCLDiversity,
    RelativeFrequency,
    SlicingLDiversity,
)
from pganon.privacy.identity import EIRBeta, EIRLDiversity, IRAlpha, IRBeta, IRKAnonymity
from pganon.privacy.knowledge import BackgroundKnowledge
from pganon.privacy.likeness import BetaLikeness, DeltaDisclosure, TCloseness
from pganon.privacy.quasi_sensitive import QSKAnonymity
from pganon.privacy.release import SampleUniqueness
from pganon.privacy.uniqueness import PopulationUniqueness
from pganon.risk.k_map import sample_k


class EventShare(PrivacyModel):
    """Of the people of a group with rows in a table, at most the share beta has any sensitive
    value.

    Attributes:
        table: of the policy; None: every table.
        of_column: of the table; None: every sensitive column, and who has rows at all where that is
            sensitive.
    """

    model: Literal["event_share"]
    beta: Annotated[float, Field(gt=0, lt=1)]
    table: Name | None = None
    of_column: Name | None = Field(default=None, alias="column")

    @property
    def limit(self) -> Fraction:
        """The share as it was meant: the float 0.1 is one tenth."""
        return Fraction(str(self.beta))

    def bounds(self, table: str, column: str | None) -> bool:
        """Whether it is about the values of a column, or about who has rows."""
        return self.table in (None, table) and self.of_column in (None, column)

    def measures(self) -> tuple[Model, ...]:
        return ()  # classes have no events


class NoAttack(PrivacyModel):
    """Every class holds so many records, or looks like so many people of a population, that a
    wrong guess costs readers more than a right one gains.

    Attributes:
        population: the relation, with the columns of the quasi-identifiers.
    """

    model: Literal["no_attack"]
    gain: Annotated[float, Field(gt=0, le=1e12)]
    cost: Annotated[float, Field(gt=0, le=1e12)]
    population: RelationName | None = None

    @model_validator(mode="after")
    def _attacks_pay_without_it(self) -> NoAttack:
        if self.k < 2:
            refuse_one(
                "the gain is below the cost, so that no attack pays, whatever classes hold",
                at=("gain",),
                suggestion="write a gain of at least the cost, or use k_anonymity",
            )
        if self.k >= 2**31:
            refuse_one(
                "no class can hold as many records as the gain is times the cost",
                at=("gain",),
                suggestion="write a lower gain, or a higher cost",
            )
        return self

    @property
    def k(self) -> int:
        """Fewest records with which gain / k is below the cost; of the decimals as written."""
        return Fraction(str(self.gain)) // Fraction(str(self.cost)) + 1

    def measures(self) -> tuple[Model, ...]:
        if self.population is not None:
            return (population.KMap(self.population, self.k),)
        return (KAnonymity.of(self.k),)


class KMap(PrivacyModel):
    """Every class looks like at least k people of the population.

    Counted in a relation of the population. Or estimated: the source is a random sample of which
    the policy declares how large it is, and classes hold so many records that k people are
    concluded. The size of the population would not do, as no plan knows the records of the source.

    Attributes:
        population: the relation, with the columns of the quasi-identifiers.
        sampling_fraction: records of the source by people of the population.
        significance: probability with which a class of k people has as many records.
        estimator: whether of classes that have a record (zero_truncated), or of all.
    """

    model: Literal["k_map"]
    k: Annotated[int, Field(ge=2, le=100_000)]
    population: RelationName | None = None
    sampling_fraction: Annotated[float, Field(ge=1e-9, lt=1)] | None = None
    significance: Annotated[float, Field(ge=1e-6, le=0.5)] | None = None
    estimator: Annotated[Literal["poisson", "zero_truncated"], known_word("estimator of k_map")] = (
        "zero_truncated"
    )

    @model_validator(mode="after")
    def _counted_or_estimated(self) -> KMap:
        estimated = ("sampling_fraction", "significance", "estimator")
        given = [name for name in estimated if name in self.model_fields_set]
        if self.population is not None and given:
            refuse_one(
                "people of the population are counted in a relation, or estimated, not both",
                at=(given[0],),
                suggestion=f"remove {' and '.join(given)}, or remove population",
            )
        for name in estimated[:2]:
            if self.population is None and name not in given:
                refuse_one(
                    f"is missing: without a population, k_map needs {' and '.join(estimated[:2])}",
                    at=(name,),
                    suggestion="name the relation of the population, or declare both",
                )
        return self

    @model_validator(mode="after")
    def _tells(self) -> KMap:
        if self.population is None and self.least < 2:
            refuse_one(
                "the sample is too small to tell: a class of k people has a record with a"
                " probability of at most the significance",
                at=("sampling_fraction",),
                suggestion="write estimator: zero_truncated, or use k_anonymity",
            )
        return self

    @property
    def least(self) -> int:
        """Fewest records of a class, where they are estimated."""
        assert self.sampling_fraction is not None
        assert self.significance is not None
        truncated = self.estimator != "poisson"
        return sample_k(self.k, self.sampling_fraction, self.significance, truncated=truncated)

    def measures(self) -> tuple[Model, ...]:
        if self.population is not None:
            return (population.KMap(self.population, self.k),)
        return (KAnonymity.of(self.least),)


class DeltaPresence(PrivacyModel):
    """Who knows a person of the population concludes within bounds that he is in the table.

    Attributes:
        population: the relation, with the columns of the quasi-identifiers.
        min: the least chance that anybody has to be in the table.
        max: the largest one.
    """

    model: Literal["delta_presence"]
    population: RelationName
    max: Annotated[float, Field(gt=0, lt=1)]
    min: Annotated[float, Field(ge=0, lt=1)] = 0.0

    @model_validator(mode="after")
    def _bounds_in_order(self) -> DeltaPresence:
        if self.min > self.max:
            refuse_one(
                "the least chance is above the largest",
                at=("min",),
                suggestion="write a min of at most max, or leave it out",
            )
        return self

    def measures(self) -> tuple[Model, ...]:
        most = population.MostPresent(self.population, self.max)
        if self.min == 0:
            return (most,)
        return (most, population.LeastPresent(self.population, self.min))


class AverageRisk(PrivacyModel):
    """The mean risk of all records is at most `risk`; few of them have one above `highest`.

    Attributes:
        population: the relation whose people a record is sought among, if not among the records.
    """

    model: Literal["average_risk"]
    risk: Annotated[float, Field(gt=0, lt=1)]
    highest: Annotated[float, Field(gt=0, lt=1)] | None = None
    share: Annotated[float, Field(ge=0, lt=1)] | None = None
    population: RelationName | None = None

    @model_validator(mode="after")
    def _highest_has_its_share(self) -> AverageRisk:
        missing = next((n for n in ("highest", "share") if getattr(self, n) is None), None)
        if missing and (self.highest, self.share) != (None, None):
            there = "share" if missing == "highest" else "highest"
            refuse_one(
                f"{there} bounds records of a risk above highest, whose share is at most share:"
                " both are needed",
                at=(there,),
                suggestion=f"add {missing}, or remove {there}",
            )
        return self

    def measures(self) -> tuple[Model, ...]:
        if self.population is not None:
            average: Model = population.AverageRisk(self.population, self.risk)
        else:
            average = release.AverageRisk(self.risk)
        if self.highest is None or self.share is None:
            return (average,)
        if self.population is not None:
            above = population.RecordsAtRisk(self.population, self.share, self.highest)
            return (average, above)
        return (average, release.RecordsAtRisk(self.share, self.highest))


class Profitability(PrivacyModel):
    """A record of every class is worth more to its publisher than an attack on it costs.

    Attributes:
        gain: of a reader who picks the right record.
        cost: of a reader for an attempt.
        loss: of the publisher for a record that is picked.
        benefit: of the publisher for a record that loses nothing.
        population: the relation whose people a record is sought among, if not among the records.
    """

    model: Literal["profitability"]
    gain: Annotated[float, Field(gt=0, le=1e12)]
    cost: Annotated[float, Field(gt=0, le=1e12)]
    loss: Annotated[float, Field(gt=0, le=1e12)]
    benefit: Annotated[float, Field(gt=0, le=1e12)]
    population: RelationName | None = None

    def measures(self) -> tuple[Model, ...]:
        amounts = (self.gain, self.cost, self.loss, self.benefit)
        if self.population is not None:
            return (profit.ProfitabilityInPopulation(self.population, *amounts),)
        return (profit.Profitability(*amounts),)


Share = Annotated[float, Field(gt=0, le=1)]


class AlphaKAnonymity(PrivacyModel):
    """Every class holds at least k records, no value of the column more than alpha of them."""

    conditional = True

    model: Literal["alpha_k_anonymity"]
    column: str
    alpha: Annotated[float, Field(gt=0, le=1)]
    k: AtLeastTwo

    def measures(self) -> tuple[Model, ...]:
        return KAnonymity.of(self.k), RelativeFrequency(self.alpha)


class IRKLAnonymity(PrivacyModel):
    """Every class holds at least k individuals and l different values of the column.

    Not conditional: of the k individuals some may have no value.
    """

    model: Literal["ir_kl_anonymity"]
    column: str
    k: Annotated[int, Field(ge=1, le=2**31 - 1)]
    l: Annotated[int, Field(ge=1, le=2**31 - 1)]  # noqa: E741

    def measures(self) -> tuple[Model, ...]:
        return IRKAnonymity.of(self.k), DistinctLDiversity.of(self.l)


class IRAlphaBetaAnonymity(PrivacyModel):
    """In every class no individual has more than alpha, no value more than beta of the records."""

    model: Literal["ir_alpha_beta_anonymity"]
    column: str
    alpha: Share
    beta: Share

    def measures(self) -> tuple[Model, ...]:
        return IRAlpha(self.alpha), IRBeta(self.beta)


class EIRAlphaBetaAnonymity(PrivacyModel):
    """In every class no individual has more than alpha of the records, and no value is held by more
    than beta of the individuals."""

    model: Literal["eir_alpha_beta_anonymity"]
    column: str
    alpha: Share
    beta: Share

    def measures(self) -> tuple[Model, ...]:
        return IRAlpha(self.alpha), EIRBeta(self.beta)


MODELS: tuple[type[PrivacyModel], ...] = (
    KAnonymity,
    NoAttack,
    KMap,
    DeltaPresence,
    AverageRisk,
    SampleUniqueness,
    PopulationUniqueness,
    Profitability,
    AlphaKAnonymity,
    DistinctLDiversity,
    EntropyLDiversity,
    RecursiveCLDiversity,
    TCloseness,
    BetaLikeness,
    DeltaDisclosure,
    QSKAnonymity,
    AnatomyLDiversity,
    SlicingLDiversity,
    LocalBucketDiversity,
    BackgroundKnowledge,
    IRKAnonymity,
    IRKLAnonymity,
    IRAlphaBetaAnonymity,
    EIRLDiversity,
    EIRAlphaBetaAnonymity,
    EventShare,
)
"""Every privacy model of this version."""
