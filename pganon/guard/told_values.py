"""The values that people have in a version, found by their marks in its histograms.

To look for them takes long, so it is done only of people of whom no histogram says it.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pganon.encode.people import mark
from pganon.guard import work
from pganon.guard.known import reads_everybody
from pganon.guard.model import Version
from pganon.guard.own import counted_people
from pganon.guard.told import Tell, Told
from pganon.identifiers import QualifiedName
from pganon.sqltools import col, fragment, num, query, stacked
from pganon.steps import CreateTable, State, Step


def own_step(tell: Tell, version: Version, secret: Callable[[State], exp.Select]) -> Step:
    """Make :func:`pganon.guard.work.own`, for :func:`pganon.guard.steps.guard_steps`.

    Args:
        secret: SELECT of the secret of the population.
    """
    table = work.own(version.part)
    return CreateTable(
        table.name,
        "values of people",
        lambda s: s.work(table),
        lambda s: _own(tell(s), version, secret(s), s),
    )


def _own(told: Told, version: Version, secret: exp.Select, state: State) -> exp.Expr:
    """(person, col, value, n) of whom own values are read."""
    if not told.columns:
        return query(
            "select null::uuid as person, 1 as col, ''::text as value, 1::bigint as n where false"
        )

    def place(name: str) -> int:
        return version.columns.index(name) + 1

    def asked(name: str) -> exp.Select | QualifiedName:
        if reads_everybody(version):
            return told.members
        people = counted_people(version, state, place(name))
        return query(
            "select m.* from m join p on p.person = m.member", {"m": told.members, "p": people}
        )

    values = own_values(told, secret, place, asked)
    if not told.several:
        return query("select o.*, 1::bigint as n from o", {"o": values})
    return query(
        "select o.person, o.col, o.value, count(*) as n from o group by 1, 2, 3", {"o": values}
    )


def own_values(
    told: Told,
    secret: exp.Select,
    place: Callable[[str], int],
    members: Callable[[str], exp.Select | QualifiedName] | None = None,
) -> exp.Select:
    """SELECT person, col, value of every record; `place` numbers the columns.

    A mark shows which of the values of a group is a person's.

    Args:
        members: of whom the values of a column are read, if not of all.
    """
    parts = [
        query(
            "select m.member as person, :place as col, h.value from m"
            " join h on h.col = :own and h.link = (:link)::bigint"
            " where :marked = :mark",
            {"m": members(name) if members else told.members, "h": told.histogram},
            place=num(place(name)),
            own=num(number),
            marked=fragment(f"m.marks[{number}]"),
            link=col(link, "m"),
            mark=mark(col("member", "m"), col("value", "h"), secret.copy()),
        )
        for number, (name, link) in enumerate(told.columns, start=1)
    ]
    return stacked(parts)
