"""The parts of a statement about a column of which classes show ranges.

Cells that match, and belong to the same group, form runs of places. What lies in a range of a run
is a difference of running sums.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.estimation.boxed import BoxedPart
from pganon.estimation.lines import Line
from pganon.sqltools import col, query


class RangedPart(BoxedPart):
    """A column of which classes show ranges."""

    @property
    def line(self) -> Line:
        assert self.fitted.line is not None
        return self.fitted.line

    def shown_value(self, value: exp.Expr) -> dict[str, exp.Expr]:
        return dict(zip((self.name("f"), self.name("l")), self.line.places(value), strict=True))

    def distinct_boxes(self) -> dict[str, exp.Select]:
        return {
            self.name("runs"): self._runs(),
            self.name("sums"): self._sums(),
            self.name("boxes"): self._boxes(),
        }

    def _runs(self) -> exp.Select:
        """(first, last, keys): consecutive values that match, of one group."""
        keys = self.columns_of_keys("v")
        island = exp.Window(
            this=exp.RowNumber(),
            partition_by=[key.copy() for key in keys],
            order=exp.Order(expressions=[exp.Ordered(this=col("place", "v"), nulls_first=False)]),
        )
        inner = self.query(
            "select v.place as place, v.place - :island as island from values@ as v"
            " where v.m and v.place is not null",
            island=island,
        ).select(*keys)
        tree = query("select min(i.place) as first, max(i.place) as last from i", {"i": inner})
        return tree.select(*self.columns_of_keys("i")).group_by(
            col("island", "i"), *self.columns_of_keys("i")
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

    def _boxes(self) -> exp.Select:
        return self.sized(
            "coalesce(t.k - f.k0, 0)",
            "least(i.held, 2)",
            "coalesce(t.w - f.w0, 0)",
            " left join sums@ as t on t.place = b.last left join sums@ as f on f.place = b.first",
            {"first": self.name("f"), "last": self.name("l")},
            alone="b.first = b.last and b.first % 2 = 1" if self.line.dense else "false",
        )

    def pieces(self) -> exp.Select:
        """(box, keys, q, ql, qh, w, e, ...): what of a run lies in a range."""
        inner = self.query(
            "select b.box, b.alone, greatest(b.first, r.first) as low,"
            " least(b.last, r.last) as high, b.first >= r.first as starts,"
            " b.last <= r.last and b.several as ends"
            " from boxes@ as b join runs@ as r on r.first <= b.last and r.last >= b.first"
        ).select(*self.columns_of_keys("r"))
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
        tree = self.query(
            f"select p.box, {', '.join(found)} from p"
            " join sums@ as t on t.place = p.high join sums@ as f on f.place = p.low",
            {"p": inner},
        )
        return tree.select(*self.columns_of_keys("p"))
