"""From what the policy writes to the models that measure."""

from __future__ import annotations

from collections.abc import Mapping

from pganon.policy import model as declared
from pganon.privacy import identity
from pganon.privacy.base import Model, Requirement
from pganon.privacy.frequency import (
    AnatomyLDiversity,
    BucketSize,
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    RecursiveCLDiversity,
    RelativeFrequency,
    SlicingLDiversity,
)
from pganon.privacy.given import given_value
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
        case declared.SlicingLDiversity():
            model = SlicingLDiversity(declaration.l, declaration.level)
            size = declaration.min_size
            return (model, BucketSize(size)) if size > 1 else (model,)
        case declared.IRKAnonymity():
            return (identity.IRKAnonymity(declaration.k),)
        case declared.IRKLAnonymity():
            return identity.ir_kl(declaration.k, declaration.l)
        case declared.IRAlphaBetaAnonymity():
            return identity.ir_alpha_beta(declaration.alpha, declaration.beta)
        case declared.EIRLDiversity():
            return (identity.EIRLDiversity(declaration.l),)
        case declared.EIRAlphaBetaAnonymity():
            return identity.eir_alpha_beta(declaration.alpha, declaration.beta)
        case declared.QSKAnonymity():
            return (QSKAnonymity(declaration.k, declaration.count, declaration.min_values),)


def requirements_of(policy: declared.Policy, sensitive: Mapping[str, int]) -> list[Requirement]:
    """The requirements of a policy's models; `sensitive` numbers the sensitive columns."""
    found: list[Requirement] = []
    for declaration in policy.privacy:
        columns = _columns(declaration, sensitive)
        for number, model in enumerate(models_of(declaration)):
            if not columns or not model.needs_values:
                found.append(Requirement(model))
                continue
            for column in columns:
                held = models_of(_held(policy, declaration, column))[number]
                given = None if held == model else model
                found.append(Requirement(held, sensitive[column], column, given))
    return list(dict.fromkeys(found))


def held_models(policy: declared.Policy) -> list[declared.PrivacyModel]:
    """The models with the parameters that groups are held to, where each names its column."""
    return [_held(policy, model, getattr(model, "column", None)) for model in policy.privacy]


def _held(
    policy: declared.Policy, declaration: declared.PrivacyModel, column: str | None
) -> declared.PrivacyModel:
    if column is None or policy.columns[column].nulls != "conditional":
        return declaration
    return given_value(declaration)


def _columns(declaration: declared.PrivacyModel, sensitive: Mapping[str, int]) -> tuple[str, ...]:
    """The sensitive columns that a model of the policy is about, each by itself."""
    column: str | None = getattr(declaration, "column", None)
    if column is not None:
        return (column,)
    each = isinstance(declaration, declared.SlicingLDiversity) and declaration.level != "tuple"
    return tuple(sensitive) if each else ()
