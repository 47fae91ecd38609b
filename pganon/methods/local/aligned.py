"""Buckets that associated columns have in common.

    strata_values  (lead, stratum, item, code, n)   hidden values by which columns of a set a record
                   hides; `lead` is the first column of the set
    strata         (lead, stratum, item, l, piles, chunks, first)   dealt by the column `item` to so
                   many piles, which lie in so many chunks, numbered from `first`
    piles          (lead, stratum, chunk, place, rid, s<j>)   the pile of every record, by its place
                   in a random order; s<j> is 0 outside the set
    chunk_blocks   (chunk, block, alone)   neighbouring chunks of which each could be a bucket
    pile_buckets   (chunk, place, b)       the bucket of every pile
    shared         (lead, rid, b)

Of a stratum records are dealt out by the column whose most frequent value is most frequent, so that
no pile has a value of it twice. Then neighbouring piles are merged until l holds for every column.
That looks at whole records and at a secret order alone: records of a bucket could change places
without it noticing, so that each value is a record's with the share that it has in the bucket, also
for who knows which values go together.

Piles are merged in Python, a chunk of them at a time. Chunks that could not be a bucket are merged
first; what comes of several chunks is one bucket.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from psycopg import sql
from sqlglot import exp

from pganon.encode.secrets import row_hash, run_secret
from pganon.errors import PganonError
from pganon.identifiers import QualifiedName, quote
from pganon.methods.common.association.pairs import listed
from pganon.methods.common.block_search import nothing_given
from pganon.methods.common.pairs import pair, paired
from pganon.methods.common.search.blocks import Piece, merged
from pganon.methods.local.eligible import too_frequent
from pganon.methods.local.form import facts
from pganon.methods.local.form.aligned import sets
from pganon.methods.local.placed import placed
from pganon.methods.local.shape import Shape
from pganon.resolved.model import Sensitive
from pganon.sqltools import cast, col, fragment, named, num, query, scalar, stacked, text, total
from pganon.steps import Check, CreateTable, Search, State, Statement, Step
from pganon.steps.tasks import TaskResult

CHUNK = 20_000
"""Records whose piles are merged together."""


def shared(state: State) -> QualifiedName:
    return state.work("shared")


def leftovers(shape: Shape, state: State) -> list[QualifiedName]:
    """Work tables that no later step reads."""
    names = ("strata_values", "strata", "piles", "chunk_blocks", "pile_buckets", "shared")
    return [state.work(name) for name in names] if _any(shape, state) else []


def aligned_steps(shape: Shape) -> list[Step]:
    """From `placed` to `shared`, where columns are associated."""
    if shape.buckets.buckets != "aligned" or len(shape.spec.sensitive) < 2:
        return []

    def associated(state: State) -> bool:
        return _any(shape, state)

    return [
        CreateTable(
            "strata_values",
            "hidden values by the associated columns that a record hides",
            lambda s: s.work("strata_values"),
            lambda s: _values(shape, s),
            when=associated,
        ),
        CreateTable(
            "strata_piles",
            "into how many piles their records are dealt, and by which column",
            lambda s: s.work("strata"),
            lambda s: _strata(shape, s),
            when=associated,
        ),
        Check(
            "strata",
            "whether they can be in buckets",
            lambda s: _sizes(shape, s) if associated(s) else _nothing(),
            lambda row, state: _ineligible(shape, row, state),
            gives=facts.STRATA,
        ),
        CreateTable(
            "piles",
            "records in piles, in a random order of the piles",
            lambda s: s.work("piles"),
            lambda s: _piles(shape, s),
            when=associated,
        ),
        Statement(
            "piles_index",
            "an index to read a chunk by",
            lambda s: sql.SQL("CREATE INDEX ON {} (chunk)").format(s.work("piles").identifier),
            associated,
        ),
        Search(
            "chunk_blocks",
            "chunks of piles put together until each could be a bucket",
            lambda s: s.work("chunk_blocks"),
            (("chunk", "bigint"), ("block", "bigint"), ("alone", "boolean")),
            given=nothing_given,
            batches=lambda s: 1,
            rows=lambda s, batch: _chunks(shape, s),
            tasks=lambda s, given, rows: [_Blocks(rows, _least(shape))],
            when=associated,
        ),
        Search(
            "pile_buckets",
            "piles put together until each is a bucket",
            lambda s: s.work("pile_buckets"),
            (("chunk", "bigint"), ("place", "bigint"), ("b", "bigint")),
            given=nothing_given,
            batches=lambda s: s[facts.CHUNKS],
            rows=lambda s, batch: _chunk(shape, s, batch),
            tasks=lambda s, given, rows: [_Buckets(rows, _least(shape))] if rows else [],
            when=associated,
        ),
        CreateTable(
            "shared",
            "the bucket of every record in its associated columns",
            lambda s: shared(s),
            _shared,
            when=associated,
        ),
    ]


def _any(shape: Shape, state: State) -> bool:
    return bool(sets(shape.layout, state.facts))


def _least(shape: Shape) -> dict[int, int]:
    return {item.index: shape.layout.least(item) for item in shape.spec.sensitive}


def _value(item: Sensitive) -> str:
    return f"s{item.index}"


# -- strata -------------------------------------------------------------------------------------


def _records(shape: Shape, state: State) -> exp.Select:
    """(lead, stratum, rid, s<j>): for each set the records that hide columns of it."""
    parts = []
    for columns in sets(shape.layout, state.facts):
        hides = [fragment(":s > 0", s=col(_value(item), "p")) for item in columns]
        stratum = total(
            [fragment(":h::int * :bit", h=h, bit=num(1 << at)) for at, h in enumerate(hides)]
        )
        tree = query(
            "select :lead as lead, :stratum as stratum, p.rid from p",
            {"p": placed(shape, state)},
            lead=num(columns[0].index),
            stratum=stratum,
        ).where(exp.or_(*[h.copy() for h in hides]))
        for item in shape.spec.sensitive:
            code = col(_value(item), "p") if item in columns else num(0)
            tree = tree.select(named(code, _value(item)))
        parts.append(tree)
    return stacked(parts)


def _long(shape: Shape, table: str) -> exp.Expr:
    """(item, code) beside the rows of a table: its columns s<j> one below the other."""
    rows = [[num(item.index), col(_value(item), table)] for item in shape.spec.sensitive]
    return listed(rows, "v", ["item", "code"])


def _values(shape: Shape, state: State) -> exp.Expr:
    tree = query(
        "select m.lead, m.stratum, v.item, v.code, count(*) as n from m where v.code > 0"
        " group by m.lead, m.stratum, v.item, v.code",
        {"m": _records(shape, state)},
    )
    return tree.join(_long(shape, "m"), join_type="cross")


def _counted(shape: Shape, state: State) -> exp.Select:
    """(lead, stratum, item, l, records, most) of the columns that the records of a stratum hide."""
    return query(
        "select v.lead, v.stratum, v.item, :l as l, sum(v.n)::bigint as records,"
        " max(v.n) as most from v group by v.lead, v.stratum, v.item",
        {"v": state.work("strata_values")},
        l=_least_of(shape, col("item", "v")),
    )


def _least_of(shape: Shape, item: exp.Expr) -> exp.Expr:
    """The l of a column that is given by its index."""
    found = exp.Case(this=item)
    for index, least in _least(shape).items():
        found = found.when(num(index), num(least))
    return exp.paren(found)


def _strata(shape: Shape, state: State) -> exp.Expr:
    dealt = query(
        "select distinct on (c.lead, c.stratum) c.lead, c.stratum, c.item, c.l,"
        " c.records / c.l as piles, least(greatest(c.records / :chunk, 1), c.records / c.l)"
        " as chunks from c order by c.lead, c.stratum, c.most desc, c.item",
        {"c": _counted(shape, state)},
        chunk=num(CHUNK),
    )
    return query(
        "select d.*, (sum(d.chunks) over (order by d.lead, d.stratum) - d.chunks)::bigint as first"
        " from d",
        {"d": dealt},
    )


def _sizes(shape: Shape, state: State) -> exp.Expr:
    """The column of a stratum that is nearest to its limit, or beyond; and how many chunks."""
    return query(
        "select (select sum(t.chunks)::bigint from t) as chunks, c.lead, c.stratum, c.item,"
        " c.records as cells, c.most from c"
        " order by c.records / c.most - c.l, c.lead, c.stratum, c.item limit 1",
        {"t": state.work("strata"), "c": _counted(shape, state)},
    )


def _nothing() -> exp.Expr:
    """The same where no columns are associated."""
    return query("select 0 as chunks, 0 as lead, 0 as stratum, 0 as item, 0 as cells, 0 as most")


def _ineligible(shape: Shape, row: Mapping[str, Any], state: State) -> PganonError | None:
    item = shape.spec.sensitive[row["item"]]
    cells, most, l = row["cells"], row["most"], shape.layout.least(item)  # noqa: E741
    if most * l <= cells:
        return None
    (columns,) = [c for c in sets(shape.layout, state.facts) if c[0].index == row["lead"]]
    hidden = [c.column.name for at, c in enumerate(columns) if row["stratum"] >> at & 1]
    others = [c.column.name for c in columns if c.column.name not in hidden]
    where = f" of records that hide {_listed(hidden)}" + (
        f" and show {_listed(others)}" if others else ""
    )
    hint = (
        f"lower l of {quote(item.column.name)}, leave out a column that it is associated with, or"
        " accept with a higher link_threshold that they have buckets of their own"
    )
    return too_frequent(item.column.name, l, cells, most, hint, where)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(quote(name) for name in names)


# -- piles --------------------------------------------------------------------------------------


def _draw(state: State, *parts: exp.Expr) -> exp.Expr:
    return row_hash(exp.func("row", *parts), scalar(run_secret(state, "partition_seed")))


def _name(kind: str, lead: exp.Expr) -> exp.Expr:
    """What is drawn for: every set has an order of its own."""
    return cast(fragment(":kind || :lead::text", kind=text(f"{kind} "), lead=lead), "text")


def _piles(shape: Shape, state: State) -> exp.Expr:
    numbered = query(
        "select m.*, t.piles, t.chunks, t.first, (row_number() over (partition by m.lead, m.stratum"
        " order by :code, :draw, m.rid) - 1) % t.piles as pile from m"
        " join t on t.lead = m.lead and t.stratum = m.stratum",
        {"m": _records(shape, state), "t": state.work("strata")},
        code=_code_of(shape, "t", "m"),
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
    tree = tree.select(*[col(_value(item), "n") for item in shape.spec.sensitive])
    return query("select s.* from s order by s.chunk", {"s": tree})


def _chunks(shape: Shape, state: State) -> exp.Expr:
    """(stratum, chunk, size, item, code, n): values that may be too frequent for a chunk.

    One without any has a row with NULLs. Of the others no chunk has more than the stratum.
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
        l=_least_of(shape, col("item", "v")),
    )
    values = query("select p.lead, p.stratum, p.chunk, v.item, v.code from p", piles)
    held = query(
        "select w.chunk, w.item, w.code, count(*) as n from w join f on f.lead = w.lead"
        " and f.stratum = w.stratum and f.item = w.item and f.code = w.code"
        " group by w.chunk, w.item, w.code",
        {"w": values.join(_long(shape, "p"), join_type="cross"), "f": frequent},
    )
    return query(
        "select dense_rank() over (order by s.lead, s.stratum) as stratum, s.chunk, s.size, h.item,"
        " h.code, h.n from s left join h on h.chunk = s.chunk order by s.chunk, h.item, h.code",
        {"s": sizes, "h": held},
    )


def _code_of(shape: Shape, by: str, table: str) -> exp.Expr:
    """The code of the column that `item` of the table `by` names."""
    found = exp.Case(this=col("item", by))
    for item in shape.spec.sensitive:
        found = found.when(num(item.index), col(_value(item), table))
    return exp.paren(found)


def _chunk(shape: Shape, state: State, chunk: int) -> exp.Expr:
    """(chunk, place, item, code, n) of the piles of a chunk that is a block by itself."""
    tree = query(
        "select p.chunk, p.place, v.item, v.code, count(*) as n from p"
        " where p.chunk = :chunk and v.code > 0"
        " and exists (select 1 from b where b.chunk = :chunk and b.alone)"
        " group by p.chunk, p.place, v.item, v.code order by p.place, v.item, v.code",
        {"p": state.work("piles"), "b": state.work("chunk_blocks")},
        chunk=num(chunk),
    )
    return tree.join(_long(shape, "p"), join_type="cross")


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


@dataclass(frozen=True)
class _Blocks:
    """Chunks put together; `rows` as :func:`_chunks` selects them."""

    rows: Sequence[tuple[Any, ...]]
    least: Mapping[int, int]

    def __call__(self) -> TaskResult:
        pieces = []
        for (stratum, chunk, size), rows in groupby(self.rows, key=lambda row: row[:3]):
            found = _counts(row[3:] for row in rows if row[3] is not None)
            counts = {item: found.get(item, []) for item in self.least}
            pieces.append(Piece(int(stratum), int(chunk), int(size), counts))
        placed = merged(pieces, self.least, 1)
        chunks = Counter(found.block for found in placed)
        return TaskResult([(x.piece, x.block, chunks[x.block] == 1) for x in placed])


@dataclass(frozen=True)
class _Buckets:
    """Piles of a chunk put together; `rows` as :func:`_chunk` selects them."""

    rows: Sequence[tuple[Any, ...]]
    least: Mapping[int, int]

    def __call__(self) -> TaskResult:
        pieces = []
        for (chunk, place), rows in groupby(self.rows, key=lambda row: row[:2]):
            counts = _counts(row[2:] for row in rows)
            # Every record of a stratum hides the same columns.
            size = sum(n for _, n in next(iter(counts.values())))
            pieces.append(Piece(int(chunk), int(place), size, counts))
        placed = merged(pieces, self.least, 1)
        return TaskResult([(x.stratum, x.piece, pair(x.stratum, x.block)) for x in placed])


def _counts(rows: Iterable[Sequence[Any]]) -> dict[int, list[tuple[int, int]]]:
    """By column, (value, records)."""
    found: dict[int, list[tuple[int, int]]] = {}
    for item, code, n in rows:
        found.setdefault(int(item), []).append((int(code), int(n)))
    return found
