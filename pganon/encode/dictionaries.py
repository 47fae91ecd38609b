"""Dictionaries: every distinct value of a quasi-identifier gets a dense code in order.

histogram<b>   (other, q<i>.., f<h>.., n)   distinct values of some columns, by one scan of `snap`,
               apart where some records hide them
values<i>   (value, n)                    distinct values; NULL has a row of its own

They are the tables :func:`pganon.encode.work.dictionary`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from pganon.catalog.values import in_order, order_label
from pganon.encode import number_line
from pganon.encode.axis import Axis, axes
from pganon.encode.distribution import beside_source
from pganon.encode.records import number_of
from pganon.encode.semi_sensitive import applies
from pganon.encode.trees import tree_steps
from pganon.encode.work import SNAP, dictionary
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PreconditionError
from pganon.hierarchies.build import canonical_kind, number_meant, other_form
from pganon.identifiers import QualifiedName, quote
from pganon.resolved.model import Attribute, ReleaseSpec, Scale
from pganon.sqltools import col, fragment, named, num, query, union_all
from pganon.steps import Check, CreateTable, DropTables, Load, Name, State, Step
from pganon.steps.facts import counts

_AT_ONCE = 8
"""Columns per scan. Each has a hash table of its own in it; GROUPING takes 31 at most."""


def dictionary_chains(spec: ReleaseSpec) -> list[list[Step]]:
    """Chains of steps that need nothing of each other, from `snap` to all dictionaries."""
    every = axes(spec.attributes)
    if beside_source(spec) is not None:
        return [[_in_shards(axis), *dictionary_steps(spec, axis)] for axis in every]
    batches = [every[first : first + _AT_ONCE] for first in range(0, len(every), _AT_ONCE)]
    return [_chain(spec, number, batch) for number, batch in enumerate(batches)]


def _chain(spec: ReleaseSpec, number: int, batch: Sequence[Axis]) -> list[Step]:
    def histogram(state: State) -> QualifiedName:
        return state.work(f"histogram{number}")

    steps: list[Step] = [
        CreateTable(
            f"histogram{number}",
            f"distinct values of {', '.join(quote(a.attribute.column.name) for a in batch)}",
            histogram,
            lambda s: _counted(spec, s, batch),
        )
    ]
    for place, axis in enumerate(batch):
        # In GROUPING the first column has the highest bit; it is set for columns left out.
        other = 2 ** len(batch) - 1 - 2 ** (len(batch) - 1 - place)
        steps += _dictionary_steps(spec, axis, histogram, other)
    return [
        *steps,
        DropTables("tidy", "what dictionaries were made from", lambda s: [histogram(s)]),
    ]


def _in_shards(axis: Axis) -> Step:
    """Of a snapshot in shards: Citus counts by one column at a time, where the rows are."""
    column = f"q{axis.index}"
    return CreateTable(
        f"values{axis.index}",
        f"distinct values of {quote(axis.attribute.column.name)}",
        lambda s: s.work(f"values{axis.index}"),
        lambda s: query(
            "select :q as value, count(*) as n from s group by :q",
            {"s": s.work(SNAP)},
            q=col(column, "s"),
        ),
    )


def _counted(spec: ReleaseSpec, state: State, batch: Sequence[Axis]) -> exp.Select:
    columns = [col(f"q{axis.index}", "s") for axis in batch]
    flags = [[col(h.flag, "s")] if (h := axis.attribute.hidden) else [] for axis in batch]
    tree = query("select :n as n from s", {"s": state.work(SNAP)}, n=number_of(spec, "s"))
    alone = [
        exp.Tuple(expressions=[column.copy(), *flag])
        for column, flag in zip(columns, flags, strict=True)
    ]
    tree = tree.select(named(exp.Grouping(expressions=columns), "other"), *columns)
    tree = tree.select(*[column.copy() for flag in flags for column in flag])
    tree.set("group", exp.Group(expressions=[exp.GroupingSets(expressions=alone)]))
    return tree


def _dictionary_steps(spec: ReleaseSpec, axis: Axis, histogram: Name, other: int) -> list[Step]:
    i = axis.index
    attribute = axis.attribute
    shown = applies(attribute, "h")
    where = "" if shown is None else " where they are shown"

    def values(state: State) -> exp.Select:
        tree = query(
            "select :q as value, h.n from h where h.other = :other",
            {"h": histogram(state)},
            q=col(f"q{i}", "h"),
            other=num(other),
        )
        return tree if shown is None else tree.where(shown)

    counted = CreateTable(
        f"values{i}",
        f"distinct values of {quote(attribute.column.name)}{where}",
        lambda s: s.work(f"values{i}"),
        values,
        inline=True,
    )
    return [counted, *dictionary_steps(spec, axis)]


def dictionary_steps(spec: ReleaseSpec, axis: Axis) -> list[Step]:
    """From the distinct values of a column, `values<i>`, to its dictionary."""
    i, attribute = axis.index, axis.attribute
    steps: list[Step] = []
    if attribute.scale is Scale.TREE:
        return tree_steps(spec.policy, spec.base_dir, attribute)
    if attribute.order is not None:
        steps += order_steps(
            str(i),
            attribute.column.name,
            attribute.order,
            lambda s: s.work(f"values{i}"),
            attribute.value_type,
        )
    steps.append(
        CreateTable(
            f"dictionary{i}",
            f"codes of {quote(attribute.column.name)}",
            lambda s: s.work(dictionary(i)),
            lambda s: with_null_code(s, i, _ranked_values(s, attribute)),
        )
    )
    return steps


def _ranked_values(state: State, attribute: Attribute) -> exp.Select:
    values = {"v": state.work(f"values{attribute.index}")}
    if attribute.order is not None:
        return query(
            # Codes are dense even where the order names values that do not occur.
            "select row_number() over (order by o.place)::int as code, v.value, v.n,"
            " coalesce((o.place - min(o.place) over ())::float8"
            " / nullif(max(o.place) over () - min(o.place) over (), 0), 0) as position"
            " from v join o on o.value = :label",
            {**values, "o": order_table(state, str(attribute.index))},
            label=order_label(attribute.value_type, col("value", "v")),
        )
    place = in_order(attribute.column, col("value", "v"))
    tree = query(
        "select row_number() over (order by :place)::int as code, v.value, v.n"
        " from v where v.value is not null",
        values,
        place=place,
    )
    if attribute.scale is Scale.NOMINAL:
        return tree.select(named(fragment("null::float8"), "position"))
    if not (attribute.column.is_number or attribute.column.is_time):
        position = fragment(
            "(row_number() over (order by :place) - 1)::float8 / greatest(count(*) over () - 1, 1)",
            place=place,
        )
        return tree.select(named(position, "position"))
    return tree.select(named(number_line.position(attribute, col("value", "v")), "position"))


def with_null_code(state: State, i: int, ranked: exp.Select) -> exp.Expr:
    missing = query(
        "select 0 as code, v.value, v.n, null::float8 as position from v where v.value is null",
        {"v": state.work(f"values{i}")},
    )
    return union_all([query("select r.* from r", {"r": ranked}), missing])


# Orders of values that a policy declares.
#
# order_<name>   (value, place)   labels with their places, from 1


def order_table(state: State, name: str) -> QualifiedName:
    return state.work(f"order_{name}")


def order_steps(
    name: str, column: str, labels: Sequence[str], values: Name, value_type: str
) -> list[Step]:
    """The places of labels, and a refusal where a value has none.

    Args:
        name: short and unique in the run; names the work table.
        labels: lowest first; see :func:`pganon.catalog.values.order_label`.
        values: (value, n): the distinct values.
        value_type: what the values are; their own type may be text.
    """

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        if not row["missing"]:
            return None
        form, hint = other_form(canonical_kind(value_type), row) or (
            "",
            "add them to `order` in the policy",
        )
        return PreconditionError(
            f"the order of column {quote(column)} lacks {row['missing']} values"
            f" that occur in {row['records']} records{form}",
            hint=hint,
            code=ErrorCode.ORDER_GAP,
        )

    return [
        Load(
            f"order_{name}",
            f"the policy's order of {quote(column)}",
            lambda s: order_table(s, name),
            (("value", "text"), ("place", "integer")),
            lambda: [(value, place) for place, value in enumerate(labels, start=1)],
        ),
        Check(
            f"order_{name}_covers",
            f"every value of {quote(column)} has a place",
            lambda s: query(
                "select count(*) as missing, coalesce(sum(v.n), 0)::bigint as records,"
                " count(*) filter (where :number in (select :listed from o)) as other_form,"
                ' count(*) filter (where lower(v.value::text collate "default") in'
                ' (select lower(o.value collate "default") from o)) as other_case from v'
                " left join o on o.value = :label"
                " where v.value is not null and o.value is null",
                {"v": values(s), "o": order_table(s, name)},
                label=order_label(value_type, col("value", "v")),
                number=number_meant(fragment("v.value::text")),
                listed=number_meant(col("value", "o")),
            ),
            problem,
            gives=counts("missing", "records", "other_form", "other_case", of=f"order_{name}_"),
        ),
    ]
