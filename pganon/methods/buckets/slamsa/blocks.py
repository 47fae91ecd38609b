"""Blocks of records with similar quasi-identifiers, small enough for a thorough search.

    placed    (stratum, piece, place, rid, c.., s..)   records along a Hilbert curve, in pieces
    merged    (stratum, piece, block, size, tightest)  which pieces are a block
    blocked   (block, rid, c.., s.., t..)              records by block; blocks are numbered from 0

Blocks that are too large are dealt out. Which pieces are a block is decided

- `division: public`: from the whole stratum down, a part is halved as long as the smaller half
  satisfies all conditions wherever the values are. Frequencies in a block can be read off its
  buckets, so blocks disclose nothing;
- `division: eligible`: pieces are merged until each could be one bucket. Blocks are smaller, but
  a reader who recomputes them learns which pieces failed.

Under m-invariance buckets with old signatures are those of
:mod:`pganon.methods.buckets.invariance`. Other new records are divided like those of a first
version.

    curved    (rid, place, s<j>, v<j>, ..)             all records along the curve
    vectors   (vector, s<j>)                           combinations of all sensitive values

    dealt     (stratum, piece, rid, c.., s..)          every block a stratum; a large one in pieces
    shared    (stratum, piece, block, size, tightest)  pieces merged until each could be one bucket

Near the limit of a condition hardly a piece of the curve satisfies it, and a block may become the
whole table. Its records are dealt out in stripes of the condition nearest to its limit, as in
Anatomy: the most frequent values first, to one group after the other. A piece is some groups.

Groups keep the order of the curve among the records of a value. With `division: public` the order
is random, since groups must depend only on values.

Merging by the other conditions may make a block too large again: such a run is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple
from functools import partial
from itertools import groupby
from typing import Any

from sqlglot import exp

from pganon.encode.curve import along_curve, piece_of
from pganon.encode.people import identity
from pganon.encode.records import NUMBER, PLACE
from pganon.encode.secrets import run_secret
from pganon.encode.work import CODED
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PreconditionError
from pganon.identifiers import QualifiedName
from pganon.methods.buckets.invariance import (
    InvarianceContext,
    invariant_steps,
    others,
    vectors,
    with_vectors,
)
from pganon.methods.buckets.slamsa.context import SlamsaContext, columns, eligibility, frequencies
from pganon.methods.common.search.blocks import Piece, Placed, halved, merged
from pganon.sqltools import col, fragment, named, num, query, scalar, stacked
from pganon.steps import Check, Rows, Search, State, Step, table
from pganon.steps.facts import count, flag
from pganon.steps.tasks import TaskResult


def invariant_bucket_steps(context: SlamsaContext) -> list[Step]:
    """Steps that take the place of the eligibility of all records."""
    return [
        table(
            "curved",
            "all records along the curve",
            lambda s: along_curve(context.axes, s, s.work(CODED), _columns(context)),
        ),
        table(
            "vectors",
            "what records have in all sensitive columns together",
            lambda s: vectors(context.spec, s.work("curved")),
        ),
        *invariant_steps(invariance(context)),
    ]


def invariance(context: SlamsaContext) -> InvarianceContext:
    """The input of the steps of m-invariance."""
    return InvarianceContext(
        spec=context.spec,
        l=context.l,
        records=lambda s: with_vectors(context.spec, s.work("curved"), s.work("vectors")),
        order=NUMBER,
        vector="vector",
        vectors=lambda s: s.work("vectors"),
        shown=(NUMBER,),
        carried=(),
    )


def _columns(context: SlamsaContext) -> list[str]:
    person = identity(context.spec)
    assert person is not None
    items = context.spec.invariant_items
    return [NUMBER, person, *[f"{kind}{item.index}" for item in items for kind in "sv"]]


def old_buckets(state: State) -> exp.Select:
    """SELECT rid, b0 of records in buckets with old signatures."""
    return query("select l.rid, l.gid as b0 from l", {"l": state.work("listed")})


ExclusionRule = Callable[[Iterable[Piece], Mapping[int, int], int], list[Placed]]


def merging(
    context: SlamsaContext,
    table: str,
    records: str,
    rule: ExclusionRule,
    when: Callable[[State], bool] = lambda state: True,
) -> Search:
    """The block of every piece.

    Args:
        table: work table (stratum, piece, block, size, tightest) of the result.
        records: work table (stratum, piece, ..) with the columns of the conditions.
    """
    return Search(
        table,
        "pieces put together until each could be one bucket",
        lambda s: s.work(table),
        (
            ("stratum", "bigint"),
            ("piece", "integer"),
            ("block", "integer"),
            ("size", "bigint"),
            ("tightest", "integer"),
        ),
        rows=lambda s, batch: _histograms(context, records, s),
        tasks=lambda s, given, rows: [
            partial(
                _merge,
                tuple(rows),
                {place: f.l for place, f in enumerate(frequencies(context, s))},
                context.minimum_size,
                rule,
            )
        ],
        when=when,
    )


def _histograms(context: SlamsaContext, records: str, state: State) -> exp.Select:
    """(stratum, piece, condition, value, n), condition -1 for all records of a piece."""
    parts = [
        query(
            "select p.stratum, p.piece, -1 as condition, 0 as value, count(*) as n from p"
            " group by p.stratum, p.piece",
            {"p": state.work(records)},
        )
    ]
    parts += [
        query(
            "select p.stratum, p.piece, :c as condition, :v as value, count(*) as n from p"
            " group by p.stratum, p.piece, 4",
            {"p": state.work(records)},
            c=num(place),
            v=col(frequency.column, "p"),
        )
        for place, frequency in enumerate(frequencies(context, state))
    ]
    return query("select h.* from h order by h.stratum, h.piece", {"h": stacked(parts)})


def _merge(rows: Rows, least: Mapping[int, int], minimum: int, rule: ExclusionRule) -> TaskResult:
    pieces = (
        _piece(stratum, piece, list(group))
        for (stratum, piece), group in groupby(rows, key=lambda row: row[:2])
    )
    return TaskResult([astuple(placed) for placed in rule(pieces, least, minimum)])


def _piece(stratum: int, piece: int, rows: Rows) -> Piece:
    size = 0
    counts: dict[int, list[tuple[int, int]]] = {}
    for _, _, condition, value, n in rows:
        if condition < 0:
            size = n
        else:
            counts.setdefault(condition, []).append((value, n))
    return Piece(stratum, piece, size, counts)


_OVERSIZED = flag("oversized", assumed=False)

LARGE = 5_000
"""Size up to which no block counts as too large."""


def largest(context: SlamsaContext) -> int:
    """The most records of a block."""
    return max(LARGE, 2 * context.options.block_size)


def final(state: State) -> tuple[QualifiedName, QualifiedName]:
    """Records in pieces, and the blocks of these pieces."""
    names = ("dealt", "shared") if _oversized(state) else ("placed", "merged")
    return state.work(names[0]), state.work(names[1])


def _oversized(state: State) -> bool:
    return state[_OVERSIZED]


_STRIPES = """
    select w.*, (row_number() over (partition by w.whole order by w.f desc, w.value, w.turn) - 1)
        % greatest(w.size / w.l, 1) as number
    from (
        select m.whole, m.size, m.l, p.*, :value as value, :turn as turn,
            count(*) over (partition by m.whole, :value) as f
        from p join m on m.stratum = p.stratum and m.piece = p.piece
    ) as w
"""


def _dealt(context: SlamsaContext, state: State) -> exp.Expr:
    conditions = frequencies(context, state)
    least, value = exp.Case(this=col("tightest", "m")), exp.Case(this=col("tightest", "m"))
    for place, frequency in enumerate(conditions):
        least = least.when(num(place), num(frequency.l))
        value = value.when(num(place), col(frequency.column, "p"))
    blocks = query(
        "select m.*, dense_rank() over (order by m.stratum, m.block) as whole, :l as l from m",
        {"m": state.work("merged")},
        l=exp.paren(least),
    )
    stripes = query(
        _STRIPES,
        {"p": state.work("placed"), "m": blocks},
        value=exp.paren(value),
        turn=_turn(context, state),
    )
    tree = query(
        "select x.whole as stratum, case when x.size <= :most then 0"
        " else (x.number * (x.size / :share) / greatest(x.size / x.l, 1))::int end as piece,"
        " x.rid from x",
        {"x": stripes},
        most=num(largest(context)),
        share=num(context.options.block_size),
    )
    return tree.select(*[named(col(name, "x"), name) for name in columns(context, state)])


def _turn(context: SlamsaContext, state: State) -> exp.Expr:
    """The order in which the records of a value are dealt out."""
    if not context.public:
        return col(PLACE, "p")
    seed = scalar(run_secret(state, "partition_seed"))
    return fragment("hashint8extended(:rid, :seed)", rid=col("rid", "p"), seed=seed)


def _problem(context: SlamsaContext, row: Mapping[str, Any]) -> PganonError | None:
    if row["largest_block"] <= largest(context):
        return None
    needed = -(-row["largest_block"] // 2)
    base = "" if context.options.optimizer == "base" else " and optimizer: base"
    return PreconditionError(
        f"a block has {row['largest_block']} records, more than {largest(context)}: the"
        " requirements are so near to their limits that smaller blocks do not satisfy them all",
        hint=f"lower l, or accept long searches with block_size: {needed}{base}",
        code=ErrorCode.LARGE_BLOCK,
    )


BLOCKS = count("blocks", assumed=2)


def block_steps(context: SlamsaContext) -> list[Step]:
    """From the eligible records to `blocked`."""
    # From `placed` and `merged` to `dealt` and `shared`, where blocks are too large.
    return [
        table("placed", "records on the curve, in pieces", lambda s: _placed(context, s)),
        merging(context, "merged", "placed", halved if context.public else merged),
        Check(
            "sizes",
            "whether a block is too large",
            lambda s: query(
                "select coalesce(max(m.size), 0) > :most as oversized from m",
                {"m": s.work("merged")},
                most=num(largest(context)),
            ),
            gives=[_OVERSIZED],
        ),
        table(
            "dealt",
            "records of large blocks, in stripes",
            lambda s: _dealt(context, s),
            when=_oversized,
        ),
        merging(context, "shared", "dealt", merged, when=_oversized),
        Check(
            "bounded",
            "no block is too large",
            lambda s: query(
                "select coalesce(max(m.size), 0) as largest_block from m", {"m": final(s)[1]}
            ),
            lambda row, state: _problem(context, row),
            gives=[count("largest_block")],
        ),
        table("blocked", "records by block", lambda s: _blocked(context, s)),
        Check(
            "blocks",
            "number of blocks",
            lambda s: query(
                "select coalesce(max(b.block) + 1, 0) as blocks from b", {"b": s.work("blocked")}
            ),
            gives=[BLOCKS],
        ),
    ]


def _placed(context: SlamsaContext, state: State) -> exp.Expr:
    names = ["rid", "stratum", *columns(context, state)]
    records = (
        query(
            "select j.* from j join o on o.rid = j.rid",
            {"j": state.work("judged"), "o": others(invariance(context), state)},
        )
        if context.m_invariant
        else eligibility(context).kept(state)
    )
    ordered = along_curve(context.axes, state, records, names, within=["stratum"])
    sized = query(
        "select o.*, count(*) over (partition by o.stratum) as records from o", {"o": ordered}
    )
    pieces = fragment("greatest(s.records / :size, 1)", size=num(context.options.block_size))
    return query(
        "select :piece as piece from s",
        {"s": sized},
        piece=piece_of(col(PLACE, "s"), pieces, col("records", "s")),
    ).select(*[col(name, "s") for name in (PLACE, *names)])


def _blocked(context: SlamsaContext, state: State) -> exp.Expr:
    records, blocks = final(state)
    numbered = query(
        "select m.stratum, m.piece,"
        " (dense_rank() over (order by m.stratum, m.block) - 1)::int as block from m",
        {"m": blocks},
    )
    tree = query(
        "select n.block, p.rid from p join n on n.stratum = p.stratum and n.piece = p.piece",
        {"p": records, "n": numbered},
    )
    return tree.select(*[named(col(name, "p"), name) for name in columns(context, state)])
