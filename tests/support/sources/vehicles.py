"""Vehicles and where they were seen: sources and policies for tests of releases in clusters."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from pganon.loading import load_policy
from pganon.policy.loader import LoadedPolicy

SECRET = "Zanzibar-7319"
"""A value of the source that no message may hold."""

METHODS = ("qs_greedy", "qs_efficient")
SETS = {"vehicle": ("reg_year", "colour"), "sighting": ("zone", "hour")}
ARRAYS = tuple(name for names in SETS.values() for name in names)
COLUMNS = {
    "reg_year": "integer",
    "colour": "text",
    "zone": "text",
    "hour": "integer",
    "note": "text",
    "fee": "numeric",
}

# The worked example of the method: reg_year, colour, zone, hour.
EXAMPLE = (
    (2013, "white", "Z1", 8),
    (2018, "black", "Z2", 9),
    (2015, "red", "Z4", 17),
    (2019, "blue", "Z3", 20),
    (2014, "black", "Z1", 9),
    (2018, "white", "Z3", 21),
)
COLOURS = {"colour": {"mono": ["white", "black"], "chroma": ["red", "blue"]}}
ZONES = {"zone": {"north": ["Z1", "Z2"], "south": ["Z3", "Z4"]}}


def rows(count: int, seed: int = 7) -> list[tuple[Any, ...]]:
    """Random vehicles with a few NULLs; `note` is different in every row."""
    rng = random.Random(seed)
    return [
        (
            None if rng.random() < 0.05 else rng.randint(2005, 2020),
            rng.choice(("white", "black", "red", "blue", SECRET)),
            None if rng.random() < 0.05 else f"Z{rng.randint(1, 9)}",
            rng.randint(0, 23),
            f"note {number}",
            rng.randint(0, 9),
        )
        for number in range(count)
    ]


def document(*, carried: Sequence[str] = ("note", "fee"), **changes: Any) -> dict[str, Any]:
    """A policy over public.vehicle, with other top-level keys."""
    columns: dict[str, Any] = {
        column: {"role": "quasi_sensitive", "set": name}
        for name, held in SETS.items()
        for column in held
    }
    columns |= {name: {"role": "insensitive"} for name in carried}
    return {
        "release": "vehicles",
        "source": "public.vehicle",
        "columns": columns,
        "privacy": [{"model": "qs_k_anonymity", "k": 4}],
        "method": {"name": "qs_efficient"},
        "publish": {"readers": ["analyst"]},
        **changes,
    }


def policy(**changes: Any) -> LoadedPolicy:
    return load_policy(json.dumps(document(**changes)))


def requirement(k: int, **others: Any) -> list[dict[str, Any]]:
    return [{"model": "qs_k_anonymity", "k": k, **others}]
