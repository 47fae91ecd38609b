"""Quasi-sensitive attributes as the clustering functions of the server take them.

Values of all attributes are numbered through from 1, NULL of an attribute being the first of its
numbers. A record is a point: on a line the position in [0, 1] and whether it is NULL, in a tree the
ancestors from the leaf up to the child of the root (see pganon.qs_loss).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.axis import Axis, HeightAxis, OrderedAxis
from pganon.identifiers import QualifiedName
from pganon.methods.shape import MethodShape
from pganon.plan.sqltools import cast, col, fragment, named, num, query
from pganon.plan.steps import State
from pganon.policy.options import MethodOptions
from pganon.privacy.base import Relation
from pganon.privacy.quasi_sensitive import Element, QSKAnonymity, QSSet


@dataclass(frozen=True)
class Shape(MethodShape[MethodOptions]):
    """What of a release the steps of both methods look at."""

    @property
    def model(self) -> QSKAnonymity:
        (requirement,) = self.spec.requirements
        assert isinstance(requirement.model, QSKAnonymity)
        return requirement.model

    @property
    def set_names(self) -> list[str]:
        return list(self.spec.qs_sets)

    @property
    def set_numbers(self) -> list[int]:
        """The set of every attribute, from 1."""
        names = self.set_names
        return [names.index(str(a.qs_set)) + 1 for a in self.spec.attributes]

    def support(self, state: State, number: int) -> QualifiedName:
        """(v1, v2, ..): combinations of a set that exist, values by number."""
        return state.work(f"support{number}")

    def sets(self, state: State) -> dict[int, QSSet]:
        """The sets of relations with arrays of codes `c<i>`, for :meth:`element`."""
        found: dict[int, QSSet] = {}
        for number, attributes in enumerate(self.spec.qs_sets.values(), start=1):
            indexes = [attribute.index for attribute in attributes]
            found[number] = QSSet(
                indexes, [f"c{index}" for index in indexes], self.support(state, number)
            )
        return found

    def heights(self, state: State) -> list[int]:
        return [_height(axis, state) for axis in self.axes]

    def dimensions(self, state: State) -> int:
        """Columns of a point."""
        return sum(height or 2 for height in self.heights(state))

    def value_number(self, state: State, index: int, code: exp.Expr) -> exp.Expr:
        before = sum(axis.size(state) + 1 for axis in self.axes[:index])
        return fragment(":code + :before", code=code, before=num(before + 1))

    def element(self, state: State) -> Element:
        """From a code in an array to what the combinations hold."""
        return lambda code, index: self.value_number(state, index, code)

    def point(self, state: State, table: str) -> list[exp.Expr]:
        """Expressions of the columns of a point, from the codes in `table`."""
        found: list[exp.Expr] = []
        for axis in self.axes:
            code = col(axis.code, table)
            if isinstance(axis, OrderedAxis):
                found += [axis.position(state, code), fragment("(:c = 0)::int", c=code)]
                continue
            found.append(code)
            if isinstance(axis, HeightAxis):
                for level in range(1, _height(axis, state)):
                    found.append(axis.ancestor(state, code, num(level)))
        return [cast(exp.paren(item), "float8") for item in found]


def _height(axis: Axis, state: State) -> int:
    if isinstance(axis, OrderedAxis):
        return 0
    return max(axis.levels(state), 1) if isinstance(axis, HeightAxis) else 1


def code_arrays(codes: Sequence[str], relation: Relation, by: str) -> exp.Select:
    """SELECT by, codes..: the distinct codes of every attribute in every group, as arrays.

    For few, large groups: hashed, and in parallel. See :func:`small_code_arrays`.
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


def small_code_arrays(
    codes: Sequence[str], relation: Relation, by: str, sizes: exp.Expr
) -> exp.Select:
    """SELECT by, n, codes..: the same for many small groups, whose sorts cost next to nothing.

    `sizes` is an aggregate over the rows `r` of a group. Arrays are sorted, so equal sets are
    equal arrays.
    """
    tree = query("select :n as n from r", {"r": relation}, n=sizes).select(col(by, "r"))
    for code in codes:
        tree = tree.select(named(fragment("array_agg(distinct :c)", c=col(code, "r")), code))
    return tree.group_by(col(by, "r"))
