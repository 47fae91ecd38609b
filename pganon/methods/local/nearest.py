"""Groups of similar records by division in Python, block by block (LGB_NCP).

blocks       (gid, display, codes)              parts that are divided independently
    cells        (cell, block, display, w, codes)   in an order that is drawn at random
    cell_groups  (cell, gid)

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.encode.secrets import row_hash, run_secret
from pganon.forms.work import GROUP_CELLS
from pganon.methods.common.attribute_arrays import given_with_losses
from pganon.methods.common.pairs import pair
from pganon.methods.common.search.attributes import Nominal, Ordered
from pganon.methods.local.context import Context, codes
from pganon.methods.local.form.axes import shown_arrays
from pganon.methods.local.form.facts import BLOCKS
from pganon.methods.local.medians import block_steps
from pganon.methods.local.options import LgbNcp
from pganon.methods.local.released_records import placed
from pganon.methods.local.search.nearest import (
    Assign,
    Attribute,
    Bounded,
    Cells,
    Names,
    Small,
    nearest_groups,
)
from pganon.sqltools import aliased, cast, col, equal, named, num, query, scalar, text
from pganon.steps import Check, Rows, Scope, Search, State, Step, table
from pganon.steps.tasks import Task, TaskResult


def nearest_steps(context: Context) -> list[Step]:
    """From `placed` to `group_cells`."""
    options = context.options
    assert isinstance(options, LgbNcp)
    steps = [
        *block_steps(context, options.block_size, "blocks"),
        table(
            "block_cells",
            "the cells of every block, in random order",
            lambda s: _cells(context, s),
            into="cells",
        ),
        Check(
            "blocks",
            "how many blocks there are",
            lambda s: query("select max(c.block) + 1 as blocks from c", {"c": s.work("cells")}),
            gives=[BLOCKS],
        ),
        Search(
            "nearest",
            "groups of similar cells",
            lambda s: s.work("cell_groups"),
            (("cell", "bigint"), ("gid", "bigint")),
            given=lambda s: given_with_losses(context.axes, s),
            batches=lambda s: s[BLOCKS],
            rows=lambda s, batch: query(
                "select c.cell, c.w from c where c.block = :block order by c.cell",
                {"c": s.work("cells")},
                block=num(batch),
            ).select(*codes(context, "c")),
            tasks=lambda s, given, rows: _tasks(context, s, given, rows),
        ),
        table(
            "group_cells",
            "the group of every cell",
            lambda s: query(
                "select g.gid, c.display from c join g on g.cell = c.cell",
                {"c": s.work("cells"), "g": s.work("cell_groups")},
            ).select(*codes(context, "c")),
            into=GROUP_CELLS,
        ),
    ]
    return [Scope("what groups were made from", steps, keeps=[GROUP_CELLS])]


def _cells(context: Context, state: State) -> exp.Expr:
    """Cells in an order by shown values, so that hidden values do not even decide ties."""
    seed = scalar(run_secret(state, "partition_seed"))
    held = codes(context, "p")
    cell = exp.func("row", cast(text("cells"), "text"), col("display", "p"), *codes(context, "p"))
    counted = query("select p.display, count(*) as w from p", {"p": placed(context, state)})
    drawn = counted.select(*held, named(row_hash(cell, seed), "draw"))
    drawn = drawn.group_by(col("display", "p"), *[code.copy() for code in held])
    tied = [code.copy() for code in codes(context, "d")]
    order = exp.Order(expressions=[exp.Ordered(this=key) for key in (col("draw", "d"), *tied)])
    number = exp.Window(this=exp.RowNumber(), order=order)
    numbered = query("select d.display, d.w from d", {"d": drawn}).select(
        named(number, "cell"), *codes(context, "d")
    )
    same = equal(["display", *context.codes], "b", "n")
    return (
        query(
            "select n.cell, n.display, n.w, dense_rank() over (order by b.gid) - 1 as block from n",
            {"n": numbered},
        )
        .select(*codes(context, "n"))
        .join(aliased(state.work("blocks"), "b"), on=same)
    )


def _tasks(context: Context, state: State, given: Mapping[str, Any], rows: Rows) -> list[Task]:
    options = context.options
    assert isinstance(options, LgbNcp)
    numbers, weights, *columns = zip(*rows, strict=True)
    attributes = [
        _attribute(axis, state, given, column)
        for axis, column in zip(context.axes, columns, strict=True)
    ]
    cells = Cells(attributes, [int(weight) for weight in weights])
    return [partial(_groups, numbers, cells, context.k, options.ncp_assign, options.ncp_small)]


def _attribute(
    axis: Axis, state: State, given: Mapping[str, Any], held: Sequence[int]
) -> Attribute:
    values = shown_arrays(axis, state, given)
    if isinstance(values, Nominal):
        return Names(held, max(values.domain, 1))
    if isinstance(values, Ordered):  # the difference of rounded places, which ties may hang on
        values = Ordered(values.places / values.length)
    return Bounded(held, values)


def _groups(
    numbers: Sequence[int], cells: Cells, k: int, assign: Assign, small: Small
) -> TaskResult:
    first = numbers[0]
    groups = nearest_groups(cells, k, assign, small)
    return TaskResult(
        [
            (numbers[cell], pair(first, label))
            for label, group in enumerate(groups)
            for cell in group
        ]
    )
