"""Parts of a curve that are as small as a rule allows: the curve is halved, and the halves again.

    hist_r   (parts.., node, value, n)   records per value in the nodes of level r
    whole_r  (level, parts.., node)      what the nodes of level r + 1 are divided into: themselves,
                                         or nodes below them
    leaves   (parts.., piece, block)     the block of every piece: its first piece

Pieces of a curve are the leaves of a binary tree over it. From the root down, nodes are divided
until the rule says no; the tree is computed from the pieces up. A piece is therefore in the highest
node above it that stays whole, or is a block itself. Where records lie on several curves, columns
`parts` say on which; each has a tree of its own, perhaps of another height.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.facts import weight_type
from pganon.identifiers import QualifiedName
from pganon.sqltools import cast, col, equal, fragment, num, query, union_all
from pganon.steps import Check, Loop, State, Step, table
from pganon.steps.facts import count, flag

_ROOTED = flag("rooted")
_ROUNDS = count("divide_rounds")


@dataclass(frozen=True)
class Halves:
    """The trees over the pieces of curves.

    Attributes:
        histogram: SELECT of `hist_0`: records per value in every piece; pieces of a curve are
            numbered from 0, and a power of two.
        undivided: SELECT parts.., node of the nodes of the next level that stay whole, from the
            histograms of this round and the next. A node with one child is none of them.
        parts: columns that say on which curve a piece is.
    """

    histogram: Callable[[State], exp.Expr]
    undivided: Callable[[State], exp.Select]
    parts: Sequence[str] = ()

    def steps(self) -> list[Step]:
        return [
            table(
                "histogram",
                "records per value in every piece",
                self.histogram,
                later=0,
                into="hist",
            ),
            Loop(
                "divide",
                "find the parts of the curve that cannot be divided",
                body=lambda number: self._round(),
                until=_ROOTED,
                rounds=_ROUNDS,
                carries=["whole"],
                keeps=["hist"],
            ),
            table("leaves", "the block of every piece", self._leaves),
        ]

    def _columns(self, table: str) -> list[exp.Column]:
        return [col(name, table) for name in self.parts]

    def _round(self) -> Sequence[Step]:
        return [
            table(
                "histogram",
                "records per value, two nodes together",
                self._merged,
                later=1,
                into="hist",
            ),
            table(
                "whole",
                "nodes that are not divided",
                self._whole,
                later=0,
                analyze=False,
                inline=True,
            ),
            Check(
                "progress",
                "whether the next level is the root",
                lambda s: query(
                    "select coalesce(max(h.node), 0) = 0 as rooted from h",
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

    def _whole(self, state: State) -> exp.Expr:
        """Nodes that stay whole take the place of what was below them."""
        level = num(state.round + 1)
        undivided = query("select :level as level, u.node from u", level=level)
        below = query("select w.level, w.node from w", {"w": self._below(state)})
        inside = exp.EQ(
            this=col("node", "u"), expression=fragment("w.node >> (:l - w.level)", l=level)
        )
        here = query("select 1 from u").where(
            inside, *([equal(self.parts, "u", "w")] if self.parts else [])
        )
        both = union_all(
            [
                undivided.select(*self._columns("u")),
                below.select(*self._columns("w")).where(exp.not_(exp.Exists(this=here))),
            ]
        )
        tree = query("select b.* from b", {"b": both})  # pyright: ignore[reportArgumentType]
        return tree.with_("u", as_=self.undivided(state), materialized=True)

    def _below(self, state: State) -> QualifiedName | exp.Select:
        """Nodes that those of this level are divided into; the pieces are level 0."""
        if state.round:
            return state.work("whole", round=state.round - 1)
        pieces = query(
            "select 0 as level, h.node from h", {"h": state.work("hist", round=state.round)}
        )
        return pieces.select(*self._columns("h")).distinct()

    def _leaves(self, state: State) -> exp.Expr:
        return query(
            "select (w.node << w.level) + generate_series(0, (1 << w.level) - 1) as piece,"
            " w.node << w.level as block from w",
            {"w": state.work("whole", round=state[_ROUNDS] - 1)},
        ).select(*self._columns("w"))
