"""Weighted cells of a QS release, and whether its requirement is feasible.

    whole        (whole, c<i>)           values of all records, as one cluster would show them

One cluster of all records has the most combinations. If it violates the requirement, so do all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from pganon.encode.curve import numbered
from pganon.encode.facts import KEPT
from pganon.encode.public import public_table
from pganon.encode.secrets import row_hash, run_secret
from pganon.encode.work import CODED
from pganon.errors import PganonError
from pganon.forms.work import QS_CELLS
from pganon.identifiers import quote
from pganon.methods.clusters.qs.context import QSContext, code_arrays
from pganon.methods.common.reachable import infeasible
from pganon.methods.common.suppression import suppressed_check
from pganon.privacy.quasi_sensitive import product_histogram, supported_histogram
from pganon.sqltools import aliased, col, fragment, named, num, query, scalar
from pganon.steps import Check, CreateTable, State, Step, table
from pganon.steps.facts import count

CELLS = count("cells", assumed=1000)


def cell_steps(context: QSContext) -> list[Step]:
    """From the encoded records to `cells`; refuses a requirement that is not feasible."""
    # Facts of the columns of :func:`_feasibility`.
    sets = range(1, len(context.set_names) + 1)
    reached = [count(f"{kind}{number}") for kind in ("product", "supported") for number in sets]
    return [
        suppressed_check(context.spec, lambda s: s.work(CODED)),
        table(
            "cells",
            "equal records collapse into weighted cells",
            lambda s: _cells(context, s),
            into=QS_CELLS,
        ),
        *[_support(context, number) for number in range(1, len(context.set_names) + 1)],
        table(
            "whole",
            "values of all records",
            lambda s: code_arrays(context.codes, _all_cells(s), "whole"),
            inline=True,
        ),
        Check(
            "feasible",
            "whether the requirement can be reached at all",
            lambda s: _feasibility(context, s),
            lambda row, state: _infeasible(context, row, state),
            gives=[CELLS, *reached, *[count(f"values{axis.index}") for axis in context.axes]],
        ),
    ]


def _cells(context: QSContext, state: State) -> exp.Expr:
    """Cells numbered by a secret hash of their values, so that numbers disclose nothing."""
    codes = [col(name, "r") for name in context.codes]
    tree = query("select count(*) as w from r", {"r": state.work(CODED)})
    tree = tree.select(*codes).group_by(*[code.copy() for code in codes])
    values = [col(name, "g") for name in context.codes]
    secret = scalar(run_secret(state, "partition_seed"))
    order = [row_hash(exp.func("row", *values), secret), *values]
    return query("select :n::int as cell, g.* from g", {"g": tree}, n=numbered(order))


def _all_cells(state: State) -> exp.Select:
    return query("select 1 as whole, c.* from c", {"c": state.work(QS_CELLS)})


def _support(context: QSContext, number: int) -> Step:
    name = context.set_names[number - 1]
    return CreateTable(
        f"support{number}",
        f"combinations of the QS set {quote(name)} that exist",
        lambda s: context.support(s, number),
        lambda s: (_existing if name in context.spec.public else _occurring)(context, s, name),
    )


def _existing(context: QSContext, state: State, name: str) -> exp.Expr:
    """Combinations of a set in a public relation, of values that occur in the records."""
    tree = query("select distinct 1 from r", {"r": public_table(context.spec, name, state)})
    columns: list[exp.Expr] = []
    for place, attribute in enumerate(context.spec.qs_sets[name], start=1):
        alias, value = f"d{attribute.index}", col(f"q{attribute.index}", "r")
        code = fragment("case when :q is null then 0 else :d end", q=value, d=col("code", alias))
        columns.append(named(context.value_number(state, attribute.index, code), f"v{place}"))
        dictionary = context.axes[attribute.index].dictionary(state)
        tree = tree.join(
            aliased(dictionary, alias),
            on=exp.EQ(this=col("value", alias), expression=value),
            join_type="left",
        ).where(fragment(":q is null or :d is not null", q=value, d=col("code", alias)))
    return tree.select(*columns, append=False)


def _occurring(context: QSContext, state: State, name: str) -> exp.Expr:
    """Combinations of a set that the records have."""
    tree = query("select distinct 1 from c", {"c": state.work(QS_CELLS)})
    columns: list[exp.Expr] = []
    for place, attribute in enumerate(context.spec.qs_sets[name], start=1):
        code = col(context.axes[attribute.index].code, "c")
        value = context.value_number(state, attribute.index, code)
        columns.append(named(value, f"v{place}"))
    return tree.select(*columns, append=False)


def _feasibility(context: QSContext, state: State) -> exp.Expr:
    """One row: cells, `product<j>` and `supported<j>` of all records, `values<i>`."""
    whole, sets = state.work("whole"), context.sets(state)
    tree = query("select count(*) as cells from c", {"c": state.work(QS_CELLS)})
    counts = {
        "product": product_histogram(whole, "whole", sets),
        "supported": supported_histogram(whole, "whole", sets, context.element(state)),
    }
    for kind, histogram in counts.items():
        for number in sets:
            reached = query(
                "select h.n from h where h.value = :set",
                {"h": histogram},
                set=num(number),
            )
            tree = tree.select(named(scalar(reached), f"{kind}{number}"))
    for axis in context.axes:
        values = query("select cardinality(:a) from w", {"w": whole}, a=col(axis.code, "w"))
        tree = tree.select(named(scalar(values), f"values{axis.index}"))
    return tree


def _infeasible(context: QSContext, row: Mapping[str, Any], state: State) -> PganonError | None:
    model = context.model
    for number, name in enumerate(context.set_names, start=1):
        reached = int(row[f"{model.count}{number}"])
        if reached >= model.k:
            continue
        return infeasible(
            f'QS set "{name}" has only {reached} value combinations in'
            f" {state[KEPT]} records; k = {model.k} cannot be reached",
            model=model.name,
            required=model.k,
            observed=reached,
            hint=f"require at most k = {reached}, or add columns to the set"
            if reached
            else "name a public table with combinations that the records have",
        )
    if state[KEPT] < model.size:
        return infeasible(
            f"there are only {state[KEPT]} records; k = {model.k} cannot be reached,"
            " since a cluster has at least k records",
            model=model.name,
            required=model.k,
            observed=state[KEPT],
            hint=f"require at most k = {state[KEPT]}",
        )
    for axis in context.axes:
        reached = row[f"values{axis.index}"]
        if reached < model.min_values:
            return infeasible(
                f"column {quote(axis.attribute.column.name)} has only {reached} values in"
                f" {state[KEPT]} records; min_values = {model.min_values} cannot be"
                " reached",
                model=model.name,
                required=model.min_values,
                observed=reached,
                hint=f"require at most min_values = {reached}, or leave the column out",
            )
    return None
