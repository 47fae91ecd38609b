"""The parts of a statement about a generalized column: what its boxes allow of a condition.

Every distinct box has a number. A piece is what of the values of a group lies in a box.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from pganon.estimation import boxes
from pganon.estimation.boxes import Fitted
from pganon.estimation.lines import steps
from pganon.estimation.values import as_numeric, certain, holds, over
from pganon.sqltools import col, fragment, named, query

BUCKETS = "buckets"
"""Common table expression (bucket, n, and of every box its number `b`, values and `z`)."""


@dataclass(frozen=True)
class BoxedPart(ABC):
    """A generalized column in a query.

    Attributes:
        number: of the part, in names.
        condition: of WHERE.
        keys: expressions of GROUP BY by their numbers.
        counted, measured: whether records that have a value are counted; whether it is added up.
    """

    fitted: Fitted
    number: int
    condition: exp.Expr | None
    keys: Mapping[int, exp.Expr]
    counted: bool
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

    @abstractmethod
    def shown_value(self, value: exp.Expr) -> dict[str, exp.Expr]:
        """Columns of BUCKETS that say which values the box of a class has."""

    @abstractmethod
    def distinct_boxes(self) -> dict[str, exp.Select]:
        """The common table expressions up to (box, z, size, s, w, lack, extent)."""

    @abstractmethod
    def pieces(self) -> exp.Select:
        """(box, keys, q, ql, qh, w, e, ...): what of the values of a box matches."""

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
        both = exp.union(self.pieces(), self._lacking_pieces(), distinct=False)
        found[self.name("pieces")] = query("select p.* from p", {"p": both})  # pyright: ignore[reportArgumentType]
        found[self.name("stats")] = self._stats()
        return found

    def query(
        self, text: str, tables: Mapping[str, exp.Select] | None = None, **parts: exp.Expr
    ) -> exp.Select:
        """The SELECT of a text; `@` in names stands for the number of the part."""
        return query(text.replace("@", str(self.number)), tables, **parts)

    def columns_of_keys(self, table: str) -> list[exp.Expr]:
        return [col(name, table) for name in self.key_names]

    # -- values ---------------------------------------------------------------------------------

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
            sure = fragment(hidden.format("false"), v=value, m=m, k=known)
            may = fragment(hidden.format("true"), v=value.copy(), m=m.copy(), k=known.copy())
        tree = tree.select(named(m, "m"), named(sure, "sure"), named(may, "may"))
        for name, key in zip(self.key_names, self.keys.values(), strict=True):
            tree = tree.select(named(over(key, lambda name: value.copy()), name))
        if self.measured and self.fitted.line is None:
            numbered = steps(self.fitted.column)
            if self.fitted.column.is_time and numbered:
                x = fragment(f"({numbered.number})::numeric", v=value.copy())
            else:
                x = as_numeric(self.fitted.column, value.copy())
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
        distinct = query(f"select 1 from {BUCKETS} as b")
        kept = {"box": self.name("b"), **shown, "z": self.name("z")}
        distinct = distinct.select(
            *[named(col(name, "b"), short) for short, name in kept.items()], append=False
        ).distinct()
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
        tree = self.query(
            f"select b.box, {found} from boxes@ as b join values@ as v"
            " on v.place is null and v.m where b.z",
        )
        return tree.select(*self.columns_of_keys("v"))

    def _stats(self) -> exp.Select:
        """(box, keys, size, s, extent, q, ql, qh, e, f) of every box and group.

        `f` is the share that matches, `extent` the size, or infinity where values have no next one.

        Counted columns add `xql`, `xqh`, `xe`, `xf` without missing values; measured ones sums
        `f1`, `f2` by share and `ex`, `exx` of attained values, and the least and the greatest of
        these, `emin`, `emax`, and of all that match, `xmin`, `xmax`.
        """
        sums = ["q", "ql", "qh", "e"]
        found = [f"coalesce(sum(p.{name}), 0)::bigint as {name}" for name in sums]
        found.append(_share("coalesce(sum(p.q), 0)", "coalesce(sum(p.w), 0)") + " as f")
        if self.counted:
            known = "filter (where p.known)"
            names = ("ql", "qh", "e")
            found += [f"coalesce(sum(p.{x}) {known}, 0)::bigint as x{x}" for x in names]
            q, w = f"coalesce(sum(p.q) {known}, 0)", f"coalesce(sum(p.w) {known}, 0)"
            found.append(f"{_share(q, w)} as xf")
        if self.measured:
            found += [f"coalesce(sum(p.wx{x}) / min(b.w), 0) as f{n}" for n, x in _POWERS]
            found += [f"coalesce(sum(p.{name}), 0) as {name}" for name in ("ex", "exx")]
            found += [f"{end}(p.{of}{end}) as {of}{end}" for of in "ex" for end in ("min", "max")]
        join = "join" if self.keys else "left join"
        tree = self.query(
            "select b.box, min(b.size) as size, min(b.s) as s, min(b.extent) as extent,"
            f" {', '.join(found)}"
            f" from boxes@ as b {join} pieces@ as p on p.box = b.box",
        )
        keys = self.columns_of_keys("p")
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
