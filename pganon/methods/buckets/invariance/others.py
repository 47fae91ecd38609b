"""Newcomers who take over no signature: all of them form groups of their own, or none does."""

from __future__ import annotations

from sqlglot import exp

from pganon.forms.facts import SUPPRESSED
from pganon.methods.buckets.invariance.context import InvarianceContext
from pganon.methods.common.suppression import RELEASED, suppression_problem
from pganon.sqltools import col, num, query, stacked
from pganon.steps import Check, State, Step
from pganon.steps.facts import RECORDS, count

DEALT = count("dealt")
"""Records that are dealt out to groups with new signatures, where others keep theirs."""


def other_steps(context: InvarianceContext) -> list[Step]:
    return [
        Check(
            "others",
            "whether the other newcomers are eligible",
            lambda s: _figures(context, s),
            lambda row, state: suppression_problem(context.spec, row, state),
            gives=[DEALT, RELEASED, SUPPRESSED],
        ),
    ]


def others(context: InvarianceContext, state: State) -> exp.Select:
    """SELECT of their columns; nobody if they are not eligible."""
    return query(
        "select o.* from o where :dealt > 0",
        {"o": _others(context, state)},
        dealt=num(state[DEALT]),
    )


def _others(context: InvarianceContext, state: State) -> exp.Select:
    return query(
        "select n.* from n join t on t.code = :code and n.turn > t.n",
        {"n": state.work("newcomers"), "t": state.work("taken")},
        code=context.vector_of("n"),
    )


def _figures(context: InvarianceContext, state: State) -> exp.Expr:
    """In every column the others have to be eligible."""
    counted = [
        query(
            "select count(*) as n from o group by :code",
            {"o": _others(context, state)},
            code=col(code, "o"),
        )
        for code in context.codes
    ]
    eligible = query(
        "select case when max(c.n) * :l <= t.n then t.n else 0 end as dealt from t"
        " left join c on true group by t.n",
        {
            "c": stacked(counted),
            "t": query("select count(*) as n from o", {"o": _others(context, state)}),
        },
        l=num(context.l),
    )
    kept = query("select count(*) as n from l", {"l": state.work("listed")})
    return query(
        "select e.dealt::bigint as dealt, (k.n + e.dealt)::bigint as released,"
        " (:records - k.n - e.dealt)::bigint as suppressed from e cross join k",
        {"e": eligible, "k": kept},
        records=num(state[RECORDS]),
    )
