"""Requirements of Mondrian for groups, and the tables of its cells.

    cells     (node, codes, w, [cell, d<j>], [values, rid])   node: active if positive, else final
    cellvalues<j> (cell, s<j>, w)   sensitive values of every cell, strict only

In the strict variant sensitive values stay in a table of their own: most statements read the
cells alone, which are fewer. In the relaxed one a cell is a single record. d<j> is how many
distinct values a cell has, where conditions count nothing else.
"""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.methods.common.rounds.rule import CutRule
from pganon.privacy.base import Requirement
from pganon.privacy.population import searched
from pganon.steps import State

_CANDIDATES = 3
"""By loss: to try more attributes takes longer and loses no less."""


@dataclass(frozen=True)
class CellContext(CutRule, ABC):
    """One set of cells and what is asked of its groups.

    Attributes:
        requirements: what both sides of a cut must satisfy.
        sensitive: indexes of the sensitive columns that requirements need, as columns `s<j>`.
        counted: those of them of which conditions count distinct values only.
        choose: "width" or "loss".
        relaxed: whether one value may be divided; cells are then single records with `rid`.
        leaves_out: whether records of final groups are left out, for what these cover.
    """

    requirements: tuple[Requirement, ...]
    sensitive: tuple[int, ...]
    counted: tuple[int, ...]
    choose: str
    relaxed: bool
    leaves_out: bool = False

    @property
    def by_loss(self) -> bool:
        return self.choose == "loss"

    @property
    def candidates(self) -> int:
        return _CANDIDATES if self.by_loss else 1

    @property
    def carried(self) -> list[str]:
        if self.relaxed:
            return [*[f"s{j}" for j in self.sensitive], "rid"]
        return [*(["cell"] if self.sensitive else []), *[f"d{j}" for j in self.counted]]

    @property
    def kept(self) -> list[str]:
        if self.leaves_out:
            return [*self.carried, "w"]
        return ["rid"] if self.relaxed else []

    @property
    def cut_columns(self) -> tuple[str, ...]:
        return ("level", "cum", "thr", "mask")

    @property
    def conditions(self) -> list[Requirement]:
        """Requirements beyond the size of a class."""
        return [r for r in self.requirements if r.sensitive is not None]

    @property
    def counting(self) -> list[Requirement]:
        """Requirements beside a population that cuts heed."""
        return searched(self.requirements)

    @property
    def covers(self) -> bool:
        return bool(self.counting) or super().covers

    def level(self, axis: Axis, state: State, table: str) -> exp.Expr:
        return axis.level(state, table)

    def code_key(self, axis: Axis, state: State, code: exp.Expr, level: exp.Expr) -> exp.Expr:
        return axis.key(state, code, level)

    def by_frequency(self, axis: Axis) -> bool:
        return axis.by_frequency
