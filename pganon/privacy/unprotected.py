"""Sensitive columns that no model of a policy is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pganon.identifiers import first_few, quote
from pganon.policy.model import Policy
from pganon.policy.sensitive_when import HIDDEN
from pganon.privacy.requirements import requirements_of

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
