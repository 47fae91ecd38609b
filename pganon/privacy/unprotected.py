"""Sensitive columns that no model of a policy is about."""

from __future__ import annotations

from pganon.identifiers import quote
from pganon.policy.model import Policy
from pganon.policy.sensitive_when import HIDDEN
from pganon.privacy.requirements import requirements_of


def unprotected_columns(policy: Policy) -> list[str]:
    """Names of these columns, without those that the policy accepts as such."""
    hidden = [name for name, column in policy.columns.items() if column.role in HIDDEN]
    sensitive = {name: number for number, name in enumerate(hidden)}
    about = {requirement.column for requirement in requirements_of(policy, sensitive)}
    unnamed = [name for name in sensitive if name not in about]
    return [name for name in unnamed if policy.columns[name].unprotected == "warn"]


def warnings(policy: Policy) -> list[str]:
    """Warnings about columns that no model protects, for the steward before a run."""
    return [warning(policy, name) for name in unprotected_columns(policy)]


def warning(policy: Policy, name: str, reason: str = "") -> str:
    """Warning about one column; `reason` is a measure of a run, as a text."""
    whole = any(getattr(model, "level", None) == "tuple" for model in policy.privacy)
    alone = " alone (level: tuple bounds values of a whole sensitive table)" if whole else ""
    return (
        f"no model is about the sensitive column {quote(name)}{alone}{reason}; add a model, or say"
        " that it is meant with unprotected: accept"
    )
