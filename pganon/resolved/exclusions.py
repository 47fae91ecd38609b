"""Exclusion rules of a policy against the catalog."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from pganon.catalog.model import Column
from pganon.policy.exclusions import Between, Condition
from pganon.policy.model import Policy
from pganon.policy.refusals import Place, Refusal
from pganon.policy.values import Comparable, reading
from pganon.resolved.model import Attribute, Rule, Sensitive

Item = TypeVar("Item", Attribute, Sensitive)


def rules(
    policy: Policy, attributes: Iterable[Attribute], sensitive: Iterable[Sensitive]
) -> Iterator[Rule]:
    """One rule per sensitive column of an exclusion."""
    grouped, unlinked = _by_name(attributes), _by_name(sensitive)
    for exclusion in policy.exclusions:
        when = tuple((grouped[name], condition) for name, condition in exclusion.when.items())
        for name, values in exclusion.never.items():
            yield Rule(exclusion.label, when, unlinked[name], values)


def rule_refusals(
    policy: Policy, attributes: Iterable[Attribute], sensitive: Iterable[Sensitive]
) -> Iterator[Refusal]:
    """Values that cannot be of the type of their column; places are those of the policy."""
    grouped, unlinked = _by_name(attributes), _by_name(sensitive)
    for number, exclusion in enumerate(policy.exclusions):
        for name, condition in exclusion.when.items():
            if name in grouped:
                at = ("exclusions", number, "when", name)
                yield from _wrong_condition(at, grouped[name].column, condition)
        for name, values in exclusion.never.items():
            if name in unlinked:
                at = ("exclusions", number, "never", name)
                yield from _wrong_values(at, unlinked[name].column, values)


def _by_name(items: Iterable[Item]) -> dict[str, Item]:
    return {item.column.name: item for item in items}


def _wrong_condition(at: Place, column: Column, condition: Condition) -> Iterator[Refusal]:
    if not isinstance(condition, Between):
        yield from _wrong_values(at, column, condition)
        return
    bounds: list[Comparable | None] = []
    for key, text in (("min", condition.min), ("max", condition.max)):
        value = None if text is None else reading(column, text)
        if isinstance(value, str):
            yield Refusal((*at, key), value)
        else:
            bounds.append(value)
    low, high = bounds if len(bounds) == 2 else (None, None)
    if low is not None and high is not None and low > high:  # pyright: ignore[reportOperatorIssue]
        yield Refusal(at, "min is above max, so the rule is about nobody", "exchange min and max")


def _wrong_values(at: Place, column: Column, values: tuple[str, ...]) -> Iterator[Refusal]:
    for i, text in enumerate(values):
        problem = reading(column, text)
        if isinstance(problem, str):
            # The file may have a single value without a list.
            yield Refusal((*at, i) if len(values) > 1 else at, problem)
