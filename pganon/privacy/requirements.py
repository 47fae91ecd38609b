"""The requirements that the privacy models of a policy come to."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from pganon.policy.model import Policy
from pganon.privacy.base import Requirement
from pganon.privacy.declaration import PrivacyModel


def given_value(declaration: PrivacyModel) -> PrivacyModel:
    """The model with the parameter that NULL and another value take it to.

    It also protects against readers who know that a person has a value. NULL counts as
    one value. If a reader can rule it out for a victim, the other values of the group remain, for
    which a model may fail: of {flu, NULL} only the flu remains. With l + 1, and with
    alpha / (1 + alpha), it cannot, as docs/reference/models.md proves for every model here.

    Raises:
        ValueError: there is no such parameter; the policy's rules let none of these through.
    """
    if not declaration.conditional:
        raise ValueError(f"{declaration.model} has no parameter that holds without NULL")
    parameters = declaration.model_dump()
    if "l" in parameters:
        return declaration.model_copy(update={"l": parameters["l"] + 1})
    # As a fraction: hardly any of these is a decimal, and groups at the bound are to hold it.
    alpha = Fraction(str(parameters["alpha"]))
    return declaration.model_copy(update={"alpha": alpha / (1 + alpha)})


def requirements_of(policy: Policy, sensitive: Mapping[str, int]) -> list[Requirement]:
    """The requirements of a policy's models; `sensitive` numbers the sensitive columns."""
    requirements: list[Requirement] = []
    for model in models_of(policy):
        columns = _columns(model, sensitive)
        for number, measured in enumerate(policy.method.measures(model)):
            if not columns or not measured.needs_values:
                requirements.append(Requirement(measured))
                continue
            for column in columns:
                held = policy.method.measures(_held(policy, model, column))[number]
                given = None if held == measured else measured
                requirements.append(Requirement(held, sensitive[column], column, given))
    return list(dict.fromkeys(requirements))


def models_of(policy: Policy) -> list[PrivacyModel]:
    """The privacy models that the policy names."""
    models = [model for model in policy.privacy if isinstance(model, PrivacyModel)]
    if len(models) < len(policy.privacy):
        raise TypeError("a privacy model without measures")
    return models


def held_models(policy: Policy) -> list[PrivacyModel]:
    """The models with the parameters that groups are held to, where each names its column."""
    return [_held(policy, model, model.about) for model in models_of(policy)]


def _held(policy: Policy, model: PrivacyModel, column: str | None) -> PrivacyModel:
    if column is None or policy.columns[column].nulls != "conditional":
        return model
    return given_value(model)


def _columns(model: PrivacyModel, sensitive: Mapping[str, int]) -> tuple[str, ...]:
    """The sensitive columns that a model of the policy is about, each by itself."""
    if model.about is not None:
        return (model.about,)
    return tuple(sensitive) if model.about_each else ()
