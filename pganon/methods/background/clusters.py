"""Clusters of records about whom a reader expects much the same, and which of them stay.

vector_blocks    (block, vector)      priors along the curve, as many as are linked at a time
vector_clusters  (vector, cluster)    complete linkage: no two priors are further than J apart
"""

from __future__ import annotations

from functools import partial

import numpy as np
from sqlglot import exp

from pganon.encode.curve import along_curve
from pganon.encode.work import CODED
from pganon.forms.work import CELL_VECTORS, QI_CELLS, VECTOR_CLUSTERS, VECTORS
from pganon.methods.background.context import Context
from pganon.methods.background.prior import prior_steps
from pganon.methods.background.prior_facts import NUMBER_OF_VECTORS
from pganon.methods.background.search.linkage import MOST, clusters
from pganon.methods.common.pairs import pair
from pganon.sqltools import col, named, num, query
from pganon.steps import Rows, Search, State, Step, table
from pganon.steps.tasks import TaskResult


def link_steps(context: Context) -> list[Step]:
    """From the encoded records to `cell_clusters`."""
    knowledge = context.knowledge
    linked: list[Step] = []
    if knowledge is not None:
        linked = [
            *prior_steps(context.spec),
            table(
                "vector_blocks",
                "priors that are linked at a time",
                lambda s: _vector_blocks(context, s),
                inline=True,
            ),
            Search(
                "link",
                "clusters of priors that are within J of each other",
                lambda s: s.work(VECTOR_CLUSTERS),
                (("vector", "integer"), ("cluster", "bigint")),
                batches=_blocks,
                rows=_vectors,
                tasks=lambda s, given, rows: [partial(_link, rows, knowledge.j)],
            ),
        ]
    return [
        *linked,
        table(
            "cell_clusters",
            "the cluster of every combination of quasi-identifiers",
            lambda s: _cell_clusters(context, s),
        ),
    ]


def _blocks(state: State) -> int:
    return -(-state[NUMBER_OF_VECTORS] // MOST)


def _vector_blocks(context: Context, state: State) -> exp.Expr:
    """A prior lies where the first of its combinations does."""
    first = query(
        "select v.vector, min(v.cell) as cell from v group by v.vector",
        {"v": state.work(CELL_VECTORS)},
    )
    cells = query(
        "select f.vector from f join c on c.cell = f.cell",
        {"f": first, "c": state.work(QI_CELLS)},
    ).select(*[col(code, "c") for code in context.codes])
    along = along_curve(context.axes, state, cells, ["vector"], order="vector")
    return query(
        "select (a.place - 1) * :blocks / :vectors as block, a.vector from a",
        {"a": along},
        blocks=num(_blocks(state)),
        vectors=num(state[NUMBER_OF_VECTORS]),
    )


def _vectors(state: State, block: int) -> exp.Select:
    return query(
        "select v.vector, v.probabilities from b join v on v.vector = b.vector"
        " where b.block = :block order by v.vector",
        {"b": state.work("vector_blocks"), "v": state.work(VECTORS)},
        block=num(block),
    )


def _link(rows: Rows, j: float) -> TaskResult:
    """One block of priors."""
    numbers = [row[0] for row in rows]
    labels = clusters(np.array([row[1] for row in rows], dtype=float), j)
    first = numbers[0]
    return TaskResult(
        [(n, pair(first, int(label))) for n, label in zip(numbers, labels, strict=True)]
    )


def _cell_clusters(context: Context, state: State) -> exp.Expr:
    codes = [col(code, "c") for code in context.codes]
    if context.knowledge is None:
        cells = query("select 0::bigint as cluster from c", {"c": state.work(CODED)})
        cells = cells.select(*codes).group_by(*[code.copy() for code in codes])
    else:
        cells = query(
            "select k.cluster from c join v on v.cell = c.cell join k on k.vector = v.vector",
            {
                "c": state.work(QI_CELLS),
                "v": state.work(CELL_VECTORS),
                "k": state.work(VECTOR_CLUSTERS),
            },
        ).select(*codes)
    # Cells in one place of the curve are in the order of their codes, which the source has not.
    tied = exp.func("row", *[col(code, "x") for code in context.codes])
    drawn = query("select x.* from x", {"x": cells}).select(named(tied, "tie"))
    placed = along_curve(context.axes, state, drawn, [*context.codes, "cluster"], order="tie")
    return query("select p.place as h, p.cluster from p", {"p": placed}).select(
        *[col(code, "p") for code in context.codes]
    )
