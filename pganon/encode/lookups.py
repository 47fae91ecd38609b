"""Dictionaries combined into fewer: a record is looked up once for several attributes.

Each join of a million records costs as much as a few columns more. Dictionaries of few values are
therefore crossed, such that every combination of their values is one row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal

from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.sqltools import aliased, col, computed_once, fragment, named, num
from pganon.steps import State

AT_MOST = 1000
"""Most combinations of combined dictionaries: as many rows as fit the caches of a processor."""

_COMBINATION = "combination"


@dataclass(frozen=True)
class Joined:
    """Attributes that are looked up together.

    Attributes:
        axes: neighbours among the attributes.
        computed: more columns of every combination, made from the columns `code` and `value` of
            the dictionaries, which have the aliases of :func:`dictionary`.
    """

    axes: tuple[Axis, ...]
    computed: tuple[exp.Expr, ...] = ()

    @property
    def alias(self) -> str:
        """Alias of the relation in a join."""
        return f"l{self.axes[0].index}"

    @property
    def _alone(self) -> bool:
        return len(self.axes) == 1 and not self.computed

    def column(self, axis: Axis, name: Literal["code", "value"]) -> exp.Column:
        return col(name if self._alone else f"{name}{axis.index}", self.alias)

    def combination(self, state: State) -> exp.Column:
        """A number of every row, which orders records as their codes do one after the other."""
        (first, *_) = self.axes
        return self.column(first, "code") if self._alone else col(_COMBINATION, self.alias)

    def relation(self, state: State) -> exp.Expr:
        """The relation to join with, named.

        One that is computed by the server is computed once: were the planner to write its columns
        out, its memory would grow with the cube of the number of attributes.
        """
        (first, *others) = self.axes
        if self._alone:
            return _named(first, state, self.alias)
        number = self._number(state, lambda axis: col("code", dictionary(axis)))
        columns = [
            named(col(name, dictionary(axis)), f"{name}{axis.index}")
            for axis in self.axes
            for name in ("code", "value")
        ]
        columns += [named(number, _COMBINATION), *self.computed]
        tree = exp.select(*columns).from_(_named(first, state, dictionary(first)))
        for axis in others:
            # All rows with all rows, as a join by hash: sessions of runs do without nested loops,
            # which older servers call so expensive that all plans seem to cost the same.
            codes = {"a": col("code", dictionary(first)), "b": col("code", dictionary(axis))}
            table = _named(axis, state, dictionary(axis))
            tree = tree.join(table, on=fragment(":a * 0 = :b * 0", **codes))
        return computed_once(tree).subquery(self.alias)

    def decode(self, tree: exp.Select, state: State, table: str) -> exp.Select:
        """`tree` joined with the relation by the codes in a table that it reads.

        It is changed in place, since a copy of it for every lookup takes long.
        """
        held = self._number(state, lambda axis: col(axis.code, table))
        on = exp.EQ(this=self.combination(state), expression=held)
        return tree.join(self.relation(state), on=on, copy=False)

    def _number(self, state: State, code: Callable[[Axis], exp.Expr]) -> exp.Expr:
        def appended(number: exp.Expr, axis: Axis) -> exp.Expr:
            base = num(axis.size(state) + 1)
            return fragment(":n::int * :base + :code", n=number, base=base, code=code(axis))

        return reduce(appended, self.axes[1:], code(self.axes[0]))


def joined(
    axes: Iterable[Axis],
    state: State,
    computed: Callable[[Sequence[Axis]], Sequence[exp.Expr]] = lambda axes: (),
) -> list[Joined]:
    """Neighbours together, as long as they have no more than :data:`AT_MOST` combinations.

    A dictionary of more values stays alone.
    """
    packs: list[list[Axis]] = []
    combinations = 0
    for axis in axes:
        codes = axis.size(state) + 1
        combinations *= codes
        if packs and combinations <= AT_MOST:
            packs[-1].append(axis)
        else:
            packs.append([axis])
            combinations = codes
    return [Joined(tuple(pack), tuple(computed(pack))) for pack in packs]


def dictionary(axis: Axis) -> str:
    """Alias of a dictionary in :attr:`Joined.computed`."""
    return f"d{axis.index}"


def _named(axis: Axis, state: State, alias: str) -> exp.Expr:
    return aliased(axis.dictionary(state), alias)
