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
from pganon.methods.buckets.slicing.cuts import SlicingCuts
from pganon.methods.buckets.slicing.shape import SlicingShape
from pganon.methods.common.eligibility import ALL, Eligibility
from pganon.methods.common.rounds.rounds import CutRounds, start_step
from pganon.sqltools import cast, col, equal, fragment, num, query
from pganon.steps import CreateTable, DropTables, State, Step


def eligibility(shape: SlicingShape) -> Eligibility:
    """Records with the same quasi-identifiers in the sensitive column are a stratum."""
    frequency = shape.frequency(shape.sensitive.index, shape.l)
    return Eligibility(
        spec=shape.spec,
        first=lambda s: s.work("judged"),
        keep=lambda s: ["beside", *shape.codes, shape.value],
        conditions=lambda s: [frequency],
        model="slicing_l_diversity",
        stratum="beside",
        among=lambda s: _stratum(shape, s),
        remedy=lambda s: _alone(shape, s),
    )


def _alone(shape: SlicingShape, state: State) -> str | None:
    """How the sensitive column gets a table of its own, in which all records are one stratum."""
    if not arrangement(shape.spec, state).sensitive[0].quasi:
        return None
    if isinstance(shape.options.columns, tuple):
        return "list the sensitive column alone under columns"
    return "publish the sensitive column alone with alpha: 1"


def _stratum(shape: SlicingShape, state: State) -> str:
    beside = arrangement(shape.spec, state).sensitive[0].quasi
    names = ", ".join(quote(attribute.column.name) for attribute in beside)
    return f"records with the same {names}, which the sensitive column holds" if names else ALL


def tree_steps(shape: SlicingShape) -> list[Step]:
    rule = SlicingCuts(
        axes=shape.axes,
        minimum_size=shape.spec.minimum_size,
        further=("beside", shape.value),
        l=shape.l,
    )
    first = CreateTable(
        "judged",
        "records with what buckets are judged by",
        lambda s: s.work("judged"),
        lambda s: _judged(shape, s),
    )
    return [
        first,
        *eligibility(shape).steps(),
        CreateTable(
            "cells",
            "equal records collapse into weighted cells",
            lambda s: s.work("cells", round=0),
            lambda s: _cells(shape, s),
        ),
        start_step(rule.axes),
        *CutRounds(
            rule, "cut every bucket where both halves satisfy the requirement", "gathered"
        ).steps(),
        CreateTable(
            "grouped",
            "the bucket of every record",
            lambda s: s.work(GROUPED),
            lambda s: _grouped(shape, s),
        ),
        DropTables(
            "tidy",
            "what the buckets were made from",
            lambda s: [s.work("gathered"), s.work("judged"), *eligibility(shape).leftovers(s)],
        ),
    ]


def _judged(shape: SlicingShape, state: State) -> exp.Expr:
    beside = [
        col(f"c{attribute.index}", "c")
        for attribute in arrangement(shape.spec, state).sensitive[0].quasi
    ]
    number: exp.Expr = num(0)
    if beside:
        ranked = exp.Window(
            this=fragment("dense_rank()"),
            order=exp.Order(expressions=[exp.Ordered(this=code) for code in beside]),
        )
        number = cast(ranked, "integer")
    names = ["rid", *shape.codes, shape.value]
    tree = query("select :n as beside from c", {"c": state.work(CODED)}, n=number)
    return tree.select(*[col(name, "c") for name in names])


def _cells(shape: SlicingShape, state: State) -> exp.Expr:
    keys = [col(name, "k") for name in ("beside", *shape.codes, shape.value)]
    tree = query("select 1 as node, count(*) as w from k", {"k": eligibility(shape).kept(state)})
    return tree.select(*keys).group_by(*[key.copy() for key in keys])


def _grouped(shape: SlicingShape, state: State) -> exp.Expr:
    buckets = query("select distinct g.gid from g", {"g": state.work("gathered")})
    return query(
        "select k.rid, b.gid as b0 from k join b on :same",
        {
            "k": eligibility(shape).kept(state),
            "b": buckets.select(*[col(code, "g") for code in shape.codes]),
        },
        same=equal(shape.codes, "b", "k"),
    )
