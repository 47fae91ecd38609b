"""Vectors of the groups of a version that keeps value sets of several columns.

Published tables need not tell them. Those of a group are what its people have, by their marks, and
what else is in the value set that they had before.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.guard import work
from pganon.guard.model import Version
from pganon.published.elements import of_vector_key, vector_key
from pganon.published.linked import LinkedRows
from pganon.sqltools import aliased, col, fragment, named, num, query, stacked
from pganon.steps import State


def completed_vectors(version: Version, state: State) -> exp.Select:
    """What people of a group have, and the value set that one of them had before."""
    parts = [_vectors_of_people(version, state)]
    memory = version.memory
    if memory is not None and memory.sets is not None:
        had = query(
            "select n.grp, min(c.value_set::text)::uuid as value_set from n"
            " join p on p.person = n.person join c on c.cell = p.cell"
            " where n.grp > 0 group by n.grp",
            {
                "n": state.work(work.new(version.part)),
                "p": memory.person,
                "c": memory.cell,
            },
        )
        parts.append(
            query(
                "select h.grp, s.value from h join s on s.value_set = h.value_set",
                {"h": had, "s": memory.sets},
            )
        )
    return query("select distinct u.grp, u.value from u", {"u": stacked(parts)})


def _vectors_of_people(version: Version, state: State) -> exp.Select:
    own = state.work(work.own(version.part))
    tree = query("select n.grp from n where n.grp > 0", {"n": state.work(work.new(version.part))})
    keys: list[exp.Expr] = []
    for place, number in enumerate(version.kept_numbers):
        alias = f"o{place}"
        on = fragment(
            ":person = n.person and :col = :number",
            person=col("person", alias),
            col=col("col", alias),
            number=num(number),
        )
        tree = tree.join(aliased(own, alias), on=on)
        keys.append(col("value", alias))
    return tree.select(named(vector_key(keys), "value"))


def odd_rows(version: Version, table: LinkedRows, state: State) -> exp.Select:
    """SELECT grp: groups whose rows are not those of their vectors."""
    kept = version.kept or ()
    keys = [of_vector_key(kept.index(n), len(kept), col("value", "g")) for n in table.names]
    wanted = query(
        "select g.grp, :value as value from g",
        {"g": version.work(state, "completed")},
        value=vector_key(keys),
    )
    shown = query(
        "select l.grp, r.value from l join r on r.link = l.link where l.col = :number",
        {"l": state.work(work.links(version.part)), "r": table.rows},
        number=num(version.columns.index(table.names[0]) + 1),
    )
    return query(
        "select coalesce(s.grp, w.grp) as grp from s"
        " full join w on w.grp = s.grp and w.value = s.value where s.grp is null or w.grp is null",
        {"s": shown, "w": wanted},
    )
