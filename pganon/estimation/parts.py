"""The parts of a statement: what the rows, or the boxes, of a bucket allow of a condition.

Of exact columns all rows of a bucket are published. Of a generalized one every distinct box has a
number, and a piece is what of the values of a group lies in a box.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from pganon.estimation import boxes
from pganon.estimation.boxes import Fitted
from pganon.estimation.lines import Line, as_numeric, certain, collated, holds, over, steps
from pganon.estimation.release import Part, Published
from pganon.sqltools import col, fragment, named, num, query, stacked

BUCKETS = "buckets"
"""Common table expression (bucket, n, and of every box its number `b`, values and `z`)."""


@dataclass(frozen=True)
class AskedPart:
    """Columns in a query.

    Attributes:
        number: in names.
        condition: of WHERE.
        keys: expressions of GROUP BY by their numbers.
    """

    number: int
    condition: exp.Expr | None
    keys: Mapping[int, exp.Expr]

    @property
    def key_names(self) -> list[str]:
        return [f"k{number}" for number in self.keys]

    def keyed(self, table: str) -> str:
        """The keys, to follow other columns of a table."""
        return "".join(f", {table}.{name}" for name in self.key_names)

    def same_group(self, left: str, right: str) -> str:
        """Whether rows of two relations are of the same bucket and the same group."""
        same = [f"{left}.{name} is not distinct from {right}.{name}" for name in self.key_names]
        return " and ".join([f"{left}.bucket = {right}.bucket", *same])

    def name(self, what: str) -> str:
        return f"{what}{self.number}"


@dataclass(frozen=True)
class ExactPart(AskedPart):
    """Columns that are known together.

    Attributes:
        measured: columns that are counted, added up or averaged, by their numbers.
    """

    part: Part
    columns: Mapping[str, Published]
    measured: Mapping[int, Published]

    def value(self, name: str) -> exp.Expr:
        """A column of the view `t`, as its values are in the source."""
        return collated(self.columns[name], col(name, "t"))

    @property
    def person(self) -> int | None:
        """The number of the column that tells individuals apart."""
        return next((i for i, c in self.measured.items() if c.form == "individual"), None)

    @property
    def key_columns(self) -> list[exp.Expr]:
        return [named(over(key, self.value), f"k{number}") for number, key in self.keys.items()]

    @property
    def matching(self) -> exp.Expr:
        return holds(self.condition, self.value)

    @property
    def weight(self) -> exp.Expr:
        return col(self.part.weight, "t") if self.part.weight else num(1)

    def totals(self) -> dict[str, exp.Expr]:
        """Aggregates of a bucket: how many records match; of numbers how many, sum, squares."""
        given = {"w": self.weight, "m": self.matching}
        count = "coalesce(sum(:w) filter (where {}), 0)::bigint"
        found = {self.name("a"): fragment(count.format(":m"), **given)}
        for number, column in self.measured.items():
            given["x"], some = self.value(column.name), ":m and :x is not null"
            found[f"xa{number}"] = fragment(count.format(some), **given)
            if column.is_number:
                given["v"] = as_numeric(column, given["x"])
                for power, name in ((1, "total"), (2, "squares")):
                    added = f"sum(:w * :v::float8 ^ {power}) filter (where {some})"
                    found[f"{name}{number}"] = fragment(f"coalesce({added}, 0)::float8", **given)
        return found

    def grouped(self) -> exp.Select:
        """(bucket, keys, ...): the same of every bucket and group."""
        if self.person is not None:
            a, number = self.name("a"), self.person
            return query(
                f"select p.bucket, sum(p.e)::bigint as {a}, sum(p.e)::bigint as xa{number},"
                f" count(*) as persons{number}, sum(p.e)::float8 as total{number},"
                f" sum(p.e * p.e)::float8 as squares{number}{self.keyed('p')} from p"
                f" group by p.bucket{self.keyed('p')}",
                {"p": self._persons()},
            )
        totals = [named(value, name) for name, value in self.totals().items()]
        return self._by_group("select :b as bucket").select(*totals)

    def _by_group(self, text: str, *others: exp.Expr, **parts: exp.Expr) -> exp.Select:
        """(bucket, keys): rows that match, by bucket, group and others."""
        tree = query(
            f"{text} from t where :m",
            {"t": self.part.rows},
            b=col(self.part.bucket, "t"),
            m=self.matching,
            **parts,
        )
        first = len(tree.expressions) + 1
        places = [num(place) for place in (1, *range(first, first + len(self.keys)))]
        return tree.select(*self.key_columns).group_by(*places, *others)

    def _persons(self) -> exp.Select:
        """(bucket, e, keys): every individual, with its records that match."""
        assert self.person is not None
        person = col(self.measured[self.person].name, "t")
        return self._by_group("select :b as bucket, count(*)::bigint as e", person)

    def persons_in_order(self) -> exp.Select:
        """(bucket, keys, before): individuals, those with most records first.

        `before` is how many records those before it have.
        """
        return query(
            f"select p.*, sum(p.e) over (partition by p.bucket{self.keyed('p')} order by p.e desc"
            " rows unbounded preceding) - p.e as before from p",
            {"p": self._persons()},
        )

    def rows(self, number: int) -> exp.Select:
        """(bucket, keys, x, copies, upto): values of a measured column, in order.

        `upto` is the number of the last copy among those of its bucket and group.
        """
        column = self.measured[number]
        value = self.value(column.name)
        x = as_numeric(column, value) if column.is_number else value
        text = "select :b as bucket, :x as x, sum(:w)::bigint as copies"
        tree = self._by_group(text, num(2), x=x, w=self.weight)
        tree = tree.where(fragment(":x is not null", x=value))
        return query(
            f"select r.*, (sum(r.copies) over (partition by r.bucket{self.keyed('r')}"
            " order by r.x))::bigint as upto from r",
            {"r": tree},
        )


@dataclass(frozen=True)
class BoxedPart(AskedPart, ABC):
    """A generalized column.

    Attributes:
        counted, measured: whether records that have a value are counted; whether it is added up.
    """

    fitted: Fitted
    counted: bool
    measured: bool

    @abstractmethod
    def shown_value(self, value: exp.Expr) -> dict[str, exp.Expr]:
        """Columns of BUCKETS that say which values the box of a class has."""

    @abstractmethod
    def distinct_boxes(self) -> dict[str, exp.Select]:
        """The common table expressions up to (box, z, size, s, w, lack, extent)."""

    @abstractmethod
    def pieces(self) -> exp.Select:
        """(box, q, ql, qh, w, e, ..., keys): what of the values of a box matches."""

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
        found = self.shown_value(col(column.name, table))
        return {**found, self.name("z"): boxes.missing(column, table)}

    def relations(self) -> dict[str, exp.Select]:
        """The common table expressions of the part, by name, in order."""
        found = {self.name("values"): self._values(), **self.distinct_boxes()}
        found[self.name("pieces")] = stacked([self.pieces(), self._lacking_pieces()])
        found[self.name("stats")] = self._stats()
        return found

    def query(
        self, text: str, tables: Mapping[str, exp.Select] | None = None, **parts: exp.Expr
    ) -> exp.Select:
        """The SELECT of a text; `@` in names stands for the number of the part."""
        return query(text.replace("@", str(self.number)), tables, **parts)

    def _values(self) -> exp.Select:
        """(..., m, sure, may, keys, x): every value or cell, whether it matches, its group.

        `sure` and `may` differ from `m` where a label hides whether it matches.
        """
        value = col("v", "a")
        tree = query("select a.* from a", {"a": boxes.atoms(self.fitted)})
        m = holds(self.condition, lambda name: value.copy())
        sure = may = m
        if self.fitted.labels:
            known = certain(self.condition, value)
            hidden = "case when :v is null then :m else coalesce(:k, {}) end"
            sure, may = (
                fragment(hidden.format(word), v=value, m=m, k=known) for word in ("false", "true")
            )
        tree = tree.select(named(m, "m"), named(sure, "sure"), named(may, "may"))
        for name, key in zip(self.key_names, self.keys.values(), strict=True):
            tree = tree.select(named(over(key, lambda name: value.copy()), name))
        if self.measured and self.fitted.line is None:
            numbered = steps(self.fitted.column)
            if self.fitted.column.is_time and numbered:
                x = fragment(f"({numbered.number})::numeric", v=value)
            else:
                x = as_numeric(self.fitted.column, value)
            tree = tree.select(named(x, "x"))
        return tree

    def sized(
        self,
        size: str,
        attained: str,
        share: str,
        joins: str,
        shown: Mapping[str, str],
        alone: str = "false",
    ) -> exp.Select:
        """(box, ..., z, alone, several, size, s, w, lack, extent) of every distinct box.

        Args:
            size: number of values but for a missing one, in terms of boxes `b` and of `joins`.
            attained: how many of these are surely had, in terms of their number `i.held`.
            share: theirs together.
            shown: columns of BUCKETS by short names.
            alone: whether it is one value of a kind that has a share in ranges alone.
        """
        column = self.fitted.column
        kept = {"box": self.name("b"), **shown, "z": self.name("z")}
        listed = ", ".join(f"b.{name} as {short}" for short, name in kept.items())
        distinct = query(f"select distinct {listed} from {BUCKETS} as b")
        inner = self.query(
            f"select b.*, ({size})::bigint as held, {share} as share,"
            f" coalesce({alone}, false) as alone from b{joins}",
            {"b": distinct},
        )
        s = attained if column.attained else "0"
        s += " + i.z::integer" if column.null_attained else ""
        lacking, odds = (
            exp.Literal.number(repr(share)) for share in (self.fitted.lacking, self.fitted.odds)
        )
        tree = query(
            "select i.*, i.held > 1 as several, i.held + i.z::integer as size,"
            f" ({s})::bigint as s, case when i.alone then 1 else i.share end as known,"
            " i.z::integer * case when i.alone then :odds else :lacking end::float8 as lack,"
            " case when :endless and not i.alone and i.held > 0 then 'infinity'::float8"
            " else i.held + i.z::integer end::float8 as extent from i",
            {"i": inner},
            lacking=lacking,
            odds=odds,
            endless=exp.Boolean(this=self.fitted.endless),
        )
        return query("select o.*, o.known + o.lack as w from o", {"o": tree})

    def _lacking_pieces(self) -> exp.Select:
        """The same of missing values."""
        e = "1" if self.fitted.column.null_attained else "0"
        found = "1::bigint as q, 1::bigint as ql, 1::bigint as qh, false as known"
        found += f", b.lack as w, {e}::bigint as e"
        if self.measured:
            nothing = ("wx", "wxx", "ex", "exx", "emin", "emax", "xmin", "xmax")
            found += "".join(f", null as {name}" for name in nothing)
        return self.query(
            f"select b.box, {found}{self.keyed('v')} from boxes@ as b join values@ as v"
            " on v.place is null and v.m where b.z"
        )

    def _stats(self) -> exp.Select:
        """(box, size, s, extent, q, ql, qh, e, f, keys) of every box and group.

        `f` is the share that matches, `extent` the size, or infinity where values have no next one.

        Counted columns add `xql`, `xqh`, `xe`, `xf` without missing values; measured ones sums
        `f1`, `f2` by share and `ex`, `exx` of attained values, and the least and the greatest of
        these, `emin`, `emax`, and of all that match, `xmin`, `xmax`.
        """
        found = []
        for prefix, known in (("", ""), ("x", "filter (where p.known)"))[: 1 + self.counted]:
            q, w = (f"coalesce(sum(p.{x}) {known}, 0)" for x in "qw")
            found += [
                f"coalesce(sum(p.{x}) {known}, 0)::bigint as {prefix}{x}"
                for x in ("q", "ql", "qh", "e")[len(prefix) :]
            ]
            # 0 and 1 where no values match and all do, whatever rounding gives.
            found.append(
                f"case when {q} = 0 then 0 when {q} = min(b.size) then 1"
                f" else least(1, greatest(0, {w} / min(b.w))) end::float8 as {prefix}f"
            )
        if self.measured:
            found += [
                f"coalesce(sum(p.wx{x}) / min(b.w), 0) as f{n}" for n, x in ((1, ""), (2, "x"))
            ]
            found += [f"coalesce(sum(p.{name}), 0) as {name}" for name in ("ex", "exx")]
            found += [f"{end}(p.{of}{end}) as {of}{end}" for of in "ex" for end in ("min", "max")]
        join = "join" if self.keys else "left join"
        return self.query(
            "select b.box, min(b.size) as size, min(b.s) as s, min(b.extent) as extent,"
            f" {', '.join(found)}{self.keyed('p')}"
            f" from boxes@ as b {join} pieces@ as p on p.box = b.box"
            f" group by b.box{self.keyed('p')}"
        )


def numbered(parts: Iterable[BoxedPart], table: str) -> list[exp.Expr]:
    """Columns of BUCKETS: the numbers of boxes, of which equal ones have the same."""
    found: list[exp.Expr] = []
    for part in parts:
        shown = list(part.shown(table))
        order = ", ".join(f"{table}.{name}" for name in shown)
        found.append(named(fragment(f"dense_rank() over (order by {order})"), part.name("b")))
        found += [col(name, table) for name in shown]
    return found


class ListedPart(BoxedPart):
    """A column of which classes show sets or labels."""

    def shown_value(self, value: exp.Expr) -> dict[str, exp.Expr]:
        return {self.name("set"): boxes.shown_set(self.fitted.column, value)}

    def distinct_boxes(self) -> dict[str, exp.Select]:
        attained = {"ordinal": "least(i.held, 2)", "set": "i.held"}
        found = self.sized(
            "coalesce(cardinality(b.set), 0)",
            attained.get(self.fitted.column.form, "0"),
            "coalesce(t.w, 0)",
            " left join lateral (select sum(v.w) as w from unnest(b.set) as e(el)"
            " join values@ as v on v.element = e.el::text) as t on true",
            {"set": self.name("set")},
        )
        return {self.name("boxes"): found}

    def pieces(self) -> exp.Select:
        """(box, q, ql, qh, w, e, ..., keys): what of the values of a set matches."""
        ends = "e.place = 1 or e.place = cardinality(b.set)"
        column = self.fitted.column
        e = {"ordinal": f"v.m and ({ends})", "set": "v.m"}.get(column.form, "false")
        e = e if column.attained else "false"
        found = ["count(*) filter (where v.m) as q", "count(*) filter (where v.sure) as ql"]
        found += ["count(*) filter (where v.may) as qh", "true as known"]
        found += ["coalesce(sum(v.w) filter (where v.m), 0) as w"]
        found += [f"count(*) filter (where {e}) as e"]
        if self.measured:
            found += [
                "sum(v.w * v.x::float8) as wx",
                "sum(v.w * v.x::float8 * v.x::float8) as wxx",
                f"coalesce(sum(v.x) filter (where {e}), 0) as ex",
                f"coalesce(sum(v.x::float8 * v.x::float8) filter (where {e}), 0) as exx",
                f"min(v.x) filter (where {e}) as emin",
                f"max(v.x) filter (where {e}) as emax",
                "min(v.x) as xmin",
                "max(v.x) as xmax",
            ]
        return self.query(
            f"select b.box, {', '.join(found)}{self.keyed('v')} from boxes@ as b"
            " cross join lateral unnest(b.set) with ordinality as e(el, place)"
            " join values@ as v on v.element = e.el::text and v.may"
            f" group by b.box{self.keyed('v')}"
        )


class RangedPart(BoxedPart):
    """A column of which classes show ranges.

    Cells that match, and belong to the same group, form runs of places. What lies in a range of a
    run is a difference of running sums.
    """

    @property
    def line(self) -> Line:
        assert self.fitted.line is not None
        return self.fitted.line

    def shown_value(self, value: exp.Expr) -> dict[str, exp.Expr]:
        return dict(zip((self.name("f"), self.name("l")), self.line.places(value), strict=True))

    def distinct_boxes(self) -> dict[str, exp.Select]:
        found = self.sized(
            "coalesce(t.k - f.k0, 0)",
            "least(i.held, 2)",
            "coalesce(t.w - f.w0, 0)",
            " left join sums@ as t on t.place = b.last left join sums@ as f on f.place = b.first",
            {"first": self.name("f"), "last": self.name("l")},
            alone="b.first = b.last and b.first % 2 = 1" if self.line.dense else "false",
        )
        return {
            self.name("runs"): self._runs(),
            self.name("sums"): self._sums(),
            self.name("boxes"): found,
        }

    def _runs(self) -> exp.Select:
        """(first, last, keys): consecutive values that match, of one group."""
        by = f"partition by {self.keyed('v')[2:]} " if self.keys else ""
        inner = self.query(
            f"select v.place as place, v.place - row_number() over ({by}order by v.place) as island"
            f"{self.keyed('v')} from values@ as v where v.m and v.place is not null"
        )
        return query(
            f"select min(i.place) as first, max(i.place) as last{self.keyed('i')} from i"
            f" group by i.island{self.keyed('i')}",
            {"i": inner},
        )

    def _sums(self) -> exp.Select:
        """(place, w, k, wx, wxx, low, high): sums up to a cell of shares, values and squares.

        Those with a 0 are up to the cell before.
        """
        sums = {"w": "v.w", "k": "v.k"}
        if self.measured:
            middle = "((v.low + v.high) / 2)::float8"
            # Evenly spread values; of a gap there are any number.
            spread = "(v.high - v.low)::float8 ^ 2 / 12"
            if not self.line.dense:
                spread += " * (v.k + 1) / greatest(v.k - 1, 1)"
            sums |= {"wx": f"v.w * {middle}", "wxx": f"v.w * ({middle} ^ 2 + {spread})"}
        found = ["v.place", *(["v.low", "v.high"] if self.measured else [])]
        for name, value in sums.items():
            found.append(f"sum({value}) over up as {name}")
            found.append(f"coalesce(sum({value}) over before, 0) as {name}0")
        return self.query(
            f"select {', '.join(found)} from values@ as v where v.place is not null"
            " window up as (order by v.place rows unbounded preceding), before as"
            " (order by v.place rows between unbounded preceding and 1 preceding)"
        )

    def pieces(self) -> exp.Select:
        """(box, q, ql, qh, w, e, ..., keys): what of a run lies in a range."""
        inner = self.query(
            "select b.box, b.alone, greatest(b.first, r.first) as low,"
            " least(b.last, r.last) as high, b.first >= r.first as starts,"
            f" b.last <= r.last and b.several as ends{self.keyed('r')}"
            " from boxes@ as b join runs@ as r on r.first <= b.last and r.last >= b.first"
        )
        some = "(t.k - f.k0)::bigint"
        attained = self.fitted.column.attained
        e = "p.starts::integer + p.ends::integer" if attained else "0"
        found = [f"{some} as q", f"{some} as ql", f"{some} as qh", "true as known"]
        found += ["case when p.alone then 1 else t.w - f.w0 end as w", f"({e})::bigint as e"]
        if self.measured:
            x = "case when p.starts then f.low{0} else 0 end"
            x += " + case when p.ends then t.high{0} else 0 end"
            ends = "case when {} then {} when {} then {} end" if attained else "null::numeric"
            found += [
                "case when p.alone then f.low::float8 else t.wx - f.wx0 end as wx",
                "case when p.alone then f.low::float8 ^ 2 else t.wxx - f.wxx0 end as wxx",
                f"({x.format('') if attained else '0'})::numeric as ex",
                f"({x.format('::float8 ^ 2') if attained else '0'})::float8 as exx",
                f"{ends.format('p.starts', 'f.low', 'p.ends', 't.high')} as emin",
                f"{ends.format('p.ends', 't.high', 'p.starts', 'f.low')} as emax",
                "f.low as xmin",
                "t.high as xmax",
            ]
        return self.query(
            f"select p.box, {', '.join(found)}{self.keyed('p')} from p"
            " join sums@ as t on t.place = p.high join sums@ as f on f.place = p.low",
            {"p": inner},
        )
