"""An m-invariant version, and the people and published values of its groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.forms.links import LinkedRows
from pganon.history.model import GroupTables
from pganon.identifiers import QualifiedName
from pganon.resolved.invariance import Signatures
from pganon.sqltools import col, fragment, named, num, query, stacked
from pganon.steps import State


@dataclass(frozen=True)
class InvariantVersion:
    """An m-invariant version.

    Attributes:
        columns: names of the columns, in their order in a vector.
        marks: their places, from 1, among the marks of members.
        links: the same among the columns of histograms.
        earlier: the signatures that people had before; None if none had any.
        histogram: `col` integer, `link` bigint, `value` text, `n` bigint: published values.
        rows: of sensitive tables of several columns.
    """

    columns: tuple[str, ...]
    marks: tuple[int, ...]
    links: tuple[int, ...]
    tables: Callable[[State], GroupTables]
    histogram: Callable[[State], QualifiedName]
    earlier: Signatures | None
    rows: Callable[[State], Sequence[LinkedRows]]

    @property
    def is_one(self) -> bool:
        return len(self.columns) == 1


def members(version: InvariantVersion, state: State) -> exp.Select:
    """SELECT person, grp, mark0, ..: the group and the marks of everybody."""
    marks = [named(fragment(f"m.marks[{n}]"), f"mark{i}") for i, n in enumerate(version.marks)]
    return query(
        "select m.member as person, (:n)::bigint as grp from m",
        {"m": version.tables(state).members},
        n=col(version.tables(state).link, "m"),
    ).select(*marks)


def shown(version: InvariantVersion, state: State) -> exp.Select:
    """SELECT place, grp, value, n: published values of the columns, which are counted from 0."""
    parts = [
        query(
            "select :place as place, h.link as grp, h.value, h.n from h where h.col = :number",
            {"h": version.histogram(state)},
            place=num(place),
            number=num(number),
        )
        for place, number in enumerate(version.links)
    ]
    return stacked(parts)
