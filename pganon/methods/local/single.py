"""A bucket of its own for every hidden value, where a method makes groups alone."""

from __future__ import annotations

from pganon.identifiers import quote
from pganon.methods.local.buckets import bucketed
from pganon.methods.local.shape import Shape
from pganon.spec.model import Sensitive
from pganon.sqltools import col, query
from pganon.steps import CreateTable, Parallel, Step


def single_steps(shape: Shape) -> list[Step]:
    """From `placed` to the buckets of all columns."""
    chains = [[_single(item)] for item in shape.spec.sensitive]
    return [Parallel("buckets", "a bucket for every hidden value", chains)]


def _single(item: Sensitive) -> CreateTable:
    return CreateTable(
        f"bucketed{item.index}",
        f"a bucket for every hidden value of {quote(item.column.name)}",
        lambda s: bucketed(item, s),
        lambda s: query(
            "select p.rid, p.rid as b from p where :value > 0",
            {"p": s.work("placed")},
            value=col(f"s{item.index}", "p"),
        ),
    )
