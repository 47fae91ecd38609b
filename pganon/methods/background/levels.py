"""The smallest J for which no cluster has to be left out, where one would be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from sqlglot import exp

from pganon.encode.work import CODED
from pganon.forms.work import CELL_VECTORS, QI_CELLS, VECTORS
from pganon.methods.background.search.dropping import smallest_j
from pganon.methods.background.search.limits import Model
from pganon.methods.background.search.linkage import Dendrogram, dendrogram
from pganon.methods.background.shape import Shape, model_against, source_counts
from pganon.sqltools import col, equal, query
from pganon.steps import Search, State
from pganon.steps.facts import Fact, count, measure
from pganon.steps.tasks import TaskResult

REACHABLE = count("reachable", "levels_")
"""1 where there is such a J."""

LEAST_J = measure("least_j", "levels_")
"""It, if there is."""


def level_step(shape: Shape, wanted: Fact[int]) -> Search:
    """Args: wanted: a fact that is 0 where nobody needs to know."""

    def needed(state: State) -> bool:
        refuses = shape.spec.policy.on_infeasible == "refuse"
        return shape.knowledge is not None and refuses and state[wanted] > 0

    return Search(
        "levels",
        "the smallest J for which all records can be in classes",
        lambda s: s.work("levels"),
        (("nothing", "integer"),),
        given=lambda s: source_counts(shape, s),
        batches=lambda s: 1,
        rows=lambda s, batch: _rows(shape, s),
        tasks=lambda s, given, rows: [
            _Levels(rows, given["source"], shape.k, model_against(shape, given))
        ],
        when=needed,
        gives=[REACHABLE, LEAST_J],
    )


def _rows(shape: Shape, state: State) -> exp.Select:
    """SELECT block, vector, probabilities, values, counts: by vector, its records by value."""
    counted = query(
        "select v.vector, :value as value, count(*) as n from c join q on :same"
        " join v on v.cell = q.cell group by 1, 2",
        {
            "c": state.work(CODED),
            "q": state.work(QI_CELLS),
            "v": state.work(CELL_VECTORS),
        },
        value=col(shape.value, "c"),
        same=equal(shape.codes, "q", "c"),
    )
    return query(
        "select b.block, b.vector, p.probabilities, n.sensitive, n.counts from b"
        " join p on p.vector = b.vector join"
        " (select x.vector, array_agg(x.value) as sensitive, array_agg(x.n) as counts from x"
        " group by x.vector) as n on n.vector = b.vector order by b.block, b.vector",
        {"b": state.work("vector_blocks"), "p": state.work(VECTORS), "x": counted},
    )


@dataclass(frozen=True)
class _Levels:
    rows: Sequence[tuple[Any, ...]]
    source: Sequence[int]
    k: int
    model: Model

    def __call__(self) -> TaskResult:
        blocks = [self._block(list(rows)) for _, rows in groupby(self.rows, lambda row: row[0])]
        least = smallest_j(blocks, np.array(self.source), self.k, self.model)
        return TaskResult([], {"reachable": int(least is not None), "least_j": least or 0.0})

    def _block(self, rows: Sequence[tuple[Any, ...]]) -> tuple[Dendrogram, np.ndarray]:
        histograms = np.zeros((len(rows), len(self.source)), dtype=np.int64)
        for place, (*_, values, counts) in enumerate(rows):
            histograms[place, np.array(values) - 1] = counts
        return dendrogram(np.array([row[2] for row in rows], dtype=float)), histograms
