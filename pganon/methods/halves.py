"""Parts of a curve that are as small as a rule allows: the curve is halved, and the halves again.

    hist_r       (parts.., node, value, n)   records per value in the nodes of level r
    undivided_r  (level, parts.., node)      nodes of level r + 1 that stay whole
    leaves       (parts.., piece, block)     the block of every piece: its first piece

Pieces of a curve are the leaves of a binary tree over it. From the root down, nodes are divided
until the rule says no; the tree is computed from the pieces up. A piece is therefore in the highest
node above it that stays whole, or is a block itself. Where records lie on several curves, columns
`parts` say on which; each has a tree of its own, perhaps of another height.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.codes import weight_type
from pganon.identifiers import QualifiedName
from pganon.sqltools import aliased, cast, col, equal, fragment, num, query, stacked
from pganon.steps import Check, CreateTable, Repeat, State, Step
from pganon.steps.facts import RECORDS, count, flag

_ROOTED = flag("rooted")
_ROUNDS = count("divide_rounds")


@dataclass(frozen=True)
class Halves:
    """The trees over the pieces of curves.

    Attributes:
        histogram: SELECT of `hist_0`: records per value in every piece; pieces of a curve are
            numbered from 0, and a power of two.
        undivided: SELECT level, parts.., node of the nodes of the next level that stay whole, from
            the histograms of this round and the next. A node with one child is none of them.
        parts: columns that say on which curve a piece is.
    """

    histogram: Callable[[State], exp.Expr]
    undivided: Callable[[State], exp.Expr]
    parts: Sequence[str] = ()

    def steps(self) -> list[Step]:
        return [
            CreateTable(
                "histogram",
                "records per value in every piece",
                lambda s: s.work("hist", round=0),
                self.histogram,
            ),
            Repeat(
                name="divide",
                purpose="find the parts of the curve that cannot be divided",
                body=lambda number: self._round(),
                until=_ROOTED,
                bound=lambda state: state[RECORDS].bit_length() + 2,
                rounds=_ROUNDS,
            ),
            CreateTable(
                "leaves", "the block of every piece", lambda s: s.work("leaves"), self._leaves
            ),
        ]

    def leftovers(self, state: State) -> list[QualifiedName]:
        """Work tables of the trees, without `hist_0` and `leaves`."""
        return [
            *[state.work("hist", round=r + 1) for r in range(state[_ROUNDS])],
            *[state.work("undivided", round=r) for r in range(state[_ROUNDS])],
        ]

    def _columns(self, table: str) -> list[exp.Column]:
        return [col(name, table) for name in self.parts]

    def _round(self) -> Sequence[Step]:
        return [
            CreateTable(
                "histogram",
                "records per value, two nodes together",
                lambda s: s.work("hist", round=s.round + 1),
                self._merged,
            ),
            CreateTable(
                "whole",
                "nodes that are not divided",
                lambda s: s.work("undivided", round=s.round),
                self.undivided,
                analyze=False,
            ),
            Check(
                "progress",
                "whether the next level is the root",
                lambda s: query(
                    "select max(h.node) = 0 as rooted from h",
                    {"h": s.work("hist", round=s.round + 1)},
                ),
                gives=[_ROOTED],
            ),
        ]

    def _merged(self, state: State) -> exp.Expr:
        tree = query(
            "select h.node >> 1 as node, h.value, :n as n from h group by 1, 2",
            {"h": state.work("hist", round=state.round)},
            n=cast(fragment("sum(h.n)"), weight_type(state)),
        )
        return tree.select(*self._columns("h")).group_by(*self._columns("h"))

    def _leaves(self, state: State) -> exp.Expr:
        nodes = [
            query("select u.level, u.node from u", {"u": state.work("undivided", round=r)})
            for r in range(state[_ROUNDS])
        ]
        undivided = stacked([node.select(*self._columns("u")) for node in nodes])
        pieces = query("select h.node as piece from h", {"h": state.work("hist", round=0)})
        levels = query(
            "select p.piece, g.level, p.piece >> g.level as node from p cross join"
            " (select generate_series(1, :levels) as level) as g",
            {"p": pieces.select(*self._columns("h")).distinct()},
            levels=num(state[_ROUNDS]),
        ).select(*self._columns("p"))
        above = query(
            "select l.piece, max(u.level) as level from l group by l.piece", {"l": levels}
        )
        same = equal(["level", "node", *self.parts], "u", "l")
        above = above.join(aliased(undivided, "u"), on=same, join_type="left")
        above = above.select(*self._columns("l")).group_by(*self._columns("l"))
        return query(
            "select a.piece, (a.piece >> coalesce(a.level, 0)) << coalesce(a.level, 0) as block"
            " from a",
            {"a": above},
        ).select(*self._columns("a"))
