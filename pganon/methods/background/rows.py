"""What searches read and give, the same for several of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pganon.identifiers import QualifiedName
from pganon.methods.background.shape import Shape
from pganon.published.work import GROUPED
from pganon.sqltools import col, query
from pganon.steps import CreateTable, State


def histograms(
    rows: Sequence[tuple[Any, ...]], values: int
) -> tuple[list[tuple[Any, ...]], np.ndarray]:
    """Keys in the order of the rows, and keys x values: the records of each.

    Args:
        rows: (key.., value, n); values are numbered from 1.
        values: how many there are.
    """
    keys = list(dict.fromkeys(tuple(key) for *key, _, _ in rows))
    places = {key: place for place, key in enumerate(keys)}
    found = np.zeros((len(keys), values), dtype=np.int64)
    for *key, value, n in rows:
        found[places[tuple(key)], value - 1] = n
    return keys, found


def grouped_step(
    shape: Shape, found: str, records: Callable[[State], QualifiedName]
) -> CreateTable:
    """`grouped` from what a search found.

    Args:
        found: work table (rid, gid).
        records: (rid, codes).
    """
    return CreateTable(
        "grouped",
        "the class of every record",
        lambda s: s.work(GROUPED),
        lambda s: query(
            "select f.gid, r.rid from r join f on f.rid = r.rid",
            {"r": records(s), "f": s.work(found)},
        ).select(*[col(code, "r") for code in shape.codes]),
    )
