"""The methods that a policy can name."""

from __future__ import annotations

from pganon.methods.base import Method, PublishedForm
from pganon.methods.forms import classes, described
from pganon.methods.mondrian import partition_steps as mondrian_steps
from pganon.metrics.utility import ClassUtility, class_utility
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

METHODS = {
    method.name: method
    for method in (Method("mondrian", CLASSES, mondrian_steps, lambda spec: {"cut_rounds": 1}),)
}


def method_of(spec: ReleaseSpec) -> Method:
    return METHODS[spec.policy.method.name]
