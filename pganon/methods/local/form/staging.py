"""From the group and the buckets of every record to the staged relations.

The input from a method is :data:`LOCAL_GROUPED`, which :func:`grouped_step` creates, the cells of
its groups, and `displays` (display, form).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.first import compares_with_first
from pganon.encode.records import NUMBER
from pganon.forms.elements import attribute_columns, own_value
from pganon.forms.shape import PublishedRelation, Shape
from pganon.forms.stored_relations import (
    drawn_numbers,
    index_step,
    key_step,
    numbers,
    repeated,
    stored,
)
from pganon.forms.work import GROUP_CELLS, GROUP_SIZES, GROUPED_CLASSES, LOCAL_GROUPED, shown_beside
from pganon.identifiers import QualifiedName
from pganon.methods.common.form.members import (
    code_columns,
    members,
    members_step,
    people_steps,
    repeated_members,
)
from pganon.methods.common.form.recode import GENERALIZED, generalization_steps
from pganon.methods.common.form.reference import stored_reference
from pganon.methods.common.form.table_rows import Rows
from pganon.methods.local.form.layout import Layout, forms, is_generalized, shown_letter
from pganon.methods.local.form.shared_buckets import leader, set_of
from pganon.methods.local.local_names import bucket_column, form_column
from pganon.policy.options import CLASS_ID, COUNT, GROUP_ID
from pganon.privacy.rows import Relation
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import aliased, cast, col, fragment, named, query, stacked
from pganon.steps import CreateTable, Parallel, State, Step, staged, table
from pganon.steps.relations import DATA_SCHEMA, PRIVATE_SCHEMA, StoredRelation

GROUPS = "groups"
RECORDS = "records"


def shape(spec: ReleaseSpec, state: State) -> Shape:
    forms = [form_column(i.published) for i in spec.sensitive if Layout(spec).has_form(i)]
    buckets = [bucket_column(item.published) for item in spec.sensitive]
    return (
        PublishedRelation(GROUPS, "group", (GROUP_ID,), spec.attributes, beside=tuple(forms)),
        PublishedRelation(RECORDS, "record", (GROUP_ID, *buckets), carried=spec.carried),
        *[
            PublishedRelation(
                part_of(item), "value", (name,), sensitive=(item,), count=COUNT, link=name
            )
            for item, name in zip(spec.sensitive, buckets, strict=True)
        ],
    )


def relations(spec: ReleaseSpec, state: State) -> tuple[StoredRelation, ...]:
    """Tables that a release consists of; tables that views read come first."""
    shown = [relation.part for relation in shape(spec, state)]
    kept = ["members", *(["reference"] if compares_with_first(spec) else [])]
    parts = [*[(part, DATA_SCHEMA) for part in shown], *[(part, PRIVATE_SCHEMA) for part in kept]]
    return stored(state, parts)


def part_of(item: Sensitive) -> str:
    """Part with the values of a column's buckets."""
    return f"values{item.index}"


def drawn(layout: Layout, item: Sensitive, state: State) -> tuple[QualifiedName, str]:
    """Work table with the published numbers of a column's buckets by `gid`, and its column."""
    name = bucket(leader(layout, state.facts, item))
    return numbers(state, name), name


def bucket(item: Sensitive) -> str:
    """Work column with the bucket of a record."""
    return f"b{item.index}"


def duplicate_keys(spec: ReleaseSpec, state: State) -> list[exp.Select]:
    """SELECTs of `repeated` for work tables with duplicate keys."""
    people = repeated_members(spec, state)
    # The identity of a record occurs once in `local_grouped` if the record does.
    once = people and not spec.individual
    return [
        *([] if once else [repeated(state.work(LOCAL_GROUPED), NUMBER)]),
        *people,
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
                    members_step(
                        "group and which buckets",
                        lambda s: _members(spec, s),
                    ),
                    *people_steps(spec, _records_table, lambda s: [GROUP_ID]),
                ],
                [
                    staged(
                        RECORDS,
                        "every record with its group and its buckets",
                        lambda s: _records(spec, s),
                    ),
                    index_step(lambda s: (RECORDS, GROUP_ID), RECORDS),
                ],
                [
                    table(GROUP_SIZES, "how many records every group has", _sizes),
                    *generalization_steps(spec, sizes=lambda s: s.work(GROUP_SIZES)),
                    staged(
                        GROUPS, "what the records of every group show", lambda s: _groups(layout, s)
                    ),
                    key_step(GROUPS, GROUP_ID),
                ],
                *([[_reference_step(spec)]] if compares_with_first(spec) else []),
            ],
        ),
    )


def _reference_step(spec: ReleaseSpec) -> CreateTable:
    return staged(
        "reference",
        "distribution of the first version that closeness is held against",
        lambda s: stored_reference(spec, s),
    )


@dataclass(frozen=True)
class Numbered:
    """Groups and buckets as a method numbers them.

    Attributes:
        buckets: SELECT gid: the buckets of a column, each at least once.
        values: relation (b, v): a row per hidden value of the column, with the published number of
            its bucket.
        held: the bucket relation to join with the records `p` of `records`, under a name.
        records: SELECT of the codes from the records `p` and the rows `g` of
            :data:`GROUPED_CLASSES`.
    """

    buckets: Callable[[State, Sensitive], exp.Select]
    values: Callable[[State, Sensitive], Relation]
    held: Callable[[State, Sensitive, str], Held]
    records: Callable[[State], exp.Select]


@dataclass(frozen=True)
class Held:
    """A relation to join records with.

    Attributes:
        on: the condition of the join.
        number: the published number of the bucket of a joined record.
    """

    relation: Relation
    on: exp.Expr
    number: exp.Expr


def group_steps(layout: Layout) -> list[Step]:
    """From the cells of groups to cells with published numbers."""
    return [
        drawn_numbers(
            lambda s: query("select g.gid from g group by g.gid", {"g": s.work(GROUP_CELLS)}),
            "random numbers for the groups",
            GROUP_ID,
        ),
        table(
            GROUPED_CLASSES,
            "the group of all records that show the same",
            lambda s: _cells(layout.spec, s),
        ),
    ]


def bucket_steps(layout: Layout, item: Sensitive, method: Numbered) -> list[Step]:
    """From the buckets of a column to their published numbers and values.

    Where columns share buckets, these steps need those of the columns before.
    """
    part = part_of(item)

    def select(state: State) -> exp.Expr:
        rows = Rows(method.values(state, item), state)
        rows.group(col("b", "r"), bucket_column(item.published))
        rows.unchanged(item, "v")
        return rows.select(counted=True)

    return [
        _numbers(layout.spec, item, method),
        staged(
            f"values{item.index}", f"values of {item.published} in every bucket", select, into=part
        ),
        index_step(lambda s: (part, bucket_column(item.published)), f"values{item.index}"),
    ]


def grouped_step(layout: Layout, method: Numbered) -> CreateTable:
    """From the groups and buckets of a method to `local_grouped`, with published numbers."""
    return CreateTable(
        "grouped",
        "the group and the buckets of every record",
        _records_table,
        lambda s: _grouped(layout.spec, s, method),
    )


def _records_table(state: State) -> QualifiedName:
    return state.work(LOCAL_GROUPED)


def _leads(spec: ReleaseSpec, item: Sensitive, state: State) -> bool:
    """Whether the column shares no buckets, or is the first column of its set."""
    return leader(Layout(spec), state.facts, item) == item


def _numbers(spec: ReleaseSpec, item: Sensitive, method: Numbered) -> CreateTable:
    """Published numbers of the buckets; columns that share buckets share the numbers."""
    name = bucket(item)

    def used(state: State) -> exp.Select:
        columns = set_of(Layout(spec), state.facts, item)
        parts = [method.buckets(state, other) for other in columns]
        return query("select u.gid from u group by u.gid", {"u": stacked(parts)})

    return drawn_numbers(
        used,
        f"random numbers for the buckets of {item.published}",
        name,
        lambda state: _leads(spec, item, state),
    )


def _grouped(spec: ReleaseSpec, state: State, method: Numbered) -> exp.Expr:
    tree = method.records(state).select(
        *[col(name, "p") for name in (NUMBER, "display", *shown_beside(spec))],
        named(col(CLASS_ID, "g"), GROUP_ID),
    )
    for item in spec.sensitive:
        name = f"h{item.index}"
        held = method.held(state, item, name)
        tree = tree.join(aliased(held.relation, name), on=held.on, join_type="left")
        tree = tree.select(named(held.number, bucket(item)))
    return tree


def _sizes(state: State) -> exp.Expr:
    return query(
        "select r.group_id, r.display, count(*) as n from r group by r.group_id, r.display",
        {"r": _records_table(state)},
    )


def _cells(spec: ReleaseSpec, state: State) -> exp.Select:
    tree = query(
        "select n.group_id as class_id, g.display from g join n on n.gid = g.gid",
        {"g": state.work(GROUP_CELLS), "n": numbers(state, GROUP_ID)},
    )
    return tree.select(*[col(name, "g") for name in code_columns(spec)])


def _groups(layout: Layout, state: State) -> exp.Expr:
    form = col("form", "f")
    tree = query(
        "select d.group_id from d join f on f.display = d.display"
        " join e on e.class_id = d.group_id",
        {"d": state.work(GROUP_SIZES), "f": forms(state), "e": state.work(GENERALIZED)},
    )
    for item in layout.spec.sensitive:
        if layout.has_form(item):
            letter = shown_letter(layout, item, form, state)
            tree.select(
                named(fragment(":l::text", l=letter), form_column(item.published)), copy=False
            )
    for attribute in layout.spec.attributes:
        # The published columns of an attribute; NULL where its values are not shown.
        shown = is_generalized(attribute, form)
        columns: list[exp.Expr] = []
        for column in attribute_columns(attribute):
            value: exp.Expr = col(column.name, "e")
            if attribute.hidden is not None:
                # CASE loses the length or scale of a type.
                value = cast(
                    fragment("case when :shown then :v end", shown=shown, v=value), column.type
                )
            columns.append(named(value, column.name))
        tree = tree.select(*columns)
    return tree.order_by(col(GROUP_ID, "d"))


def _records(spec: ReleaseSpec, state: State) -> exp.Expr:
    rows = Rows(_records_table(state), state)
    rows.group(col(GROUP_ID, "r"), GROUP_ID)
    for item in spec.sensitive:
        rows.group(col(bucket(item), "r"), bucket_column(item.published))
    for item in spec.carried:
        rows.unchanged(item, f"p{item.index}")
    return rows.select(counted=False)


def _members(spec: ReleaseSpec, state: State) -> exp.Expr:
    groups = {bucket(item): bucket_column(item.published) for item in spec.sensitive}
    values = [
        fragment(
            "case when :b is not null then :v end", b=col(bucket(item), "g"), v=own_value(item, "g")
        )
        for item in spec.sensitive
    ]
    rows = members(spec, state, _records_table(state), {GROUP_ID: GROUP_ID, **groups}, values)
    # Records may lie in the order of hidden values, which the order of digests must not disclose.
    return query("select u.* from u order by u.member", {"u": rows})
