"""Encoding: every record as codes, one table that all later steps read.

coded   one row per record kept: c<i> codes, v<j> and p<j> values to publish, s<j> codes of
        sensitive values where a requirement needs them, record, individual, and rid or draw, a
        random order of the records
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.encode.axis import TreeAxis, axes
from pganon.encode.dictionaries import dictionary_chains
from pganon.encode.records import random_order
from pganon.encode.sensitive import (
    looked_up,
    reference_step,
    referenced,
    sensitive_dictionary,
    value_counts,
    valued,
    with_code,
)
from pganon.encode.sensitive_trees import sensitive_tree_steps
from pganon.plan.sqltools import cast, col, fragment, named, num, query
from pganon.plan.steps import Check, CreateTable, DropTables, Parallel, State, Step
from pganon.spec.model import ReleaseSpec

LEFT_OUT = "left_out"
"""Work table like `coded` with the records that the rules for NULL suppress, for metrics."""


def encode_steps(
    spec: ReleaseSpec, *, beside: Sequence[Step] = (), left_out: bool = False
) -> tuple[Step, ...]:
    """From `snap` to `coded`, dictionaries and the facts of every axis.

    Args:
        beside: steps over `snap` that can go on while dictionaries are made, and end before
            records are numbered.
        left_out: whether to make the table of records that the rules for NULL suppress, if there
            are such rules.
    """
    chains: list[Sequence[Step]] = [beside, *dictionary_chains(spec)]
    chains += [
        [sensitive_dictionary(item), *sensitive_tree_steps(item, spec.base_dir)]
        for item in valued(spec)
    ]
    steps: list[Step] = [
        Parallel("values", "dictionaries", chains),
        _sizes(spec),
        CreateTable("coded", "values become codes", lambda s: s.work("coded"), _coded(spec)),
    ]
    if left_out and any(attribute.nulls == "suppress" for attribute in spec.attributes):
        purpose = "records that the rules for NULL leave out"
        steps.append(
            CreateTable(LEFT_OUT, purpose, lambda s: s.work(LEFT_OUT), _coded(spec, kept=False))
        )
    steps += [reference_step(item, "source") for item in referenced(spec)]
    steps += [
        Check(
            "kept",
            "records that the rules for NULL keep",
            lambda s: query("select count(*) as kept from c", {"c": s.work("coded")}),
        ),
        DropTables("tidy", "the snapshot is not needed any more", lambda s: [s.work("snap")]),
    ]
    return tuple(steps)


def _sizes(spec: ReleaseSpec) -> Step:
    def select(state: State) -> exp.Expr:
        tree = exp.select(named(num(0), "nothing"))
        for axis in axes(spec.attributes):
            i = axis.index
            counted = {"d": axis.dictionary(state)}
            tree = tree.select(
                named(query("select coalesce(max(d.code), 0) from d", counted).subquery(), f"m{i}"),
                named(
                    query("select coalesce(bool_or(d.code = 0), false) from d", counted).subquery(),
                    f"null{i}",
                ),
            )
            if isinstance(axis, TreeAxis):
                tree = tree.select(
                    named(
                        query(
                            "select coalesce(max(l.level), 0) from l", {"l": axis.table(state)}
                        ).subquery(),
                        f"levels{i}",
                    )
                )
        for item in valued(spec):
            tree = tree.select(*value_counts(item, state))
        return tree

    return Check("sizes", "sizes of the dictionaries", select)


def _coded(spec: ReleaseSpec, *, kept: bool = True):
    def select(state: State) -> exp.Expr:
        tree = exp.select().from_(
            exp.alias_(state.work("snap").table, "t", table=True, quoted=True)
        )
        for axis in axes(spec.attributes):
            alias = f"d{axis.index}"
            code = fragment("coalesce(:code, 0)", code=col("code", alias))
            tree = tree.select(named(cast(code, axis.code_type(state)), axis.code))
            tree = looked_up(
                tree,
                axis.dictionary(state),
                alias,
                exp.EQ(this=col("value", alias), expression=col(f"q{axis.index}", "t")),
            )
        for item in spec.sensitive:
            tree = tree.select(named(col(f"s{item.index}", "t"), f"v{item.index}"))
        for item in valued(spec):
            tree = with_code(tree, item, col(f"s{item.index}", "t"), state)
        for item in spec.carried:
            tree = tree.select(col(f"p{item.index}", "t"))
        if spec.record_key:
            tree = tree.select(col("record", "t"))
        if spec.individual:
            tree = tree.select(col("individual", "t"))
        tree = tree.select(*random_order(spec, state, "t"))
        unknown = [
            fragment(":q is null", q=col(f"q{attribute.index}", "t"))
            for attribute in spec.attributes
            if attribute.nulls == "suppress"
        ]
        if not unknown:
            return tree
        left_out = exp.paren(exp.or_(*unknown))
        return tree.where(exp.not_(left_out) if kept else left_out)

    return select


def weight_type(state: State) -> str:
    """Type of numbers of records. Sums of integers are bigint, those of bigint slow numeric."""
    return "integer" if state.count("records") < 2**31 else "bigint"
