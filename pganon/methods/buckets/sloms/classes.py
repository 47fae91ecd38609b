"""Classes of generalized quasi-identifiers (KACA), block by block.

    blocked    (block, rid, c<i>)    records along a Hilbert curve, cut into blocks
    classes    (rid, b0)             the class of every record

The time of KACA grows with the square of the records, so a class does not reach over the border of
a block. Blocks and classes depend only on quasi-identifiers, and on which records are released.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlglot import exp

from pganon.encode.axis import Axis, OrderedAxis, TreeAxis
from pganon.encode.curve import along_curve, piece_of
from pganon.encode.records import PLACE
from pganon.encode.work import CODED
from pganon.identifiers import QualifiedName
from pganon.methods.buckets.partitions import partition_columns
from pganon.methods.buckets.search.kaca import Category, Coordinates, Number, kaca
from pganon.methods.buckets.sloms.buckets import tables
from pganon.methods.buckets.sloms.context import SlomsContext
from pganon.methods.common.block_search import (
    Blocks,
    Given,
    Rows,
    block_search,
    given_of_axes,
    grouped_rows,
)
from pganon.methods.common.suppression import RELEASED
from pganon.sqltools import col, num, query
from pganon.steps import State, Step, table
from pganon.steps.tasks import TaskResult

AT_ONCE = 20_000
"""Records whose blocks are read and divided in one batch."""


def classes(state: State) -> QualifiedName:
    """Work table (rid, b0) with the class of every record."""
    return state.work("classes")


def class_steps(context: SlomsContext) -> list[Step]:
    """From the released records to `classes`."""
    return [
        table("blocked", "records on the curve, in blocks", lambda s: _blocked(context, s)),
        block_search(
            "classes",
            "classes of similar quasi-identifiers in every block",
            classes,
            partition_columns(0),
            blocks=Blocks(
                relation=lambda s: s.work("blocked"),
                columns=lambda s: context.codes,
                count=lambda s: _blocks(context, s),
                at_once=lambda s: max(1, AT_ONCE // context.options.block_size),
            ),
            given=lambda s: given_of_axes(context.axes, s),
            task=lambda s, given: partial(_task, context, s, given),
        ),
    ]


def _blocks(context: SlomsContext, state: State) -> int:
    """Number of blocks: of the size in the policy, but each with at least one class."""
    records = state[RELEASED]
    return max(1, min(-(-records // context.options.block_size), records // context.k))


def _blocked(context: SlomsContext, state: State) -> exp.Expr:
    codes = [axis.code for axis in context.axes]
    records = query(
        "select c.rid from c join b on b.rid = c.rid",
        {"c": state.work(CODED), "b": tables(context, state)[0]},
    ).select(*[col(code, "c") for code in codes])
    return query(
        "select :block as block, o.rid from o",
        {"o": along_curve(context.axes, state, records, ["rid", *codes])},
        block=piece_of(col(PLACE, "o"), num(_blocks(context, state)), num(state[RELEASED])),
    ).select(*[col(code, "o") for code in codes])


def _task(context: SlomsContext, state: State, given: Given, block: int, rows: Rows) -> _Classes:
    _, rids, *codes = zip(*rows, strict=True)
    attributes = [
        _attribute(axis, state, given.get(axis.code) or (), column)
        for axis, column in zip(context.axes, codes, strict=True)
    ]
    return _Classes(block, rids, attributes, context.k)


def _attribute(
    axis: Axis, state: State, values: Sequence[Any], codes: Sequence[int]
) -> Coordinates:
    """The values of a block's records as KACA takes them; code 0 is NULL."""
    if isinstance(axis, OrderedAxis):
        return Number([values[code - 1] if code else None for code in codes], width=1.0)
    if isinstance(axis, TreeAxis):
        height = max(axis.levels(state), 1)
        null = (0,) * height
        return Category(
            [tuple(values[(code - 1) * height : code * height]) if code else null for code in codes]
        )
    return Category([(code,) for code in codes])


@dataclass(frozen=True)
class _Classes:
    block: int
    rids: Sequence[int]
    attributes: Sequence[Coordinates]
    k: int

    def __call__(self) -> TaskResult:
        result = kaca(self.attributes, self.k)
        return TaskResult(grouped_rows(self.block, self.rids, result.classes))
