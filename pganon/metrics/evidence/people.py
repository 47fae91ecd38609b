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
from pganon.forms.confidential import fewest_records
from pganon.forms.elements import own_value
from pganon.forms.shape import Relations
from pganon.identifiers import QualifiedName
from pganon.privacy.rows import Relation
from pganon.resolved.model import Attribute, ReleaseSpec, Sensitive
from pganon.sqltools import cast, col, materialized, query
from pganon.steps import CreateTable, State, Step
from pganon.steps.facts import Facts


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
    placed = query(
        "select c.key, c.n, row_number() over (order by c.n, c.key) as place"
        " from (select o.key, count(*) as n from once as o group by o.key) as c"
    )
    tree = query(
        "select p.key, p.n, coalesce(f.n, 0) as first from placed as p left join"
        " (select r.place, count(*) as n from"
        " (select o.person, min(q.place) as place from once as o join placed as q on q.key = o.key"
        " group by o.person) as r group by r.place) as f on f.place = p.place"
    )
    return materialized(tree, once=once, placed=placed)


def fewest(spec: ReleaseSpec, facts: Facts) -> float:
    """How many are counted together, so that they are `report.smallest` people: records, unless the
    form says which are of one person."""
    if spec.policy.method.encoding.reserves_identity:
        return spec.policy.report.smallest
    return fewest_records(spec, facts)


def attribute_steps(spec: ReleaseSpec, attribute: Attribute) -> list[Step]:
    """:func:`holders` of its codes as :func:`of_attribute`; none if every record is a person."""
    if not has_several(spec):
        return []

    def select(state: State) -> exp.Select:
        held = query(
            "select c.individual as person, :code as key from c",
            {"c": all_records(spec, state)},
            code=col(f"c{attribute.index}", "c"),
        )
        return holders(held)

    table = CreateTable(
        f"holders{attribute.index}",
        f"how many people have the values of attribute {attribute.index + 1}",
        lambda s: of_attribute(attribute, s),
        select,
        inline=True,
    )
    return [table]


def of_attribute(attribute: Attribute, state: State) -> QualifiedName:
    return state.work(f"holders{attribute.index}")


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
    codes = [cast(col(name, "c"), "bigint") for name in cell_columns(spec, state)]
    cell = codes[0] if len(codes) == 1 else exp.Array(expressions=codes)
    shown = query(
        "select array_agg(distinct :cell) as cells from c group by c.individual",
        {"c": all_records(spec, state)},
        cell=cell,
    )
    return query("select count(*) as n from s group by s.cells", {"s": shown})
