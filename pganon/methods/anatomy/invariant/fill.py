"""How many newcomers take over a value set: as many as fit, as long as the others stay eligible.

Of r_a newcomers with value a at most min(r_a, need_a) can be taken. Others are eligible if no value
has more than 1/l of them. Let c be the largest count that is left when all who fit are taken. Where
sum of min(r_a, c) >= l c, the others are eligible whenever at most c of every value and at least
l c in all are left; a larger c takes fewer. Else they are eligible for no choice at all: g(c) =
sum of min(r_a, c) - l c is concave with g(0) = 0, so once it is negative it stays so. Then all who
fit are taken.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.records import DRAW
from pganon.methods.anatomy.invariant.survivors import counted, fits, survivors
from pganon.methods.anatomy.shape import AnatomyShape
from pganon.sqltools import col, num, query
from pganon.steps import CreateTable, State, Step


def fill_steps(shape: AnatomyShape) -> list[Step]:
    return [
        CreateTable(
            "needed",
            "how many records of every value the groups of a set need",
            lambda s: s.work("needed"),
            lambda s: _needed(shape, s),
        ),
        CreateTable(
            "newcomers",
            "records of people who were not released yet, in random order",
            lambda s: s.work("newcomers"),
            lambda s: query(
                "select r.*, row_number() over (partition by :code order by :draw) as turn"
                " from r where r.vset is null and not r.gone",
                {"r": s.work("returned")},
                code=col(shape.value, "r"),
                draw=col(DRAW, "r"),
            ),
        ),
        CreateTable(
            "taken",
            "how many newcomers of every value take over a set",
            lambda s: s.work("taken"),
            lambda s: _taken(shape, s),
        ),
    ]


def _needed(shape: AnatomyShape, state: State) -> exp.Expr:
    """A set has as many groups as there are people with the most frequent of its values."""
    each = query(
        "select s.vset, s.key, s.code, coalesce(n.n, 0) as have,"
        " max(coalesce(n.n, 0)) over (partition by s.vset) as groups from s left join n on :same",
        {"s": state.work("sets"), "n": counted(survivors(shape, state), shape)},
        same=fits("s", "n"),
    )
    return query("select e.* from e where e.groups > 0", {"e": each})


def _taken(shape: AnatomyShape, state: State) -> exp.Expr:
    new = query(
        "select :code as code, count(*) as n from r group by 1",
        {"r": state.work("newcomers")},
        code=col(shape.value, "r"),
    )
    need = query(
        "select n.code, sum(n.groups - n.have) as n from n where n.code is not null"
        " group by n.code",
        {"n": state.work("needed")},
    )
    return taken(new, need, shape.model.l)


def taken(new: exp.Select, need: exp.Select, l: int) -> exp.Select:  # noqa: E741
    """SELECT code, n: how many newcomers of every value are taken.

    Args:
        new: SELECT code, n: newcomers by value.
        need: SELECT code, n: how many of a value fit.
        l: of which the others must be eligible.
    """
    fitting = query(
        "select r.code, r.n, least(r.n, coalesce(d.n, 0)) as most from r"
        " left join d on d.code = r.code",
        {"r": new, "d": need},
    )
    left = query("select f.*, max(f.n - f.most) over () as cap from f", {"f": fitting})
    limits = query(
        "select w.*, greatest(w.n - w.cap, 0) as least,"
        " case when sum(least(w.n, w.cap)) over () >= :l * w.cap"
        " then least(sum(w.most) over (), sum(w.n) over () - :l * w.cap)"
        " else sum(w.most) over () end as wanted from w",
        {"w": left},
        l=num(l),
    )
    # The most frequent values of the others are taken first.
    spare = query(
        "select x.code, x.most, x.least, x.wanted - sum(x.least) over () as spare,"
        " sum(x.most - x.least) over (order by x.n desc, x.code rows unbounded preceding)"
        " - (x.most - x.least) as before from x",
        {"x": limits},
    )
    return query(
        "select y.code, (y.least + least(y.most - y.least,"
        " greatest(y.spare - y.before, 0)))::bigint as n from y",
        {"y": spare},
    )
