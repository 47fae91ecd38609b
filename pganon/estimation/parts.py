"""The parts of a statement: what the rows, or the boxes, of a bucket allow of a condition.

Of exact columns all rows of a bucket are published. Of a generalized one every distinct box has a
number, and a piece is what of the values of a group lies in a box.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from pganon.estimation import boxes
from pganon.estimation.boxes import Fitted
from pganon.estimation.lines import Line, as_numeric, certain, collated, holds, over, steps
from pganon.estimation.release import Part, Published
from pganon.sqltools import col, fragment, named, num, query, stacked

Relations = Iterator[tuple[str, exp.Select]]
"""Common table expressions by name, each after those that it reads."""


@dataclass(frozen=True)
class AskedPart(ABC):
    """Columns in a query.

    Attributes:
        number: in names.
        partition: the number of the one by whose buckets they are known.
        condition: of WHERE.
        keys: expressions of GROUP BY by their numbers.
    """

    number: int
    partition: int
    condition: exp.Expr | None
    keys: Mapping[int, exp.Expr]

    @abstractmethod
    def relations(self) -> Relations:
        """The common table expressions of the part."""

    @property
    def key_names(self) -> list[str]:
        return [f"k{number}" for number in self.keys]

    def keyed(self, table: str) -> str:
        """The keys, to follow other columns of a table."""
        return "".join(f", {table}.{name}" for name in self.key_names)

    def same_group(self, left: str, right: str, keys: str | None = None) -> str:
        """Whether rows of two relations are of the same bucket and the same group.

        Args:
            keys: what has the keys in place of the first.
        """
        of = keys or left
        same = [f"{of}.{name} is not distinct from {right}.{name}" for name in self.key_names]
        return " and ".join([f"{left}.bucket = {right}.bucket", *same])

    def name(self, what: str) -> str:
        return f"{what}{self.number}"


@dataclass(frozen=True)
class ExactPart(AskedPart):
    """Columns that are known together.

    Attributes:
        measured: columns that are counted, added up or averaged, by their numbers.
        added: the numbers of those that are added up.
    """

    part: Part
    columns: Mapping[str, Published]
    measured: Mapping[int, Published]
    added: frozenset[int]

    def value(self, name: str) -> exp.Expr:
        """A column of the view `t`, as its values are in the source."""
        return collated(self.columns[name], col(name, "t"))

    @property
    def _weight(self) -> exp.Expr:
        return col(self.part.weight, "t") if self.part.weight else num(1)

    def relations(self) -> Relations:
        person = next((i for i, c in self.measured.items() if c.form == "individual"), None)
        if person is None:
            yield self.name("exact"), self.grouped({"bucket": self.part.bucket})
            return
        # Individuals, those with most records first; `before` is how many those before it have.
        each = self._matching(["count(*)::bigint as e"], {"bucket": self.part.bucket})
        each = each.group_by(col(self.measured[person].name, "t"))
        yield (
            f"persons{person}",
            query(
                f"select p.*, sum(p.e) over (partition by p.bucket{self.keyed('p')}"
                " order by p.e desc rows unbounded preceding) - p.e as before from p",
                {"p": each},
            ),
        )
        yield (
            self.name("exact"),
            query(
                f"select p.bucket, sum(p.e)::bigint as m, sum(p.e)::bigint as m{person},"
                f" count(*) as persons{person}, sum(p.e)::float8 as u{person},"
                f" sum(p.e * p.e)::float8 as e2{person}{self.keyed('p')} from persons{person} as p"
                f" group by p.bucket{self.keyed('p')}"
            ),
        )

    def grouped(self, buckets: Mapping[str, str]) -> exp.Select:
        """(buckets, keys, m, ...): how many records match, of every bucket and group.

        Of measured columns `m<i>` have a value; `u<i>` is the sum of these, `e2<i>` of squares.

        Args:
            buckets: columns of the view with numbers of buckets.
        """
        given, texts = {"w": self._weight}, ["sum(:w)::bigint as m"]
        for number, column in self.measured.items():
            given[f"x{number}"] = value = self.value(column.name)
            some = f"filter (where :x{number} is not null)"
            texts.append(f"coalesce(sum(:w) {some}, 0)::bigint as m{number}")
            if number in self.added:
                given[f"v{number}"] = as_numeric(column, value.copy())
                for power, name in ((1, "u"), (2, "e2")):
                    added = f"sum(:w * :v{number}::float8 ^ {power})"
                    texts.append(f"coalesce({added}, 0)::float8 as {name}{number}")
        return self._matching(texts, buckets, **given)

    def _matching(
        self, texts: list[str], buckets: Mapping[str, str], **given: exp.Expr
    ) -> exp.Select:
        """(..., buckets, keys): rows that match, by bucket and group."""
        tree = query(
            f"select {', '.join(texts)} from t where :m",
            {"t": self.part.rows},
            m=holds(self.condition, self.value),
            **given,
        )
        tree = tree.select(*[named(col(link, "t"), name) for name, link in buckets.items()])
        for number, key in self.keys.items():
            tree = tree.select(named(over(key, self.value), f"k{number}"))
        places = range(len(texts) + 1, len(tree.expressions) + 1)
        return tree.group_by(*map(num, places))

    def in_order(self, number: int, bucket: str) -> exp.Select:
        """(bucket, keys, x, copies, upto): values of a measured column, in order.

        `upto` is the number of the last copy among those of its bucket and group.
        """
        column = self.measured[number]
        value = self.value(column.name)
        x = as_numeric(column, value) if column.is_number else value
        texts = ["sum(:w)::bigint as copies"]
        tree = self._matching(texts, {"bucket": bucket}, w=self._weight)
        tree = tree.select(named(x, "x")).group_by(num(len(tree.expressions) + 1))
        tree = tree.where(fragment(":x is not null", x=value))
        return query(
            f"select r.*, (sum(r.copies) over (partition by r.bucket{self.keyed('r')}"
            " order by r.x))::bigint as upto from r",
            {"r": tree},
        )


@dataclass(frozen=True)
class BoxedPart(AskedPart):
    """A generalized column.

    Attributes:
        counted, measured: whether records that have a value are counted; whether it is added up.
    """

    fitted: Fitted
    counted: bool
    measured: bool

    @property
    @abstractmethod
    def places(self) -> dict[str, str]:
        """Columns of the buckets that say which values a box has, by short names."""

    @abstractmethod
    def shown_value(self, value: exp.Expr) -> dict[str, exp.Expr]:
        """The same from what a class shows."""

    def summed(self) -> Relations:
        """What :meth:`held` and :meth:`pieces` read beside the values."""
        yield from ()

    @abstractmethod
    def held(self, distinct: exp.Select) -> exp.Select:
        """(box, ..., z, held, share, alone) of boxes b: how many values, and their share.

        `alone` is whether it is one value of a kind that has a share in ranges alone.
        """

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
        """Columns of the buckets by name, from those of :meth:`published`."""
        column = replace(
            self.fitted.column,
            name=self.name("v"),
            null_column=self.fitted.column.null_column and self.name("u"),
        )
        found = self.shown_value(col(column.name, table))
        return {**found, self.name("z"): boxes.missing(column, table)}

    def relations(self) -> Relations:
        """Up to `stats<number>`: what of every box matches."""
        yield self.name("values"), self._values()
        yield from self.summed()
        yield self.name("boxes"), self._boxes()
        yield self.name("pieces"), stacked([self.pieces(), self._lacking_pieces()])
        yield self.name("stats"), self._stats()

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

    def _boxes(self) -> exp.Select:
        """(box, ..., z, alone, several, size, s, w, lack, extent) of every distinct box."""
        column = self.fitted.column
        ends = {"set": "i.held", "ordinal": "least(i.held, 2)", "range": "least(i.held, 2)"}
        s = ends.get(column.form, "0") if column.attained else "0"
        s += " + i.z::integer" if column.null_attained else ""
        lacking, odds = (
            exp.Literal.number(repr(share)) for share in (self.fitted.lacking, self.fitted.odds)
        )
        kept = {"box": self.name("b"), **self.places, "z": self.name("z")}
        listed = ", ".join(f"b.{name} as {short}" for short, name in kept.items())
        distinct = query(f"select distinct {listed} from buckets{self.partition} as b")
        tree = query(
            "select i.*, i.held > 1 as several, i.held + i.z::integer as size,"
            f" ({s})::bigint as s, case when i.alone then 1 else i.share end as known,"
            " i.z::integer * case when i.alone then :odds else :lacking end::float8 as lack,"
            " case when :endless and not i.alone and i.held > 0 then 'infinity'::float8"
            " else i.held + i.z::integer end::float8 as extent from i",
            {"i": self.held(distinct)},
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


class ListedPart(BoxedPart):
    """A column of which classes show sets or labels."""

    @property
    def places(self) -> dict[str, str]:
        return {"set": self.name("set")}

    def shown_value(self, value: exp.Expr) -> dict[str, exp.Expr]:
        return {self.name("set"): boxes.shown_set(self.fitted.column, value)}

    def held(self, distinct: exp.Select) -> exp.Select:
        return self.query(
            "select b.*, coalesce(cardinality(b.set), 0)::bigint as held,"
            " coalesce(t.w, 0) as share, false as alone from b"
            " left join lateral (select sum(v.w) as w from unnest(b.set) as e(el)"
            " join values@ as v on v.element = e.el::text) as t on true",
            {"b": distinct},
        )

    def pieces(self) -> exp.Select:
        """(box, q, ql, qh, w, e, ..., keys): every value of a set that may match."""
        ends = "e.place = 1 or e.place = cardinality(b.set)"
        column = self.fitted.column
        e = {"ordinal": f"v.m and ({ends})", "set": "v.m"}.get(column.form, "false")
        e = e if column.attained else "false"
        found = "v.m::integer as q, v.sure::integer as ql, v.may::integer as qh, true as known,"
        found += f" case when v.m then v.w else 0 end as w, ({e})::integer as e"
        if self.measured:
            square, had = "v.x::float8 * v.x::float8", f"case when {e} then {{}} end"
            found += f", v.w * v.x::float8 as wx, v.w * {square} as wxx"
            for name, value in (("ex", "v.x"), ("exx", square), ("emin", "v.x"), ("emax", "v.x")):
                found += f", {had.format(value)} as {name}"
            found += ", v.x as xmin, v.x as xmax"
        return self.query(
            f"select b.box, {found}{self.keyed('v')} from boxes@ as b"
            " cross join lateral unnest(b.set) with ordinality as e(el, place)"
            " join values@ as v on v.element = e.el::text and v.may"
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

    @property
    def places(self) -> dict[str, str]:
        return {"first": self.name("f"), "last": self.name("l")}

    def shown_value(self, value: exp.Expr) -> dict[str, exp.Expr]:
        return dict(zip(self.places.values(), self.line.places(value), strict=True))

    def held(self, distinct: exp.Select) -> exp.Select:
        point = "b.first = b.last and b.first % 2 = 1" if self.line.dense else "false"
        return self.query(
            "select b.*, coalesce(t.k - f.k0, 0)::bigint as held,"
            f" coalesce(t.w - f.w0, 0) as share, coalesce({point}, false) as alone from b"
            " left join sums@ as t on t.place = b.last left join sums@ as f on f.place = b.first",
            {"b": distinct},
        )

    def summed(self) -> Relations:
        """Runs (first, last, keys) of values that match, of one group, and sums."""
        by = f"partition by {self.keyed('v')[2:]} " if self.keys else ""
        inner = self.query(
            f"select v.place as place, v.place - row_number() over ({by}order by v.place) as island"
            f"{self.keyed('v')} from values@ as v where v.m and v.place is not null"
        )
        runs = query(
            f"select min(i.place) as first, max(i.place) as last{self.keyed('i')} from i"
            f" group by i.island{self.keyed('i')}",
            {"i": inner},
        )
        yield self.name("runs"), runs
        yield self.name("sums"), self._sums()

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
