"""What all statements of a round share: the cells, the attributes, and the names of columns.

    cells     (node, codes, w, [cell, d<j>], [values, rid])   node: active if positive, else final
    cellvalues<j> (cell, s<j>, w)   sensitive values of every cell, strict only

In the strict variant sensitive values stay in a table of their own: most statements read the
cells alone, which are fewer. In the relaxed one a cell is a single record. d<j> is how many
distinct values a cell has, where conditions count nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.identifiers import QualifiedName
from pganon.privacy.base import Requirement
from pganon.sqltools import cast, col
from pganon.steps import State

_CANDIDATES = 3
"""By loss: to try more attributes takes longer and loses no less."""

FEW = 20
"""Attributes up to which every tried value is told what its cells cover on all of them. That takes
the square of their number, so with more of them only the sides of cuts that compete are."""


@dataclass(frozen=True)
class Shape:
    """One set of cells and what is asked of its groups.

    Attributes:
        axes: the quasi-identifiers.
        requirements: what both sides of a cut must satisfy.
        sensitive: indexes of the sensitive columns that requirements need, as columns `s<j>`.
        counted: those of them of which conditions count distinct values only.
        minimum_size: fewest records of any class.
        choose: "width" or "loss".
        relaxed: whether one value may be divided; cells are then single records with `rid`.
    """

    axes: tuple[Axis, ...]
    requirements: tuple[Requirement, ...]
    sensitive: tuple[int, ...]
    counted: tuple[int, ...]
    minimum_size: int
    choose: str
    relaxed: bool

    @property
    def by_loss(self) -> bool:
        return self.choose == "loss"

    @property
    def candidates(self) -> int:
        """How many attributes with an allowable cut compete, widest first."""
        return _CANDIDATES if self.by_loss else 1

    @property
    def covers(self) -> bool:
        """Whether `ranked` has the extents of every value."""
        return len(self.axes) <= FEW

    @property
    def codes(self) -> list[str]:
        return [axis.code for axis in self.axes]

    @property
    def cell_columns(self) -> list[str]:
        """Columns of a cell besides its group and weight."""
        if self.relaxed:
            return [*self.codes, *[f"s{j}" for j in self.sensitive], "rid"]
        return [
            *self.codes,
            *(["cell"] if self.sensitive else []),
            *[f"d{j}" for j in self.counted],
        ]

    @property
    def final_columns(self) -> list[str]:
        """Columns of a cell of a final group besides the group."""
        return [*self.codes, *(["rid"] if self.relaxed else [])]

    @property
    def conditions(self) -> list[Requirement]:
        """Requirements beyond the size of a class."""
        return [r for r in self.requirements if r.sensitive is not None]

    def extents(self, state: State) -> list[str]:
        """Columns of a group that tell which codes it covers."""
        return [item.alias for axis in self.axes for item in axis.extent(state, "c")]

    def by_attribute(self, attr: exp.Expr, value: Callable[[Axis], exp.Expr]) -> exp.Expr:
        case = exp.Case(this=attr.copy())
        for axis in self.axes:
            case.when(exp.Literal.number(axis.index), value(axis), copy=False)
        return case

    def key(self, state: State, table: str) -> exp.Expr:
        """What a cell `c` shows on the attribute of a try in `table`."""
        return self.by_attribute(
            col("attr", table),
            lambda axis: cast(
                exp.paren(axis.key(state, col(axis.code, "c"), col("level", table))), "integer"
            ),
        )


def at(state: State, *names: str) -> dict[str, QualifiedName | exp.Select]:
    """Work tables of the round by name."""
    return {name: state.in_round(name) for name in names}


def same(left: str, right: str, names: Sequence[str]) -> exp.Expr:
    return exp.and_(*[exp.EQ(this=col(n, left), expression=col(n, right)) for n in names])
