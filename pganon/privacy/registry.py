"""From what the policy writes to the models that measure."""

from __future__ import annotations

from collections.abc import Mapping

from pganon.policy import model as declared
from pganon.privacy.base import Model, Requirement
from pganon.privacy.frequency import (
    AnatomyLDiversity,
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    RecursiveCLDiversity,
    RelativeFrequency,
)
from pganon.privacy.likeness import BetaLikeness, DeltaDisclosure, TCloseness
from pganon.privacy.quasi_sensitive import QSKAnonymity


def models_of(declaration: declared.PrivacyModel) -> tuple[Model, ...]:
    """The models with the parameters of the policy; groups must satisfy all of them."""
    match declaration:
        case declared.KAnonymity():
            return (KAnonymity(declaration.k),)
        case declared.AlphaKAnonymity():
            return (KAnonymity(declaration.k), RelativeFrequency(declaration.alpha))
        case declared.DistinctLDiversity():
            return (DistinctLDiversity(declaration.l),)
        case declared.EntropyLDiversity():
            return (EntropyLDiversity(declaration.l),)
        case declared.RecursiveCLDiversity():
            return (RecursiveCLDiversity(declaration.c, declaration.l),)
        case declared.TCloseness():
            return (TCloseness(declaration.t, declaration.distance),)
        case declared.BetaLikeness():
            return (BetaLikeness(declaration.beta, declaration.variant),)
        case declared.DeltaDisclosure():
            return (DeltaDisclosure(declaration.delta),)
        case declared.AnatomyLDiversity():
            return (AnatomyLDiversity(declaration.l, declaration.level),)
        case declared.QSKAnonymity():
            return (QSKAnonymity(declaration.k, declaration.count, declaration.min_values),)


def requirements_of(policy: declared.Policy, sensitive: Mapping[str, int]) -> list[Requirement]:
    """The requirements of a policy's models; `sensitive` numbers the sensitive columns."""
    found: list[Requirement] = []
    for declaration in policy.privacy:
        column: str | None = getattr(declaration, "column", None)
        for model in models_of(declaration):
            if column is None or not model.needs_values:
                found.append(Requirement(model))
            else:
                found.append(Requirement(model, sensitive[column], column))
    return found
