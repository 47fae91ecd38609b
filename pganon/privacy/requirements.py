"""The requirements that the privacy models of a policy come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import cast

from pganon.identifiers import first_few, quote
from pganon.policy.model import Policy
from pganon.policy.words import HIDDEN
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
    return cast("list[PrivacyModel]", list(policy.privacy))


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


UNPROTECTED = "no model is about the sensitive column"
"""How the warning begins."""


def unprotected_columns(policy: Policy) -> list[str]:
    """Names of these columns, without those that the policy accepts as such."""
    hidden = [name for name, column in policy.columns.items() if column.role in HIDDEN]
    sensitive = {name: number for number, name in enumerate(hidden)}
    about = {requirement.column for requirement in requirements_of(policy, sensitive)}
    unnamed = [name for name in sensitive if name not in about]
    return [name for name in unnamed if policy.columns[name].unprotected == "warn"]


def warnings(policy: Policy) -> list[str]:
    """A warning about the columns that no model protects, for the steward before a run."""
    names = unprotected_columns(policy)
    return [_warning(policy, [quote(name) for name in names])] if names else []


def measured_warning(policy: Policy, shares: Mapping[str, float | None], groups: str) -> str:
    """One warning about columns that no model protects, highest share first.

    Args:
        shares: of the released records in groups in which all have the same value, by column, of
            which there is at least one; None of all but few of them.
        groups: what these are called: "classes".
    """
    known = {name: 1.0 if share is None else share for name, share in shares.items()}
    ordered = sorted(known, key=lambda name: -known[name])
    rest = f"all but fewer than {policy.report.smallest}"
    percent = [rest if shares[n] is None else f"{100 * known[n]:.3g} %" for n in ordered]
    same = f"in {groups} in which all have the same value of it"
    if len(ordered) == 1:
        return _warning(
            policy, [quote(ordered[0])], f": {percent[0]} of the released records are {same}"
        )
    named = [f"{quote(name)} ({share})" for name, share in zip(ordered, percent, strict=True)]
    return _warning(
        policy, named, f"; in brackets: the share of the released records that are {same}"
    )


def _warning(policy: Policy, columns: Sequence[str], reason: str = "") -> str:
    whole = any(getattr(model, "level", None) == "tuple" for model in policy.privacy)
    alone = " alone (level: tuple bounds values of a whole sensitive table)" if whole else ""
    several = len(columns) > 1
    return (
        f"{UNPROTECTED}{'s' if several else ''} {first_few(columns)}"
        f"{alone}{reason}; add a model, or say that it is meant with unprotected:"
        " accept, with the column"
    )
