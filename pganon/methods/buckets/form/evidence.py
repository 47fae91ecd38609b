"""Evidence of linked tables: of the values in buckets, and of classes where there are any."""

from __future__ import annotations

from sqlglot import exp

from pganon.forms.form import Evidence, Histogram, Relations
from pganon.methods.buckets.form.statistics import extents
from pganon.methods.buckets.form.whole import shown
from pganon.methods.common.arrangement import Arrange
from pganon.methods.common.form.grouping import Grouping
from pganon.metrics.evidence.classes import Groups, evidence_of
from pganon.metrics.evidence.values import evidence_of_values
from pganon.policy.options import CLASS_ID
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, query
from pganon.steps import State


def evidence(
    arrange: Arrange, buckets: Grouping, histogram: Histogram, *, generalized: bool
) -> Evidence:
    """Of an arrangement.

    Args:
        generalized: whether classes share generalized quasi-identifiers.
    """
    if not generalized:
        return evidence_of_values(histogram)

    def sizes(spec: ReleaseSpec, state: State, tables: Relations) -> exp.Select:
        bearing = arrange(spec, state).bearing
        tree = query("select count(*) as n from q", {"q": tables[bearing.part]})
        return tree.group_by(col(CLASS_ID, "q"))

    classes = Groups(
        lambda spec, tables: shown(arrange, spec, tables),
        sizes,
        lambda spec, axis, state: extents(
            spec, arrange(spec, state), buckets.all_records(state), state
        ),
    )
    return evidence_of(classes, histogram)
