"""Encoding: every record as codes, one table that all later steps read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlglot import exp

from pganon.catalog.types import canonical_type
from pganon.catalog.values import order_label
from pganon.encode.axis import Axis, TreeAxis, axes
from pganon.encode.coding import (
    kept_records,
    left_out_records,
    suppresses_nulls,
    unknown_records,
)
from pganon.encode.dictionaries import dictionary_chains, order_steps, order_table
from pganon.encode.distribution import by_cell
from pganon.encode.facts import COLLAPSED, KEPT, has_null, levels, size
from pganon.encode.records import NUMBER, number_of
from pganon.encode.sensitive import (
    hidden_values,
    reference_step,
    sensitive_dictionary,
    value_counts,
    value_facts,
)
from pganon.encode.shard_counts import look_steps
from pganon.encode.trees import downwards
from pganon.encode.value_codes import referenced, valued
from pganon.encode.work import CODED, LEFT_OUT, REPEATED, SNAP, sensitive_values
from pganon.errors import PganonError, Unbalanced
from pganon.hierarchies import hierarchy_steps
from pganon.identifiers import QualifiedName, quote
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import cast, col, named, num, query, scalar, union_all
from pganon.steps import Check, CreateTable, DropTables, Name, Parallel, State, Step
from pganon.steps.facts import RECORDS, Fact, count

_COUNTED = count("counted")


def encode_steps(
    spec: ReleaseSpec,
    *,
    beside: Sequence[Step] = (),
    then: Sequence[Step] = (),
    left_out: bool = False,
) -> tuple[Step, ...]:
    """From `snap` to `coded`, dictionaries and the facts of every axis.

    Args:
        beside: steps over `snap` that can go on while dictionaries are made, and end before
            records are numbered.
        then: steps after these and after trees, before records are numbered.
        left_out: whether to make the table of records that the rules for NULL suppress, if there
            are such rules.
    """
    chains: list[Sequence[Step]] = [beside, *dictionary_chains(spec)]
    chains += [
        ordered_dictionary(spec, item)
        if item.rearranged
        else [sensitive_dictionary(spec, item), *sensitive_tree_steps(item, spec.base_dir)]
        for item in valued(spec)
    ]
    steps: list[Step] = [
        Parallel("values", "dictionaries", chains),
        *then,
        sizes_step(spec, valued(spec)),
        CreateTable(
            "coded",
            "values become codes",
            lambda s: all_records(spec, s),
            lambda s: kept_records(spec, s),
            counted=None if spec.counted else KEPT,
            placement=lambda s: by_cell(spec, s),
        ),
        *look_steps(spec),
    ]
    steps.append(_once(spec))
    steps += _collapse_steps(spec)
    if left_out and suppresses_nulls(spec):
        purpose = "records that the rules for NULL leave out"
        steps.append(
            CreateTable(
                LEFT_OUT.name,
                purpose,
                lambda s: s.work(LEFT_OUT),
                lambda s: left_out_records(spec, s),
            )
        )
    steps += [reference_step(spec, item, "source") for item in referenced(spec)]
    steps += [
        DropTables("tidy", "the snapshot is not needed any more", lambda s: [s.work(SNAP)]),
    ]
    return tuple(steps)


def _once(spec: ReleaseSpec) -> Step:
    """Every record of the snapshot that is kept has one row: no dictionary had a value twice."""

    def select(state: State) -> exp.Select:
        tree = unknown_records(spec, state)
        if not spec.counted:
            return tree
        kept = query("select :n from c", {"c": state.work(CODED)}, n=number_of(spec, "c"))
        return tree.select(named(scalar(kept), KEPT.column))

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        expected = state[RECORDS] - row["unknown"]
        kept = row[KEPT.column] if spec.counted else state[KEPT]
        if kept == expected:
            return None
        return Unbalanced(f"{expected} records were to be encoded and {kept} were")

    return Check(
        "encoded",
        "every record that the rules for NULL keep is encoded once",
        select,
        problem,
        gives=[count("unknown"), *([KEPT] if spec.counted else [])],
    )


def all_records(spec: ReleaseSpec, state: State) -> QualifiedName:
    """Work table of all records that are kept, those among them that repeat a value."""
    return state.work(REPEATED if spec.policy.method.encoding.collapses else CODED)


def _collapse_steps(spec: ReleaseSpec) -> list[Step]:
    """Of the records of an individual with the same sensitive value one is counted.

    RECORDS and KEPT are without the others from then on, COLLAPSED is their number.
    """
    if not spec.policy.method.encoding.collapses:
        return []
    values = [col(f"s{item.index}", "r") for item in spec.sensitive]
    return [
        CreateTable(
            "collapsed",
            "one record of every value that an individual has",
            lambda s: s.work(CODED),
            lambda s: (
                query("select r.* from r", {"r": s.work(REPEATED)})
                .distinct(col("individual", "r"), *values)
                .order_by(col("individual", "r"), *values, col(NUMBER, "r"))
            ),
            counted=_COUNTED,
        ),
        Check(
            "counted",
            "records that count",
            lambda s: query(
                "select :kept - :counted as collapsed, :records - :kept + :counted as records,"
                " :counted as kept",
                kept=num(s[KEPT]),
                counted=num(s[_COUNTED]),
                records=num(s[RECORDS]),
            ),
            gives=[COLLAPSED, RECORDS, KEPT],
        ),
    ]


def sizes_step(spec: ReleaseSpec, values: Sequence[Sensitive] = ()) -> Step:
    """Sizes of the dictionaries of quasi-identifiers, and of sensitive values."""

    def select(state: State) -> exp.Expr:
        sizes = [size for axis in axes(spec.attributes) for size in _sizes_of(axis, state)]
        sizes += [size for item in values for size in value_counts(item, state)]
        return exp.select(named(num(0), "nothing"), *sizes)

    gives = [fact for axis in axes(spec.attributes) for fact in _facts_of(axis)]
    gives += [fact for item in values for fact in value_facts(item)]
    return Check(
        "sizes", "sizes of the dictionaries", select, gives=[count("nothing", "sizes_"), *gives]
    )


def _facts_of(axis: Axis) -> list[Fact[Any]]:
    tree = [levels(axis.index)] if isinstance(axis, TreeAxis) else []
    return [size(axis.index), has_null(axis.index), *tree]


def _sizes_of(axis: Axis, state: State) -> list[exp.Expr]:
    i, counted = axis.index, {"d": axis.dictionary(state)}
    highest = query("select coalesce(max(d.code), 0) from d", counted)
    null = query("select coalesce(bool_or(d.code = 0), false) from d", counted)
    sizes = [named(scalar(highest), size(i).column), named(scalar(null), has_null(i).column)]
    if isinstance(axis, TreeAxis):
        top = query("select coalesce(max(l.level), 0) from l", {"l": axis.table(state)})
        sizes.append(named(scalar(top), levels(i).column))
    return sizes


# Hidden values of semi-sensitive columns in the order that the policy declares for the column.
#
# svalues<j>   (code, value, n)   distinct hidden values in their natural order, before they are
#                                 put in the declared one as `sdict<j>`
# sleaves<j>   (value, n)         those that are not NULL, in the type of the leaves


def ordered_dictionary(spec: ReleaseSpec, item: Sensitive) -> list[Step]:
    """From `snap` to `sdict<j>`; NULL is the last value."""
    name = quote(item.column.name)
    return [
        CreateTable(
            f"hidden_values{item.index}",
            f"hidden values of {name}",
            lambda s: _values(item, s),
            lambda s: hidden_values(spec, item, s),
        ),
        *_place_steps(item, spec.base_dir),
        CreateTable(
            f"sensitive{item.index}",
            f"hidden values of {name} in their order",
            lambda s: s.work(sensitive_values(item.index)),
            lambda s: _ordered(spec, item, s),
        ),
    ]


def _values(item: Sensitive, state: State) -> QualifiedName:
    return state.work(f"svalues{item.index}")


def _name(item: Sensitive) -> str:
    return f"s{item.index}"


def _place_steps(item: Sensitive, base_dir: Path) -> list[Step]:
    if item.order is not None:
        folded = item.column.kind == "citext"  # the dictionary has one text for all spellings
        labels = [label.lower() if folded else label for label in item.order]
        return order_steps(
            _name(item),
            item.column.name,
            labels,
            lambda s: _values(item, s),
            canonical_type(item.column),
        )
    assert item.leaves is not None
    return [
        leaves_step(item, lambda s: _values(item, s)),
        *hierarchy_steps(
            _name(item),
            item.leaves,
            lambda s: s.work(f"sleaves{item.index}"),
            item.leaf_type,
            base_dir,
            quote(item.column.name),
        ),
    ]


def _ordered(spec: ReleaseSpec, item: Sensitive, state: State) -> exp.Expr:
    if item.order is not None:
        place, table = col("place", "o"), order_table(state, _name(item))
        label = order_label(canonical_type(item.column), col("value", "v"))
        on = exp.EQ(this=col("value", "o"), expression=label)
    else:
        place, table = downwards("o"), state.work(f"tree_{_name(item)}")
        on = exp.EQ(this=col("value", "o"), expression=leaf(item, "v"))
    tree = query(
        "select row_number() over (order by :place nulls last, v.code)::int as code from v",
        {"v": _values(item, state)},
        place=place,
    )
    kept = (name for name in sensitive_values(item.index).columns(spec, state) if name != "code")
    tree = tree.select(*[col(name, "v") for name in kept])
    return tree.join(exp.alias_(table.table, "o", table=True, quoted=True), on=on, join_type="left")


# Hierarchies over sensitive values, which the hierarchical distance is taken in.
#
# sleaves<j>   (value, n)      distinct values that are not NULL, in the type of the leaves
# spath<j>     (code, path)    keys of every value and its ancestors, lowest first, without the root
#
# The key of an ancestor is the lowest code below it, so keys are unique within a level. NULL is a
# child of the root of its own: its own ancestor on every level below the root.


def sensitive_tree_steps(item: Sensitive, base_dir: Path) -> list[Step]:
    """From `sdict<j>` to `spath<j>`; nothing where the column has no hierarchy."""
    if item.hierarchy is None:
        return []
    j = item.index
    name = quote(item.column.name)
    return [
        leaves_step(item, lambda s: s.work(sensitive_values(j))),
        *hierarchy_steps(
            f"s{j}", item.hierarchy, lambda s: s.work(f"sleaves{j}"), item.leaf_type, base_dir, name
        ),
        CreateTable(
            f"sensitive_paths{j}",
            f"ancestors of every value of {name}",
            lambda s: s.work(f"spath{j}"),
            lambda s: _paths(item, s),
        ),
    ]


def leaves_step(item: Sensitive, values: Name) -> CreateTable:
    """`sleaves<j>` from the values of a dictionary."""
    return CreateTable(
        f"sensitive_leaves{item.index}",
        f"values of {quote(item.column.name)} that need an ancestor",
        lambda s: s.work(f"sleaves{item.index}"),
        lambda s: query(
            "select :value as value, d.n from d where d.value is not null",
            {"d": values(s)},
            value=leaf(item, "d"),
        ),
    )


def leaf(item: Sensitive, table: str) -> exp.Expr:
    """A value of the dictionary, where numbers with fractions are texts, as a leaf."""
    value = col("value", table)
    if item.leaf_type == "numeric" and item.column.kind in ("numeric", "float"):
        return cast(value, "numeric")
    return value


def _paths(item: Sensitive, state: State) -> exp.Expr:
    tables = {"d": state.work(sensitive_values(item.index)), "t": state.work(f"tree_s{item.index}")}
    flat = query(
        "select d.code, x.level, x.label from d join t on t.value = :leaf"
        " cross join lateral unnest(t.labels) with ordinality as x(label, level)"
        " where x.level < cardinality(t.labels)",
        tables,
        leaf=leaf(item, "d"),
    )
    keyed = query(
        "select f.code, f.level,"
        ' min(f.code) over (partition by f.level, f.label collate "C") as node from f',
        {"f": flat},
    )
    valued = query(
        "select k.code, array_agg(k.node order by k.level) as path from k group by k.code",
        {"k": keyed},
    )
    missing = query(
        "select d.code, array_fill(d.code, array[(select coalesce(max(cardinality(t.labels)), 2)"
        " - 1 from t)]) as path from d where d.value is null",
        tables,
    )
    return union_all([valued, missing])
