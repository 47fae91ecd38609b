"""Dictionaries joined to fewer: a record is looked up once for several attributes.

Each join of a million records costs as much as a few columns more. Dictionaries of few values are
therefore crossed, such that every combination of their values is one row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod

from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.plan.sqltools import computed_once, fragment, num
from pganon.plan.steps import State

AT_MOST = 1000
"""Combinations of a few joined dictionaries: rows that stay in the caches of a processor."""

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
        tree = exp.select(*columns)
        for place, axis in enumerate(self.axes):
            part = dictionary(axis).subquery(f"d{axis.index}")
            tree = tree.join(part, join_type="cross") if place else tree.from_(part)
        return computed_once(tree) if len(self.axes) > 1 else tree

    def number(self, state: State, code: Callable[[Axis], exp.Expr]) -> exp.Expr:
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
    """As few as it takes such that none has more than :data:`AT_MOST` combinations.

    A dictionary of more values stays alone. First fit, the largest first.
    """
    packs: list[list[Axis]] = []
    for axis in sorted(axes, key=lambda axis: -axis.size(state)):
        for pack in packs:
            if prod(a.size(state) + 1 for a in (*pack, axis)) <= AT_MOST:
                pack.append(axis)
                break
        else:
            packs.append([axis])
    return [Joined(tuple(pack)) for pack in packs]
