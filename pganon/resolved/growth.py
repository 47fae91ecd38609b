"""Refusals of `refresh: increments`, by the models, the method and the source of a policy."""

from __future__ import annotations

from collections.abc import Iterable

from pganon.identifiers import quote
from pganon.policy.refusals import Refusal
from pganon.policy.reporting import REPORTED
from pganon.resolved.model import ReleaseSpec, Scale, Shown


def increment_refusals(spec: ReleaseSpec) -> Iterable[Refusal]:
    """Sizes below that of a group, and regions of a method whose cuts nobody can replay."""
    policy = spec.policy
    if policy.refresh != "increments":
        return
    size, smallest = policy.increment_size, spec.least_cohort
    if size is None and smallest == 1:
        yield Refusal(
            ("increment_size",),
            "is missing; no model of the policy says how many people a group needs",
            "write how many newcomers make an increment",
        )
    if size is not None and size < smallest:
        yield Refusal(
            ("increment_size",),
            f"is {size}, but a group needs {smallest} people",
            f"write at least {smallest}, or leave it out",
        )
    yield from _compared_refusals(spec)
    yield from policy.method.key_refusals(
        {}, {"regions": policy.regions, "refresh": policy.refresh}
    )
    if spec.shows_regions:
        yield from _region_refusals(spec)


def _compared_refusals(spec: ReleaseSpec) -> Iterable[Refusal]:
    """Models that cannot be compared with the first version, and views beside withdrawn groups."""
    policy = spec.policy
    unlike: list[tuple[str, str]] = []
    if spec.background is not None:
        why = "what readers expect follows from all records, not from those of newcomers"
        unlike.append((f"background_knowledge j = {spec.background.j:g}", why))
    for requirement in spec.of_release[:1]:
        why = "it is about the groups of all versions together, and an increment makes some of them"
        unlike.append((requirement.model.name, why))
    for requirement in (*spec.in_population, *spec.profits)[:1]:
        unlike.append((requirement.model.name, "it is about the groups of one version"))
    for name, why in unlike:
        yield Refusal(
            ("refresh",),
            f"increments are not available with {name}: {why}",
            "use refresh: recompute, or leave the model out",
        )
    if policy.report.population is not None:
        yield Refusal(
            REPORTED,
            "increments are not compared with a population",
            "use refresh: recompute, or leave it out",
        )
    if policy.publish.reference and policy.leavers == "withdraw":
        yield Refusal(
            ("leavers",),
            "withdraw takes groups from every view, and publish.reference has one without groups",
            "use leavers: keep, or leave out publish.reference",
        )


def _region_refusals(spec: ReleaseSpec) -> Iterable[Refusal]:
    """Regions of which nobody can say which values they have."""
    for attribute in spec.attributes:
        if attribute.form is not Shown.SET or attribute.listed is not None:
            continue
        name, ordinal = attribute.column.name, attribute.scale is Scale.ORDERED
        what = "its order" if ordinal else "domain: {values: [...]}"
        yield Refusal(
            ("columns", name, "order" if ordinal else "domain"),
            f"ranges: region shows all values that a region of {quote(name)} may have, and nobody"
            " says which there are",
            f"declare {what} or a hierarchy, or use ranges: tight",
        )
