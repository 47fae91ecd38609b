"""From the buckets of every record to the staged relations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.records import ties
from pganon.methods.arrangement import Arrange, Arrangement, QuasiTable, SensitiveTable
from pganon.methods.base import Tables
from pganon.methods.forms.anatomized.generalized import GENERALIZED, generalization_steps
from pganon.methods.forms.elements import attribute_columns, element
from pganon.methods.forms.members import code_columns, identity, members
from pganon.methods.forms.stored import (
    distinct_groups,
    drawn_numbers,
    index_step,
    numbers,
    stored,
)
from pganon.plan.sqltools import col, fragment, named, presorted, query
from pganon.plan.staged import DATA_SCHEMA, PRIVATE_SCHEMA, StoredRelation
from pganon.plan.steps import CreateTable, Parallel, State, Step
from pganon.policy.options import CLASS_ID, COUNT, GROUP_ID
from pganon.spec.model import Attribute, Carried, ReleaseSpec, Sensitive

RECORDS = "group_records"
"""Work table (numbers of buckets, codes, published values, identity): one row per record."""


def relations(arrangement: Arrangement, state: State) -> tuple[StoredRelation, ...]:
    """Tables that a release consists of; those the views read come first."""
    shown = [table.part for table in (*arrangement.quasi, *arrangement.sensitive)]
    return stored(state, [*[(part, DATA_SCHEMA) for part in shown], ("members", PRIVATE_SCHEMA)])


def released(arrangement: Arrangement, tables: Tables) -> exp.Select:
    bearing = arrangement.bearing
    counted = "coalesce(sum(q.count), 0)::bigint" if bearing.counted else "count(*)"
    tree = query("select 1 from q", {"q": tables[bearing.part]})
    return tree.select(named(fragment(counted), "published"), append=False)


def bucket(partition: int) -> str:
    """Work column with the bucket of a partition, by its place in the arrangement."""
    return f"b{partition}"


@dataclass(frozen=True)
class Buckets:
    """What a method hands over to the form.

    Attributes:
        groups: SELECT gid: the buckets of a partition, named as by :func:`bucket`, each once.
        records: SELECT of :func:`record_columns` and the buckets of all partitions, which are
            named last: a row per released record.
    """

    groups: Callable[[ReleaseSpec, State, str], exp.Select]
    records: Callable[[ReleaseSpec, State, Sequence[str]], exp.Select]


def record_columns(spec: ReleaseSpec) -> list[str]:
    """Columns of `coded` that the staged relations are made from."""
    names = [*code_columns(spec), *[f"v{item.index}" for item in spec.sensitive]]
    names += [f"p{item.index}" for item in spec.carried]
    known = identity(spec)
    return [*names, *([known] if known else [])]


def _grouped(spec: ReleaseSpec, state: State, buckets: Sequence[str]) -> exp.Select:
    tree = query(
        "select 1 from g join c on c.rid = g.rid",
        {"g": state.work("grouped"), "c": state.work("coded")},
    )
    columns = [col(name, "c") for name in record_columns(spec)]
    return tree.select(*columns, *[col(name, "g") for name in buckets], append=False)


GROUPED = Buckets(lambda spec, state, name: distinct_groups(state, "grouped", name), _grouped)
"""The work table `grouped` (rid, b<i>: a bucket per partition), to be joined with `coded`."""


def staging_steps(
    spec: ReleaseSpec, arrange: Arrange, buckets: Buckets = GROUPED
) -> tuple[Step, ...]:
    """From the buckets of the records to the staged relations.

    There is a step for every table that the arrangement may have; those it has not are left out.
    """
    most = arrange(spec, State(0))
    return (
        *[_numbers(spec, arrange, buckets, place) for place in range(len(most.partitions))],
        CreateTable(
            RECORDS,
            "the buckets of every record",
            lambda s: s.work(RECORDS),
            lambda s: _records(spec, arrange(spec, s), buckets, s),
        ),
        *(generalization_steps(spec, RECORDS, _class(most)) if most.generalized else ()),
        Parallel(
            "relations",
            "the relations of the release",
            [
                *[_quasi_steps(spec, arrange, place) for place in range(len(most.quasi))],
                [_members_step(spec, arrange)],
                *[_sensitive_steps(spec, arrange, place) for place in range(len(most.sensitive))],
            ],
        ),
    )


def _numbers(spec: ReleaseSpec, arrange: Arrange, buckets: Buckets, place: int) -> CreateTable:
    return drawn_numbers(
        lambda s: buckets.groups(spec, s, bucket(place)),
        "random numbers for the buckets",
        bucket(place),
        when=lambda s: place < len(arrange(spec, s).partitions),
    )


def _quasi_steps(spec: ReleaseSpec, arrange: Arrange, place: int) -> list[Step]:
    def here(state: State) -> bool:
        return place < len(arrange(spec, state).quasi)

    def table(state: State) -> QuasiTable:
        return arrange(spec, state).quasi[place]

    return [
        CreateTable(
            f"qit{place + 1}",
            "quasi-identifiers with the numbers of their buckets",
            lambda s: s.stage(table(s).part),
            lambda s: _quasi(arrange(spec, s), table(s), s),
            when=here,
        ),
        index_step(lambda s: (table(s).part, table(s).groups[0]), f"qit{place + 1}", when=here),
    ]


def _sensitive_steps(spec: ReleaseSpec, arrange: Arrange, place: int) -> list[Step]:
    def here(state: State) -> bool:
        return place < len(arrange(spec, state).sensitive)

    def table(state: State) -> SensitiveTable:
        return arrange(spec, state).sensitive[place]

    return [
        CreateTable(
            f"st{place + 1}",
            "sensitive values of every bucket with their numbers of records",
            lambda s: s.stage(table(s).part),
            lambda s: _sensitive(arrange(spec, s), table(s), s),
            when=here,
        ),
        index_step(lambda s: (table(s).part, GROUP_ID), f"st{place + 1}", when=here),
    ]


def _members_step(spec: ReleaseSpec, arrange: Arrange) -> Step:
    return CreateTable(
        "members",
        "the steward's memory of who was in which bucket",
        lambda s: s.stage("members"),
        lambda s: _members(spec, arrange(spec, s), s),
    )


def _records(
    spec: ReleaseSpec, arrangement: Arrangement, buckets: Buckets, state: State
) -> exp.Expr:
    names = [bucket(place) for place in range(len(arrangement.partitions))]
    tree = query("select 1 from r", {"r": buckets.records(spec, state, names)})
    columns = [col(name, "r") for name in record_columns(spec)]
    for place, name in enumerate(names):
        alias = f"n{place}"
        columns.append(col(name, alias))
        tree = tree.join(
            exp.alias_(numbers(state, name).table, alias, table=True, quoted=True),
            on=exp.EQ(this=col("gid", alias), expression=col(name, "r")),
        )
    # Records of a bucket lie together, which all that follows is faster for.
    return tree.select(*columns, append=False).order_by(col(bucket(0), "n0"))


def _members(spec: ReleaseSpec, arrangement: Arrangement, state: State) -> exp.Expr:
    places = [bucket(place) for place in range(len(arrangement.partitions))]
    tree = members(spec, state, state.work(RECORDS), places)
    for column, name in zip(list(tree.expressions)[1:], arrangement.partitions, strict=True):
        column.replace(named(column.copy(), name))
    return tree


def _number(arrangement: Arrangement, partition: str) -> exp.Expr:
    return col(bucket(arrangement.partitions.index(partition)), "r")


def _class(arrangement: Arrangement) -> str:
    return bucket(arrangement.partitions.index(CLASS_ID))


class _Rows:
    """A SELECT over the records that is ordered by what it shows, and by nothing else."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.tree = query("select 1 from r", {"r": state.work(RECORDS)})
        self.shown: list[exp.Expr] = []
        self.order: list[exp.Expr] = []

    def group(self, number: exp.Expr, name: str) -> None:
        self.shown.append(named(number.copy(), name))
        self.order.append(number)

    def exact(self, attribute: Attribute) -> None:
        alias, code = f"d{attribute.index}", col(f"c{attribute.index}", "r")
        dictionary = exp.alias_(
            self.state.work(f"dict{attribute.index}").table, alias, table=True, quoted=True
        )
        self.tree = self.tree.join(dictionary, on=exp.EQ(this=col("code", alias), expression=code))
        value = element(attribute, col("value", alias))
        self.shown.append(named(value, attribute.published))
        self.order.append(code)

    def generalized(self, attributes: Sequence[Attribute], number: exp.Expr) -> None:
        """What a class shows, which is the same for all rows with its number."""
        on = exp.EQ(this=col(CLASS_ID, "e"), expression=number.copy())
        table = exp.alias_(self.state.work(GENERALIZED).table, "e", table=True, quoted=True)
        self.tree = self.tree.join(table, on=on)
        names = [column.name for a in attributes for column in attribute_columns(a)]
        self.shown += [named(col(name, "e"), name) for name in names]

    def unchanged(self, item: Sensitive | Carried, column: str) -> None:
        """Values that compare equal but look different are different."""
        value = col(column, "r")
        self.shown.append(named(value.copy(), item.published))
        self.order += [value, *ties(item, value)]

    def select(self, *, counted: bool) -> exp.Select:
        if not counted:
            tree = self.tree.select(*self.shown, append=False)
            return tree.order_by(*[key.copy() for key in self.order])
        values = [*self.order, *[item.this for item in self.shown]]
        inner = {value: f"x{place}" for place, value in enumerate(dict.fromkeys(values))}
        rows = self.tree.select(*[named(v, name) for v, name in inner.items()], append=False)
        tree = query("select 1 from x", {"x": presorted(rows)}).select(
            *[named(col(inner[item.this], "x"), item.alias) for item in self.shown],
            named(fragment("count(*)"), COUNT),
            append=False,
        )
        tree = tree.group_by(*[col(name, "x") for name in inner.values()])
        return tree.order_by(*[col(inner[key], "x") for key in self.order])


def _quasi(arrangement: Arrangement, table: QuasiTable, state: State) -> exp.Expr:
    rows = _Rows(state)
    for name in table.groups:
        rows.group(_number(arrangement, name), name)
    if arrangement.generalized:
        rows.generalized(table.attributes, col(_class(arrangement), "r"))
    else:
        for attribute in table.attributes:
            rows.exact(attribute)
    for item in table.carried:
        rows.unchanged(item, f"p{item.index}")
    return rows.select(counted=table.counted)


def _sensitive(arrangement: Arrangement, table: SensitiveTable, state: State) -> exp.Expr:
    rows = _Rows(state)
    rows.group(_number(arrangement, table.partition), GROUP_ID)
    for attribute in table.quasi:
        rows.exact(attribute)
    for item in table.sensitive:
        rows.unchanged(item, f"v{item.index}")
    return rows.select(counted=True)
