"""The published form of QS k-anonymity: one row per cluster with the values of every attribute.

Stored are `clusters` (cluster_no, an array per attribute, a bag per insensitive column, size), the
steward's `members` and, where supported combinations count, `reference`: the combinations that
exist. A view expands the arrays to their product. Cluster numbers are a random permutation
under the run's secret key, arrays are sorted and bags shuffled, so none says anything about the
order of the source or of the building.
"""

from __future__ import annotations

from pganon.forms.form import Linkage, Publication, PublishedForm, Staging, Statistics, Verification
from pganon.forms.utility import ClusterUtility
from pganon.methods.clusters.form import staging, utility, verification, views
from pganon.methods.clusters.form.links import linked
from pganon.policy.options import SIZE

CLUSTERS = PublishedForm(
    Staging(staging.relations, staging.staging_steps),
    Verification(verification.checks, staging.released, staging.misplaced),
    Publication(views.views, "clusters", weights=(SIZE,)),
    Statistics(utility.measures, utility.utility, ClusterUtility),
    Linkage(linked, shows=lambda spec, state: "exact"),
)
