"""The methods `qs_greedy` and `qs_efficient`: their steps of a plan, and their form.

formed     (block, cluster, cell, n)         by pganon.qs_clusters; cluster 0 are the remaining ones
open       (block, cluster, n, lo<i>, hi<i>) clusters of blocks with remaining records
absorbed   (block, cluster, cell, n)         by pganon.qs_absorb
"""

from __future__ import annotations

from psycopg import sql
from sqlglot import exp

from pganon.forms.work import ASSIGNED, QS_CELLS
from pganon.methods.clusters.form import CLUSTERS
from pganon.methods.clusters.qs.blocks import BLOCKS, block_steps
from pganon.methods.clusters.qs.cells import cell_steps
from pganon.methods.clusters.qs.context import QSContext
from pganon.methods.clusters.qs.options import QsEfficient, QsGreedy
from pganon.methods.common.base import Method
from pganon.methods.common.pairs import paired
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, fragment, named, query
from pganon.steps import Scope, State, Statement, Step, table

PORTIONS = 16
"""Parts of the blocks that parallel workers of the server may process at the same time."""


def cluster_steps(context: QSContext, *, nearest: bool) -> list[Step]:
    """From `points` to `assigned`.

    Args:
        nearest: Greedy QS k-anonymity; else Efficient, in the order of the places.
    """
    return [
        table("formed", "clusters of every block", lambda s: _formed(context, s, nearest=nearest)),
        table("open", "clusters that records left over can join", lambda s: _open(context, s)),
        Statement(
            "open_key",
            "an index to find them by",
            lambda s: sql.SQL("CREATE INDEX ON {} (block, cluster)").format(
                s.work("open").identifier
            ),
        ),
        table(
            "absorbed",
            "records left over join the cluster that loses least",
            lambda s: _absorbed(context, s),
            inline=True,
        ),
        table("assigned", "the cluster of every record", _assigned, into=ASSIGNED),
    ]


def _formed(context: QSContext, state: State, *, nearest: bool) -> sql.Composed:
    model = context.model
    supports: sql.Composable = sql.SQL("NULL::pg_catalog.regclass[]")
    if model.counts_supported:
        names = [str(qs_set.combinations) for qs_set in context.sets(state).values()]
        supports = sql.SQL("ARRAY[{}]::pg_catalog.regclass[]").format(
            sql.SQL(", ").join(map(sql.Literal, names))
        )
    call = sql.SQL("pganon.qs_clusters({}, b.block, {}::int[], {}::int[], {}, {}, {}, {})").format(
        sql.Literal(str(state.work("points"))),
        sql.Literal(context.set_numbers),
        sql.Literal(context.heights(state)),
        sql.Literal(model.k),
        sql.Literal(model.min_values),
        supports,
        sql.Literal(nearest),
    )
    # Parallel workers each process the next free branch of a UNION ALL.
    portions = [
        sql.SQL(
            "SELECT f.block, (f.r).cluster, (f.r).cell, (f.r).n FROM"
            " (SELECT b.block, {} AS r FROM generate_series({}, {}, {}) AS b(block)) AS f"
        ).format(call, *map(sql.Literal, (first, state[BLOCKS], PORTIONS)))
        for first in range(1, min(PORTIONS, state[BLOCKS]) + 1)
    ]
    return sql.SQL("SELECT u.* FROM ({}) AS u").format(sql.SQL(" UNION ALL ").join(portions))


def _open(context: QSContext, state: State) -> exp.Expr:
    tree = query(
        "select f.block, f.cluster, sum(f.n)::bigint as n from f"
        " join p on p.block = f.block and p.cell = f.cell"
        " where f.cluster > 0 and exists"
        " (select 1 from g where g.block = f.block and g.cluster = 0)"
        " group by f.block, f.cluster",
        {"f": state.work("formed"), "g": state.work("formed"), "p": state.work("points")},
    )
    for number in range(1, context.dimensions(state) + 1):
        x = col(f"x{number}", "p")
        tree = tree.select(named(fragment("min(:x)", x=x), f"lo{number}"))
        tree = tree.select(named(fragment("max(:x)", x=x), f"hi{number}"))
    return tree


def _absorbed(context: QSContext, state: State) -> sql.Composed:
    return sql.SQL("SELECT a.* FROM pganon.qs_absorb({}, {}, {}, {}::int[]) AS a").format(
        sql.Literal(str(state.work("open"))),
        sql.Literal(str(state.work("formed"))),
        sql.Literal(str(state.work("points"))),
        sql.Literal(context.heights(state)),
    )


def _assigned(state: State) -> exp.Expr:
    both = query("select f.* from f where f.cluster > 0", {"f": state.work("formed")}).union(
        query("select a.* from a", {"a": state.work("absorbed")}), distinct=False
    )
    return query(
        "select :pair as gid, x.cell, sum(x.n)::bigint as n from x group by 1, x.cell",
        {"x": exp.select("*").from_(both.subquery("u"))},
        pair=paired(col("block", "x"), col("cluster", "x")),
    )


def greedy_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    """Steps of `qs_greedy`, from the encoded records to `assigned`."""
    options = spec.policy.method
    assert isinstance(options, QsGreedy)
    context = QSContext(spec)
    steps = [
        *cell_steps(context),
        *block_steps(context, options.block_size, along_curve=False, bounded=True),
        *cluster_steps(context, nearest=True),
    ]
    return (_scope(context, steps),)


def efficient_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    """Steps of `qs_efficient`, from the encoded records to `assigned`."""
    options = spec.policy.method
    assert isinstance(options, QsEfficient)
    context = QSContext(spec)
    steps = [
        *cell_steps(context),
        *block_steps(context, options.block_size, along_curve=True, bounded=False),
        *cluster_steps(context, nearest=False),
    ]
    return (_scope(context, steps),)


def _scope(context: QSContext, steps: list[Step]) -> Scope:
    supports = [f"support{number}" for number in range(1, len(context.set_names) + 1)]
    return Scope("what the clusters were made from", steps, [QS_CELLS, ASSIGNED, *supports])


GREEDY = Method(QsGreedy, CLUSTERS, greedy_steps)
EFFICIENT = Method(QsEfficient, CLUSTERS, efficient_steps)
