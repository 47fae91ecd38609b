"""From what the policy writes to the models that measure."""

from __future__ import annotations

from collections.abc import Mapping

from pganon.policy import model as declared
from pganon.privacy.base import Model, Requirement
from pganon.privacy.frequency import (
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    TCloseness,
)


def model_of(declaration: declared.PrivacyModel) -> Model:
    """The model with the parameters of the policy."""
    match declaration:
        case declared.KAnonymity():
            return KAnonymity(declaration.k)
        case declared.DistinctLDiversity():
            return DistinctLDiversity(declaration.l)
        case declared.EntropyLDiversity():
            return EntropyLDiversity(declaration.l)
        case declared.TCloseness():
            return TCloseness(declaration.t, declaration.distance)


def requirements_of(policy: declared.Policy, sensitive: Mapping[str, int]) -> list[Requirement]:
    """One requirement per model of the policy; `sensitive` numbers the sensitive columns."""
    found: list[Requirement] = []
    for declaration in policy.privacy:
        column = getattr(declaration, "column", None)
        index = None if column is None else sensitive[column]
        found.append(Requirement(model_of(declaration), index, column))
    return found
