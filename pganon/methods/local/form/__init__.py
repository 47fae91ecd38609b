"""The published form of local generalization and bucketization.

    groups       (group_id, <column>_form, generalized columns)   stored once per group
    records      (group_id, <column>_bucket, insensitive columns)
    values_<c>   (<c>_bucket, <c>, count)
    members      the steward's memory of who was in which group and which buckets

The view of the release joins groups and records, and never the values: which of a bucket's values
is whose nobody is told. Numbers of groups and of the buckets of every column are random
permutations under the run's secret key, each of its own; columns with buckets in common have one
number for both. Rows are in an order that published columns decide.
"""

from __future__ import annotations

from collections.abc import Iterator

from pganon.forms.form import (
    Linkage,
    OnRequest,
    Publication,
    PublishedForm,
    Staging,
    Statistics,
    Tables,
    Verification,
)
from pganon.forms.inferred import Inferred
from pganon.forms.linked import Linked, LinkedColumn
from pganon.identifiers import quote
from pganon.methods.common.form.attacks import NOTICEABLE, REMEDY, told_text
from pganon.methods.local.form import figures, inferred, staging, verification, views
from pganon.methods.local.form.aligned import links
from pganon.methods.local.form.layout import Layout
from pganon.methods.local.form.staging import RECORDS
from pganon.methods.local.form.verification import histogram
from pganon.methods.local.metrics.relations import Parts
from pganon.methods.local.metrics.report import LocalMetrics, metrics_of
from pganon.methods.local.metrics.steps import measure_steps
from pganon.policy.options import GROUP_ID
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import col, query
from pganon.steps import State
from pganon.steps.facts import Facts


def warnings(spec: ReleaseSpec, facts: Facts) -> list[str]:
    """What the steward should know of a release of local groups and buckets."""
    return [*_told(spec, facts), *_own_predicates(spec), *_unmeasured(spec, facts)]


def _told(spec: ReleaseSpec, facts: Facts) -> Iterator[str]:
    """What is inferred, unless the policy says how much may be."""
    if spec.policy.inference is not None:
        return
    layout = Layout(spec)
    learned, taught = inferred.inferred(layout, facts), inferred.taught(layout, facts)
    for item in inferred.hidden_in(layout):
        found = learned[item.published]
        if found.told is not None and found.told > NOTICEABLE:
            yield f"{told_text(item, found)}; {REMEDY}"
        if item.hidden is not None:
            yield _taught(item, taught[item.published])


def _taught(item: Sensitive, found: Inferred) -> str:
    """However little it is in this release: it is what the guarantee does not speak of."""
    name = quote(item.published)
    said = f"records that show {name} teach readers about those that hide it: naive Bayes over"
    if found.share is None or found.accuracy is None:
        return f"{said} their other columns could not be measured"
    return (
        f"{said} their other columns tells the hidden values of a share of {found.share:.4g} of"
        f" these with a probability above {found.limit:.4g}, and is right as often; it guesses"
        f" {found.accuracy:.4g} of all right, where {found.allowed:.4g} is allowed"
    )


def _own_predicates(spec: ReleaseSpec) -> Iterator[str]:
    """Columns that are hidden because of their own value."""
    for name, column in spec.policy.columns.items():
        when = column.sensitive_when
        if when is not None and when.predicate is not None and name in when.columns:
            yield (
                f"column {quote(name)} is hidden where its own value fulfils a condition: that a"
                " record hides it says so to every reader"
            )


def _unmeasured(spec: ReleaseSpec, facts: Facts) -> Iterator[str]:
    """Pairs of columns that too few records hide both of."""
    for link in links(Layout(spec), facts):
        if link.few:
            yield (
                f"too few records hide both {quote(link.one.published)} and"
                f" {quote(link.other.published)} to measure whether their buckets tell of each"
                " other"
            )


def linked_by(spec: ReleaseSpec) -> list[str]:
    """Steps, among the last ones of staging, that make what histograms are made from."""
    return [RECORDS] if Layout(spec).single else []


def linked(spec: ReleaseSpec, state: State, tables: Tables) -> Linked:
    """By groups and by the buckets of every column, or by groups alone where those are single."""
    columns = []
    for item in spec.sensitive:
        (link,), counted = histogram(spec, state, tables, item)
        found = query(
            "select :link as link, h.value, h.n from h", {"h": counted}, link=col(link, "h")
        )
        columns.append(LinkedColumn(item.column.name, link, found))
    links = dict.fromkeys([GROUP_ID, *[column.link for column in columns]])
    return Linked(tuple(links), tuple(columns))


METRICS = OnRequest(
    steps=lambda spec, tables, request: measure_steps(
        spec, Parts(staging.GROUPS, staging.RECORDS, staging.part_of), tables, request
    ),
    report=metrics_of,
    figures=LocalMetrics,
    restricts="yes",
)

LOCAL = PublishedForm(
    Staging(staging.relations, lambda spec: staging.staging_steps(Layout(spec))),
    Verification(
        lambda spec, state, tables: verification.checks(Layout(spec), state, tables),
        staging.released,
        staging.duplicate_keys,
    ),
    Publication(
        lambda spec, state, tables: views.views(Layout(spec), state, tables),
        "groups",
        warnings=warnings,
    ),
    Statistics(
        lambda spec: figures.measures(Layout(spec)),
        figures.utility,
        figures.LocalUtility,
        histogram=verification.histogram,
        on_request=METRICS,
    ),
    Linkage(linked, linked_by, lambda spec, state: "several"),
)
