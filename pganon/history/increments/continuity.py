"""Whether a version can go on from those before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pganon.encode.people import identity
from pganon.encode.value_codes import referenced
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.forms.form import PublishedForm, Tables
from pganon.forms.group_data import is_remembered, linked
from pganon.identifiers import quote
from pganon.methods.registry import method_of
from pganon.resolved.increments import Growth, group_column
from pganon.resolved.model import ReleaseSpec
from pganon.steps import State
from pganon.steps.relations import PublishedView


def check_invariant(spec: ReleaseSpec) -> None:
    """Refuse to keep signatures of people whom nothing tells apart.

    Raises:
        PreconditionError: no_identity.
    """
    if spec.invariant and identity(spec) is None:
        raise PreconditionError(
            f"{spec.source.name} has no key, so nobody can tell who was released before",
            hint="declare `individual`, or give the table a primary key",
            code=ErrorCode.NO_IDENTITY,
        )


def numbered(spec: ReleaseSpec, growth: Growth) -> Growth:
    """With the column that numbers the groups of people in every view.

    Raises:
        PreconditionError: partitions.
    """
    form = method_of(spec).form
    views = growth.views or form.publication.views(spec, State(0), _tables(spec, form))
    links = linked(spec, form, State(0)).links if is_remembered(spec, form) else ()
    number = group_column(links, views)
    if number is None and spec.policy.leavers == "withdraw":
        raise PreconditionError(
            "leavers: withdraw takes back the group of who left, and people of this release are in"
            " several groups, of which each has other people",
            hint="use leavers: keep, or a method with one partition of the people",
            code=ErrorCode.PARTITIONS,
        )
    return replace(growth, number=number)


def _tables(spec: ReleaseSpec, form: PublishedForm) -> Tables:
    return {r.part: r.stored for r in form.staging.relations(spec, State(0))}


def check_population(expected: int | None, actual: int | None) -> None:
    """Refuse people who turn out to be others than those whose cohorts were formed.

    Raises:
        PreconditionError: population.
    """
    if expected != actual:
        raise PreconditionError(
            "the same rows were released from another table",
            hint="write population: {name: NAME} in the policies of both",
            code=ErrorCode.POPULATION,
        )


def increment_size(spec: ReleaseSpec) -> int:
    """Fewest people of a cohort: many, where those who fail are left out for good."""
    several = 10 if spec.related is not None else 1
    return spec.policy.increment_size or several * spec.least_cohort


def check_columns(spec: ReleaseSpec, state: State, views: Sequence[PublishedView]) -> None:
    """Refuse views with other columns than those of the version that the run adds to.

    Raises:
        PreconditionError: other_columns.
    """
    growth, form = spec.growth, method_of(spec).form
    if growth is None or growth.version is None:
        return
    if state.run_id == 0 and not form.publication.settled(spec):
        return  # its columns follow from the data

    def shown(views: Sequence[PublishedView]) -> list[Any]:
        return [(v.name, [(c.name, c.type) for c in v.columns]) for v in views]

    if shown(views) != shown(growth.views):
        raise PreconditionError(
            f"the release would have other views or columns than version {growth.version}, which"
            " increments are added to",
            hint="undo the change of the policy or of the source, or use refresh: recompute",
            code=ErrorCode.OTHER_COLUMNS,
        )


def check_ranges(spec: ReleaseSpec, growth: Growth) -> None:
    """Refuse groups that show what they contain beside those that show their region.

    Raises:
        PreconditionError: other_regions.
    """
    if growth.version is None or spec.shows_regions == (growth.bounds is not None):
        return
    before = "tight" if growth.bounds is None else "region"
    raise PreconditionError(
        f"the policy has ranges: {spec.policy.ranges}, but version {growth.version}, which"
        f" increments are added to, has ranges: {before}",
        hint=f"use ranges: {before}, or another name for the release",
        code=ErrorCode.OTHER_REGIONS,
    )


_REPLAYED = ("role", "type", "order", "hierarchy", "nulls")
"""Keys of a column that cuts are replayed by."""


def check_regions(spec: ReleaseSpec, growth: Growth) -> None:
    """Refuse cuts that were made under another hierarchy or order, or of other columns.

    Raises:
        PreconditionError: other_regions.
    """
    if growth.cuts is None:
        return
    before = growth.partition or {}
    keys, instead = _REPLAYED, ", or use regions: none"
    if growth.bounds is not None:  # made of what the column could have
        keys, instead = (*_REPLAYED, "domain"), ""
    for attribute in spec.attributes:
        name = attribute.column.name
        for key in keys:
            path = f"columns.{name}.{key}"
            if before.get(path) != spec.partition.get(path):
                raise PreconditionError(
                    f"{key} of column {quote(name)} is not that of the version whose cuts divide"
                    " newcomers",
                    hint=f"undo the change{instead}",
                    code=ErrorCode.OTHER_REGIONS,
                )


def check_compared(spec: ReleaseSpec, growth: Growth) -> None:
    """Refuse other distances than those of the first version.

    Raises:
        PreconditionError: other_reference.
    """
    if growth.first is None:
        return
    for item in referenced(spec):
        name = item.column.name
        path = f"columns.{name}.hierarchy"
        before = (growth.partition or {}).get(path)
        if item.hierarchy and before and before != spec.partition.get(path):
            raise PreconditionError(
                f"the hierarchy of column {quote(name)} is not that of the first version, which"
                " newcomers are compared with",
                hint="undo the change",
                code=ErrorCode.OTHER_REFERENCE,
            )
