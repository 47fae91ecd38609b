"""The published form of QS k-anonymity: one row per cluster with the values of every attribute.

Stored are `clusters` (cluster_no, an array per attribute, a bag per insensitive column, size), the
steward's `members` and, where supported combinations count, `reference`: the combinations that
exist. A view expands the arrays to their product. Cluster numbers are a random permutation
under the run's secret key, arrays are sorted and bags shuffled, so none discloses the order of the
source or of the computation.
"""

from __future__ import annotations

from pganon.forms.elements import text_key
from pganon.forms.form import (
    Linkage,
    Publication,
    PublishedForm,
    Staging,
    Statistics,
    Tables,
    Verification,
)
from pganon.forms.linked import Linked, LinkedColumn
from pganon.forms.utility import ClusterUtility
from pganon.methods.clusters.form import staging, told, utility, verification, views
from pganon.methods.clusters.form.evidence import EVIDENCE
from pganon.methods.clusters.form.whole import WHOLE
from pganon.policy.options import CLUSTER_NO, SIZE
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, query
from pganon.steps import State


def linked(spec: ReleaseSpec, state: State, tables: Tables) -> Linked:
    """Links by cluster.

    An array has each value of the cluster once. Of n different values among m records, each occurs
    at most m - n + 1 times.
    """
    columns = []
    for attribute in spec.attributes:
        counted = query(
            "select c.cluster_no as link, :value as value,"
            " (:size - cardinality(:held) + 1)::bigint as n"
            " from clusters as c cross join lateral unnest(:held) as v(value)",
            dict(tables),
            value=text_key(col("value", "v")),
            size=col(SIZE, "c"),
            held=col(attribute.published, "c"),
        )
        columns.append(LinkedColumn(attribute.column.name, CLUSTER_NO, counted, exact=False))
    return Linked((CLUSTER_NO,), tuple(columns))


CLUSTERS = PublishedForm(
    Staging(staging.relations, staging.staging_steps),
    Verification(verification.checks, staging.released, staging.duplicate_keys, verification.SAID),
    Publication(views.views, "clusters", weights=(SIZE,)),
    Statistics(
        utility.measures,
        utility.utility,
        ClusterUtility,
        WHOLE,
        evidence=EVIDENCE,
        tells=told.tell,
        apart="no row is a person: a cluster shows the values of several people together",
    ),
    Linkage(linked, shows=lambda spec, state: "exact"),
)
