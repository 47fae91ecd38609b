"""The values that people have in a version, found by their marks in its histograms.

To look for them takes long, so it is done only of people of whom no histogram says it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from pganon.encode.people import mark_from, mark_seed
from pganon.guard import work
from pganon.guard.model import Version
from pganon.guard.own import Values, counted_people
from pganon.guard.told import Tell, Told
from pganon.sqltools import col, computed_once, fragment, num, query, stacked
from pganon.steps import CreateTable, State


def told_values(tell: Tell, version: Version, secret: Callable[[State], exp.Select]) -> Values:
    """For :func:`pganon.guard.steps.guard_steps`.

    Args:
        secret: SELECT of the secret of the population.
    """
    table = work.own(version.part)
    everybody = CreateTable(
        table.name,
        "values of people",
        lambda s: s.work(table),
        lambda s: _everybody(tell(s), version, secret(s)),
    )
    return Values(everybody, lambda s: _counted(tell(s), version, secret(s), s))


def _everybody(told: Told, version: Version, secret: exp.Select) -> exp.Expr:
    """(person, col, value, n)."""
    if not told.columns:
        return query(
            "select null::uuid as person, 1 as col, ''::text as value, 1::bigint as n where false"
        )
    values = own_values(told, secret, _place(version))
    if not told.several:
        return query("select o.*, 1::bigint as n from o", {"o": values})
    return query(
        "select o.person, o.col, o.value, count(*) as n from o group by 1, 2, 3", {"o": values}
    )


def _counted(told: Told, version: Version, secret: exp.Select, state: State) -> exp.Select:
    """SELECT cell, col, value, of everybody who is counted once for each."""
    if not told.columns:
        return query("select 0 as cell, 1 as col, ''::text as value where false")
    place = _place(version)

    def asked(name: str) -> exp.Select:
        return query(
            "select m.*, p.cell from m join p on p.person = m.member",
            {"m": told.members, "p": counted_people(version, state, place(name))},
        )

    values = own_values(told, secret, place, asked, ["cell"])
    if told.several:
        values = query("select distinct o.person, o.cell, o.col, o.value from o", {"o": values})
    return query("select o.cell, o.col, o.value from o", {"o": values})


def _place(version: Version) -> Callable[[str], int]:
    """The number of a column in the memory."""
    return lambda name: version.columns.index(name) + 1


def own_values(
    told: Told,
    secret: exp.Select,
    place: Callable[[str], int],
    members: Callable[[str], exp.Select] | None = None,
    beside: Sequence[str] = (),
) -> exp.Select:
    """SELECT person, col, value of every record; `place` numbers the columns.

    A mark shows which of the values of a group is a person's.

    Args:
        members: of whom the values of a column are read, if not of all.
        beside: further columns of these.
    """
    parts = [
        query(
            "select m.member as person, :place as col, h.value from m"
            " join h on h.col = :own and h.link = m.link where m.mark = :mark",
            {
                "m": _marked(
                    members(name) if members else query("select m.* from m", {"m": told.members}),
                    mark=fragment(f"m.marks[{number}]"),
                    link=col(link, "m"),
                    seed=mark_seed(col("member", "m"), secret.copy()),
                    beside=beside,
                ),
                "h": told.histogram,
            },
            place=num(place(name)),
            own=num(number),
            mark=mark_from(col("seed", "m"), col("value", "h")),
        ).select(*[col(column, "m") for column in beside])
        for number, (name, link) in enumerate(told.columns, start=1)
    ]
    return stacked(parts)


def _marked(
    members: exp.Select, *, mark: exp.Expr, link: exp.Expr, seed: exp.Expr, beside: Sequence[str]
) -> exp.Select:
    """SELECT member, link, mark, seed, and what is beside; made once, not for every value."""
    tree = query(
        "select m.member, (:link)::bigint as link, :mark as mark, :seed as seed from m",
        {"m": members},
        link=link,
        mark=mark,
        seed=seed,
    )
    return computed_once(tree.select(*[col(column, "m") for column in beside], copy=False))
