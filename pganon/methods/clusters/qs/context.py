"""Quasi-sensitive attributes as the clustering functions of the server take them.

A record is a point: on a line the position in [0, 1] and whether it is NULL, in a tree the
ancestors from the leaf up to the child of the root (see pganon.qs_loss).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.axis import Axis, HeightAxis, OrderedAxis
from pganon.methods.clusters.quasi_sensitive import QuasiSensitive
from pganon.methods.common.context import MethodContext
from pganon.policy.options import MethodOptions
from pganon.privacy.base import Relation
from pganon.sqltools import cast, col, fragment, named, num, query
from pganon.steps import State


@dataclass(frozen=True)
class QSContext(QuasiSensitive, MethodContext[MethodOptions]):
    """The parts of a release specification that the steps of both methods read."""

    def heights(self, state: State) -> list[int]:
        return [_height(axis, state) for axis in self.axes]

    def dimensions(self, state: State) -> int:
        """Columns of a point."""
        return sum(height or 2 for height in self.heights(state))

    def point(self, state: State, table: str) -> list[exp.Expr]:
        """Expressions of the columns of a point, from the codes in `table`."""
        columns: list[exp.Expr] = []
        for axis in self.axes:
            code = col(axis.code, table)
            if isinstance(axis, OrderedAxis):
                columns += [axis.position(state, code), fragment("(:c = 0)::int", c=code)]
                continue
            columns.append(code)
            if isinstance(axis, HeightAxis):
                for level in range(1, _height(axis, state)):
                    columns.append(axis.ancestor(state, code, num(level)))
        return [cast(exp.paren(item), "float8") for item in columns]


def _height(axis: Axis, state: State) -> int:
    if isinstance(axis, OrderedAxis):
        return 0
    return max(axis.levels(state), 1) if isinstance(axis, HeightAxis) else 1


def code_arrays(codes: Sequence[str], relation: Relation, by: str) -> exp.Select:
    """SELECT by, codes..: the distinct codes of every attribute in every group, as arrays.

    For a few large groups: hashed, and in parallel.
    """
    tree = query(
        "select g.* from g",
        {
            "g": query("select distinct 1 from r", {"r": relation}).select(
                col(by, "r"), append=False
            )
        },
    )
    for number, code in enumerate(codes):
        alias = f"a{number}"
        each = query("select distinct 1 from r", {"r": relation})
        each = each.select(col(by, "r"), col(code, "r"), append=False)
        array = query("select array_agg(:code) as codes from e", {"e": each}, code=col(code, "e"))
        array = array.select(col(by, "e")).group_by(col(by, "e"))
        same = exp.EQ(this=col(by, alias), expression=col(by, "g"))
        tree = tree.select(named(col("codes", alias), code))
        tree = tree.join(array.subquery(alias), on=same)
    return tree
