"""From the buckets of every record to the staged relations."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.lookups import joined
from pganon.encode.records import ties
from pganon.forms.elements import element, of_text_key, own_value, own_values
from pganon.forms.links import part_number
from pganon.forms.shape import PublishedRelation, Shape
from pganon.forms.stored_relations import (
    drawn_numbers,
    index_step,
    numbers,
    repeated,
    stored,
)
from pganon.methods.common.arrangement import Arrange, Arrangement
from pganon.methods.common.form.grouping import NUMBERED, Grouping, bucket, record_columns
from pganon.methods.common.form.members import (
    identity,
    members,
    members_step,
    people_steps,
    repeated_members,
)
from pganon.methods.common.form.recode import (
    GENERALIZED,
    classes_step,
    generalization_steps,
)
from pganon.methods.common.form.table_rows import Rows
from pganon.policy.options import CLASS_ID, COUNTERFEITS, GROUP_ID
from pganon.privacy.rows import Relation
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, col, named, query, stacked
from pganon.steps import CreateTable, Parallel, State, Step, staged
from pganon.steps.relations import DATA_SCHEMA, PRIVATE_SCHEMA, StoredRelation


def link_of(table: PublishedRelation) -> str:
    """Column of the members with the number of the group that its values are of."""
    return f"{table.part}_rows" if table.attributes else table.link


def with_rows(arrangement: Arrangement, records: Relation, group: str, state: State) -> exp.Select:
    """The records with :func:`link_of` the tables that have quasi-identifiers, too.

    Args:
        group: column of the records with the bucket.
    """
    tree = query("select r.* from r", {"r": records})
    for table in arrangement.sensitive:
        if not table.attributes:
            continue
        shown: list[exp.Expr] = []
        for lookup in joined(axes(table.attributes), state):
            tree = lookup.decode(tree, state, "r")
            shown += [element(axis.attribute, lookup.column(axis, "value")) for axis in lookup.axes]
        number = part_number(col(group, "r"), shown)
        tree = tree.select(named(number, link_of(table)))
    return tree


def relations(arrangement: Arrangement, state: State) -> tuple[StoredRelation, ...]:
    """Tables that a release consists of; those the views read come first."""
    shown = [table.part for table in arrangement.shape]
    shown += [COUNTERFEITS] if arrangement.counterfeits else []
    return stored(state, [*[(part, DATA_SCHEMA) for part in shown], ("members", PRIVATE_SCHEMA)])


def duplicate_keys(
    spec: ReleaseSpec, arrangement: Arrangement, buckets: Grouping, state: State
) -> list[exp.Select]:
    names = [bucket(place) for place in range(len(arrangement.partitions))]
    queries = [repeated(numbers(state, name), "gid") for name in names]
    if arrangement.generalized:
        queries.append(repeated(state.work(GENERALIZED), CLASS_ID))
    else:
        queries += [repeated(axis.dictionary(state), "code") for axis in axes(spec.attributes)]
    return [*queries, *buckets.duplicate_keys(spec, state), *repeated_members(spec, state)]


def staging_steps(
    spec: ReleaseSpec, arrange: Arrange, buckets: Grouping = NUMBERED
) -> tuple[Step, ...]:
    """From the buckets of the records to the staged relations.

    There is a step for every table that the arrangement may have; those it has not are left out.
    """
    most, beside = arrange(spec, State(0)), buckets.beside(spec)
    return (
        Parallel(
            "numbers",
            "random numbers for the buckets",
            [
                *[[_numbers(spec, arrange, buckets, i)] for i in range(len(most.partitions))],
                *([beside] if beside else []),
            ],
        ),
        *buckets.after(spec),
        Parallel(
            "records",
            "the buckets of all records",
            [[_records_step(spec, arrange, buckets, part)] for part in range(buckets.parts)],
        ),
        *(
            [
                classes_step(spec, buckets.all_records, most.bucket_of(CLASS_ID)),
                *generalization_steps(spec),
            ]
            if most.generalized
            else ()
        ),
        Parallel(
            "relations",
            "the relations of the release",
            [
                *[_table_steps(spec, arrange, buckets, "qit", i) for i in range(len(most.quasi))],
                [
                    members_step(
                        "bucket",
                        lambda s: _members(spec, arrange(spec, s), buckets.all_records(s), s),
                    ),
                    *people_steps(
                        spec,
                        buckets.all_records,
                        lambda s: map(bucket, range(len(arrange(spec, s).partitions))),
                    ),
                ],
                *([_counterfeit_steps(spec, buckets)] if most.counterfeits else []),
                *[
                    _table_steps(spec, arrange, buckets, "st", i)
                    for i in range(len(most.sensitive))
                ],
            ],
        ),
    )


def _numbers(spec: ReleaseSpec, arrange: Arrange, buckets: Grouping, place: int) -> CreateTable:
    return drawn_numbers(
        lambda s: buckets.groups(spec, s, bucket(place)),
        "random numbers for the buckets",
        bucket(place),
        when=lambda s: place < len(arrange(spec, s).partitions),
    )


def _table_steps(
    spec: ReleaseSpec, arrange: Arrange, buckets: Grouping, kind: str, place: int
) -> list[Step]:
    """A table of quasi-identifiers (qit) or of sensitive columns (st)."""

    def tables(state: State) -> Shape:
        found = arrange(spec, state)
        return found.quasi if kind == "qit" else found.sensitive

    def here(state: State) -> bool:
        return place < len(tables(state))

    def select(state: State) -> exp.Expr:
        table = tables(state)[place]
        values = table.rows == "value"
        records = _valued(spec, buckets, state) if values else buckets.all_records(state)
        return _rows(arrange(spec, state), table, records, state)

    purpose = "quasi-identifiers with the numbers of their buckets"
    if kind == "st":
        purpose = "sensitive values of every bucket with their numbers of records"
    name = f"{kind}{place + 1}"
    return [
        CreateTable(name, purpose, lambda s: s.stage(tables(s)[place].part), select, when=here),
        index_step(lambda s: (tables(s)[place].part, tables(s)[place].groups[0]), name, when=here),
    ]


def _counterfeit_steps(spec: ReleaseSpec, buckets: Grouping) -> list[Step]:
    return [
        staged(
            COUNTERFEITS,
            "numbers of values in a bucket that nobody has",
            lambda s: _counterfeits(spec, buckets, s),
        ),
        index_step(lambda s: (COUNTERFEITS, GROUP_ID), COUNTERFEITS),
    ]


def _counterfeits(spec: ReleaseSpec, buckets: Grouping, state: State) -> exp.Expr:
    unowned = _unowned(spec, buckets, state)
    if unowned is None:
        return query("select 1::int as group_id, 1::bigint as count where false")
    return query(
        "select :number as group_id, count(*) as count from c group by 1 order by 1",
        {"c": unowned},
        number=col(bucket(0), "c"),
    )


def _unowned(spec: ReleaseSpec, buckets: Grouping, state: State) -> exp.Select | None:
    """SELECT of the number of a bucket, and values in it that nobody has."""
    counterfeits = buckets.counterfeits(spec, state)
    if counterfeits is None:
        return None
    values = [col(f"v{item.index}", "c") for item in spec.sensitive]
    return query(
        "select :number from c join n on n.gid = c.gid",
        {"c": counterfeits, "n": numbers(state, bucket(0))},
        number=col(bucket(0), "n"),
    ).select(*values)


def _valued(spec: ReleaseSpec, buckets: Grouping, state: State) -> Relation:
    """The records, and a row for each value that nobody has: all that sensitive tables show."""
    records = buckets.all_records(state)
    unowned = _unowned(spec, buckets, state)
    if unowned is None:
        return records
    names = [bucket(0), *[f"v{item.index}" for item in spec.sensitive]]
    owned = query("select 1 from r", {"r": records})
    return stacked([owned.select(*[col(name, "r") for name in names], append=False), unowned])


def _records_step(spec: ReleaseSpec, arrange: Arrange, buckets: Grouping, part: int) -> Step:
    def select(state: State) -> exp.Expr:
        names = [bucket(place) for place in range(len(arrange(spec, state).partitions))]
        records = buckets.records(spec, state, names, part, buckets.number(state))
        return _numbered(spec, records, names, state)

    which = f", part {part + 1} of them" if buckets.parts > 1 else ""
    return CreateTable(
        f"group_records{part}",
        f"the buckets of every record{which}",
        lambda s: buckets.table(s, part),
        select,
        when=lambda s: part < buckets.number(s),
    )


def _numbered(
    spec: ReleaseSpec, records: exp.Select, names: Sequence[str], state: State
) -> exp.Expr:
    tree = query("select 1 from r", {"r": records})
    columns = [_looking(spec, name) for name in record_columns(spec)]
    for place, name in enumerate(names):
        alias = f"n{place}"
        columns.append(col(name, alias))
        tree = tree.join(
            aliased(numbers(state, name), alias),
            on=exp.EQ(this=col("gid", alias), expression=col(name, "r")),
        )
    # Records of a bucket lie together, which all that follows is faster for.
    return tree.select(*columns, append=False).order_by(col(bucket(0), "n0"))


def _looking(spec: ReleaseSpec, name: str) -> exp.Expr:
    """A column of the records. Where values may be nobody's, none must look like somebody's."""
    items = {f"v{item.index}": item for item in spec.sensitive if spec.invariant}
    if name not in items or not ties(items[name], col(name, "r")):
        return col(name, "r")
    item = items[name]
    return named(of_text_key(item, own_value(item, "r")), name)


def _members(
    spec: ReleaseSpec, arrangement: Arrangement, records: Relation, state: State
) -> exp.Expr:
    names = {bucket(place): name for place, name in enumerate(arrangement.partitions)}
    parts = [table for table in arrangement.sensitive if table.attributes]
    if identity(spec) is not None and parts:
        names |= {link_of(table): link_of(table) for table in parts}
        (number,) = {arrangement.bucket_of(table.link) for table in parts}
        records = with_rows(arrangement, records, number, state)
    return members(spec, state, records, names, own_values(spec, "g"))


def _rows(
    arrangement: Arrangement, table: PublishedRelation, records: Relation, state: State
) -> exp.Expr:
    rows = Rows(records, state)
    for name in table.groups:
        link = table.link if table.rows == "value" else name
        rows.group(col(arrangement.bucket_of(link), "r"), name)
    if arrangement.generalized and table.rows == "record":
        rows.generalized(table.attributes, col(arrangement.bucket_of(CLASS_ID), "r"))
    else:
        rows.exact(table.attributes)
    for item in table.sensitive:
        rows.unchanged(item, f"v{item.index}")
    for item in table.carried:
        rows.unchanged(item, f"p{item.index}")
    return rows.select(counted=table.count is not None)
