"""What to compare, as a command line writes it: methods, and parameters with several values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pganon.errors import UsageError
from pganon.policy.document import read_document

Method = str | Mapping[str, Any]
"""A name, what a policy says of a method, or keys of a policy with `method` among them."""


@dataclass(frozen=True)
class Varied:
    """A parameter and the values to try.

    Attributes:
        name: a key of privacy models or methods.
        place: whose key it is, where that is said: a model, a method, or the sensitive column that
            a model is about.
    """

    name: str
    values: tuple[Any, ...]
    place: str | None = None

    @property
    def label(self) -> str:
        return self.name if self.place is None else f"{self.place}.{self.name}"


def methods_in(text: str) -> list[Method]:
    """Methods from `one, {name: another, option: value}`.

    Raises:
        UsageError: it is no such list.
    """
    methods = _listed("--methods", text)
    for method in methods:
        declared = method.get("method", method) if isinstance(method, dict) else method
        named = isinstance(declared, dict) and isinstance(declared.get("name"), str)
        if not (named or isinstance(declared, str)):
            raise UsageError(
                f"--methods {text}: a method is a name, or a mapping with a name",
                hint='for example --methods "one, {name: another, option: value}"',
            )
    return methods


def varied_in(text: str) -> Varied:
    """A parameter from `k=5,10,50` or `k_anonymity.k=5,10,50`.

    Raises:
        UsageError: it is no name with values.
    """
    label, equals, values = text.partition("=")
    place, _, name = label.strip().rpartition(".")
    if not (equals and name):
        raise UsageError(
            f"--vary {text}: a parameter and its values are expected",
            hint="for example --vary k=5,10,50",
        )
    return Varied(name, tuple(_listed(f"--vary {label.strip()}", values)), place or None)


def written(value: object) -> str:
    """A value as a policy could write it on one line."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def options_of(method: Mapping[str, Any]) -> str:
    """The options of a method on one line, without its name."""
    return ", ".join(f"{key}: {written(v)}" for key, v in method.items() if key != "name")


def _listed(option: str, text: str) -> list[Any]:
    """The items of a list in YAML without its brackets."""
    document = read_document(f"items: [{text}]")
    data = document.data if not document.problems else None
    if not isinstance(data, dict) or data.keys() != {"items"}:
        problem = document.problems[0].message if document.problems else "this is no list"
        raise UsageError(f"{option}: {problem}", hint="separate values by commas, as YAML does")
    items: Sequence[Any] | None = data["items"]
    if not items:
        raise UsageError(f"{option}: there is nothing to try", hint="name one at least")
    return list(items)
