"""Tasks of the search: the order of digits, numbers along the line, the classes of a block."""

from __future__ import annotations

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


def order(layout: Layout, problem: Problem, units: Units) -> TaskResult:
    """Which attributes' digits go behind all others, by a sample of the units."""
    return TaskResult(list(enumerate(searched(problem, units, layout.digits))))


def added(layout: Layout) -> TaskResult:
    """What every value adds to the number of a record, which puts records along the line."""
    every = summands(layout.digits, layout.attributes)
    rows = [
        (number, word, code, adds)
        for number, of_attribute in enumerate(every)
        for word, by_code in enumerate(of_attribute)
        for code, adds in enumerate(by_code.tolist())
    ]
    return TaskResult(rows, {"words": len(every[0])})


def classes(
    block: int,
    first: int,
    layout: Layout,
    problem: Problem,
    units: Units,
    sizes: Ints | None,
    rounds: int,
    limit: int,
    price: float,
    seed: int,
) -> TaskResult:
    """The classes of the units of a block.

    Args:
        first: number of its first cell.
        sizes: how many units every cell is; None where each is one.
        limit: records that may be left out; `price`: of one, as a loss.
    """

    line = along(layout.digits, list(units.codes))
    units = units.reordered(line)
    made = partition(problem, units, strips(problem, units))
    found = classes_of(problem, units, leaving_out(problem, units, made, limit, price))
    if rounds and countable(units):
        draws = Draws(f"{seed}|{block}|".encode())
        found = refined(problem, units, found, layout.digits, rounds, draws)
    labels = np.empty(len(line), dtype=np.int64)
    labels[line] = found.labels
    columns = [labels] if sizes is None else runs(labels, sizes)
    return TaskResult([(block, first, *map(array_text, columns))])


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
