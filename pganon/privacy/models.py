"""Privacy models: how a policy declares each, and the measures that groups must satisfy.

A new model is one class, here or in :mod:`pganon.privacy.risk_models`, and one line in
:data:`MODELS`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field, model_validator

from pganon.policy.columns import Columns
from pganon.policy.knowledge import Knowledge
from pganon.policy.model import Name, RelationName
from pganon.policy.refusals import Refusal, known_word, refuse_one
from pganon.policy.words import DISTANCES
from pganon.privacy import (
    frequency,
    identity,
    knowledge,
    likeness,
    quasi_sensitive,
    risk_models,
)
from pganon.privacy.base import Model
from pganon.privacy.declaration import PrivacyModel


class KAnonymity(PrivacyModel):
    """Every class holds at least k records."""

    model: Literal["k_anonymity"]
    k: Annotated[int, Field(ge=2, le=2**31 - 1)]

    def measures(self) -> tuple[Model, ...]:
        return (frequency.KAnonymity(self.k),)


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
    risk_models.NoAttack,
    risk_models.KMap,
    risk_models.DeltaPresence,
    risk_models.AverageRisk,
    risk_models.SampleUniqueness,
    risk_models.PopulationUniqueness,
    risk_models.Profitability,
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
