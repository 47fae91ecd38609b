"""Singling out: the attacker states what is true of exactly one person.

He states all that a row of the release shows, of a row that stands for one record.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.attacks.reader_view import ShownView, admits, cells
from pganon.encode.secrets import keyed_hash
from pganon.forms.elements import text_key, value_key
from pganon.identifiers import QualifiedName
from pganon.sqltools import cast, col, conjunction, fragment, named, num, query, text
from pganon.steps import State


def predicates(view: ShownView, state: State, number: int) -> exp.Select:
    """SELECT p, x<i>, z<i>, e<i>, v<j>, p<j>: so many rows that stand for one record, drawn."""
    shown = cells(view, "v")
    shown += [named(value_key(item, "v"), f"v{item.index}") for item in view.sensitive]
    shown += [named(text_key(col(item.published, "v")), f"p{item.index}") for item in view.carried]
    rows = query("select sum(:n) as n from v", {"v": view.rows}, n=view.records)
    rows = rows.select(*shown).group_by(*[num(n) for n in range(2, 2 + len(shown))])
    single = query("select s.* from s where s.n = 1", {"s": rows})
    row = fragment(":a || :row", a=text("predicate:"), row=cast(exp.column("s"), "text"))
    draw = keyed_hash(state, row)
    drawn = query(
        "select row_number() over (order by :draw) as p, s.* from s", {"s": single}, draw=draw
    )
    return query("select d.* from d where d.p <= :number", {"d": drawn}, number=num(number))


def satisfied(
    view: ShownView, predicates: QualifiedName, known: QualifiedName, held: int
) -> exp.Select:
    """SELECT p, people, control: whom each is true of, of the release and of those held out."""
    same = [f"v{item.index}" for item in view.sensitive]
    same += [f"p{item.index}" for item in view.carried]
    whether = [exp.EQ(this=col(name, "k"), expression=col(name, "p")) for name in same]
    whether += [admits(a, "p", "k") for a in view.attributes]
    return query(
        "select p.p, count(distinct k.person) filter (where k.place > :held) as people,"
        " count(distinct k.person) filter (where k.place <= :held) as control"
        " from p left join k on :whether group by p.p",
        {"p": predicates, "k": known},
        held=num(held),
        whether=conjunction(whether),
    )


def singled(satisfied: exp.Select) -> exp.Select:
    """SELECT the numbers of :class:`pganon.attacks.findings.Counted`."""
    return query(
        "select count(*) filter (where s.people = 1) as successes, count(*) as attempts,"
        " count(*) filter (where s.control = 1) as control_successes,"
        " count(*) as control_attempts from s",
        {"s": satisfied},
    )
