"""Buckets of classical slicing: Mondrian's cuts at the lower median, all buckets at once.

    judged    (rid, beside, c<i>, s<j>)        records; `beside` numbers their quasi-identifiers in
                                               the sensitive column
    cells_0   (node, c<i>, beside, s<j>, w)    equal records
    gathered  (gid, c<i>)                      the codes of every bucket

:mod:`pganon.methods.common.rounds` has the rounds, :mod:`pganon.methods.buckets.slicing.cuts` the
rule.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.work import CODED
from pganon.forms.work import GROUPED
from pganon.identifiers import quote
from pganon.methods.buckets.slicing.columns import arrangement
from pganon.methods.buckets.slicing.context import SlicingContext
from pganon.methods.buckets.slicing.cuts import SlicingCuts
from pganon.methods.common.eligibility import ALL, Eligibility
from pganon.methods.common.rounds.rounds import CutRounds, start_step
from pganon.sqltools import cast, col, equal, fragment, num, query
from pganon.steps import State, Step, table


def eligibility(context: SlicingContext) -> Eligibility:
    """Records with the same quasi-identifiers in the sensitive column are a stratum."""
    frequency = context.frequency(context.sensitive.index, context.l)
    return Eligibility(
        spec=context.spec,
        first=lambda s: s.work("judged"),
        keep=lambda s: ["beside", *context.codes, context.value],
        conditions=lambda s: [frequency],
        model="slicing_l_diversity",
        stratum="beside",
        among=lambda s: _stratum(context, s),
        remedy=lambda s: _remedy(context, s),
    )


def _remedy(context: SlicingContext, state: State) -> str | None:
    """A hint to publish the sensitive column alone, so that all records are one stratum."""
    if not arrangement(context.spec, state).sensitive[0].attributes:
        return None
    if isinstance(context.options.columns, tuple):
        return "list the sensitive column alone under columns"
    return "publish the sensitive column alone with alpha: 1"


def _stratum(context: SlicingContext, state: State) -> str:
    beside = arrangement(context.spec, state).sensitive[0].attributes
    names = ", ".join(quote(attribute.column.name) for attribute in beside)
    return f"records with the same {names}, which the sensitive column holds" if names else ALL


def tree_steps(context: SlicingContext) -> list[Step]:
    """From the encoded records to the bucket of every record."""
    rule = SlicingCuts(
        axes=context.axes,
        minimum_size=context.spec.minimum_size,
        further=("beside", context.value),
        l=context.l,
    )
    first = table("judged", "records with what buckets are judged by", lambda s: _coded(context, s))
    return [
        first,
        *eligibility(context).steps(),
        table(
            "cells",
            "equal records collapse into weighted cells",
            lambda s: _cells(context, s),
            later=0,
        ),
        start_step(rule.axes),
        *CutRounds(
            rule, "cut every bucket where both halves satisfy the requirement", "gathered"
        ).steps(),
        table(
            "grouped", "the bucket of every record", lambda s: _grouped(context, s), into=GROUPED
        ),
    ]


def _coded(context: SlicingContext, state: State) -> exp.Expr:
    beside = [
        col(f"c{attribute.index}", "c")
        for attribute in arrangement(context.spec, state).sensitive[0].attributes
    ]
    number: exp.Expr = num(0)
    if beside:
        ranked = exp.Window(
            this=fragment("dense_rank()"),
            order=exp.Order(expressions=[exp.Ordered(this=code) for code in beside]),
        )
        number = cast(ranked, "integer")
    names = ["rid", *context.codes, context.value]
    tree = query("select :n as beside from c", {"c": state.work(CODED)}, n=number)
    return tree.select(*[col(name, "c") for name in names])


def _cells(context: SlicingContext, state: State) -> exp.Expr:
    keys = [col(name, "k") for name in ("beside", *context.codes, context.value)]
    tree = query("select 1 as node, count(*) as w from k", {"k": eligibility(context).kept(state)})
    return tree.select(*keys).group_by(*[key.copy() for key in keys])


def _grouped(context: SlicingContext, state: State) -> exp.Expr:
    buckets = query("select distinct g.gid from g", {"g": state.work("gathered")})
    return query(
        "select k.rid, b.gid as b0 from k join b on :same",
        {
            "k": eligibility(context).kept(state),
            "b": buckets.select(*[col(code, "g") for code in context.codes]),
        },
        same=equal(context.codes, "b", "k"),
    )
