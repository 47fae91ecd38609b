"""The parts of a statement about a column of which classes show sets or labels."""

from __future__ import annotations

from sqlglot import exp

from pganon.estimation.boxed import BoxedPart
from pganon.estimation.boxes import shown_set
from pganon.sqltools import col


class ListedPart(BoxedPart):
    """A column of which classes show sets or labels."""

    def shown_value(self, value: exp.Expr) -> dict[str, exp.Expr]:
        return {self.name("set"): shown_set(self.fitted.column, value)}

    def distinct_boxes(self) -> dict[str, exp.Select]:
        return {self.name("boxes"): self._boxes()}

    def _boxes(self) -> exp.Select:
        attained = {"ordinal": "least(i.held, 2)", "set": "i.held"}
        return self.sized(
            "coalesce(cardinality(b.set), 0)",
            attained.get(self.fitted.column.form, "0"),
            "coalesce(t.w, 0)",
            " left join lateral (select sum(v.w) as w from unnest(b.set) as e(el)"
            " join values@ as v on v.element = e.el::text) as t on true",
            {"set": self.name("set")},
        )

    def pieces(self) -> exp.Select:
        """(box, keys, q, ql, qh, w, e, ...): what of the values of a set matches."""
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
        tree = self.query(
            f"select b.box, {', '.join(found)} from boxes@ as b"
            " cross join lateral unnest(b.set) with ordinality as e(el, place)"
            " join values@ as v on v.element = e.el::text and v.may",
        )
        keys = self.columns_of_keys("v")
        return tree.select(*keys).group_by(col("box", "b"), *[key.copy() for key in keys])
