"""Privacy models: how a policy declares each, and the measures that groups must satisfy.

A new model is one class here and one line in :data:`MODELS`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field, model_validator

from pganon.policy.columns import Columns
from pganon.policy.knowledge import Knowledge
from pganon.policy.model import Name, RelationName
from pganon.policy.privacy_model import ModelDeclaration
from pganon.policy.refusals import Refusal, known_word, refuse_one
from pganon.policy.words import DISTANCES
from pganon.privacy import (
    frequency,
    identity,
    knowledge,
    likeness,
    population,
    profit,
    quasi_sensitive,
    release,
    uniqueness,
)
from pganon.privacy.base import Model
from pganon.risk.k_map import sample_k


class PrivacyModel(ModelDeclaration):
    """A privacy model with the parameters of a policy."""

    @abstractmethod
    def measures(self) -> tuple[Model, ...]:
        """Measures of every group, each with its parameter; groups must satisfy all."""


class KAnonymity(PrivacyModel):
    """Every class holds at least k records."""

    model: Literal["k_anonymity"]
    k: Annotated[int, Field(ge=2, le=2**31 - 1)]

    def measures(self) -> tuple[Model, ...]:
        return (frequency.KAnonymity(self.k),)


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
        return (frequency.KAnonymity(self.k),)


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
    estimator: Annotated[
        Literal["poisson", "zero_truncated"],
        known_word("estimator of k_map", ("poisson", "zero_truncated")),
    ] = "zero_truncated"

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
        return (frequency.KAnonymity(self.least),)


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


class SampleUniqueness(PrivacyModel):
    """Few records are alone in their class."""

    model: Literal["sample_uniqueness"]
    share: Annotated[float, Field(ge=0, lt=1)]

    def measures(self) -> tuple[Model, ...]:
        return (release.SampleUniqueness(self.share),)


class PopulationUniqueness(PrivacyModel):
    """Few people of the population are estimated to be alone with their values.

    Attributes:
        population_size: people of whom the source is a random sample.
        share: of them who may be alone.
        estimator: of their number; `dankar` takes the one that did best by sampling fraction.
    """

    model: Literal["population_uniqueness"]
    population_size: Annotated[int, Field(ge=2, le=2**63 - 1)]
    share: Annotated[float, Field(ge=0, lt=1)]
    estimator: Annotated[
        Literal["dankar", "zayatz", "pitman", "snb"],
        known_word("estimator of population_uniqueness", ("dankar", "zayatz", "pitman", "snb")),
    ] = "dankar"

    def measures(self) -> tuple[Model, ...]:
        return (uniqueness.PopulationUniqueness(self.population_size, self.share, self.estimator),)


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
            return (profit.ProfitabilityOutside(self.population, *amounts),)
        return (profit.Profitability(*amounts),)


class AlphaKAnonymity(PrivacyModel):
    """Every class holds at least k records, no value of the column more than alpha of them."""

    conditional = True

    model: Literal["alpha_k_anonymity"]
    column: str
    alpha: Annotated[float, Field(gt=0, le=1)]
    k: Annotated[int, Field(ge=2, le=2**31 - 1)]

    def measures(self) -> tuple[Model, ...]:
        return (frequency.KAnonymity(self.k), frequency.RelativeFrequency(self.alpha))


class DistinctLDiversity(PrivacyModel):
    """Every class holds at least l different values of the column."""

    conditional = True

    model: Literal["distinct_l_diversity"]
    column: str
    l: Annotated[int, Field(ge=2, le=2**31 - 1)]  # noqa: E741 (the field's own letter)

    def measures(self) -> tuple[Model, ...]:
        return (frequency.DistinctLDiversity(self.l),)


class EntropyLDiversity(PrivacyModel):
    """In every class the entropy of the column is at least log(l)."""

    conditional = True

    model: Literal["entropy_l_diversity"]
    column: str
    l: Annotated[float, Field(ge=2, le=2**31 - 1)]  # noqa: E741

    def measures(self) -> tuple[Model, ...]:
        return (frequency.EntropyLDiversity(self.l),)


class RecursiveCLDiversity(PrivacyModel):
    """In every class the most frequent value is rarer than c times the l-th and all rarer ones."""

    conditional = True

    model: Literal["recursive_cl_diversity"]
    column: str
    c: Annotated[float, Field(gt=0, le=1e9)]
    l: Annotated[int, Field(ge=2, le=2**31 - 1)]  # noqa: E741

    def measures(self) -> tuple[Model, ...]:
        return (frequency.RecursiveCLDiversity(self.c, self.l),)


class TCloseness(PrivacyModel):
    """In every class the earth mover's distance of the column to the whole is at most t."""

    model: Literal["t_closeness"]
    column: str
    t: Annotated[float, Field(gt=0, le=1)]
    distance: Annotated[
        Literal["equal", "ordered", "hierarchical"], known_word("distance", DISTANCES)
    ] = "equal"
    min_size: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None

    def measures(self) -> tuple[Model, ...]:
        return (likeness.TCloseness(self.t, self.distance, self.min_size),)


class BetaLikeness(PrivacyModel):
    """In every class no value's share exceeds that in the whole by more than beta times it."""

    model: Literal["beta_likeness"]
    column: str
    beta: Annotated[float, Field(gt=0, le=1e9)]
    variant: Annotated[
        Literal["basic", "enhanced"], known_word("variant of beta_likeness", ("basic", "enhanced"))
    ] = "enhanced"

    def measures(self) -> tuple[Model, ...]:
        return (likeness.BetaLikeness(self.beta, self.variant),)


class DeltaDisclosure(PrivacyModel):
    """In every class every value's share is within a factor exp(delta) of that in the whole."""

    model: Literal["delta_disclosure"]
    column: str
    delta: Annotated[float, Field(gt=0, le=1e3)]

    def measures(self) -> tuple[Model, ...]:
        return (likeness.DeltaDisclosure(self.delta),)


class QSKAnonymity(PrivacyModel):
    """Every cluster has at least k value combinations in every QS set."""

    model: Literal["qs_k_anonymity"]
    k: Annotated[int, Field(ge=1, le=2**31 - 1)]
    count: Annotated[
        Literal["supported", "product"],
        known_word("way to count combinations", ("supported", "product")),
    ] = "supported"
    min_values: Annotated[int, Field(ge=1, le=2**31 - 1)] = 1
    public: dict[Name, RelationName] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _public_is_counted(self) -> QSKAnonymity:
        if self.public and self.count == "product":
            refuse_one(
                "count: product reads no table; it counts combinations whether they exist or not",
                at=("public",),
                suggestion="remove public, or write count: supported",
            )
        return self

    def measures(self) -> tuple[Model, ...]:
        return (quasi_sensitive.QSKAnonymity(self.k, self.count, self.min_values),)


class AnatomyLDiversity(PrivacyModel):
    """In every group at most 1/l of the records have the same value of the column."""

    conditional = True

    model: Literal["anatomy_l_diversity"]
    column: str
    l: Annotated[int, Field(ge=2, le=2**31 - 1)]  # noqa: E741
    level: Annotated[
        Literal["attribute", "unique"],
        known_word("level of anatomy_l_diversity", ("attribute", "unique")),
    ] = "attribute"

    def measures(self) -> tuple[Model, ...]:
        return (frequency.AnatomyLDiversity(self.l, self.level),)


class SlicingLDiversity(PrivacyModel):
    """In every bucket at most 1/l of the records have the same value.

    Of a sensitive column, of every sensitive column where none is named, or (level: tuple) of the
    values of a sensitive table taken together.
    """

    conditional = True

    model: Literal["slicing_l_diversity"]
    column: str | None = None
    l: Annotated[int, Field(ge=2, le=2**31 - 1)]  # noqa: E741
    level: Annotated[
        Literal["attribute", "tuple", "unique"],
        known_word("level of slicing_l_diversity", ("attribute", "tuple", "unique")),
    ] = "attribute"
    min_size: Annotated[int, Field(ge=1, le=2**31 - 1)] = 1

    @model_validator(mode="after")
    def _level_of_tables(self) -> SlicingLDiversity:
        if self.column is not None and self.level == "tuple":
            refuse_one(
                "level: tuple is about whole sensitive tables, not about one column",
                at=("column",),
                suggestion="remove column, or write level: attribute",
            )
        return self

    @property
    def about_each(self) -> bool:
        return self.column is None and self.level != "tuple"

    def measures(self) -> tuple[Model, ...]:
        model = frequency.SlicingLDiversity(self.l, self.level)
        return (model, frequency.BucketSize(self.min_size)) if self.min_size > 1 else (model,)


class LocalBucketDiversity(PrivacyModel):
    """Every bucket of the column holds l or more values, none of them twice.

    In buckets that several columns have in common values may repeat; then at most 1/l of a bucket's
    records have the same one. The column is sensitive, or semi-sensitive: then its buckets hold the
    values that are hidden.
    """

    model: Literal["local_bucket_diversity"]
    column: str
    l: Annotated[int, Field(ge=2, le=2**31 - 1)]  # noqa: E741

    def measures(self) -> tuple[Model, ...]:
        return (frequency.LocalBucketDiversity(self.l),)


Share = Annotated[float, Field(gt=0, le=1)]


class IRKAnonymity(PrivacyModel):
    """Every class holds at least k individuals."""

    model: Literal["ir_k_anonymity"]
    k: Annotated[int, Field(ge=2, le=2**31 - 1)]

    def measures(self) -> tuple[Model, ...]:
        return (identity.IRKAnonymity(self.k),)


class IRKLAnonymity(PrivacyModel):
    """Every class holds at least k individuals and l different values of the column.

    Not conditional: of the k individuals some may have no value.
    """

    model: Literal["ir_kl_anonymity"]
    column: str
    k: Annotated[int, Field(ge=1, le=2**31 - 1)]
    l: Annotated[int, Field(ge=1, le=2**31 - 1)]  # noqa: E741

    def measures(self) -> tuple[Model, ...]:
        return identity.ir_kl(self.k, self.l)


class IRAlphaBetaAnonymity(PrivacyModel):
    """In every class no individual has more than alpha, no value more than beta of the records."""

    model: Literal["ir_alpha_beta_anonymity"]
    column: str
    alpha: Share
    beta: Share

    def measures(self) -> tuple[Model, ...]:
        return identity.ir_alpha_beta(self.alpha, self.beta)


class EIRLDiversity(PrivacyModel):
    """In every class one record of every individual have at least l values, whichever are taken."""

    conditional = True

    model: Literal["eir_l_diversity"]
    column: str
    l: Annotated[int, Field(ge=2, le=1000)]  # noqa: E741

    def measures(self) -> tuple[Model, ...]:
        return (identity.EIRLDiversity(self.l),)


class EIRAlphaBetaAnonymity(PrivacyModel):
    """In every class no individual has more than alpha of the records, and no value is held by more
    than beta of the individuals."""

    model: Literal["eir_alpha_beta_anonymity"]
    column: str
    alpha: Share
    beta: Share

    def measures(self) -> tuple[Model, ...]:
        return identity.eir_alpha_beta(self.alpha, self.beta)


class BackgroundKnowledge(PrivacyModel):
    """In every class what readers know of the members beforehand differs by at most j.

    Attributes:
        smoothing: the share of every prior that is the distribution of the whole instead.
    """

    model: Literal["background_knowledge"]
    j: Annotated[float, Field(ge=0, le=1)]
    knowledge: Knowledge
    smoothing: Annotated[float, Field(ge=0, lt=1)] = 0.0

    def measures(self) -> tuple[Model, ...]:
        return (knowledge.BackgroundKnowledge(self.j, self.knowledge.source),)

    def refusals(self, columns: Columns) -> Iterable[Refusal]:
        for refusal in self.knowledge.refusals(columns):
            yield Refusal(("knowledge", *refusal.place), refusal.message, refusal.suggestion)


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
)
"""Every privacy model of this version."""
