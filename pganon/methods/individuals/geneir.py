"""The method `geneir`: global generalization of individuals, the baseline.

Wang, Du, Luo and Li 2019. All individuals that are left show every quasi-identifier on one level of
its hierarchy; groups of equal ones that satisfy the requirement become classes. Then one hierarchy,
drawn at random, goes up a level, and so on.

    sequence    (step, attribute)    which hierarchy goes up at every step
    left_r      (rid)                individuals left before sweep r
    groups_r    (rid, label)         groups of individuals that show the same
    fit_r       (label)              groups that satisfy every requirement
    swept       (rid, gid)           individuals of these groups, which are the classes
    joined_r    (rid, gid)           the class that individuals who are left in the end join
    classed     (rid, gid)           the class of every individual

An individual with several values of an attribute shows their lowest common ancestor. Individuals
that are left in the end join the nearest class that still satisfies the requirements, whatever
that costs.

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

import random
from collections.abc import Callable, Sequence
from functools import partial

from sqlglot import exp

from pganon.encode.axis import TreeAxis
from pganon.encode.curve import along_curve
from pganon.encode.secrets import run_secret
from pganon.encode.work import CODED
from pganon.forms.work import CLASSED, INDIVIDUALS
from pganon.identifiers import QualifiedName
from pganon.methods.individuals.context import IdentityContext
from pganon.methods.individuals.individuals import required_value
from pganon.methods.individuals.labels import as_shown, trees
from pganon.methods.individuals.residuals import RESIDUALS, join_step, units
from pganon.privacy.base import Requirement
from pganon.privacy.identity import measured
from pganon.sqltools import col, fragment, named, num, query, scalar, stacked
from pganon.steps import Check, Loop, Search, State, Step, table
from pganon.steps.facts import count, flag
from pganon.steps.tasks import TaskResult

_CLASSES = count("residual_classes")
"""Classes that residuals may join."""

_MET = flag("met")
_MEETINGS = count("meet_rounds")

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
            rounds=_MEETINGS,
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
    number = state[_MEETINGS] if rounds is None else rounds
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


SEQUENCE = "sequence"
_SWEPT = flag("swept")
_ROUNDS = count("sweep_rounds")


def geneir_steps(context: IdentityContext) -> list[Step]:
    return [
        Search(
            SEQUENCE,
            "which hierarchy goes up at every step",
            lambda s: s.work(SEQUENCE),
            (("step", "integer"), ("attribute", "integer")),
            given=lambda s: query(
                "select :seed as seed", seed=scalar(run_secret(s, "partition_seed"))
            ),
            rows=lambda s, batch: query("select 1 as nothing"),
            tasks=lambda s, given, rows: [partial(_draw, _levels(context, s), given["seed"])],
        ),
        table(
            "left",
            "all individuals",
            lambda s: query("select i.rid from i", {"i": s.work(INDIVIDUALS)}),
            later=0,
        ),
        Loop(
            "sweep",
            "groups of individuals that show the same become classes if they can",
            body=lambda number: _sweep(context),
            until=_SWEPT,
            rounds=_ROUNDS,
            carries=["left"],
            keeps=["groups", "fit"],
        ),
        table(
            "swept",
            "the class of every individual of these groups",
            lambda s: stacked([_named_classes(s, r) for r in range(s[_ROUNDS])]),
        ),
        *_residual_steps(context),
    ]


def _named_classes(state: State, sweep: int) -> exp.Select:
    """SELECT rid, gid: numbers of classes grow with their sweep, as the order that breaks ties."""
    return query(
        "select g.rid, (:sweep::bigint << 32) + g.label as gid from g join f on f.label = g.label",
        {"g": state.work("groups", round=sweep), "f": state.work("fit", round=sweep)},
        sweep=num(sweep),
    )


def _residual_steps(context: IdentityContext) -> list[Step]:
    def remaining(state: State) -> exp.Select:
        last = state.work("left", round=state[_ROUNDS])
        return query("select l.rid from l", {"l": last})

    def swept(state: State) -> exp.Select:
        return query("select c.rid, c.gid from c", {"c": state.work("swept")})

    def shown(state: State, hulls: exp.Select) -> exp.Select:
        return as_shown(context, state, hulls, ["block", "unit", "people", "records", "largest"])

    return [
        *meeting_steps(context, remaining, swept, shown),
        table(
            "classed",
            "the class of every individual",
            lambda s: stacked([swept(s), *joined(s)]),
            into=CLASSED,
        ),
    ]


def _levels(context: IdentityContext, state: State) -> list[int]:
    return [axis.levels(state) for axis in trees(context)]


def _draw(levels: Sequence[int], seed: int) -> TaskResult:
    """At every step one of the hierarchies that are not yet at their root."""
    draw = random.Random(seed)  # noqa: S311 - reproducible, from a secret seed
    remaining = list(levels)
    rows: list[tuple[int, int]] = []
    while any(remaining):
        attribute = draw.choice([a for a, left in enumerate(remaining) if left])
        remaining[attribute] -= 1
        rows.append((len(rows) + 1, attribute))
    return TaskResult(rows)


def _sweep(context: IdentityContext) -> Sequence[Step]:
    return [
        table("groups", "individuals that show the same", lambda s: _groups(context, s), later=0),
        table("fit", "groups that satisfy every requirement", lambda s: _fit(context, s), later=0),
        table(
            "left",
            "individuals of the others",
            lambda s: query(
                "select g.rid from g left join f on f.label = g.label where f.label is null",
                {"g": s.work("groups", round=s.round), "f": s.work("fit", round=s.round)},
            ),
            later=1,
        ),
        Check(
            "progress",
            "whether there is anybody and any level left",
            lambda s: query(
                "select not exists (select 1 from l) or :round >= :steps as swept",
                {"l": s.work("left", round=s.round + 1)},
                round=num(s.round),
                steps=num(sum(_levels(context, s))),
            ),
            gives=[_SWEPT],
        ),
    ]


def _groups(context: IdentityContext, state: State) -> exp.Expr:
    shown = query("select i.rid from i join l on l.rid = i.rid", {
        "i": state.work(INDIVIDUALS), "l": state.work("left", round=state.round)
    })  # fmt: skip
    names: list[str] = []
    for axis in trees(context):
        names.append(f"x{axis.index}")
        shown = shown.select(named(_shown(axis, state), names[-1]))
    order = exp.Order(expressions=[exp.Ordered(this=col(name, "v")) for name in names])
    label = exp.Window(this=fragment("dense_rank()"), order=order)
    return query("select v.rid from v", {"v": shown}).select(named(label, "label"))


def _shown(axis: TreeAxis, state: State) -> exp.Expr:
    """First leaf below the ancestor that individual `i` shows; 0 for NULL, -1 for both."""
    level = scalar(
        query(
            "select count(*) from q where q.step <= :round and q.attribute = :a",
            {"q": state.work(SEQUENCE)},
            round=num(state.round),
            a=num(axis.index),
        )
    )
    lo = col(f"lo{axis.index}", "i")
    reached = fragment(
        "greatest(:drawn, :level)", drawn=level, level=exp.paren(axis.level(state, "i"))
    )
    if not axis.has_null(state):
        return fragment(":a::int", a=exp.paren(axis.ancestor(state, lo, reached)))
    top = num(axis.levels(state))
    return (
        exp.Case()
        .when(fragment(":g >= :top", g=level, top=top), num(-1))
        .when(axis.mixed(state, "i"), num(-1))
        .when(fragment(":lo is null", lo=lo), num(0))
        .else_(fragment(":a::int", a=exp.paren(axis.ancestor(state, lo, reached))))
    )


def _fit(context: IdentityContext, state: State) -> exp.Expr:
    def records(requirement: Requirement) -> exp.Select:
        return query(
            "select g.label, g.rid as individual, :v as value from g"
            " join i on i.rid = g.rid join c on c.individual = i.individual",
            {
                "g": state.work("groups", round=state.round),
                "i": state.work(INDIVIDUALS),
                "c": state.work(CODED),
            },
            v=required_value(requirement, "c"),
        )

    tree = query("select distinct g.label from g", {"g": state.work("groups", round=state.round)})
    for number, requirement in enumerate(context.spec.requirements):
        alias = f"m{number}"
        model = requirement.model
        fitting = query(
            "select m.label from m where :holds",
            # A group that the search cannot decide grows.
            {"m": measured(model, records(requirement), "label", undecided=0)},
            holds=model.holds(col("measure", "m")),
        )
        on = exp.EQ(this=col("label", alias), expression=col("label", "g"))
        tree = tree.join(fitting.subquery(alias), on=on)
    return tree
