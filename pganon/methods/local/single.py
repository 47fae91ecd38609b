"""A bucket of its own for every hidden value, where a method makes groups alone."""

from __future__ import annotations

from pganon.identifiers import quote
from pganon.methods.local.buckets import bucketed
from pganon.methods.local.placed import placed
from pganon.methods.local.shape import Shape
from pganon.resolved.model import Sensitive
from pganon.sqltools import col, query
from pganon.steps import CreateTable, Step


def single_chains(shape: Shape) -> list[list[Step]]:
    """From `placed` to the buckets, a chain of steps for every column."""
    return [[_single(shape, item)] for item in shape.spec.sensitive]


def _single(shape: Shape, item: Sensitive) -> CreateTable:
    return CreateTable(
        f"bucketed{item.index}",
        f"a bucket for every hidden value of {quote(item.column.name)}",
        lambda s: bucketed(item, s),
        lambda s: query(
            "select p.rid, p.rid as b, :v as v from p where :value > 0",
            {"p": placed(shape, s)},
            value=col(f"s{item.index}", "p"),
            v=col(f"v{item.index}", "p"),
        ),
    )
