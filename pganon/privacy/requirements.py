"""The requirements that the privacy models of a policy come to."""

from __future__ import annotations

from collections.abc import Mapping

from pganon.policy.model import Policy
from pganon.privacy.base import Requirement
from pganon.privacy.given import given_value
from pganon.privacy.models import PrivacyModel


def requirements_of(policy: Policy, sensitive: Mapping[str, int]) -> list[Requirement]:
    """The requirements of a policy's models; `sensitive` numbers the sensitive columns."""
    found: list[Requirement] = []
    for model in models_of(policy):
        columns = _columns(model, sensitive)
        for number, measured in enumerate(model.measures_under(policy.method)):
            if not columns or not measured.needs_values:
                found.append(Requirement(measured))
                continue
            for column in columns:
                held = _held(policy, model, column).measures_under(policy.method)[number]
                given = None if held == measured else measured
                found.append(Requirement(held, sensitive[column], column, given))
    return list(dict.fromkeys(found))


def models_of(policy: Policy) -> list[PrivacyModel]:
    """The privacy models that the policy names."""
    found = [model for model in policy.privacy if isinstance(model, PrivacyModel)]
    if len(found) < len(policy.privacy):
        raise TypeError("a privacy model without measures")
    return found


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
