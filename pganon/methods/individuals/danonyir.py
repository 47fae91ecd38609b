"""The method `danonyir`: classes grown in Python from the individuals of a block.

Wang, Du, Luo and Li 2019, Algorithm 1. In one block it is the paper's algorithm; blocks of similar
individuals bound its cost, which is quadratic in a block. A block in which no class was found is
searched again together with its neighbours. Residuals join a class of their own block, else one of
a neighbouring block, else they are suppressed.

    blocked     (block, rid)           individuals in blocks
    grown       (rid, gid)             the class of every individual that has one
    spans       (block, label, place)  blocks searched as one, by the block in their classes' gid
    regrown     (rid, gid)             the same, where several blocks were searched as one
    left<p>     (block, rid)           residuals in every third place from p
    units<p>    (block, rid, ..)       the same with the classes of their places and those beside
    joined<p>   (rid, gid)             the class that they join
    classed     (rid, gid)             all of these

Blocks that are searched as one have one place along the curve. Residuals of a place may join
classes of the two places beside it. They do so in three passes, every third place at a time: in
one pass no two places read the same class, so that its places can be searched side by side,
and the result does not depend on how many are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from sqlglot import exp

from pganon.encode.facts import KEPT
from pganon.forms.work import CLASSED, INDIVIDUALS, held_column
from pganon.methods.common.attribute_arrays import given_with_losses
from pganon.methods.common.block_search import Blocks, Given, TaskOf, block_search, grouped_rows
from pganon.methods.common.pairs import high_of
from pganon.methods.individuals.context import IdentityContext, hull_columns
from pganon.methods.individuals.individuals import INDIVIDUAL_COUNT, block_steps, blocks
from pganon.methods.individuals.options import DAnonyIR
from pganon.methods.individuals.reading import (
    Reader,
    attributes,
    individuals_of,
    readers_of,
    search_models,
)
from pganon.methods.individuals.residuals import RESIDUALS, join_step, units
from pganon.methods.individuals.search.conjunction import Every, Individual
from pganon.methods.individuals.search.danonyir import danonyir
from pganon.methods.individuals.search.feasibility import hopeless
from pganon.methods.individuals.search.models import IRAlphaBeta
from pganon.privacy.rows import Relation
from pganon.sqltools import col, fragment, num, query, stacked
from pganon.steps import Check, Rows, Search, State, Step, table
from pganon.steps.facts import count
from pganon.steps.tasks import TaskResult

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
    names += [f"joined{number}" for number in range(passes)] if passes and _worth(state) else []
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


AT_ONCE = 100_000
"""Records whose blocks are read and searched in one batch."""


def danonyir_steps(context: IdentityContext) -> list[Step]:
    """From the individuals to `classed`, the class of each."""
    searches = _Searches(context)
    passes = PASSES if searches.generalizes else 0
    return [
        *block_steps(context, searches.size),
        searches.of_blocks(),
        *span_steps(),
        searches.of_neighbours(),
        *(neighbour_steps(context, searches.at_once) if searches.generalizes else []),
        table(
            "classed", "the class of every individual", lambda s: assigned(s, passes), into=CLASSED
        ),
    ]


@dataclass(frozen=True)
class _Searches:
    """Searches for classes, of single blocks and of neighbours."""

    context: IdentityContext

    @property
    def size(self) -> int:
        """Individuals of a block."""
        return self._options.block_size

    @property
    def generalizes(self) -> bool:
        """Whether individuals without a class join others, rather than being suppressed."""
        return self._options.residuals == "generalize"

    @property
    def _options(self) -> DAnonyIR:
        options = self.context.spec.policy.method
        assert isinstance(options, DAnonyIR)
        return options

    def at_once(self, state: State) -> int:
        """Blocks that are read in one batch."""
        records = -(-self.size * state[KEPT] // state[INDIVIDUAL_COUNT])
        return max(1, AT_ONCE // records)

    def of_blocks(self) -> Search:
        return self._search(
            "classes",
            "classes grown individual by individual",
            "grown",
            Blocks(
                relation=lambda s: _read(self.context, s, s.work("blocked")),
                columns=lambda s: _columns(self.context, s),
                count=lambda s: blocks(s, self.size),
                at_once=self.at_once,
            ),
        )

    def of_neighbours(self) -> Search:
        """The same over blocks without any class, whose numbers follow those of all blocks."""
        return self._search(
            "regrown",
            "the same over blocks without any class, together with their neighbours",
            "regrown",
            Blocks(
                relation=lambda s: _read(self.context, s, _joined(s, self.size)),
                columns=lambda s: _columns(self.context, s),
                count=lambda s: s[JOINED],
                at_once=lambda s: max(1, self.at_once(s) // MOST_TOGETHER),
            ),
            first=lambda s: blocks(s, self.size),
            when=lambda s: s[JOINED] > 0,
        )

    def _search(
        self,
        name: str,
        purpose: str,
        table: str,
        blocks: Blocks,
        first: Callable[[State], int] = lambda state: 0,
        when: Callable[[State], bool] = lambda state: True,
    ) -> Search:
        handle = "loss" if self.generalizes else "suppress"
        return block_search(
            name,
            purpose,
            lambda s: s.work(table),
            _COLUMNS,
            blocks=blocks,
            given=lambda s: given_with_losses(self.context.axes, s),
            task=lambda s, given: _task(self.context, s, given, handle, first(s)),
            when=when,
        )


_COLUMNS = (("rid", "bigint"), ("gid", "bigint"))


def _joined(state: State, size: int) -> exp.Select:
    """(block, rid) of blocks that are searched as one, numbered from 0."""
    return query(
        "select s.label - :blocks as block, b.rid from b join s on s.block = b.block"
        " where s.label >= :blocks",
        {"b": state.work("blocked"), "s": state.work("spans")},
        blocks=num(blocks(state, size)),
    )


def _columns(context: IdentityContext, state: State) -> list[str]:
    held = [held_column(item) for item in context.spec.sensitive]
    return [*held, *[name for axis in context.axes for name in hull_columns(axis, state)]]


def _read(context: IdentityContext, state: State, blocked: Relation) -> exp.Select:
    return query(
        "select b.block, b.rid from b join i on i.rid = b.rid",
        {"b": blocked, "i": state.work(INDIVIDUALS)},
    ).select(*[col(name, "i") for name in _columns(context, state)])


def _task(
    context: IdentityContext,
    state: State,
    given: Given,
    handle: Literal["loss", "suppress"],
    first: int,
) -> TaskOf:
    """Args: first: number of the first block in the names of classes."""
    readers, model = readers_of(context, state, given), search_models(context)
    return lambda block, rows: partial(_grow, first + block, rows, readers, model, handle)


def _grow(
    block: int,
    rows: Rows,
    readers: Sequence[Reader],
    model: Every,
    handle: Literal["loss", "suppress"],
) -> TaskResult:
    """One block."""
    hulls = 2 + model.columns
    people = [Individual.of(row[2:hulls]) for row in rows]
    # Without individuals of whom no class of the block can hold all records.
    left_out: set[int] = set()
    for _, each in model.models:
        if isinstance(each, IRAlphaBeta):
            left_out.update(hopeless(people, each.alpha))
    kept = [at for at in range(len(people)) if at not in left_out]
    if not kept:
        return TaskResult([])
    domains, parts = attributes(readers, [rows[at][hulls:] for at in kept])
    those = individuals_of(domains, parts, [people[at] for at in kept])
    grown = danonyir(those, model, domains, handle=handle)
    return TaskResult(grouped_rows(block, [rows[at][1] for at in kept], grown.classes))
