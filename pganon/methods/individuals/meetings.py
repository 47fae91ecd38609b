"""Residuals of global generalization meet all classes, some of each at a time.

One search over all of them would take time and memory by their product. So residuals and classes
are cut into blocks of neighbours along a curve. In every round the residuals of a block meet the
classes of one block, another one in each, those nearby first: no two searches of a round look at
the same class, so that they can go side by side. Rounds end when nobody is left, or when every
residual has met every class. Few residuals and classes are one block, which is the paper's search.

    stretches     (block, unit, residual)       blocks of residuals (rid) and of classes (gid)
    units_r       (block, rid, residual, ..)    residuals left before round r, with whom they meet
    joined_r      (rid, gid)                    the class that they join
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pganon.encode.curve import along_curve
from pganon.forms.work import INDIVIDUALS
from pganon.identifiers import QualifiedName
from pganon.methods.individuals.context import IdentityContext
from pganon.methods.individuals.residuals import RESIDUALS, join_step, units
from pganon.sqltools import num, query, stacked
from pganon.steps import Check, Loop, State, Step, table
from pganon.steps.facts import count, flag

_CLASSES = count("residual_classes")
"""Classes that residuals may join."""

_MET = flag("met")
_ROUNDS = count("meet_rounds")

TOGETHER = 5000
"""Residuals and classes of a block."""

AT_ONCE = 100_000
"""Residuals and classes that are read in one batch."""

Rows = Callable[[State], exp.Select]


def meeting_steps(
    context: IdentityContext,
    remaining: Rows,
    classed: Rows,
    shown: Callable[[State, exp.Select], exp.Select],
) -> list[Step]:
    """Steps that let residuals join the nearest class that still satisfies every requirement.

    Args:
        remaining: SELECT rid of the residuals.
        classed: SELECT rid, gid of everybody else.
        shown: what classes show, from a relation with their hulls.
    """
    return [
        Check(
            "residuals",
            "individuals who are left, and classes that they may join",
            lambda s: query(
                "select (select count(*) from l) as residuals,"
                " (select count(distinct c.gid) from c) as residual_classes",
                {"l": remaining(s), "c": classed(s)},
            ),
            gives=[RESIDUALS, _CLASSES],
        ),
        table(
            "stretches",
            "both in blocks of neighbours",
            lambda s: _stretches(context, s, remaining(s), classed(s)),
            when=_somebody,
        ),
        Loop(
            "meet",
            "residuals of every block meet the classes of one",
            body=lambda number: [
                table(
                    "units",
                    "residuals, and classes that they meet",
                    lambda s: units(
                        context,
                        s,
                        _remaining(s, s.round),
                        _met(s, classed(s)),
                        lambda hulls: shown(s, hulls),
                    ),
                    later=0,
                    when=_somebody,
                ),
                join_step(
                    context,
                    "joined",
                    lambda s: s.work("units", round=s.round),
                    lambda s: s.work("joined", round=s.round),
                    places=blocks,
                    at_once=lambda s: max(1, AT_ONCE // TOGETHER),
                    limited=False,
                    when=_somebody,
                ),
                Check(
                    "met", "whether anybody is left who has not met every class", _end, gives=[_MET]
                ),
            ],
            until=_MET,
            rounds=_ROUNDS,
            keeps=["joined"],
        ),
    ]


def joined(state: State, rounds: int | None = None) -> list[exp.Select]:
    """SELECT rid, gid of residuals that joined a class, in so many rounds, or in all."""
    return [query("select j.rid, j.gid from j", {"j": t}) for t in _tables(state, "joined", rounds)]


def blocks(state: State) -> int:
    return max(1, -(-(state[RESIDUALS] + state[_CLASSES]) // TOGETHER))


def _tables(state: State, name: str, rounds: int | None = None) -> list[QualifiedName]:
    if not _somebody(state):
        return []
    number = state[_ROUNDS] if rounds is None else rounds
    return [state.work(name, round=r) for r in range(number)]


def _somebody(state: State) -> bool:
    """Whether there is anybody to join, and anything."""
    return state[RESIDUALS] > 0 and state[_CLASSES] > 0


def _stretches(
    context: IdentityContext, state: State, remaining: exp.Select, classed: exp.Select
) -> exp.Select:
    """One of its individuals stands for a class on the curve."""
    people = stacked(
        [
            query("select true as residual, l.rid as unit, l.rid from l", {"l": remaining}),
            query(
                "select false as residual, c.gid as unit, min(c.rid) as rid from c group by c.gid",
                {"c": classed},
            ),
        ]
    )
    placed = query(
        "select i.*, p.residual, p.unit from p join i on i.rid = p.rid",
        {"p": people, "i": state.work(INDIVIDUALS)},
    )
    ordered = along_curve(context.axes, state, placed, ["residual", "unit"], order="rid")
    return query(
        "select o.residual, o.unit, ((o.place - 1) * :blocks / :all)::int as block from o",
        {"o": ordered},
        blocks=num(blocks(state)),
        all=num(state[RESIDUALS] + state[_CLASSES]),
    )


def _remaining(state: State, rounds: int) -> exp.Select:
    """SELECT block, rid: residuals that are left after so many rounds."""
    nobody = query("select 0::bigint as rid, 0::bigint as gid where false")
    return query(
        "select s.block, s.unit as rid from s left join j on j.rid = s.unit"
        " where s.residual and j.rid is null",
        {"s": state.work("stretches"), "j": stacked([nobody, *joined(state, rounds)])},
    )


def _met(state: State, classed: exp.Select) -> exp.Select:
    """SELECT block, unit, rid: members of the classes that residuals of a block meet."""
    return query(
        "select m.block, c.gid as unit, c.rid from c join (select (s.block + :back) % :blocks"
        " as block, s.unit from s where not s.residual) as m on m.unit = c.gid"
        " join (select distinct x.block from l as x) as l on l.block = m.block",
        {
            "c": stacked([classed, *joined(state, state.round)]),
            "s": state.work("stretches"),
            "l": _remaining(state, state.round),
        },
        back=num(-_away(state.round) % blocks(state)),
        blocks=num(blocks(state)),
    )


def _away(number: int) -> int:
    """How many blocks further the classes are that are met in a round: 0, 1, -1, 2, -2, .."""
    return (number + 1) // 2 if number % 2 else -(number // 2)


def _end(state: State) -> exp.Select:
    if not _somebody(state):
        return query("select true as met")
    return query(
        "select not exists (select 1 from l) or :round + 1 >= :blocks as met",
        {"l": _remaining(state, state.round + 1)},
        round=num(state.round),
        blocks=num(blocks(state)),
    )
