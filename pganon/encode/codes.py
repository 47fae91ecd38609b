"""Encoding: every record as codes, one table that all later steps read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from pganon.encode.axis import Axis, TreeAxis, axes
from pganon.encode.coding import (
    kept_records,
    left_out_records,
    suppresses_nulls,
    unknown_records,
)
from pganon.encode.dictionaries import dictionary_chains
from pganon.encode.distribution import by_cell
from pganon.encode.facts import COLLAPSED, KEPT, has_null, levels, size
from pganon.encode.records import NUMBER
from pganon.encode.sensitive import (
    reference_step,
    sensitive_dictionary,
    value_counts,
    value_facts,
)
from pganon.encode.sensitive_order import ordered_dictionary, sensitive_tree_steps
from pganon.encode.shard_counts import look_steps
from pganon.encode.value_codes import referenced, valued
from pganon.encode.work import CODED, LEFT_OUT, REPEATED, SNAP
from pganon.errors import PganonError, Unbalanced
from pganon.identifiers import QualifiedName
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import col, named, num, query, scalar
from pganon.steps import Check, CreateTable, DropTables, Parallel, State, Step
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
            counted=KEPT,
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

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        expected = state[RECORDS] - row["unknown"]
        if state[KEPT] == expected:
            return None
        return Unbalanced(f"{expected} records were to be encoded and {state[KEPT]} were")

    return Check(
        "encoded",
        "every record that the rules for NULL keep is encoded once",
        lambda state: unknown_records(spec, state),
        problem,
        gives=[count("unknown")],
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
