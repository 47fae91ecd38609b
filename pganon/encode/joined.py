"""Dictionaries joined to fewer: a record is looked up once for several attributes.

Each join of a million records costs as much as a few columns more. Dictionaries of few values are
therefore crossed, such that every combination of their values is one row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.plan.sqltools import col, computed_once, fragment, named, num
from pganon.plan.steps import State

AT_MOST = 1000
"""Combinations of a few joined dictionaries: rows that stay in the caches of a processor."""

COMBINATION = "combination"
"""Column with the number of a combination of values."""

Rows = Callable[[Axis], exp.Select]
"""SELECT over the dictionary of an attribute, one row per value."""


@dataclass(frozen=True)
class Joined:
    """Attributes that are looked up together."""

    axes: tuple[Axis, ...]

    @property
    def alias(self) -> str:
        return f"d{self.axes[0].index}"

    def rows(self, dictionary: Rows, columns: Sequence[exp.Expr]) -> exp.Select:
        """SELECT `columns` of every combination of rows; those of axis i are called d<i>."""
        (first, *others) = self.axes
        tree = exp.select(*columns).from_(dictionary(first).subquery(f"d{first.index}"))
        for axis in others:
            alias = f"d{axis.index}"
            # All rows with all rows, as a join by hash: sessions of runs do without nested loops,
            # which older servers call so expensive that they cannot tell plans apart any more.
            all_rows = fragment(
                ":a * 0 = :b * 0", a=col("code", f"d{first.index}"), b=col("code", alias)
            )
            tree = tree.join(dictionary(axis).subquery(alias), on=all_rows)
        return computed_once(tree) if len(self.axes) > 1 else tree

    def decode(
        self,
        tree: exp.Select,
        state: State,
        table: str,
        dictionary: Rows,
        columns: Sequence[exp.Expr],
    ) -> None:
        """Join `tree` in place with `columns`, as in :meth:`rows`, by the codes of a table.

        Its column `combination` orders records as their codes do, one after the other.
        """
        code = self._number(state, lambda axis: col("code", f"d{axis.index}"))
        found = self.rows(dictionary, [named(code, COMBINATION), *columns])
        held = self._number(state, lambda axis: col(axis.code, table))
        on = exp.EQ(this=col(COMBINATION, self.alias), expression=held)
        tree.join(found.subquery(self.alias), on=on, copy=False)

    def _number(self, state: State, code: Callable[[Axis], exp.Expr]) -> exp.Expr:
        """One number for every combination of codes."""
        number = code(self.axes[0])
        for axis in self.axes[1:]:
            number = fragment(
                ":number::int * :base + :code",
                number=number,
                base=num(axis.size(state) + 1),
                code=code(axis),
            )
        return number


def joined(axes: Iterable[Axis], state: State) -> list[Joined]:
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
    return [Joined(tuple(pack)) for pack in packs]
