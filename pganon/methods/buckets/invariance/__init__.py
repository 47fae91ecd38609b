"""m-invariance (Xiao and Tao 2007) for any method: groups in which signatures stay the same.

    sets         (vset, value_set, key, code)      values of every signature; code NULL: no record
    returned     (.., vset, gone, other)           all records; signature, permanently suppressed
    needed       (vset, key, code, have, groups)   groups of a signature, and records with a value
    newcomers    (.., turn)                        new records without a signature, in random order
    taken        (code, n)                         new records that get the signature of a group
    listed       (.., gid)                         records in groups with an old signature
    counterfeits (gid, v)                          counterfeit values of these groups

`code` numbers vectors: the values of a record in all sensitive columns, in anatomy its one value.
Surviving records are listed by signature and vector. Lists shorter than the longest one of their
signature are filled with new records of that vector, as long as the other new records stay
eligible, then with counterfeits. The lists are ordered along the curve, and the j-th records of
each form a group. All other new records form groups with new signatures, as in a first version.
Where they are not eligible, they are permanently suppressed.
"""

from __future__ import annotations

from functools import partial

from sqlglot import exp

from pganon.methods.buckets.invariance.context import InvarianceContext
from pganon.methods.buckets.invariance.groups import counterfeits, list_steps, old_groups
from pganon.methods.buckets.invariance.others import DEALT, other_steps, others
from pganon.methods.buckets.invariance.survivors import counted, fits, survivor_steps, survivors
from pganon.methods.buckets.search.filling import Candidates, filled
from pganon.sqltools import col, fragment, named, query
from pganon.steps import Rows, Search, State, Step, table
from pganon.steps.tasks import TaskResult


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


def _fill(rows: Rows, l: int) -> TaskResult:  # noqa: E741
    candidates = [Candidates(code, tuple(values), n, need) for code, n, need, *values in rows]
    return TaskResult(list(filled(candidates, l).items()))


__all__ = [
    "DEALT",
    "InvarianceContext",
    "counterfeits",
    "invariant_steps",
    "old_groups",
    "others",
]


def invariant_steps(context: InvarianceContext) -> list[Step]:
    """From the encoded records to groups with old signatures, and the other new records."""
    return [
        *survivor_steps(context),
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
            tasks=lambda s, given, rows: [partial(_fill, tuple(rows), context.l)],
        ),
        *list_steps(context),
        *other_steps(context),
    ]
