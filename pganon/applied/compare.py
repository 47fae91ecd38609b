"""Differences of two policies, and which of them weaken or strengthen the guarantee."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pganon.policy.model import Policy

HIGHER_IS_STRONGER = frozenset(
    {"k", "l", "min_size", "min_values", "gain", "sampling_fraction", "min", "loss"}
)
LOWER_IS_STRONGER = frozenset(
    {"alpha", "beta", "t", "c", "delta", "j", "cost", "risk", "highest", "share", "significance"}
    | {"max", "benefit"}
)
"""Parameters of privacy models; a test compares them with the models."""

_PRIVACY = "privacy"


@dataclass(frozen=True)
class KeyDifference:
    """One key of a policy.

    Attributes:
        key: such as `privacy.k_anonymity.k`.
        before, after: values as JSON writes them; None: it was not, or is not, there.
        effect: `weaker`, `stronger`, or None for what is no bound of a privacy model.
    """

    key: str
    before: str | None
    after: str | None
    effect: str | None

    @property
    def text(self) -> str:
        """`k 10 -> 5: weaker`, with the whole key."""
        effect = f": {self.effect}" if self.effect else ""
        return f"{self.key} {self.before or 'not there'} -> {self.after or 'not there'}{effect}"


def differences(before: Policy, after: Policy) -> list[KeyDifference]:
    """Keys that differ, in the order of the keys; defaults count as what they say."""
    old, new = (_flat(policy.model_dump(mode="json", by_alias=True)) for policy in (before, after))
    keys = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
    found = [_difference(key, old, new) for key in keys]
    order = [list(policy.columns) for policy in (before, after)]
    if order[0] != order[1] and sorted(order[0]) == sorted(order[1]):
        found.append(KeyDifference("columns", ", ".join(order[0]), ", ".join(order[1]), None))
    return found


def _difference(key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> KeyDifference:
    texts = [None if key not in side else json.dumps(side[key]) for side in (old, new)]
    return KeyDifference(key, texts[0], texts[1], _effect(key, old.get(key), new.get(key)))


def _effect(key: str, old: Any, new: Any) -> str | None:
    if not key.startswith(f"{_PRIVACY}."):
        return None
    name = key.rpartition(".")[2]
    sign = 1 if name in HIGHER_IS_STRONGER else -1 if name in LOWER_IS_STRONGER else 0
    numbers = all(value is None or isinstance(value, int | float) for value in (old, new))
    if not sign or not numbers or old == new:
        return None
    if old is None or new is None:
        return "stronger" if old is None else "weaker"
    return "stronger" if sign * (new - old) > 0 else "weaker"


def _flat(document: Mapping[str, Any]) -> dict[str, Any]:
    models = document.get(_PRIVACY, ())
    rest = {key: value for key, value in document.items() if key != _PRIVACY}
    found = dict(_paths(rest, ""))
    for model in models:
        given = dict(model)
        label = given.pop("model")
        named = [given.pop(key) for key in ("table", "column") if given.get(key) is not None]
        label = f"{label}({'.'.join(named)})" if named else label
        found |= dict(_paths(given, f"{_PRIVACY}.{label}"))
    return found


def _paths(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _paths(item, f"{path}.{key}" if path else str(key))
    elif value is not None:
        yield path, value
