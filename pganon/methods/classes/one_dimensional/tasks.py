"""Tasks of the search: the order of digits, numbers along the line, the classes of a block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pganon.methods.classes.one_dimensional.layout import Layout
from pganon.methods.classes.one_dimensional.search.digits import (
    along,
    summands,
)
from pganon.methods.classes.one_dimensional.search.leaving import leaving_out
from pganon.methods.classes.one_dimensional.search.ordering import searched
from pganon.methods.classes.one_dimensional.search.partition import countable, partition, strips
from pganon.methods.classes.one_dimensional.search.refinement import (
    Draws,
    classes_of,
    refined,
)
from pganon.methods.classes.one_dimensional.search.windows import Problem, Units
from pganon.methods.common.packing import array_text
from pganon.steps.tasks import TaskResult

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Order:
    """Which attributes' digits go behind all others, by a sample of the units."""

    layout: Layout
    problem: Problem
    units: Units

    def __call__(self) -> TaskResult:
        return TaskResult(list(enumerate(searched(self.problem, self.units, self.layout.digits))))


@dataclass(frozen=True)
class Added:
    """What every value adds to the number of a record, which puts records along the line."""

    layout: Layout

    def __call__(self) -> TaskResult:
        added = summands(self.layout.digits, self.layout.attributes)
        rows = [
            (number, word, code, adds)
            for number, of_attribute in enumerate(added)
            for word, by_code in enumerate(of_attribute)
            for code, adds in enumerate(by_code.tolist())
        ]
        return TaskResult(rows, {"words": len(added[0])})


@dataclass(frozen=True)
class Block:
    """The classes of the units of a block.

    Attributes:
        first: number of its first cell.
        sizes: how many units every cell is; None where each is one.
        limit: records that may be left out; `price`: of one, as a loss.
    """

    block: int
    first: int
    layout: Layout
    problem: Problem
    units: Units
    sizes: Ints | None
    rounds: int
    limit: int
    price: float
    seed: int

    def __call__(self) -> TaskResult:
        order = along(self.layout.digits, list(self.units.codes))
        units = self.units.reordered(order)
        made = partition(self.problem, units, strips(self.problem, units))
        staying = leaving_out(self.problem, units, made, self.limit, self.price)
        classes = classes_of(self.problem, units, staying)
        if self.rounds and countable(units):
            draws = Draws(f"{self.seed}|{self.block}|".encode())
            classes = refined(self.problem, units, classes, self.layout.digits, self.rounds, draws)
        labels = np.empty(len(order), dtype=np.int64)
        labels[order] = classes.labels
        columns = [labels] if self.sizes is None else runs(labels, self.sizes)
        return TaskResult([(self.block, self.first, *map(array_text, columns))])


def runs(labels: Ints, sizes: Ints) -> list[Ints]:
    """The labels of units one after the other, where those of a cell have the same.

    Returns:
        of every run its label, the place of its cell, how many units of the cell are before it,
        and how many it has.
    """
    cells = np.repeat(np.arange(len(sizes)), sizes)
    changes = (np.diff(labels, prepend=labels[:1]) != 0) | (np.diff(cells, prepend=-1) != 0)
    starts = np.flatnonzero(changes)
    lengths = np.diff(np.append(starts, len(labels)))
    cell = cells[starts]
    return [labels[starts], cell, starts - (np.cumsum(sizes) - sizes)[cell], lengths]
