"""Where in a policy the lines belong that a hint proposes, such as `refresh: recompute`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from pganon.policy.columns import ColumnPolicy
from pganon.policy.hierarchies import FORMS
from pganon.policy.model import Policy
from pganon.policy.refusals import Place
from pganon.policy.registry import Registry

_LINE = re.compile(r"(?<!its )(?<![\w.$-])([a-z]\w*):(?=[ ]?[\[{]| [\w\"'$]| ?$|,)")
_BRACES = re.compile(r"\{(model:)?[^{}]*\}")

TOP = "at the top level of the policy"
COLUMN = "with its column, under columns"
"""Keys of models and methods that have these names are meant where a hint is about them alone."""


def placed(hint: str, registry: Registry, at: Place = ()) -> str:
    """The hint, and where lines belong that it proposes.

    Args:
        at: what it is about; lines belong there without a word if that has such keys.
    """
    by_place: dict[str, dict[str, None]] = {}
    for key in lines_in(hint):
        place = place_of(key, registry, at)
        if place:
            by_place.setdefault(place, {})[key] = None
    texts = [
        f"{' and '.join(keys)} {'belong' if len(keys) > 1 else 'belongs'} {place}"
        for place, keys in by_place.items()
    ]
    return "; ".join([hint, *texts])


def lines_in(hint: str) -> list[str]:
    """Keys of the lines in a text: those within braces belong to the key before."""
    outside, inner = hint, True
    while inner:
        outside, inner = _BRACES.subn(lambda found: " model: x " if found[1] else "", outside)
    return [found[1] for found in _LINE.finditer(outside)]


def place_of(key: str, registry: Registry, at: Place = ()) -> str | None:
    """Where a key of a policy belongs; "" where that is what `at` says; None if it is no key."""
    sections = list(_sections(registry))
    if at and at[-1] == key:
        return ""
    for root, _, declared in sections:
        if at and at[0] == root and any(key in _keys(one) for one in declared):
            return ""
    found: list[str] = []
    for _, said, declared in sections:
        if any(key in _keys(one) for one in declared):
            found.append(said)
            if said in (TOP, COLUMN):
                break
    return " or ".join(found) or None


def _sections(registry: Registry) -> Iterator[tuple[str, str, Any]]:
    """(key, place in words, declarations of what is there); the last ones import all methods."""
    yield "", TOP, (Policy,)
    yield "columns", COLUMN, (ColumnPolicy,)
    yield "privacy", "in the list under privacy", registry.model_classes
    yield "method", "under method", registry.methods.values()
    yield "hierarchy", "under hierarchy, with its column", FORMS.values()


def _keys(declared: type[BaseModel]) -> set[str]:
    return {field.alias or name for name, field in declared.model_fields.items()}
