"""Groups of every block, by stripes.

    starts    (piece, value, block, size, start)    where records of a value begin in their block

A block of n records has floor(n / l) groups. Its records, the most frequent values first, are
dealt out to them in turn: no value has more records than there are groups, so all values of a
group are different, and sizes differ by one at most. Which record of a value goes where is random.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.facts import weight_type
from pganon.encode.records import DRAW
from pganon.methods.buckets.anatomy.context import AnatomyContext
from pganon.methods.buckets.invariance import old_groups
from pganon.methods.common.form.grouping import record_columns
from pganon.methods.common.pairs import paired
from pganon.sqltools import cast, col, fragment, named, num, query, stacked
from pganon.steps import DropTables, State, Step, table


def starts_step() -> Step:
    """The step that creates `starts`."""
    return table("starts", "where the records of every value begin", _starts)


def tidy_step() -> Step:
    """The step that drops the tables of blocks."""
    return DropTables(
        "tidy",
        "what is known from where values begin",
        lambda s: [s.work("leaves"), s.work("hist", round=0)],
    )


def groups(context: AnatomyContext, state: State) -> exp.Select:
    """SELECT gid: the groups of all blocks, pairs of the block and a number in it."""
    blocks = query(
        "select l.block, sum(h.n)::bigint as size from h join l on l.piece = h.node group by 1",
        {"h": state.work("hist", round=0), "l": state.work("leaves")},
    )
    each = query(
        "select b.block, generate_series(0, b.size / :l - 1) as number from b",
        {"b": blocks},
        l=num(context.model.l),
    )
    pair = paired(col("block", "e"), col("number", "e"))
    new = query("select :pair as gid from e", {"e": each}, pair=pair)
    return stacked([new, old_groups(state)]) if context.m_invariant else new


def dealt(context: AnatomyContext, state: State, name: str, part: int, parts: int) -> exp.Select:
    """SELECT of the columns of every record, and of the group that it is dealt out to as `name`.

    A part are some of the blocks, as many pieces as any other part if blocks are small.
    """
    columns = record_columns(context.spec)
    placed = query(
        "select v.block, v.size,"
        " row_number() over (partition by v.block order by v.start, :draw) - 1 as place from p"
        " join v on v.piece = :piece and v.value = :value",
        {"p": context.placed(state), "v": state.work("starts")},
        draw=col(DRAW, "p"),
        piece=context.piece(state, "p"),
        value=col(context.value, "p"),
    ).select(*[col(column, "p") for column in columns])
    if parts > 1:
        placed = placed.where(_of_part(context, state, part, parts))
    group = fragment("d.place % (d.size / :l)", l=num(context.model.l))
    tree = query("select 1 from d", {"d": placed})
    new = tree.select(
        *[col(column, "d") for column in columns],
        named(paired(col("block", "d"), group), name),
        append=False,
    )
    if not context.m_invariant or part > 0:
        return new
    old = query("select 1 from l", {"l": state.work("listed")}).select(
        *[col(column, "l") for column in columns], named(col("gid", "l"), name), append=False
    )
    return stacked([new, old])


def _of_part(context: AnatomyContext, state: State, part: int, parts: int) -> exp.Expr:
    first, end = (context.pieces(state) * bound // parts for bound in (part, part + 1))
    # No piece lies before its block. That spares looking for the blocks of many records.
    return fragment(
        "v.block >= :first and v.block < :end and :piece >= :first",
        first=num(first),
        end=num(end),
        piece=context.piece(state, "p"),
    )


def _starts(state: State) -> exp.Expr:
    """The most frequent values of a block come first."""
    pieces = query(
        "select l.block, h.node as piece, h.value, h.n from h join l on l.piece = h.node",
        {"h": state.work("hist", round=0), "l": state.work("leaves")},
    )
    counted = query(
        "select p.block, p.value, :n as n from p group by p.block, p.value",
        {"p": pieces},
        n=cast(fragment("sum(p.n)"), weight_type(state)),
    )
    begun = query(
        "select c.block, c.value, (sum(c.n) over (partition by c.block))::bigint as size,"
        " (sum(c.n) over (partition by c.block order by c.n desc, c.value"
        " rows unbounded preceding) - c.n)::bigint as start from c",
        {"c": counted},
    )
    return query(
        "select p.piece, p.value, b.block, b.size, b.start from p"
        " join b on b.block = p.block and b.value = p.value",
        {"p": pieces, "b": begun},
    )
