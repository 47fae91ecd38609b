"""Figures of an anatomized release that grows, from the relations of all its increments.

What naive Bayes infers is not among them: it is compared with the values that people have, and
those of earlier increments may have others by now. Nor is what the search of a run optimized.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from pganon.forms.elements import attribute_columns
from pganon.forms.facts import PARTITIONS, losses
from pganon.forms.form import ExactGroups, Relations, Whole
from pganon.identifiers import QualifiedName
from pganon.methods.buckets.form.statistics import (
    degree_check,
    informed_check,
    linked_partitions,
    whole_utility,
)
from pganon.methods.common.arrangement import Arrange, Arrangement, QuasiTable, SensitiveTable
from pganon.metrics import loss
from pganon.policy.options import CLASS_ID, COUNT, GROUP_ID
from pganon.resolved.increments import WHOLE
from pganon.resolved.model import Attribute, ReleaseSpec
from pganon.sqltools import col, fragment, named, num, query, stacked
from pganon.steps import Check, State, Step


def whole(arrange: Arrange, *, generalized: bool, settled: Callable[[ReleaseSpec], bool]) -> Whole:
    """How the whole is measured.

    Args:
        generalized: whether classes share generalized quasi-identifiers.
        settled: whether the policy alone decides the arrangement.
    """
    exact = ExactGroups(
        lambda spec, state, tables: _sizes(arrange, spec, state, tables),
        lambda spec, state, tables, attribute: _values(arrange, spec, state, tables, attribute),
    )
    return Whole(
        columns=lambda spec, state: _columns(arrange, spec, state),
        shown=(lambda spec, tables: shown(arrange, spec, tables)) if generalized else exact,
        measures=lambda spec, tables, lost: _measures(arrange, spec, tables, lost),
        utility=whole_utility,
        measurable=lambda spec, adds: (adds or settled(spec)) and _told(arrange(spec, State(0))),
    )


def _told(arrangement: Arrangement) -> bool:
    """Whether the release says which values the buckets of sensitive tables have.

    Columns of other QITs are linked to buckets that sensitive tables do not have.
    """
    links = linked_partitions(arrangement)
    return all(link in table.groups for table in arrangement.quasi for link in links)


def _columns(arrange: Arrange, spec: ReleaseSpec, state: State) -> dict[str, list[str]]:
    arrangement = arrange(spec, state)
    found: dict[str, list[str]] = {}
    for table in arrangement.quasi:
        shown = [a.published for a in table.attributes]
        if arrangement.generalized:
            shown = [c.name for a in table.attributes for c in attribute_columns(a)]
        found[table.part] = [*table.groups, *shown, *([COUNT] if table.counted else [])]
    for table in arrangement.sensitive:
        shown = [item.published for item in (*table.quasi, *table.sensitive)]
        found[table.part] = [GROUP_ID, *shown, COUNT]
    return found


# -- loss -------------------------------------------------------------------------------------


def shown(arrange: Arrange, spec: ReleaseSpec, tables: Relations) -> exp.Select:
    """SELECT group_id, n and what the class shows."""
    bearing = arrange(spec, State(0)).bearing
    columns = [col(CLASS_ID, "q")]
    columns += [col(c.name, "q") for a in bearing.attributes for c in attribute_columns(a)]
    tree = query("select count(*) as n from q", {"q": tables[bearing.part]})
    tree = tree.group_by(*[column.copy() for column in columns])
    return tree.select(named(columns[0], GROUP_ID), *columns[1:])


def _sizes(arrange: Arrange, spec: ReleaseSpec, state: State, tables: Relations) -> exp.Select:
    """SELECT place, number, n of the buckets of every partition."""
    arrangement = arrange(spec, state)
    bearing = arrangement.bearing
    count = fragment("sum(q.count)::bigint" if bearing.counted else "count(*)")
    return stacked(
        [
            query(
                "select :place as place, :number as number, :n as n from q group by :number",
                {"q": tables[bearing.part]},
                place=num(place),
                number=col(name, "q"),
                n=count.copy(),
            )
            for place, name in enumerate(linked_partitions(arrangement))
        ]
    )


def _values(
    arrange: Arrange, spec: ReleaseSpec, state: State, tables: Relations, attribute: Attribute
) -> exp.Select:
    """SELECT place, number, value: what the rows of a bucket have, whatever table shows it."""
    arrangement = arrange(spec, state)
    holding = [t for t in arrangement.quasi if attribute in t.attributes]
    holding += [t for t in arrangement.sensitive if attribute in t.quasi]
    return stacked(
        [
            query(
                "select :place as place, :number as number, :value as value from t",
                {"t": tables[table.part]},
                place=num(place),
                number=col(_link(table, name), "t"),
                value=col(attribute.published, "t"),
            )
            for table in holding
            for place, name in enumerate(linked_partitions(arrangement))
        ]
    )


def _link(table: QuasiTable | SensitiveTable, partition: str) -> str:
    """Column with the number of the bucket of a partition."""
    return partition if isinstance(table, QuasiTable) else GROUP_ID


# -- steps ------------------------------------------------------------------------------------


def _measures(
    arrange: Arrange,
    spec: ReleaseSpec,
    tables: Callable[[State], Relations],
    lost: Callable[[State], QualifiedName],
) -> Sequence[Step]:
    def sizes(state: State) -> exp.Expr:
        rows = query("select l.* from l", {"l": lost(state)})
        tree = loss.basic(spec, rows, state, lost=loss.known_loss)
        partitions = linked_partitions(arrange(spec, state))
        return tree.select(named(num(len(partitions)), PARTITIONS.column))

    basic = Check(
        "utility",
        "extent and sizes of the buckets of the whole version",
        sizes,
        gives=[*losses(spec), PARTITIONS],
    )
    degrees = [degree_check(spec, arrange, item, tables) for item in spec.sensitive]
    informed = [
        informed_check(spec, arrange, item, tables, lambda s: _records(spec, s))
        for item in spec.sensitive
    ]
    return [basic, *degrees, *informed]


def _records(spec: ReleaseSpec, state: State) -> exp.Select:
    """SELECT v<j> of the records of the source."""
    records = query("select 1 from w", {"w": state.outer.work(WHOLE)})
    values = [named(col(f"s{item.index}", "w"), f"v{item.index}") for item in spec.sensitive]
    return records.select(*values, append=False)
