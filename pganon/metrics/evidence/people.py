"""People who may have several records, each of whom small counts take for one.

Values that a person has are counted once, and several rare ones of the same person are not several
people: of any of the rarest values, it is known how many people have one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.codes import all_records
from pganon.encode.combination import cell_columns
from pganon.encode.people import has_several
from pganon.encode.work import CODED
from pganon.forms.elements import own_value
from pganon.forms.form import Relations
from pganon.privacy.rows import Relation
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import col, named, query
from pganon.steps import State


@dataclass(frozen=True)
class Individuals:
    """How a form that publishes which records are of one person counts people.

    Attributes:
        totals: SELECT (columns of the group, total): the people of every group.
        held: SELECT person, value: who has which sensitive value.
    """

    totals: Callable[[ReleaseSpec, Relations], exp.Select]
    held: Callable[[ReleaseSpec, Relations, Sensitive], exp.Select]


def holders(held: Relation) -> exp.Select:
    """SELECT key, n, first: how many people have a value, and of how many it is the rarest.

    Args:
        held: relation (person, key).
    """
    once = query("select distinct h.person, h.key from h", {"h": held})
    counted = query("select o.key, count(*) as n from o group by o.key", {"o": once})
    placed = query(
        "select c.key, c.n, row_number() over (order by c.n, c.key) as place from c", {"c": counted}
    )
    rarest = query(
        "select o.person, min(p.place) as place from o join p on p.key = o.key group by o.person",
        {"o": once, "p": placed},
    )
    firsts = query("select r.place, count(*) as n from r group by r.place", {"r": rarest})
    return query(
        "select p.key, p.n, coalesce(f.n, 0) as first from p left join f on f.place = p.place",
        {"p": placed, "f": firsts},
    )


def of_attribute(spec: ReleaseSpec, index: int, state: State) -> exp.Select | None:
    """:func:`holders` of the codes of an attribute; None where every record is a person."""
    if not has_several(spec):
        return None
    held = query(
        "select c.individual as person, :code as key from c",
        {"c": all_records(spec, state)},
        code=col(f"c{index}", "c"),
    )
    return holders(held)


def of_values(spec: ReleaseSpec, item: Sensitive, state: State) -> exp.Select | None:
    """:func:`holders` of the keys of a sensitive column, in the source."""
    if not has_several(spec):
        return None
    held = query(
        "select c.individual as person, :key as key from c",
        {"c": state.work(CODED)},
        key=own_value(item, "c"),
    )
    return holders(held)


def alike_in_source(spec: ReleaseSpec, state: State) -> exp.Select:
    """SELECT n: people of the source whose records have the same quasi-identifiers."""
    names = cell_columns(spec, state)
    cells = query("select distinct c.individual from c", {"c": all_records(spec, state)})
    cells = cells.select(*[named(col(name, "c"), name) for name in names])
    cell = exp.Array(expressions=[exp.cast(col(name, "d"), "bigint") for name in names])
    shown = query(
        "select d.individual, array_agg(:cell order by :cell) as cells from d group by 1",
        {"d": cells},
        cell=cell,
    )
    return query("select count(*) as n from s group by s.cells", {"s": shown})
