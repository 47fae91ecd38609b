"""The methods that a policy can name."""

from __future__ import annotations

from pganon.methods import anatomy, qs
from pganon.methods.base import Method, PublishedForm
from pganon.methods.forms import anatomy as anatomized
from pganon.methods.forms import classes, clusters, clusters_shown, described
from pganon.methods.mondrian import partition_steps as mondrian_steps
from pganon.metrics.utility import AnatomyUtility, ClassUtility, ClusterUtility, class_utility
from pganon.spec.model import ReleaseSpec

CLASSES = PublishedForm(
    relations=classes.relations,
    staging_steps=classes.staging_steps,
    checks=classes.checks,
    views=classes.views,
    released=classes.released,
    measures=described.measures,
    utility=class_utility,
    figures=ClassUtility,
    groups="classes",
    description=described.DESCRIPTION,
)

CLUSTERS = PublishedForm(
    relations=clusters.relations,
    staging_steps=clusters.staging_steps,
    checks=clusters_shown.checks,
    views=clusters_shown.views,
    released=clusters.released,
    measures=clusters_shown.measures,
    utility=clusters_shown.utility,
    figures=ClusterUtility,
    groups="clusters",
)

ANATOMY = PublishedForm(
    relations=anatomized.relations,
    staging_steps=anatomized.staging_steps,
    checks=anatomized.checks,
    views=anatomized.views,
    released=anatomized.released,
    measures=anatomized.measures,
    utility=anatomized.utility,
    figures=AnatomyUtility,
    groups="groups",
)

METHODS = {
    method.name: method
    for method in (
        Method("mondrian", CLASSES, mondrian_steps, lambda spec: {"cut_rounds": 1}),
        Method("qs_greedy", CLUSTERS, qs.greedy_steps, qs.assumed),
        Method("qs_efficient", CLUSTERS, qs.efficient_steps, qs.assumed),
        Method("anatomy", ANATOMY, anatomy.partition_steps, anatomy.assumed),
    )
}


def method_of(spec: ReleaseSpec) -> Method:
    return METHODS[spec.policy.method.name]
