"""Classes of records with similar priors, and what their owner keeps to prove it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pganon.forms.form import Staging
from pganon.methods.background.form.audit import MESSAGES, bounded, checks, relations, staging_steps
from pganon.methods.background.form.metrics import ON_REQUEST
from pganon.methods.background.prior_facts import LOST, NEEDED, more_alike, prior_warnings
from pganon.methods.common.form.class_description import CLASSES
from pganon.privacy.knowledge import BackgroundKnowledge
from pganon.resolved.guarantee import decides_by_values
from pganon.resolved.model import ReleaseSpec
from pganon.steps.facts import Facts

_MANY = 100
"""Records of a class above which a value is called rare."""


def warnings(spec: ReleaseSpec, facts: Facts) -> list[str]:
    """Warnings to the steward about a release against background knowledge."""
    return [
        *prior_warnings(spec, facts),
        *_estimated(spec),
        *_left_out(spec, facts),
        *_rare(facts),
        *_replayed(spec),
    ]


def _left_out(spec: ReleaseSpec, facts: Facts) -> Iterator[str]:
    lost, instead = facts.get(LOST), more_alike(spec)
    if lost and instead is not None:
        yield (
            f"{lost} records are left out, since too few others have a prior like theirs, or these"
            f" have the same values; {instead} makes priors more alike"
        )


def _rare(facts: Facts) -> Iterator[str]:
    needed = facts.get(NEEDED) or 0
    if needed > _MANY:
        yield (
            f"a class with the rarest sensitive value has at least {needed} records: a larger beta,"
            " or rare values under a common one, make classes smaller"
        )


def _estimated(spec: ReleaseSpec) -> Iterator[str]:
    requirement = bounded(spec)
    if requirement is None:
        return
    model = requirement.model
    assert isinstance(model, BackgroundKnowledge)
    if not model.from_outside:
        yield (
            "priors are estimated from the source, so which records can be in a class together"
            " depends on sensitive values; a relation of priors from elsewhere depends on none"
        )


def _replayed(spec: ReleaseSpec) -> Iterator[str]:
    if decides_by_values(spec):
        yield (
            f"who knows how the method {spec.policy.method.name} works can compute more than its"
            " classes show; beta_primacy with division: public and select: random keeps that from"
            " happening"
        )


BACKGROUND = replace(
    CLASSES,
    staging=Staging(relations, staging_steps),
    verification=replace(CLASSES.verification, checks=checks, said=MESSAGES),
    publication=replace(CLASSES.publication, warnings=warnings),
    statistics=replace(CLASSES.statistics, on_request=ON_REQUEST),
)

SINGLE = replace(
    BACKGROUND,
    staging=Staging(relations, lambda spec: staging_steps(spec, clustered=False)),
)
"""The same where every class has been held together by itself."""
