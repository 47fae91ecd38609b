"""From the group and the buckets of every record to the staged relations.

A method hands over :data:`LOCAL_GROUPED`, which :func:`numbered_steps` make, and `displays`
(display, form).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.first import compares_with_first
from pganon.encode.records import NUMBER, ties
from pganon.forms.buckets.generalized import GENERALIZED, generalization_steps
from pganon.forms.buckets.staging import Rows
from pganon.forms.local.aligned import leader, set_of
from pganon.forms.local.layout import Layout, forms, is_generalized, shown_letter
from pganon.forms.members import members, members_step, repeated_members
from pganon.forms.reference import stored_reference
from pganon.identifiers import QualifiedName
from pganon.policy.local_names import bucket_column, form_column
from pganon.policy.options import CLASS_ID, GROUP_ID
from pganon.privacy.rows import Relation
from pganon.published.elements import attribute_columns, own_value
from pganon.published.form import Tables
from pganon.published.stored import (
    drawn_numbers,
    index_step,
    key_step,
    numbers,
    repeated,
    stored,
)
from pganon.published.work import LOCAL_GROUPED, shown_beside
from pganon.spec.model import Attribute, ReleaseSpec, Sensitive
from pganon.sqltools import aliased, col, fragment, named, query, stacked
from pganon.steps import CreateTable, Parallel, State, Step
from pganon.steps.relations import DATA_SCHEMA, PRIVATE_SCHEMA, StoredRelation

GROUPS = "groups"
RECORDS = "records"


def relations(spec: ReleaseSpec, state: State) -> tuple[StoredRelation, ...]:
    """Tables that a release consists of; those the views read come first."""
    shown = [GROUPS, RECORDS, *[part_of(item) for item in spec.sensitive]]
    kept = ["members", *(["reference"] if compares_with_first(spec) else [])]
    parts = [*[(part, DATA_SCHEMA) for part in shown], *[(part, PRIVATE_SCHEMA) for part in kept]]
    return stored(state, parts)


def part_of(item: Sensitive) -> str:
    """Part with the values of a column's buckets."""
    return f"values{item.index}"


def bucket(item: Sensitive) -> str:
    """Work column with the bucket of a record."""
    return f"b{item.index}"


def released(spec: ReleaseSpec, state: State, tables: Tables) -> exp.Select:
    return query("select count(*) as published from records", dict(tables))


def misplaced(spec: ReleaseSpec, state: State) -> list[exp.Select]:
    remembered = repeated_members(spec, state)
    # Who is a record occurs once among the people of `local_grouped` if the record does.
    once = remembered and not spec.individual
    return [
        *([] if once else [repeated(state.work(LOCAL_GROUPED), NUMBER)]),
        *remembered,
        repeated(state.work(GENERALIZED), CLASS_ID),
        repeated(numbers(state, GROUP_ID), "gid"),
        *[
            repeated(numbers(state, bucket(item)), "gid")
            for item in spec.sensitive
            if _leads(spec, item, state)
        ],
    ]


def staging_steps(layout: Layout) -> tuple[Step, ...]:
    """From `local_grouped` and `displays` to the staged relations."""
    spec = layout.spec
    return (
        Parallel(
            "relations",
            "the relations of the release",
            [
                [
                    *generalization_steps(spec, _records_table, GROUP_ID),
                    CreateTable(
                        GROUPS,
                        "what the records of every group show",
                        lambda s: s.stage(GROUPS),
                        lambda s: _groups(layout, s),
                    ),
                    key_step(GROUPS, GROUP_ID),
                ],
                [
                    CreateTable(
                        RECORDS,
                        "every record with its group and its buckets",
                        lambda s: s.stage(RECORDS),
                        lambda s: _records(spec, s),
                    ),
                    index_step(lambda s: (RECORDS, GROUP_ID), RECORDS),
                ],
                [
                    members_step(
                        "group and which buckets",
                        lambda s: _members(spec, s),
                    )
                ],
                *[_value_steps(item) for item in spec.sensitive],
                *([[_reference_step(spec)]] if compares_with_first(spec) else []),
            ],
        ),
    )


def _reference_step(spec: ReleaseSpec) -> CreateTable:
    return CreateTable(
        "reference",
        "distribution of the first version that closeness is held against",
        lambda s: s.stage("reference"),
        lambda s: stored_reference(spec, s),
    )


@dataclass(frozen=True)
class Numbered:
    """What a method knows of groups and buckets, by numbers of its own.

    Attributes:
        groups: relation with the `gid` of every group.
        buckets: relation (rid, b): the bucket of every record that has one in the column.
        records: SELECT of nothing yet but codes, from the records `p` and `g`, with their `gid`.
    """

    groups: Callable[[State], Relation]
    buckets: Callable[[State, Sensitive], Relation]
    records: Callable[[State], exp.Select]


def numbered_steps(layout: Layout, method: Numbered) -> list[Step]:
    """From what a method knows to `local_grouped`, with published numbers."""
    spec = layout.spec
    return [
        Parallel(
            "numbers",
            "random numbers for groups, and for the buckets of every column",
            [
                [
                    drawn_numbers(
                        lambda s: query(
                            "select g.gid from g group by g.gid", {"g": method.groups(s)}
                        ),
                        "random numbers for the groups",
                        GROUP_ID,
                    )
                ],
                *[[_numbers(spec, item, method)] for item in spec.sensitive],
            ],
        ),
        CreateTable(
            "grouped",
            "the group and the buckets of every record",
            _records_table,
            lambda s: _grouped(spec, s, method),
        ),
    ]


def _records_table(state: State) -> QualifiedName:
    return state.work(LOCAL_GROUPED)


def _leads(spec: ReleaseSpec, item: Sensitive, state: State) -> bool:
    """Whether the numbers of the column's buckets are its own, or of a set that it is first in."""
    return leader(Layout(spec), state.facts, item) == item


def _numbers(spec: ReleaseSpec, item: Sensitive, method: Numbered) -> CreateTable:
    """Columns with buckets in common have one number for each."""
    name = bucket(item)

    def used(state: State) -> exp.Select:
        parts = [
            query("select h.b as gid from h", {"h": method.buckets(state, other)})
            for other in set_of(Layout(spec), state.facts, item)
        ]
        return query("select u.gid from u group by u.gid", {"u": stacked(parts)})

    return drawn_numbers(
        used,
        f"random numbers for the buckets of {item.published}",
        name,
        lambda state: _leads(spec, item, state),
    )


def _grouped(spec: ReleaseSpec, state: State, method: Numbered) -> exp.Expr:
    """Group by group, as they are published."""
    number = col(GROUP_ID, "n")
    tree = method.records(state).select(
        *[col(name, "p") for name in (NUMBER, "display", *shown_beside(spec))], number
    )
    groups = aliased(numbers(state, GROUP_ID), "n")
    tree = tree.join(groups, on=exp.EQ(this=col("gid", "n"), expression=col("gid", "g")))
    for item in spec.sensitive:
        held, alias = f"h{item.index}", f"n{item.index}"
        first = bucket(leader(Layout(spec), state.facts, item))
        tree = tree.join(
            aliased(method.buckets(state, item), held),
            on=exp.EQ(this=col(NUMBER, held), expression=col(NUMBER, "p")),
            join_type="left",
        ).join(
            aliased(numbers(state, first), alias),
            on=exp.EQ(this=col("gid", alias), expression=col("b", held)),
            join_type="left",
        )
        tree = tree.select(named(col(first, alias), bucket(item)))
    return tree.order_by(number.copy())


def _groups(layout: Layout, state: State) -> exp.Expr:
    form = col("form", "f")
    displays = query("select distinct r.group_id, r.display from r", {"r": _records_table(state)})
    tree = query(
        "select d.group_id from d join f on f.display = d.display"
        " join e on e.class_id = d.group_id",
        {"d": displays, "f": forms(state), "e": state.work(GENERALIZED)},
    )
    for item in layout.spec.sensitive:
        if layout.has_form(item):
            letter = shown_letter(layout, item, form, state)
            tree = tree.select(named(fragment(":l::text", l=letter), form_column(item.published)))
    for attribute in layout.spec.attributes:
        tree = tree.select(*_generalized(attribute, form))
    return tree.order_by(col(GROUP_ID, "d"))


def _generalized(attribute: Attribute, form: exp.Expr) -> list[exp.Expr]:
    """The published columns of an attribute; NULL where its values are not shown."""
    shown = is_generalized(attribute, form)
    found: list[exp.Expr] = []
    for column in attribute_columns(attribute):
        value: exp.Expr = col(column.name, "e")
        if attribute.hidden is not None:
            value = fragment("case when :shown then :v end", shown=shown, v=value)
        found.append(named(value, column.name))
    return found


def _records(spec: ReleaseSpec, state: State) -> exp.Expr:
    tree = query("select r.group_id from r", {"r": _records_table(state)})
    order: list[exp.Expr] = [col(GROUP_ID, "r")]
    for item in spec.sensitive:
        number = col(bucket(item), "r")
        tree = tree.select(named(number, bucket_column(item.published)))
        order.append(number)
    for item in spec.carried:
        value = col(f"p{item.index}", "r")
        tree = tree.select(named(value, item.published))
        order += [value, *ties(item, value)]
    return tree.order_by(*[key.copy() for key in order])


def _value_steps(item: Sensitive) -> Sequence[Step]:
    part = part_of(item)

    def select(state: State) -> exp.Expr:
        held = query(
            "select r.* from r where :b is not null",
            {"r": _records_table(state)},
            b=col(bucket(item), "r"),
        )
        rows = Rows(held, state)
        rows.group(col(bucket(item), "r"), bucket_column(item.published))
        rows.unchanged(item, f"v{item.index}")
        return rows.select(counted=True)

    return [
        CreateTable(
            f"values{item.index}",
            f"values of {item.published} in every bucket",
            lambda s: s.stage(part),
            select,
        ),
        index_step(lambda s: (part, bucket_column(item.published)), f"values{item.index}"),
    ]


def _members(spec: ReleaseSpec, state: State) -> exp.Expr:
    groups = {bucket(item): bucket_column(item.published) for item in spec.sensitive}
    values = [
        fragment(
            "case when :b is not null then :v end", b=col(bucket(item), "g"), v=own_value(item, "g")
        )
        for item in spec.sensitive
    ]
    return members(spec, state, _records_table(state), {GROUP_ID: GROUP_ID, **groups}, values)
