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
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlglot import exp

from pganon.encode.facts import KEPT
from pganon.forms.work import CLASSED, INDIVIDUALS
from pganon.methods.common.attribute_arrays import given_with_losses
from pganon.methods.common.block_search import Blocks, Given, TaskOf, block_search, grouped_rows
from pganon.methods.individuals.context import IdentityContext, hull_columns
from pganon.methods.individuals.individuals import INDIVIDUAL_COUNT, block_steps, blocks
from pganon.methods.individuals.neighbours import (
    JOINED,
    MOST_TOGETHER,
    PASSES,
    assigned,
    neighbour_steps,
    span_steps,
)
from pganon.methods.individuals.options import DAnonyIR
from pganon.methods.individuals.reading import (
    Reader,
    attributes,
    individuals_of,
    readers_of,
    search_models,
)
from pganon.methods.individuals.search.conjunction import Every
from pganon.methods.individuals.search.danonyir import danonyir
from pganon.methods.individuals.search.feasibility import hopeless
from pganon.methods.individuals.search.models import IRAlphaBeta, Person
from pganon.privacy.rows import Relation
from pganon.sqltools import col, num, query
from pganon.steps import Search, State, Step, table
from pganon.steps.tasks import TaskResult

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
    return ["sensitive", *[name for axis in context.axes for name in hull_columns(axis, state)]]


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
    return lambda block, rows: _Grow(first + block, rows, readers, model, handle)


@dataclass(frozen=True, eq=False)
class _Grow:
    """One block."""

    block: int
    rows: Sequence[tuple[Any, ...]]
    readers: Sequence[Reader]
    model: Every
    handle: Literal["loss", "suppress"]

    def __call__(self) -> TaskResult:
        people = [Person(Counter(row[2])) for row in self.rows]
        # Without individuals of whom no class of the block can hold all records.
        left_out: set[int] = set()
        for model in self.model.models:
            if isinstance(model, IRAlphaBeta):
                left_out.update(hopeless(people, model.alpha))
        kept = [at for at in range(len(people)) if at not in left_out]
        if not kept:
            return TaskResult([])
        domains, parts = attributes(self.readers, [self.rows[at][3:] for at in kept])
        those = individuals_of(domains, parts, [people[at] for at in kept])
        grown = danonyir(those, self.model, domains, handle=self.handle)
        return TaskResult(
            grouped_rows(self.block, [self.rows[at][1] for at in kept], grown.classes)
        )
