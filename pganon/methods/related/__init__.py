"""Related tables: classes of the root by mondrian, groups of whole classes, values of events.

A row of the root is published with its class, as in any release of classes. Of the other tables
distinct values are, with the number of people of a group who have them. Groups are unions of whole
classes, one partition for all tables, or one of its own for a table, divided along the cuts of the
classes from the top as long as both sides keep what is required:

- so many people, and of a table nobody with rows or at least k;
- of those with rows, at most the share beta with any sensitive value;
- where it is sensitive that somebody has rows, at most that share of those who could.

All three hold of a union of groups of which they hold. NULL is a value. A column of a source is in
one slice: what one leaves out, another one would give away.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pganon.forms.form import (
    Linkage,
    PublishedForm,
    Staging,
    Tables,
    Verification,
)
from pganon.methods.common.base import Method
from pganon.methods.related import checks, figures, staging, views
from pganon.methods.related.groups import group_steps, period_steps
from pganon.methods.related.links import (
    link_steps,
    lookup_steps,
    lookup_warnings,
    row_steps,
)
from pganon.methods.related.pairs import open_pairs
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.tables import Related
from pganon.steps import State, Step
from pganon.steps.facts import Facts


def _related(spec: ReleaseSpec) -> Related:
    assert spec.related is not None
    return spec.related


def related(method: Method) -> Method:
    """A method that makes classes, for a release of several tables."""

    def partition_steps(spec: ReleaseSpec) -> Iterator[Step]:
        found = _related(spec)
        if spec.growth is None:
            yield from link_steps(spec, found)
        yield from lookup_steps(spec, found)
        yield from method.partition_steps(spec)
        yield from row_steps(spec, found)
        yield from group_steps(spec, found)
        for pairs in open_pairs(found):
            yield from pairs.steps()

    return Method(method.options, _form(method.form), lambda spec: tuple(partition_steps(spec)))


def with_period(form: PublishedForm) -> PublishedForm:
    """A form of which nobody is new, with a period more of the groups that there are; views that
    get nothing are empty."""

    def closing(spec: ReleaseSpec) -> Related:
        return _related(spec).closing

    def staged(spec: ReleaseSpec) -> tuple[Step, ...]:
        found = closing(spec)
        return (
            *lookup_steps(spec, found),
            *row_steps(spec, found),
            *period_steps(spec, found),
            *[step for pairs in open_pairs(found) for step in pairs.steps()],
            *staging.staging_steps(spec, found),
            *form.staging.steps(spec),
        )

    def relations(spec: ReleaseSpec, state: State):
        mine = staging.relations(closing(spec), state)
        return (*form.staging.relations(spec, state), *mine)

    def checked(spec: ReleaseSpec, state: State, tables: Tables):
        mine = checks.checks(spec, closing(spec), tables)
        return (*form.verification.checks(spec, state, tables), *mine)

    def shown(spec: ReleaseSpec, state: State, tables: Tables):
        found = {view.name: view for view in views.views(spec, closing(spec), tables)}
        every = form.publication.views(spec, state, tables)
        return tuple(found.get(view.name, replace(view, select="")) for view in every)

    return replace(
        form,
        staging=Staging(relations, staged),
        verification=replace(form.verification, checks=checked),
        publication=replace(form.publication, views=shown),
    )


def _form(classes: PublishedForm) -> PublishedForm:
    before, evidence = classes.publication, classes.statistics.evidence
    assert classes.linkage is not None
    assert evidence is not None

    def staged(spec: ReleaseSpec) -> tuple[Step, ...]:
        found = _related(spec)
        root = classes.staging.steps(spec)
        return (*staging.number_steps(found), *root, *staging.staging_steps(spec, found))

    def relations(spec: ReleaseSpec, state: State):
        mine = staging.relations(_related(spec), state)
        return (*classes.staging.relations(spec, state), *mine)

    def checked(spec: ReleaseSpec, state: State, tables: Tables):
        mine = checks.checks(spec, _related(spec), tables)
        return (*classes.verification.checks(spec, state, tables), *mine)

    def shown(spec: ReleaseSpec, state: State, tables: Tables):
        return (*before.views(spec, state, tables), *views.views(spec, _related(spec), tables))

    def warnings(spec: ReleaseSpec, facts: Facts):
        return (*before.warnings(spec, facts), *lookup_warnings(spec, facts.by_name()))

    return replace(
        classes,
        staging=Staging(relations, staged),
        verification=Verification(
            checked,
            classes.verification.duplicate_keys,
            {**classes.verification.said, **checks.SAID},
        ),
        publication=replace(before, views=shown, warnings=warnings),
        statistics=replace(
            classes.statistics,
            measures=lambda spec: [
                *classes.statistics.measures(spec),
                figures.measures(spec),
            ],
            utility=figures.utility,
            figures=figures.RelatedUtility,
            tells=figures.tells,
            evidence=figures.evidence_of(evidence),
        ),
        linkage=Linkage(
            classes.linkage.linked, classes.linkage.made_by, shows=lambda spec, state: "several"
        ),
    )
