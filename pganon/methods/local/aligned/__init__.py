"""Buckets that associated columns share.

    strata_values  (lead, stratum, item, code, n)   hidden values by the columns of a set that a
                   record hides; `lead` is the first column of the set
    strata         (lead, stratum, item, l, piles, chunks, first)   dealt by the column `item` to so
                   many piles, which are in so many chunks, numbered from `first`
    piles          (lead, stratum, chunk, place, rid, s<j>)   the pile of every record, by its place
                   in a random order; s<j> is 0 outside the set
    chunk_blocks   (chunk, block, alone)   neighbouring chunks of which each could be a bucket;
                   `alone` where a block has one chunk
    pile_buckets   (chunk, place, b)       the bucket of every pile
    shared         (lead, rid, b)

Records of a stratum are dealt out by the column whose most frequent value is most frequent, so that
no pile has a value of it twice. Then neighbouring piles are merged until l is reached in every
column. These steps depend only on whole records and on a secret order. Exchanging the records of a
bucket would not change them. So each value belongs to a record with its share of the bucket, also
for a reader who knows which values go together.

Piles are merged in Python, a chunk of them at a time. Chunks that could not be a bucket are merged
first; several merged chunks are one bucket.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from psycopg import sql
from sqlglot import exp

from pganon.encode.secrets import row_hash, run_secret
from pganon.errors import PganonError
from pganon.identifiers import QualifiedName, quote
from pganon.methods.common.association import listed
from pganon.methods.common.pairs import pair, paired
from pganon.methods.common.search.blocks import Piece, merged
from pganon.methods.local.context import Context
from pganon.methods.local.eligible import too_frequent
from pganon.methods.local.form import facts
from pganon.methods.local.form.shared_buckets import sets
from pganon.methods.local.released_records import placed
from pganon.resolved.model import Sensitive
from pganon.sqltools import cast, col, fragment, named, num, query, scalar, stacked, text, total
from pganon.steps import Check, CreateTable, Rows, Search, State, Statement, Step, table
from pganon.steps.tasks import TaskResult

CHUNK = 20_000
"""Records whose piles are merged together."""


def associated(context: Context, state: State) -> bool:
    """Whether any columns share buckets."""
    return bool(sets(context.layout, state.facts))


def l_by_item(context: Context) -> dict[int, int]:
    """The l of every sensitive column, by its index."""
    return {item.index: context.layout.least(item) for item in context.spec.sensitive}


def code_column(item: Sensitive) -> str:
    """Work column with the code of a sensitive column."""
    return f"s{item.index}"


def stratum_steps(context: Context) -> list[Step]:
    """From `placed` to `strata`; refuses strata without buckets of l different values."""
    when = partial(associated, context)
    return [
        table(
            "strata_values",
            "hidden values by the associated columns that a record hides",
            lambda s: _values(context, s),
            when=when,
        ),
        table(
            "strata_piles",
            "into how many piles their records are dealt, and by which column",
            lambda s: _strata(context, s),
            into="strata",
            when=when,
        ),
        Check(
            "strata",
            "whether they can be in buckets",
            lambda s: _sizes(context, s) if when(s) else _nothing(),
            lambda row, state: _ineligible(context, row, state),
            gives=facts.STRATA,
        ),
    ]


def records(context: Context, state: State) -> exp.Select:
    """(lead, stratum, rid, s<j>): for each set the records that hide columns of it."""
    parts = []
    for columns in sets(context.layout, state.facts):
        hides = [fragment(":s > 0", s=col(code_column(item), "p")) for item in columns]
        stratum = total(
            [fragment(":h::int * :bit", h=h, bit=num(1 << at)) for at, h in enumerate(hides)]
        )
        tree = query(
            "select :lead as lead, :stratum as stratum, p.rid from p",
            {"p": placed(context, state)},
            lead=num(columns[0].index),
            stratum=stratum,
        ).where(exp.or_(*[h.copy() for h in hides]))
        for item in context.spec.sensitive:
            code = col(code_column(item), "p") if item in columns else num(0)
            tree = tree.select(named(code, code_column(item)))
        parts.append(tree)
    return stacked(parts)


def unpivoted(context: Context, table: str) -> exp.Expr:
    """(item, code): the columns s<j> of a table as rows, to be joined with the table."""
    rows = [[num(item.index), col(code_column(item), table)] for item in context.spec.sensitive]
    return listed(rows, "v", ["item", "code"])


def _values(context: Context, state: State) -> exp.Expr:
    tree = query(
        "select m.lead, m.stratum, v.item, v.code, count(*) as n from m where v.code > 0"
        " group by m.lead, m.stratum, v.item, v.code",
        {"m": records(context, state)},
    )
    return tree.join(unpivoted(context, "m"), join_type="cross")


def _counted(context: Context, state: State) -> exp.Select:
    """(lead, stratum, item, l, records, most) of the columns that the records of a stratum hide."""
    return query(
        "select v.lead, v.stratum, v.item, :l as l, sum(v.n)::bigint as records,"
        " max(v.n) as most from v group by v.lead, v.stratum, v.item",
        {"v": state.work("strata_values")},
        l=least_of(context, col("item", "v")),
    )


def least_of(context: Context, item: exp.Expr) -> exp.Expr:
    """The l of a column that is given by its index."""
    choice = exp.Case(this=item)
    for index, least in l_by_item(context).items():
        choice = choice.when(num(index), num(least))
    return exp.paren(choice)


def _strata(context: Context, state: State) -> exp.Expr:
    dealt = query(
        "select distinct on (c.lead, c.stratum) c.lead, c.stratum, c.item, c.l,"
        " c.records / c.l as piles, least(greatest(c.records / :chunk, 1), c.records / c.l)"
        " as chunks from c order by c.lead, c.stratum, c.most desc, c.item",
        {"c": _counted(context, state)},
        chunk=num(CHUNK),
    )
    return query(
        "select d.*, (sum(d.chunks) over (order by d.lead, d.stratum) - d.chunks)::bigint as first"
        " from d",
        {"d": dealt},
    )


def _sizes(context: Context, state: State) -> exp.Expr:
    """SELECT one row: the column of a stratum nearest to its limit, or beyond; number of chunks."""
    return query(
        "select (select sum(t.chunks)::bigint from t) as chunks, c.lead, c.stratum, c.item,"
        " c.records as cells, c.most from c"
        " order by c.records / c.most - c.l, c.lead, c.stratum, c.item limit 1",
        {"t": state.work("strata"), "c": _counted(context, state)},
    )


def _nothing() -> exp.Expr:
    """The row of :func:`_sizes` where no columns are associated."""
    return query("select 0 as chunks, 0 as lead, 0 as stratum, 0 as item, 0 as cells, 0 as most")


def _ineligible(context: Context, row: Mapping[str, Any], state: State) -> PganonError | None:
    item = context.spec.sensitive[row["item"]]
    cells, most, l = row["cells"], row["most"], context.layout.least(item)  # noqa: E741
    if most * l <= cells:
        return None
    (columns,) = [c for c in sets(context.layout, state.facts) if c[0].index == row["lead"]]
    hidden = [c.column.name for at, c in enumerate(columns) if row["stratum"] >> at & 1]
    others = [c.column.name for c in columns if c.column.name not in hidden]
    where = f" of records that hide {_listed(hidden)}" + (
        f" and show {_listed(others)}" if others else ""
    )
    hint = (
        f"lower l of {quote(item.column.name)}, leave out a column that it is associated with, or"
        " accept separate buckets with a higher link_threshold"
    )
    return too_frequent(item.column.name, l, cells, most, hint, where)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(quote(name) for name in names)


def shared(state: State) -> QualifiedName:
    """(lead, rid, b): the bucket of every record in the columns of a set."""
    return state.work("shared")


def merging_steps(context: Context) -> list[Step]:
    """From `piles` to `shared`."""
    when = partial(associated, context)
    return [
        Search(
            "chunk_blocks",
            "chunks of piles put together until each could be a bucket",
            lambda s: s.work("chunk_blocks"),
            (("chunk", "bigint"), ("block", "bigint"), ("alone", "boolean")),
            rows=lambda s, batch: _chunks(context, s),
            tasks=lambda s, given, rows: [partial(_blocks, rows, l_by_item(context))],
            when=when,
        ),
        Search(
            "pile_buckets",
            "piles put together until each is a bucket",
            lambda s: s.work("pile_buckets"),
            (("chunk", "bigint"), ("place", "bigint"), ("b", "bigint")),
            batches=lambda s: s[facts.CHUNKS],
            rows=lambda s, batch: _chunk(context, s, batch),
            tasks=lambda s, given, rows: (
                [partial(_buckets, rows, l_by_item(context))] if rows else []
            ),
            when=when,
        ),
        CreateTable(
            "shared",
            "the bucket of every record in its associated columns",
            shared,
            _shared,
            when=when,
        ),
    ]


def _chunks(context: Context, state: State) -> exp.Expr:
    """(stratum, chunk, size, item, code, n): values that may be too frequent for a chunk.

    A chunk without such values has a row with NULLs. No other value is more frequent in a chunk
    than in its stratum.
    """
    piles = {"p": state.work("piles")}
    sizes = query(
        "select p.lead, p.stratum, p.chunk, count(*) as size from p"
        " group by p.lead, p.stratum, p.chunk",
        piles,
    )
    frequent = query(
        "select v.lead, v.stratum, v.item, v.code from v join t on t.lead = v.lead"
        " and t.stratum = v.stratum where v.n * :l > t.piles / t.chunks * t.l and t.chunks > 1",
        {"v": state.work("strata_values"), "t": state.work("strata")},
        l=least_of(context, col("item", "v")),
    )
    values = query("select p.lead, p.stratum, p.chunk, v.item, v.code from p", piles)
    held = query(
        "select w.chunk, w.item, w.code, count(*) as n from w join f on f.lead = w.lead"
        " and f.stratum = w.stratum and f.item = w.item and f.code = w.code"
        " group by w.chunk, w.item, w.code",
        {"w": values.join(unpivoted(context, "p"), join_type="cross"), "f": frequent},
    )
    return query(
        "select dense_rank() over (order by s.lead, s.stratum) as stratum, s.chunk, s.size, h.item,"
        " h.code, h.n from s left join h on h.chunk = s.chunk order by s.chunk, h.item, h.code",
        {"s": sizes, "h": held},
    )


def _chunk(context: Context, state: State, chunk: int) -> exp.Expr:
    """(chunk, place, item, code, n) of the piles of a chunk that is a block alone."""
    tree = query(
        "select p.chunk, p.place, v.item, v.code, count(*) as n from p"
        " where p.chunk = :chunk and v.code > 0"
        " and exists (select 1 from b where b.chunk = :chunk and b.alone)"
        " group by p.chunk, p.place, v.item, v.code order by p.place, v.item, v.code",
        {"p": state.work("piles"), "b": state.work("chunk_blocks")},
        chunk=num(chunk),
    )
    return tree.join(unpivoted(context, "p"), join_type="cross")


def _shared(state: State) -> exp.Expr:
    return query(
        "select p.lead, p.rid, coalesce(q.b, :whole) as b from p join c on c.chunk = p.chunk"
        " left join q on q.chunk = p.chunk and q.place = p.place",
        {
            "p": state.work("piles"),
            "c": state.work("chunk_blocks"),
            "q": state.work("pile_buckets"),
        },
        whole=paired(col("block", "c"), num(0)),
    )


def _blocks(rows: Rows, least: Mapping[int, int]) -> TaskResult:
    """The task of merging chunks; `rows` as :func:`_chunks` selects them."""
    pieces = []
    for (stratum, chunk, size), group in groupby(rows, key=lambda row: row[:3]):
        existing = _counts(row[3:] for row in group if row[3] is not None)
        counts = {item: existing.get(item, []) for item in least}
        pieces.append(Piece(int(stratum), int(chunk), int(size), counts))
    placed = merged(pieces, least, 1)
    chunks = Counter(piece.block for piece in placed)
    return TaskResult([(x.piece, x.block, chunks[x.block] == 1) for x in placed])


def _buckets(rows: Rows, least: Mapping[int, int]) -> TaskResult:
    """The task of merging piles of a chunk; `rows` as :func:`_chunk` selects them."""
    pieces = []
    for (chunk, place), group in groupby(rows, key=lambda row: row[:2]):
        counts = _counts(row[2:] for row in group)
        # Every record of a stratum hides the same columns.
        size = sum(n for _, n in next(iter(counts.values())))
        pieces.append(Piece(int(chunk), int(place), size, counts))
    placed = merged(pieces, least, 1)
    return TaskResult([(x.stratum, x.piece, pair(x.stratum, x.block)) for x in placed])


def _counts(rows: Iterable[Sequence[Any]]) -> dict[int, list[tuple[int, int]]]:
    """By column, (value, records)."""
    counts: dict[int, list[tuple[int, int]]] = {}
    for item, code, n in rows:
        counts.setdefault(int(item), []).append((int(code), int(n)))
    return counts


def pile_steps(context: Context) -> list[Step]:
    """From `strata` to `piles`, with an index by chunk."""
    when = partial(associated, context)
    return [
        table(
            "piles",
            "records in piles, in a random order of the piles",
            lambda s: _piles(context, s),
            when=when,
        ),
        Statement(
            "piles_index",
            "an index to read a chunk by",
            lambda s: sql.SQL("CREATE INDEX ON {} (chunk)").format(s.work("piles").identifier),
            when,
        ),
    ]


def _draw(state: State, *parts: exp.Expr) -> exp.Expr:
    return row_hash(exp.func("row", *parts), scalar(run_secret(state, "partition_seed")))


def _name(kind: str, lead: exp.Expr) -> exp.Expr:
    """The key of a random order: every set has another order."""
    return cast(fragment(":kind || :lead::text", kind=text(f"{kind} "), lead=lead), "text")


def _piles(context: Context, state: State) -> exp.Expr:
    numbered = query(
        "select m.*, t.piles, t.chunks, t.first, (row_number() over (partition by m.lead, m.stratum"
        " order by :code, :draw, m.rid) - 1) % t.piles as pile from m"
        " join t on t.lead = m.lead and t.stratum = m.stratum",
        {"m": records(context, state), "t": state.work("strata")},
        code=_code_of(context, "t", "m"),
        draw=_draw(state, _name("records", col("lead", "m")), col("rid", "m")),
    )
    every = query(
        "select t.lead, t.stratum, g.pile from t"
        " cross join lateral generate_series(0, t.piles - 1) as g(pile)",
        {"t": state.work("strata")},
    )
    drawn = _draw(state, _name("piles", col("lead", "e")), col("stratum", "e"), col("pile", "e"))
    places = query(
        "select e.lead, e.stratum, e.pile, row_number() over (partition by e.lead, e.stratum"
        " order by :draw, e.pile) - 1 as place from e",
        {"e": every},
        draw=drawn,
    )
    tree = query(
        "select n.lead, n.stratum, n.first + o.place * n.chunks / n.piles as chunk, o.place, n.rid"
        " from n join o on o.lead = n.lead and o.stratum = n.stratum and o.pile = n.pile",
        {"n": numbered, "o": places},
    )
    tree = tree.select(*[col(code_column(item), "n") for item in context.spec.sensitive])
    return query("select s.* from s order by s.chunk", {"s": tree})


def _code_of(context: Context, by: str, table: str) -> exp.Expr:
    """The code of the column that `item` of the table `by` names."""
    choice = exp.Case(this=col("item", by))
    for item in context.spec.sensitive:
        choice = choice.when(num(item.index), col(code_column(item), table))
    return exp.paren(choice)


__all__ = ["aligned_steps", "shared"]


def aligned_steps(context: Context) -> list[Step]:
    """From `placed` to `shared`, where columns are associated."""
    if context.buckets.buckets != "aligned" or len(context.spec.sensitive) < 2:
        return []
    return [*stratum_steps(context), *pile_steps(context), *merging_steps(context)]
