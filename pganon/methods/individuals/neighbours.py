"""Neighbouring blocks: one search over several of them, and classes for their residuals.

Blocks that are searched as one have one place along the curve. Residuals of a place may join
classes of the two places beside it. They do so in three passes, every third place at a time: in
one pass no two places read the same class, so that its places can be searched side by side,
and the result does not depend on how many are.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pganon.methods.common.pairs import high_of
from pganon.methods.individuals.context import IdentityContext
from pganon.methods.individuals.individuals import INDIVIDUAL_COUNT
from pganon.methods.individuals.residuals import RESIDUALS, join_step, units
from pganon.sqltools import fragment, num, query, stacked
from pganon.steps import Check, State, Step, table
from pganon.steps.facts import count

PLACES = count("places", "spans_", assumed=2)
"""Blocks after some were put together."""

JOINED = count("joined", "spans_")
"""How many of them are several blocks."""

PASSES = 3

MOST_TOGETHER = 4
"""Blocks that are searched as one at most, so that the time and memory of a search are bounded."""


def span_steps() -> list[Step]:
    return [
        table("spans", "blocks to be searched as one", _spans),
        Check(
            "spans",
            "how many of them there are",
            lambda s: query(
                "select count(distinct s.place) as places, count(distinct s.label) filter"
                " (where s.several) as joined from s",
                {"s": s.work("spans")},
            ),
            gives=[PLACES, JOINED],
        ),
    ]


def _spans(state: State) -> exp.Expr:
    """(block, label, place, several): blocks without a class go with the last one that has any.

    Before the first one they go with that. Longer rows are cut into pieces of much the same size.
    """
    bounds = query(
        "select b.block, g.block is not null as found"
        " from (select distinct x.block from b as x) as b"
        " left join (select distinct :block as block from g as y) as g on g.block = b.block",
        {"b": state.work("blocked"), "g": state.work("grown")},
        block=high_of(fragment("y.gid")),
    )
    pieces = query(
        "select p.block, p.run, p.at * ((p.size + :most - 1) / :most) / p.size as piece from ("
        " select r.block, r.run, row_number() over (partition by r.run order by r.block) - 1 as at,"
        " count(*) over (partition by r.run) as size from ("
        " select f.block, greatest(sum(f.found::int) over (order by f.block), 1) as run from f"
        " ) as r) as p",
        {"f": bounds},
        most=num(MOST_TOGETHER),
    )
    return query(
        "select n.block, n.place, n.several, case when n.several then (select max(x.block) from b"
        " as x) + dense_rank() over (partition by n.several order by n.place) else n.block end"
        " as label from (select p.block, count(*) over (partition by p.run, p.piece) > 1"
        " as several, dense_rank() over (order by p.run, p.piece) - 1 as place from p) as n",
        {"p": pieces, "b": state.work("blocked")},
    )


def assigned(state: State, passes: int) -> exp.Select:
    """SELECT rid, gid: individuals with a class before so many passes are done."""
    parts = [
        query(
            "select g.rid, g.gid from g join s on s.block = :block where not s.several",
            {"g": state.work("grown"), "s": state.work("spans")},
            block=high_of(fragment("g.gid")),
        )
    ]
    names = ["regrown"] if state[JOINED] else []
    names += [f"{'joined'}{number}" for number in range(passes)] if passes and _worth(state) else []
    parts += [query("select r.rid, r.gid from r", {"r": state.work(name)}) for name in names]
    return stacked(parts)


# -- residuals --------------------------------------------------------------------------------


def neighbour_steps(context: IdentityContext, at_once: Callable[[State], int]) -> list[Step]:
    """Steps that let residuals join classes of neighbouring places.

    Args:
        at_once: places that are read in one batch.
    """
    steps: list[Step] = [
        Check(
            "residuals",
            "individuals without a class in their block",
            lambda s: query(
                "select :individuals - count(*) as residuals from c",
                {"c": assigned(s, 0)},
                individuals=num(s[INDIVIDUAL_COUNT]),
            ),
            gives=[RESIDUALS],
        )
    ]
    for number in range(PASSES):
        steps += _pass(context, number, at_once)
    return steps


def _worth(state: State) -> bool:
    return state[RESIDUALS] > 0 and state[PLACES] > 1


def _pass(context: IdentityContext, number: int, at_once: Callable[[State], int]) -> list[Step]:
    return [
        table(
            f"left{number}",
            "residuals in every third place",
            lambda s: query(
                "select s.place as block, b.rid from b join s on s.block = b.block"
                " left join c on c.rid = b.rid where c.rid is null and s.place % :passes = :number",
                {"b": s.work("blocked"), "s": s.work("spans"), "c": assigned(s, number)},
                passes=num(PASSES),
                number=num(number),
            ),
            when=_worth,
        ),
        table(
            f"units{number}",
            "the same with the classes of neighbouring places",
            lambda s: units(context, s, s.work(f"left{number}"), _classes(s, number)),
            when=_worth,
        ),
        join_step(
            context,
            f"joined{number}",
            lambda s: s.work(f"units{number}"),
            lambda s: s.work(f"joined{number}"),
            places=lambda s: s[PLACES],
            at_once=at_once,
            when=_worth,
        ),
    ]


def _classes(state: State, number: int) -> exp.Select:
    """SELECT block, unit, rid: members of the classes that residuals of a place can join."""
    beside = query(
        "select distinct s.label, ((s.place - :number + 4) / 3 - 1) * 3 + :number as middle from s",
        {"s": state.work("spans")},
        number=num(number),
    )
    return query(
        "select n.middle as block, c.gid as unit, c.rid from c join n on n.label = :block"
        " join (select distinct x.block from l as x) as l on l.block = n.middle",
        {"c": assigned(state, number), "n": beside, "l": state.work(f"left{number}")},
        block=high_of(fragment("c.gid")),
    )
