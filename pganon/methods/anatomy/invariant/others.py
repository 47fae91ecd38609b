"""Newcomers who take over no value set: all of them form groups of their own, or none does."""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.curve import numbered
from pganon.encode.records import DRAW, PLACE
from pganon.methods.anatomy.shape import DEALT, AnatomyShape
from pganon.methods.suppression import RELEASED, suppression_problem
from pganon.published.facts import SUPPRESSED
from pganon.sqltools import col, named, num, query
from pganon.steps import Check, CreateTable, State, Step
from pganon.steps.facts import RECORDS


def other_steps(shape: AnatomyShape) -> list[Step]:
    return [
        Check(
            "others",
            "whether the other newcomers are eligible",
            lambda s: _figures(shape, s),
            lambda row, state: suppression_problem(shape.spec, row, state),
            gives=[DEALT, RELEASED, SUPPRESSED],
        ),
        CreateTable(
            "placed",
            "places of the other newcomers along the curve",
            lambda s: s.work("placed"),
            lambda s: _placed(shape, s),
        ),
    ]


def _others(shape: AnatomyShape, state: State) -> exp.Select:
    return query(
        "select n.* from n join t on t.code = :code and n.turn > t.n",
        {"n": state.work("newcomers"), "t": state.work("taken")},
        code=col(shape.value, "n"),
    )


def _figures(shape: AnatomyShape, state: State) -> exp.Expr:
    counted = query(
        "select count(*) as n from o group by :code",
        {"o": _others(shape, state)},
        code=col(shape.value, "o"),
    )
    eligible = query(
        "select case when max(c.n) * :l <= sum(c.n) then sum(c.n) else 0 end as dealt from c",
        {"c": counted},
        l=num(shape.model.l),
    )
    kept = query("select count(*) as n from l", {"l": state.work("listed")})
    return query(
        "select e.dealt::bigint as dealt, (k.n + e.dealt)::bigint as released,"
        " (:records - k.n - e.dealt)::bigint as suppressed from e cross join k",
        {"e": eligible, "k": kept},
        records=num(state[RECORDS]),
    )


def _placed(shape: AnatomyShape, state: State) -> exp.Expr:
    """Places say nothing of records that lie elsewhere; none are placed if none are dealt out."""
    tree = query(
        "select 1 from o where :dealt > 0", {"o": _others(shape, state)}, dealt=num(state[DEALT])
    )
    return tree.select(
        *[col(name, "o") for name in [DRAW, *shape.carried]],
        named(numbered([col(PLACE, "o")]), PLACE),
        append=False,
    )
