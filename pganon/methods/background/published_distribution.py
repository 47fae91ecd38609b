"""Classes that satisfy the model against the published distribution.

Searches that leave records out move it away from the distribution of the source, for which classes
were made. Classes that violate the model are left out in turn, until none does.

    settled    (gid)    classes that stay
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from pganon.encode.work import CODED
from pganon.methods.background.context import Context, model_against, source_counts
from pganon.methods.background.rows import histograms
from pganon.methods.background.search.dropping import kept
from pganon.methods.background.search.limits import Model
from pganon.sqltools import col, query
from pganon.steps import Rows, Search
from pganon.steps.tasks import TaskResult

SETTLED = "settled"


def settled_step(context: Context, groups: str) -> Search:
    """Args: groups: work table (rid, gid)."""
    return Search(
        SETTLED,
        "which classes hold against what is published",
        lambda s: s.work(SETTLED),
        (("gid", "bigint"),),
        given=lambda s: source_counts(context, s),
        rows=lambda s, batch: query(
            "select f.gid, :value as value, count(*) as n from f join c on c.rid = f.rid"
            " group by 1, 2 order by 1, 2",
            {"f": s.work(groups), "c": s.work(CODED)},
            value=col(context.value, "c"),
        ),
        tasks=lambda s, given, rows: [
            partial(_settled, rows, given["source"], context.k, model_against(context, given))
        ],
    )


def _settled(rows: Rows, source: Sequence[int], k: int, model: Model) -> TaskResult:
    """Args:
    rows: (gid, value, n).
    source: records by value of the source.
    """
    classes, counts = histograms(rows, len(source))
    stays = kept(counts, np.array(source), k, model).clusters
    return TaskResult([classes[place] for place in np.flatnonzero(stays)])
