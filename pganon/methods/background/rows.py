"""Rows that several searches read and return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sqlglot import exp

from pganon.forms.work import GROUPED
from pganon.identifiers import QualifiedName
from pganon.methods.background.context import Context
from pganon.sqltools import aliased, col, equal, query
from pganon.steps import CreateTable, Rows, State, table


def histograms(rows: Rows, values: int) -> tuple[list[tuple[Any, ...]], np.ndarray]:
    """Keys in the order of the rows, and keys x values: the records of each.

    Args:
        rows: (key.., value, n); values are numbered from 1.
        values: how many there are.
    """
    keys = list(dict.fromkeys(tuple(key) for *key, _, _ in rows))
    places = {key: place for place, key in enumerate(keys)}
    counts = np.zeros((len(keys), values), dtype=np.int64)
    for *key, value, n in rows:
        counts[places[tuple(key)], value - 1] = n
    return keys, counts


def grouped_step(
    context: Context,
    groups: str,
    records: Callable[[State], QualifiedName],
    stay: str | None = None,
) -> CreateTable:
    """`grouped` from the groups of a search.

    Args:
        groups: work table (rid, gid).
        records: (rid, codes).
        stay: work table (gid) of the classes that are not left out; None: all stay.
    """

    def select(state: State) -> exp.Select:
        tree = query(
            "select f.gid, r.rid from r join f on f.rid = r.rid",
            {"r": records(state), "f": state.work(groups)},
        ).select(*[col(code, "r") for code in context.codes])
        if stay is None:
            return tree
        return tree.join(aliased(state.work(stay), "s"), on=equal(["gid"], "s", "f"))

    return table("grouped", "the class of every record", select, into=GROUPED)
