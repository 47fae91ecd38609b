"""Groups by cuts at medians (LGB_MDP): rounds over the weighted cells of all displays together.

Rounds cut large groups. Where they and their cells are small enough, Python cuts them.

    median_cells   (cell, block, node, again, display, codes, w)   groups that could still be cut
    median_groups  (block, round, place, cells)   final groups, by
                   :mod:`pganon.methods.common.search.medians`; without cells, how many groups of
                   the block were active in that round: `place`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sqlglot import exp

from pganon.encode.facts import weight_type
from pganon.forms.work import GROUP_CELLS
from pganon.methods.common.attribute_arrays import given_with_losses
from pganon.methods.common.packing import array_text, number_of_words, packed, unpacked
from pganon.methods.common.pairs import paired
from pganon.methods.common.rounds.median import MedianCuts
from pganon.methods.common.rounds.rounds import (
    SEVERAL,
    SMALL,
    CutRounds,
    remaining,
    rounds_of,
    start_step,
)
from pganon.methods.common.search.medians import (
    Attribute,
    Cells,
    Limits,
    median_rounds,
)
from pganon.methods.local.context import Context, codes
from pganon.methods.local.displays import shown_check
from pganon.methods.local.form.axes import shown_arrays
from pganon.methods.local.form.facts import BLOCKS
from pganon.methods.local.released_records import placed
from pganon.sqltools import cast, chain, col, fragment, num, query
from pganon.steps import Check, Rows, Scope, Search, State, Step, table
from pganon.steps.tasks import Task, TaskResult

BLOCK = 500_000
"""Records of a group up to which it is cut here. A block has fewer than twice as many."""

CELLS, GROUPS = "median_cells", "median_groups"


def search_steps(context: Context) -> list[Step]:
    """From the remaining groups of the rounds to `median_cells` and `median_groups`."""
    return [
        table(
            "blocks",
            "cells of groups that could be cut, in blocks",
            lambda s: _in_blocks(context, s),
            into=CELLS,
        ),
        Check(
            "count",
            "how many blocks there are",
            lambda s: query(
                "select coalesce(max(c.block) + 1, 0) as blocks from c", {"c": s.work(CELLS)}
            ),
            gives=[BLOCKS],
        ),
        Search(
            "medians",
            "cut every group that a median divides",
            lambda s: s.work(GROUPS),
            (
                ("block", "integer"),
                ("round", "integer"),
                ("place", "bigint"),
                ("cells", "integer[]"),
            ),
            given=lambda s: given_with_losses(context.axes, s),
            batches=lambda s: s[BLOCKS],
            rows=lambda s, batch: _rows(context, s, batch),
            tasks=lambda s, given, rows: [_task(context, s, given, rows)],
        ),
    ]


def final_cells(context: Context, state: State) -> exp.Select:
    """(gid, codes, display): the cells of final groups, numbered as by rounds in SQL."""
    counted = query(
        "select g.block, g.round, (sum(g.place) over (partition by g.round order by g.block)"
        " - g.place)::bigint as before from g where g.cells is null",
        {"g": state.work(GROUPS)},
    )
    groups = query(
        "select :gid as gid, unnest(g.cells) as cell from g"
        " join n on n.block = g.block and n.round = g.round",
        {"g": state.work(GROUPS), "n": counted},
        gid=paired(
            fragment(":before + g.round", before=num(rounds_of(state))),
            exp.paren(fragment("g.place + 2 * n.before")),
        ),
    )
    tree = query(
        "select g.gid from g join c on c.cell = g.cell", {"g": groups, "c": state.work(CELLS)}
    )
    return tree.select(*codes(context, "c"), col("display", "c"))


def _in_blocks(context: Context, state: State) -> exp.Expr:
    cells, nodes = remaining(state)
    blocks = query(
        "select n.node, n.again,"
        " ((sum(n.n) over (order by n.node) - n.n) / :most)::integer as block from n",
        {"n": nodes},
        most=num(BLOCK),
    )
    return query(
        "select (row_number() over ())::integer as cell, b.block, b.node, b.again, c.display, c.w"
        " from c join b on b.node = c.node",
        {"c": cells, "b": blocks},
    ).select(*codes(context, "c"))


# -- reading --------------------------------------------------------------------------------------


def _rows(context: Context, state: State, block: int) -> exp.Select:
    """(block, again, cells) of every group: of a cell its number, its weight and words of codes."""

    sent = [fragment("int8send(c.cell)"), fragment("int8send(c.w)")]
    sent += [fragment("int8send(:w)", w=word) for word in packed(context.axes, state, "c")]
    return query(
        "select c.block, c.again, string_agg(:cell, ''::bytea) as cells from c"
        " where c.block = :block group by c.block, c.node, c.again order by c.node",
        {"c": state.work(CELLS)},
        cell=chain(exp.DPipe, sent),
        block=num(block),
    )


def _task(context: Context, state: State, given: Mapping[str, Any], rows: Rows) -> Task:
    blocks, again, sent = zip(*rows, strict=True)
    held = np.frombuffer(b"".join(sent), dtype=">i8").astype(np.int64)
    held = held.reshape(-1, 2 + number_of_words(context.axes, state))
    lengths = [len(cells) // held[0].nbytes for cells in sent]
    cells = Cells(
        np.stack(unpacked(context.axes, state, held[:, 2:])),
        held[:, 1],
        np.cumsum([0, *lengths[:-1]]),
        np.array(again),
    )
    attributes = [
        Attribute(
            axis.size(state) + 1, float(axis.attribute.weight), shown_arrays(axis, state, given)
        )
        for axis in context.axes
    ]
    limits = Limits(context.k, SMALL * context.k, SEVERAL)
    return partial(_medians, blocks[0], held[:, 0], cells, attributes, limits)


def _medians(
    block: int, numbers: np.ndarray, cells: Cells, attributes: Sequence[Attribute], limits: Limits
) -> TaskResult:
    rows: list[tuple[int, int, int, str | None]] = []
    for number, result in enumerate(median_rounds(cells, attributes, limits)):
        rows.append((block, number, result.active, None))
        rows += [
            (block, number, place, array_text(numbers[final])) for place, final in result.final
        ]
    return TaskResult(rows)


def median_steps(context: Context) -> list[Step]:
    """From `placed` to `group_cells`."""
    rule = MedianCuts(axes=context.axes, minimum_size=context.k, further=("display",))
    rounds = CutRounds(
        rule,
        "cut every group that a median divides, as long as there are large ones",
        GROUP_CELLS.name,
        most=BLOCK,
        beside=tuple(search_steps(context)),
        groups_beside=lambda s: final_cells(context, s),
    )
    steps = [*start_steps(context), *rounds.steps()]
    return [Scope("what the groups were made from", steps, keeps=[GROUP_CELLS])]


def block_steps(context: Context, block_size: int, table: str) -> list[Step]:
    """From `placed` to a table (gid, display, codes) of groups of about `block_size` records."""
    rule = _BlockCuts(
        axes=context.axes,
        minimum_size=max(context.k, (block_size + 1) // 2),
        further=("display",),
        k=context.k,
        block_size=block_size,
    )
    return [
        *start_steps(context),
        *CutRounds(rule, "cut what is too large for a block", table).steps(),
    ]


@dataclass(frozen=True)
class _BlockCuts(MedianCuts):
    """Cuts at medians of the groups that are too large."""

    k: int = 1
    block_size: int = 1

    @property
    def fewest_right(self) -> int:
        return self.k

    def medians(self, state: State) -> exp.Select:
        return super().medians(state).where(fragment("r.n > :most", most=num(self.block_size)))


def start_steps(context: Context) -> list[Step]:
    """From `placed` to the cells and the groups that rounds start from."""
    return [
        table(
            "cells",
            "equal records collapse into weighted cells",
            lambda s: _cells(context, s),
            later=0,
        ),
        shown_check(context, lambda s: s.work("cells", round=0)),
        start_step(context.axes),
    ]


def _cells(context: Context, state: State) -> exp.Expr:
    """(node, display, codes, w): a display is a group to start from."""
    held = codes(context, "p")
    weight = cast(fragment("count(*)"), weight_type(state))
    tree = query(
        "select p.display + 1 as node, p.display, :w as w from p",
        {"p": placed(context, state)},
        w=weight,
    ).select(*held)
    return tree.group_by(col("display", "p"), *[code.copy() for code in held])
