"""New records in groups with an old signature: as many as fit while the others stay eligible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from pganon.methods.buckets.invariance.context import InvarianceContext
from pganon.methods.buckets.invariance.survivors import counted, fits, survivors
from pganon.methods.buckets.search.filling import Candidates, filled
from pganon.sqltools import col, fragment, named, query
from pganon.steps import Search, State, Step, table
from pganon.steps.tasks import TaskResult


def fill_steps(context: InvarianceContext) -> list[Step]:
    """From `returned` to `needed`, `newcomers` and `taken`."""
    return [
        table(
            "needed",
            "how many records of every value the groups of a set need",
            lambda s: _needed(context, s),
        ),
        table(
            "newcomers",
            "records of people who were not released yet, in random order",
            lambda s: query(
                "select r.*, row_number() over (partition by :code order by :order) as turn"
                " from r where r.vset is null and not r.gone",
                {"r": s.work("returned")},
                code=context.vector_of("r"),
                order=col(context.order, "r"),
            ),
        ),
        Search(
            "taken",
            "how many newcomers of every value take over a set",
            lambda s: s.work("taken"),
            (("code", "bigint"), ("n", "bigint")),
            rows=lambda s, batch: _candidates(context, s),
            tasks=lambda s, given, rows: [_Fill(tuple(rows), context.l)],
        ),
    ]


def _needed(context: InvarianceContext, state: State) -> exp.Expr:
    """A signature has as many groups as surviving records with its most frequent value."""
    each = query(
        "select s.vset, s.key, s.code, coalesce(n.n, 0) as have,"
        " max(coalesce(n.n, 0)) over (partition by s.vset) as groups from s left join n on :same",
        {"s": state.work("sets"), "n": counted(survivors(state), context)},
        same=fits("s", "n"),
    )
    return query("select e.* from e where e.groups > 0", {"e": each})


def _candidates(context: InvarianceContext, state: State) -> exp.Select:
    """SELECT code, count, need, s<j>: new records by vector, and how many of them fit."""
    new = query(
        "select :code as code, count(*) as n from r group by 1",
        {"r": state.work("newcomers")},
        code=context.vector_of("r"),
    ).select(*[named(fragment("min(:c)", c=col(code, "r")), code) for code in context.codes])
    need = query(
        "select n.code, sum(n.groups - n.have)::bigint as n from n where n.code is not null"
        " group by n.code",
        {"n": state.work("needed")},
    )
    return query(
        "select r.code, r.n, coalesce(d.n, 0) as need from r left join d on d.code = r.code"
        " order by r.code",
        {"r": new, "d": need},
    ).select(*[col(code, "r") for code in context.codes])


@dataclass(frozen=True)
class _Fill:
    rows: Sequence[tuple[Any, ...]]
    l: int  # noqa: E741 (the field's own letter)

    def __call__(self) -> TaskResult:
        candidates = [
            Candidates(code, tuple(values), n, need) for code, n, need, *values in self.rows
        ]
        return TaskResult(list(filled(candidates, self.l).items()))
