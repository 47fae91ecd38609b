"""Where in a policy the lines belong that a hint proposes, such as `refresh: recompute`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

from pydantic import BaseModel

from pganon.policy.columns import ColumnPolicy
from pganon.policy.hierarchies import FORMS
from pganon.policy.model import Policy
from pganon.policy.refusals import Place
from pganon.policy.registry import Registry
from pganon.policy.tables import TABLES

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
    if at and (at[-1] == key or (at[0] in _PLACES and key in _keys(registry, str(at[0])))):
        return ""
    found: list[str] = []
    for section, said in _PLACES.items():
        if key in _keys(registry, section):
            found.append(said)
            if said in (TOP, COLUMN):
                break
    return " or ".join(found) or None


_PLACES = {
    "": TOP,
    "columns": COLUMN,
    "privacy": "in the list under privacy",
    "method": "under method",
    "hierarchy": "under hierarchy, with its column",
    "tables": "with its table, under tables",
}
"""Places by the key that a section has at the top."""


@cache
def _keys(registry: Registry, section: str) -> frozenset[str]:
    """Keys of everything that may stand in a section; of methods, all are imported."""
    declared: Mapping[str, Iterable[type[BaseModel]]] = {
        "": (Policy,),
        "columns": (ColumnPolicy,),
        "privacy": registry.model_classes,
        "method": registry.methods.values(),
        "hierarchy": FORMS.values(),
        "tables": TABLES.values(),
    }
    return frozenset(
        field.alias or name for one in declared[section] for name, field in one.model_fields.items()
    )
