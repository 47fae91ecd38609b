"""Rules of a method about cuts, and expressions that all statements of a round share.

Cells hold at least the codes of all attributes and their weight `w`, the number of their records.
A rule may carry further columns along.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.identifiers import QualifiedName
from pganon.sqltools import cast, col, fragment, num, query
from pganon.steps import CreateTable, Select, State, table

FEW = 20
"""Attributes up to which every tried value has the extents of its cells on all of them. That takes
the square of their number, so with more of them only the sides of cuts that compete are."""


def round_table(name: str, purpose: str, select: Select, *, later: int = 0) -> CreateTable:
    """A work table of every round, or of the next one, whose query is the same in all of them."""
    inline = name not in ("halves", "moves", "nodes")
    return table(name, purpose, select, later=later, every_round=True, inline=inline)


@dataclass(frozen=True)
class CutRule(ABC):
    """How groups of weighted cells are cut.

    Attributes:
        axes: the attributes by which groups are cut.
        minimum_size: fewest records of a group: what has fewer than twice as many is not cut.
    """

    axes: tuple[Axis, ...]
    minimum_size: int

    # -- what rules differ in -----------------------------------------------------------------

    @abstractmethod
    def cutting(self) -> Sequence[CreateTable]:
        """The tables between `tries` and `halves`, in order."""

    def following(self) -> Sequence[CreateTable]:
        """Tables of the next round, from its groups; those of the first one are made before."""
        return ()

    @property
    def candidates(self) -> int:
        """How many attributes with an allowable cut compete, widest first."""
        return 1

    @property
    def carried(self) -> list[str]:
        """Columns of a cell besides its group, codes and weight."""
        return []

    @property
    def kept(self) -> list[str]:
        """Those of them that the cells of final groups keep."""
        return []

    @property
    def cut_columns(self) -> tuple[str, ...]:
        """Columns that say where a cut is; `cum` is how many records are on its left."""
        return ("cum", "thr")

    def loss(self, axis: Axis, state: State, table: str) -> exp.Expr:
        """The loss of a group in `table`; an attribute that loses nothing is not tried."""
        return axis.loss(state, table)

    def rank(self, loss: exp.Expr) -> exp.Expr:
        """Score by which the attributes of a group are tried, largest first."""
        return loss

    def level(self, axis: Axis, state: State, table: str) -> exp.Expr:
        """Level of a tree that a group in `table` is cut below."""
        return num(0)

    def code_key(self, axis: Axis, state: State, code: exp.Expr, level: exp.Expr) -> exp.Expr:
        """Values that a cut separates, in cutting order unless `by_frequency`."""
        return code

    def by_frequency(self, axis: Axis) -> bool:
        """Whether values are put in order by falling frequency in the group instead of by key."""
        return False

    def cuts(self, state: State) -> exp.Select:
        """(node, attr, rank, cut columns): the allowable cut of every try, if it has one."""
        return query("select b.* from best as b", at(state, "best"))

    def chosen(self, state: State) -> exp.Select:
        """(node, attr, cut columns): the one cut of every group that has any."""
        return self.competing(state, self.cuts(state))

    def untried(self, state: State) -> exp.Select:
        """(node, more): whether a group that is not cut has attributes left to try."""
        return query("select t.node, t.more from tries as t where t.rank = 1", at(state, "tries"))

    def side_columns(self, state: State) -> list[exp.Expr]:
        """Further columns of `halves`: aggregates over `ranked` rows `r` of a cut `b`."""
        return []

    def is_left(self, state: State, table: str) -> exp.Expr:
        """Whether a cell `c` lies on the left of the cut in `table`."""
        return self.by_attribute(
            col("attr", table),
            lambda axis: fragment(
                ":key <= :threshold",
                key=self.code_key(axis, state, col(axis.code, "c"), col("level", table)),
                threshold=col("thr", table),
            ),
        )

    def with_place(self, state: State, tree: exp.Select, table: str) -> exp.Select:
        """The query of cells `c` and cuts in `table` with what else `is_left` looks at."""
        return tree

    # -- what they share ----------------------------------------------------------------------

    @property
    def covers(self) -> bool:
        """Whether `ranked` has the extents of every value."""
        return len(self.axes) <= FEW

    @property
    def codes(self) -> list[str]:
        return [axis.code for axis in self.axes]

    def extents(self, state: State) -> list[str]:
        """Columns of a group with the codes that it covers."""
        return [item.alias for axis in self.axes for item in axis.extent(state, "c")]

    def by_attribute(self, attr: exp.Expr, value: Callable[[Axis], exp.Expr]) -> exp.Expr:
        case = exp.Case(this=attr.copy())
        for axis in self.axes:
            case.when(exp.Literal.number(axis.index), value(axis), copy=False)
        return case

    def key(self, state: State, table: str) -> exp.Expr:
        """Value of a cell `c` on the attribute of a try in `table`."""
        return self.by_attribute(
            col("attr", table),
            lambda axis: cast(
                exp.paren(self.code_key(axis, state, col(axis.code, "c"), col("level", table))),
                "integer",
            ),
        )

    def competing(self, state: State, cuts: exp.Select) -> exp.Select:
        """(node, attr, cut columns): of every group the cuts on the widest attributes.

        None yet of a group that has fewer than can compete while attributes are left to try.
        """
        names = ("node", "attr", *self.cut_columns)
        placed = query(
            "select b.*, t.more,"
            " row_number() over (partition by b.node order by b.rank) as place,"
            " count(*) over (partition by b.node) as allowed"
            " from b join tries as t on t.node = b.node and t.attr = b.attr",
            {"b": cuts, **at(state, "tries")},
        )
        return query(
            "select 1 from p where p.place <= :most and (p.allowed >= :most or not p.more)",
            {"p": placed},
            most=num(self.candidates),
        ).select(*[col(name, "p") for name in names], append=False)


def at(state: State, *names: str) -> Mapping[str, QualifiedName | exp.Select]:
    """Work tables of the round by name."""
    return {name: state.in_round(name) for name in names}
