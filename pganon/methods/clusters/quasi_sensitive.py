"""Quasi-sensitive attributes, with numbers of their values for models and clusters.

Values of all attributes have consecutive numbers from 1. NULL has the first number of an
attribute.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.axis import Axis, axes
from pganon.forms.work import support
from pganon.identifiers import QualifiedName
from pganon.privacy.base import Relation
from pganon.privacy.quasi_sensitive import Element, QSKAnonymity, QSSet
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, fragment, named, num, query
from pganon.steps import State


@dataclass(frozen=True)
class QuasiSensitive:
    """The QS sets of a release, and the combinations of each that exist."""

    spec: ReleaseSpec

    @property
    def axes(self) -> tuple[Axis, ...]:
        return axes(self.spec.attributes)

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
        return state.work(support(number))

    def sets(self, state: State) -> dict[int, QSSet]:
        """The sets of relations with arrays of codes `c<i>`, for :meth:`element`."""
        sets: dict[int, QSSet] = {}
        for number, attributes in enumerate(self.spec.qs_sets.values(), start=1):
            indexes = [attribute.index for attribute in attributes]
            sets[number] = QSSet(
                indexes, [f"c{index}" for index in indexes], self.support(state, number)
            )
        return sets

    def value_number(self, state: State, index: int, code: exp.Expr) -> exp.Expr:
        before = sum(axis.size(state) + 1 for axis in self.axes[:index])
        return fragment(":code + :before", code=code, before=num(before + 1))

    def element(self, state: State) -> Element:
        """The function from a code in an array to its number in the combinations."""
        return lambda code, index: self.value_number(state, index, code)


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
