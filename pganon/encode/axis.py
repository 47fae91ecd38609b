"""Quasi-identifiers as codes: extents of groups, their loss, and where a group can be cut.

Every value of attribute i is a code 1..m in the work column `c<i>`; 0 is NULL. Codes follow the
order of the values (ordered), any fixed order (nominal) or the leaves of the hierarchy from left
to right (tree), so that a range, a set or an ancestor describes a group of codes.

An :class:`Axis` writes the SQL expressions that methods are built from. Sizes of dictionaries
are facts of the run (:mod:`pganon.encode.facts`), observed after encoding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode import facts
from pganon.encode.work import ancestors, dictionary
from pganon.resolved.model import Attribute, Scale
from pganon.sqltools import col, fragment, named, num, query, scalar, total
from pganon.steps import State

BITS = 64
MASKED_VALUES = 8 * BITS  # beyond, distinct values are counted instead of kept as bit masks

LOSS_DECIMALS = 9
"""Losses that differ less count as equal, so that ties do not hang on rounding."""


@dataclass(frozen=True)
class Axis(ABC):
    """SQL expressions for one attribute. `group` prefixes refer to aggregated extents."""

    attribute: Attribute

    @property
    def index(self) -> int:
        return self.attribute.index

    @property
    def code(self) -> str:
        """Work column with the code."""
        return f"c{self.index}"

    def size(self, state: State) -> int:
        """Number of distinct non-NULL values in the snapshot."""
        return state[facts.size(self.index)]

    def has_null(self, state: State) -> bool:
        """Whether there are records with code 0: without a value, or with one that is hidden."""
        return self.attribute.hidden is not None or self.has_missing(state)

    def has_missing(self, state: State) -> bool:
        """Whether there are records without a value."""
        return state[facts.has_null(self.index)]

    def dictionary(self, state: State):
        return state.work(dictionary(self.index))

    def code_type(self, state: State) -> str:
        return "smallint" if self.size(state) < 32_000 else "integer"

    @property
    @abstractmethod
    def by_frequency(self) -> bool:
        """Whether cuts order the keys by frequency in the group instead of by code."""

    @abstractmethod
    def extent(self, state: State, table: str) -> list[exp.Expr]:
        """Aggregates over the codes of a group, with their names."""

    @abstractmethod
    def merged(self, state: State, table: str) -> list[exp.Expr]:
        """The extent of a group from those of its parts in `table`.

        Empty where parts do not determine it: then the codes themselves have to be counted.
        """

    @abstractmethod
    def loss(self, state: State, table: str) -> exp.Expr:
        """NCP of a group in [0, 1] from its extent columns in `table`."""

    def level(self, state: State, table: str) -> exp.Expr:
        """Level of the group's common ancestor; 0 for attributes without a hierarchy."""
        return num(0)

    def key(self, state: State, code: exp.Expr, level: exp.Expr) -> exp.Expr:
        """Key by which a cut separates: the code, or the ancestor just below the group's."""
        return code

    def mixed(self, state: State, table: str) -> exp.Expr:
        """Whether a group holds both NULL and values."""
        return fragment(
            ":null and :hi > 0", null=col(f"n{self.index}", table), hi=col(f"hi{self.index}", table)
        )

    def _bounds(self, state: State, table: str) -> list[exp.Expr]:
        code = col(self.code, table)
        if not self.has_null(state):
            return [
                named(fragment("min(:c)", c=code), f"lo{self.index}"),
                named(fragment("max(:c)", c=code), f"hi{self.index}"),
            ]
        return [
            named(fragment("min(:c) filter (where :c > 0)", c=code), f"lo{self.index}"),
            named(fragment("max(:c)", c=code), f"hi{self.index}"),
            named(fragment("min(:c) = 0", c=code), f"n{self.index}"),
        ]

    def _merged_bounds(self, state: State, table: str) -> list[exp.Expr]:
        kinds = [("min", "lo"), ("max", "hi")]
        if self.has_null(state):
            kinds.append(("bool_or", "n"))
        return [
            named(exp.func(function, col(f"{kind}{self.index}", table)), f"{kind}{self.index}")
            for function, kind in kinds
        ]

    def _mixed_costs_one(self, state: State, table: str, loss: exp.Expr) -> exp.Expr:
        hi = col(f"hi{self.index}", table)
        case = exp.Case()
        if self.has_null(state):
            case = case.when(self.mixed(state, table), num(1)).when(
                fragment(":hi = 0", hi=hi), num(0)
            )
            return case.else_(loss)
        return loss


class OrderedAxis(Axis):
    """Numbers, dates and ordinal values: loss is the share of the whole span (NULL mixed: 1).

    The span is that of the declared domain, else that of the values in the source.
    """

    @property
    def by_frequency(self) -> bool:
        return False

    def extent(self, state: State, table: str) -> list[exp.Expr]:
        return self._bounds(state, table)

    def merged(self, state: State, table: str) -> list[exp.Expr]:
        return self._merged_bounds(state, table)

    def positions(self, state: State) -> exp.Expr:
        """The places of all values between the start (0) and the end (1) of the span, by code."""
        return scalar(
            query(
                "select array_agg(position order by code) from dict where code > 0",
                {"dict": self.dictionary(state)},
            )
        )

    def position(self, state: State, code: exp.Expr) -> exp.Expr:
        """Place of a value; NULL has none."""
        return fragment(":a[:code]", a=self.positions(state), code=code)

    def loss(self, state: State, table: str) -> exp.Expr:
        span = fragment(
            ":hi - :lo",
            hi=self.position(state, col(f"hi{self.index}", table)),
            lo=self.position(state, col(f"lo{self.index}", table)),
        )
        return self._mixed_costs_one(state, table, span)


class NominalAxis(Axis):
    """Unordered values: loss is (values covered - 1) / (values of the domain - 1); NULL is one.

    The domain is the declared one, else the values in the source; NULL counts where it occurs.
    """

    @property
    def by_frequency(self) -> bool:
        return True

    def domain(self, state: State) -> int:
        declared = self.attribute.values
        values = self.size(state) if declared is None else len(declared)
        return values + int(self.has_missing(state))

    def words(self, state: State) -> int:
        """Number of 64-bit words that hold one bit per code; 0 when there are too many codes."""
        size = self.size(state) + 1
        return 0 if size > MASKED_VALUES else -(-size // BITS)

    def extent(self, state: State, table: str) -> list[exp.Expr]:
        code = col(self.code, table)
        words = self.words(state)
        if words == 0:
            return [named(fragment("count(distinct :c)", c=code), f"d{self.index}")]
        if words == 1:
            return [named(fragment("bit_or(1::bigint << :c)", c=code), f"b{self.index}_0")]
        bit = "bit_or(case when :c >> 6 = :w then 1::bigint << (:c & 63) else 0 end)"
        return [
            named(fragment(bit, c=code, w=num(word)), f"b{self.index}_{word}")
            for word in range(words)
        ]

    def merged(self, state: State, table: str) -> list[exp.Expr]:
        names = [f"b{self.index}_{word}" for word in range(self.words(state))]
        return [named(fragment("bit_or(:b)", b=col(name, table)), name) for name in names]

    def distinct(self, state: State, table: str) -> exp.Expr:
        words = self.words(state)
        if words == 0:
            return col(f"d{self.index}", table)
        return total(
            [
                fragment("bit_count(:b::bit(64))", b=col(f"b{self.index}_{word}", table))
                for word in range(words)
            ]
        )

    def loss(self, state: State, table: str) -> exp.Expr:
        return self.loss_of(state, self.distinct(state, table))

    def loss_of(self, state: State, distinct: exp.Expr) -> exp.Expr:
        """NCP of a group with so many different values, NULL among them."""
        return fragment("(:d - 1)::float8 / :m", d=distinct, m=num(max(self.domain(state) - 1, 1)))


class TreeAxis(Axis):
    """Leaves of a hierarchy: loss is that of the lowest common ancestor (NULL mixed: 1).

    The work table `level<i>` (code, level, lo, hi, loss, ...) holds the ancestor of every leaf on
    every level, as the range of leaf codes below it.
    """

    @property
    def by_frequency(self) -> bool:
        return not self.attribute.ranged

    def levels(self, state: State) -> int:
        """Number of levels above the leaves; the root is on this level."""
        return state[facts.levels(self.index)]

    def table(self, state: State):
        return state.work(ancestors(self.index))

    def extent(self, state: State, table: str) -> list[exp.Expr]:
        return self._bounds(state, table)

    def merged(self, state: State, table: str) -> list[exp.Expr]:
        return self._merged_bounds(state, table)

    def _lookup(self, state: State, column: str, code: exp.Expr, level: exp.Expr):
        values = scalar(
            query(
                "select array_agg(:column order by t.code, t.level) from t",
                {"t": self.table(state)},
                column=col(column, "t"),
            )
        )
        step = num(self.levels(state) + 1)
        return fragment(
            ":a[(:code - 1) * :step + :level + 1]", a=values, code=code, step=step, level=level
        )

    def paths(self, state: State) -> exp.Expr:
        """Of every leaf, by code, the first leaves below itself and below its ancestors.

        One after another, as many as there are levels below the root.
        """
        return scalar(
            query(
                "select array_agg(t.lo order by t.code, t.level) from t where t.level < :levels",
                {"t": self.table(state)},
                levels=num(self.levels(state)),
            )
        )

    def losses(self, state: State) -> exp.Expr:
        """Of every leaf, by code, the loss of itself and of its ancestors up to the root."""
        return scalar(
            query(
                "select array_agg(t.loss order by t.code, t.level) from t where t.level <= :levels",
                {"t": self.table(state)},
                levels=num(self.levels(state)),
            )
        )

    def ancestor(self, state: State, code: exp.Expr, level: exp.Expr):
        """First leaf code below the ancestor of `code` on `level`; 0 (NULL) is its own."""
        first = self._lookup(state, "lo", code, level)
        if not self.has_null(state):
            return first
        return exp.Case().when(fragment(":c = 0", c=code), num(0)).else_(first)

    def leaves(self, state: State, code: exp.Expr, level: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
        """First and last leaf code below the ancestor of a leaf on `level`."""
        first = self._lookup(state, "lo", code, level)
        return first, self._lookup(state, "hi", code.copy(), level.copy())

    def level(self, state: State, table: str) -> exp.Expr:
        lo, hi = col(f"lo{self.index}", table), col(f"hi{self.index}", table)
        shown = state.facts.get(facts.shown_level(self.index))
        if shown is not None:
            return num(shown)
        if self.levels(state) == 0:
            return num(0)  # nothing but NULLs
        # Made here, so it may grow where it is; a copy per level would take most of the time.
        case = exp.Case()
        for number in range(self.levels(state)):
            last = self._lookup(state, "hi", lo, num(number))
            case.when(fragment(":last >= :hi", last=last, hi=hi), num(number), copy=False)
        return case.else_(num(self.levels(state)), copy=False)

    def loss(self, state: State, table: str) -> exp.Expr:
        lo = col(f"lo{self.index}", table)
        level = exp.paren(self.level(state, table), copy=False)
        loss = self._lookup(state, "loss", lo, level)
        return self._mixed_costs_one(state, table, loss)

    def child_loss(self, state: State, code: exp.Expr, level: exp.Expr) -> exp.Expr:
        """Weighted loss of the ancestor one level below `level`."""
        below = fragment("greatest(:level - 1, 0)", level=level)
        weighted = fragment(
            ":loss * :weight",
            loss=exp.paren(self._lookup(state, "loss", code, exp.paren(below))),
            weight=exp.Literal.number(repr(self.attribute.weight)),
        )
        return exp.Case().when(fragment(":c = 0", c=code), num(0)).else_(weighted)

    def key(self, state: State, code: exp.Expr, level: exp.Expr) -> exp.Expr:
        below = fragment("greatest(:level - 1, 0)", level=level)
        return self.ancestor(state, code, below)


class FlatAxis(NominalAxis):
    """Unordered values as a tree of height 1: any two different ones, NULL among them, lose 1."""

    def loss_of(self, state: State, distinct: exp.Expr) -> exp.Expr:
        return fragment("(:d > 1)::int", d=distinct)


class HeightAxis(TreeAxis):
    """Leaves of a hierarchy: loss is the height of the lowest common ancestor over the root's."""

    def loss(self, state: State, table: str) -> exp.Expr:
        height = num(max(self.levels(state), 1))
        loss = fragment(":l::float8 / :h", l=exp.paren(self.level(state, table)), h=height)
        return self._mixed_costs_one(state, table, loss)


_AXES = {Scale.ORDERED: OrderedAxis, Scale.NOMINAL: NominalAxis, Scale.TREE: TreeAxis}
_CLUSTER_AXES = {Scale.ORDERED: OrderedAxis, Scale.NOMINAL: FlatAxis, Scale.TREE: HeightAxis}


def axes(attributes: tuple[Attribute, ...]) -> tuple[Axis, ...]:
    """One axis per attribute, in the order of the policy.

    Quasi-sensitive attributes lose by height in a tree, as QS k-anonymity defines it,
    quasi-identifiers by the share of the values that are covered.
    """
    return tuple(
        (_AXES if attribute.qs_set is None else _CLUSTER_AXES)[attribute.scale](attribute)
        for attribute in attributes
    )
