"""The privacy models of this version, and those that several measures make up.

A model that is measured by itself is one class, which a policy declares and groups are measured
with; it stands beside what it has in common with others. A new one is such a class and one line in
:data:`MODELS`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pganon.privacy import risk_models
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
    risk_models.NoAttack,
    risk_models.KMap,
    risk_models.DeltaPresence,
    risk_models.AverageRisk,
    SampleUniqueness,
    PopulationUniqueness,
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
