"""The parts of a statement about a generalized column: what its boxes allow of a condition.

Every distinct box has a number. Values that match, and belong to the same group, form runs of
places. Of a run, what lies in a range is a difference of running sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from pganon.estimation import boxes
from pganon.estimation.boxes import Fitted
from pganon.estimation.values import certain, holds, over
from pganon.sqltools import col, fragment, named, query

BUCKETS = "buckets"
"""Common table expression (bucket, n, and of every box its number `b`, values and `z`)."""


@dataclass(frozen=True)
class BoxedPart:
    """A generalized column in a query.

    Attributes:
        number: of the part, in names.
        condition: of WHERE.
        keys: expressions of GROUP BY by their numbers.
        measured: whether the column is added up.
    """

    fitted: Fitted
    number: int
    condition: exp.Expr | None
    keys: Mapping[int, exp.Expr]
    measured: bool

    @property
    def key_names(self) -> list[str]:
        return [f"k{number}" for number in self.keys]

    def name(self, what: str) -> str:
        return f"{what}{self.number}"

    def published(self, table: str) -> dict[str, exp.Expr]:
        """The columns of the view that say which box a class has, under other names."""
        column = self.fitted.column
        found: dict[str, exp.Expr] = {self.name("v"): col(column.name, table)}
        if column.null_column is not None:
            found[self.name("u")] = col(column.null_column, table)
        return found

    def shown(self, table: str) -> dict[str, exp.Expr]:
        """Columns of BUCKETS by name, from those of :meth:`published`."""
        column = replace(
            self.fitted.column,
            name=self.name("v"),
            null_column=self.fitted.column.null_column and self.name("u"),
        )
        value = col(column.name, table)
        if self.fitted.ranges:
            first, last = boxes.places(column, value)
            found = {self.name("f"): first, self.name("l"): last}
        else:
            found = {self.name("set"): boxes.shown_set(column, value)}
        return {**found, self.name("z"): boxes.missing(column, table)}

    def relations(self) -> dict[str, exp.Select]:
        """The common table expressions of the part, by name, in order."""
        found = {self.name("values"): self._values()}
        if self.fitted.ranges:
            found[self.name("runs")] = self._runs()
            found[self.name("sums")] = self._sums()
            found[self.name("boxes")] = self._line_boxes()
            pieces = [self._line_pieces(), self._lacking_pieces()]
        else:
            found[self.name("boxes")] = self._set_boxes()
            pieces = [self._set_pieces(), self._lacking_pieces()]
        both = exp.union(*pieces, distinct=False)
        found[self.name("pieces")] = query("select p.* from p", {"p": both})  # pyright: ignore[reportArgumentType]
        found[self.name("stats")] = self._stats()
        return found

    def _query(
        self, text: str, tables: Mapping[str, exp.Select] | None = None, **parts: exp.Expr
    ) -> exp.Select:
        """The SELECT of a text; `@` in names stands for the number of the part."""
        return query(text.replace("@", str(self.number)), tables, **parts)

    def _keys(self, table: str) -> list[exp.Expr]:
        return [col(name, table) for name in self.key_names]

    # -- values ---------------------------------------------------------------------------------

    def _values(self) -> exp.Select:
        """(place, element, w, m, sure, may, keys, x): every value, whether it matches, its group.

        `sure` and `may` differ from `m` where a label hides whether it matches.
        """
        value = col("v", "a")
        tree = query("select a.place, a.element, a.w from a", {"a": boxes.atoms(self.fitted)})
        m = holds(self.condition, lambda name: value.copy())
        sure = may = m
        if self.fitted.labels:
            known = certain(self.condition, value)
            hidden = "case when :v is null then :m else coalesce(:k, {}) end"
            sure = fragment(hidden.format("false"), v=value, m=m, k=known)
            may = fragment(hidden.format("true"), v=value.copy(), m=m.copy(), k=known.copy())
        tree = tree.select(named(m, "m"), named(sure, "sure"), named(may, "may"))
        for name, key in zip(self.key_names, self.keys.values(), strict=True):
            tree = tree.select(named(over(key, lambda name: value.copy()), name))
        if self.measured:
            tree = tree.select(named(fragment(":v::numeric", v=value.copy()), "x"))
        return tree

    def _runs(self) -> exp.Select:
        """(first, last, keys): consecutive values that match, of one group."""
        keys = self._keys("v")
        island = exp.Window(
            this=exp.RowNumber(),
            partition_by=[key.copy() for key in keys],
            order=exp.Order(expressions=[exp.Ordered(this=col("place", "v"), nulls_first=False)]),
        )
        inner = self._query(
            "select v.place as place, v.place - :island as island from values@ as v"
            " where v.m and v.place is not null",
            island=island,
        ).select(*keys)
        tree = query("select min(i.place) as first, max(i.place) as last from i", {"i": inner})
        return tree.select(*self._keys("i")).group_by(col("island", "i"), *self._keys("i"))

    def _sums(self) -> exp.Select:
        """(place, w, wx, wxx): up to a value, sums of shares, of values and of squares by share."""
        found = "select v.place, sum(v.w) over (order by v.place) as w"
        if self.measured:
            found += (
                ", sum(v.w * v.x::float8) over (order by v.place) as wx"
                ", sum(v.w * v.x::float8 * v.x::float8) over (order by v.place) as wxx"
            )
        return self._query(f"{found} from values@ as v where v.place is not null")

    # -- boxes ----------------------------------------------------------------------------------

    def _line_boxes(self) -> exp.Select:
        """(box, first, last, z, size, s, w): sizes, attained values and share of every range."""
        attained = "(b.first is not null)::integer + (b.last <> b.first)::integer"
        return self._sized(
            "coalesce(b.last - b.first + 1, 0)",
            f"coalesce({attained}, 0)" if self.fitted.column.attained else "0",
            "coalesce(t.w, 0) - coalesce(f.w, 0)",
            " left join sums@ as t on t.place = b.last"
            " left join sums@ as f on f.place = b.first - 1",
            {"first": self.name("f"), "last": self.name("l")},
        )

    def _set_boxes(self) -> exp.Select:
        """(box, set, z, size, s, w)."""
        size = "coalesce(cardinality(b.set), 0)"
        attained = {"ordinal": f"least({size}, 2)", "set": size}
        column = self.fitted.column
        return self._sized(
            size,
            attained[column.form] if column.attained else "0",
            "coalesce(t.w, 0)",
            " left join lateral (select sum(v.w) as w from unnest(b.set) as e(el)"
            " join values@ as v on v.element = e.el::text) as t on true",
            {"set": self.name("set")},
        )

    def _sized(
        self, size: str, attained: str, share: str, joins: str, shown: Mapping[str, str]
    ) -> exp.Select:
        column = self.fitted.column
        lacking = "b.z::integer" if column.null_attained else "0"
        distinct = query(f"select 1 from {BUCKETS} as b")
        kept = {"box": self.name("b"), **shown, "z": self.name("z")}
        distinct = distinct.select(
            *[named(col(name, "b"), short) for short, name in kept.items()], append=False
        ).distinct()
        return self._query(
            f"select b.*, ({size} + b.z::integer)::bigint as size,"
            f" ({attained} + {lacking})::bigint as s,"
            f" {share} + b.z::integer * :lacking::float8 as w from b{joins}",
            {"b": distinct},
            lacking=exp.Literal.number(repr(self.fitted.lacking)),
        )

    # -- pieces ---------------------------------------------------------------------------------

    def _line_pieces(self) -> exp.Select:
        """(box, keys, q, ql, qh, w, e, ...): what of a run lies in a range."""
        inside = (
            "select b.box, greatest(b.first, r.first) as low, least(b.last, r.last) as high,"
            " b.first >= r.first as starts,"
            " b.last <= r.last and b.last <> b.first as ends"
            " from boxes@ as b join runs@ as r on r.first <= b.last and r.last >= b.first"
        )
        inner = self._query(inside).select(*self._keys("r"))
        some = "p.high - p.low + 1"
        e = "p.starts::integer + p.ends::integer" if self.fitted.column.attained else "0"
        found = [f"{some} as q", f"{some} as ql", f"{some} as qh"]
        found += ["t.w - coalesce(f.w, 0) as w", f"({e})::bigint as e"]
        if self.measured:
            attained = self.fitted.column.attained
            ends = (("p.starts", "p.low"), ("p.ends", "p.high"))
            x = " + ".join(f"case when {of} then {end}{{0}} else 0 end" for of, end in ends)
            found += [
                "t.wx - coalesce(f.wx, 0) as wx",
                "t.wxx - coalesce(f.wxx, 0) as wxx",
                f"({x.format('') if attained else '0'})::numeric as ex",
                f"({x.format('::float8 ^ 2') if attained else '0'})::float8 as exx",
                "p.low::numeric as xmin",
                "p.high::numeric as xmax",
            ]
        tree = self._query(
            f"select p.box, {', '.join(found)} from p"
            " join sums@ as t on t.place = p.high left join sums@ as f on f.place = p.low - 1",
            {"p": inner},
        )
        return tree.select(*self._keys("p"))

    def _set_pieces(self) -> exp.Select:
        """The same of the values of a set."""
        ends = "e.place = 1 or e.place = cardinality(b.set)"
        column = self.fitted.column
        e = {"ordinal": f"v.m and ({ends})", "set": "v.m"}.get(column.form, "false")
        e = e if column.attained else "false"
        found = ["count(*) filter (where v.m) as q", "count(*) filter (where v.sure) as ql"]
        found += ["count(*) filter (where v.may) as qh"]
        found += ["coalesce(sum(v.w) filter (where v.m), 0) as w"]
        found += [f"count(*) filter (where {e}) as e"]
        if self.measured:
            found += [
                "sum(v.w * v.x::float8) as wx",
                "sum(v.w * v.x::float8 * v.x::float8) as wxx",
                f"coalesce(sum(v.x) filter (where {e}), 0) as ex",
                f"coalesce(sum(v.x::float8 * v.x::float8) filter (where {e}), 0) as exx",
                "min(v.x) as xmin",
                "max(v.x) as xmax",
            ]
        tree = self._query(
            f"select b.box, {', '.join(found)} from boxes@ as b"
            " cross join lateral unnest(b.set) with ordinality as e(el, place)"
            " join values@ as v on v.element = e.el::text and v.may",
        )
        return tree.select(*self._keys("v")).group_by(col("box", "b"), *self._keys("v"))

    def _lacking_pieces(self) -> exp.Select:
        """The same of missing values."""
        e = "1" if self.fitted.column.null_attained else "0"
        found = f"1::bigint as q, 1::bigint as ql, 1::bigint as qh, v.w as w, {e}::bigint as e"
        if self.measured:
            nothing = ("wx", "wxx", "ex", "exx", "xmin", "xmax")
            found += "".join(f", null as {name}" for name in nothing)
        tree = self._query(
            f"select b.box, {found} from boxes@ as b join values@ as v"
            " on v.place is null and v.m where b.z",
        )
        return tree.select(*self._keys("v"))

    def _stats(self) -> exp.Select:
        """(box, keys, size, s, q, ql, qh, e, f) of every box and group; `f`: share that matches.

        Measured columns add `xq`, `xe`, `xf` without missing values, their sums `f1`, `f2` by
        share and `ex`, `exx` of attained values, and `xmin`, `xmax`.
        """
        sums = ["q", "ql", "qh", "e"]
        found = [f"coalesce(sum(p.{name}), 0)::bigint as {name}" for name in sums]
        found.append(_share("coalesce(sum(p.q), 0)", "coalesce(sum(p.w), 0)") + " as f")
        if self.measured:
            known = "filter (where p.xmin is not null)"
            found += [f"coalesce(sum(p.{x}) {known}, 0)::bigint as x{x}" for x in ("q", "e")]
            q, w = f"coalesce(sum(p.q) {known}, 0)", f"coalesce(sum(p.w) {known}, 0)"
            found.append(f"{_share(q, w)} as xf")
            found += [f"coalesce(sum(p.wx{x}) / min(b.w), 0) as f{n}" for n, x in _POWERS]
            found += [f"coalesce(sum(p.{name}), 0) as {name}" for name in ("ex", "exx")]
            found += ["min(p.xmin) as xmin", "max(p.xmax) as xmax"]
        join = "join" if self.keys else "left join"
        tree = self._query(
            f"select b.box, min(b.size) as size, min(b.s) as s, {', '.join(found)}"
            f" from boxes@ as b {join} pieces@ as p on p.box = b.box",
        )
        keys = self._keys("p")
        return tree.select(*keys).group_by(col("box", "b"), *[key.copy() for key in keys])


_POWERS = ((1, ""), (2, "x"))


def _share(matching: str, share: str) -> str:
    """The share of values that match; 0 and 1 where none and all do, whatever rounding gives."""
    return (
        f"case when {matching} = 0 then 0 when {matching} = min(b.size) then 1"
        f" else least(1, greatest(0, {share} / min(b.w))) end::float8"
    )


def numbered(parts: Iterable[BoxedPart], table: str) -> list[exp.Expr]:
    """Columns of BUCKETS: the numbers of boxes, of which equal ones have the same."""
    found: list[exp.Expr] = []
    for part in parts:
        shown = list(part.shown(table))
        order = [exp.Ordered(this=col(name, table), nulls_first=False) for name in shown]
        window = exp.Window(
            this=exp.Anonymous(this="dense_rank"), order=exp.Order(expressions=order)
        )
        found.append(named(window, part.name("b")))
        found += [col(name, table) for name in shown]
    return found
