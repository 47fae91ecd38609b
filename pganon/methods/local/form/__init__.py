"""The published form of local generalization and bucketization.

    groups       (group_id, <column>_form, generalized columns)   stored once per group
    records      (group_id, <column>_bucket, insensitive columns)
    values_<c>   (<c>_bucket, <c>, count)
    members      the steward's history of the group and buckets of every individual

The view of the release joins groups and records, and never the values, so it does not disclose
which of a bucket's values belongs to whom. Numbers of groups and of the buckets of every column are
separate random permutations under the run's secret key. Columns that share buckets have the same
numbers. The order of rows depends only on published columns.

Evidence: records of a group look the same. Of a column that some hide it is about those who show
it; what the others have is in buckets, whose values are those of a sensitive column.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.forms.form import (
    Linkage,
    OnRequest,
    Publication,
    PublishedForm,
    Staging,
    Statistics,
    Verification,
)
from pganon.forms.inference import Inferred
from pganon.forms.links import linked_by
from pganon.forms.work import GROUP_SIZES
from pganon.identifiers import quote
from pganon.methods.common.form.attacks import NOTICEABLE, REMEDY, inference_text
from pganon.methods.common.form.recode import EXTENTS
from pganon.methods.local.form import inference, sentences, staging, statistics, verification, views
from pganon.methods.local.form.layout import Layout, forms, is_generalized
from pganon.methods.local.form.shared_buckets import links
from pganon.methods.local.form.staging import RECORDS
from pganon.methods.local.form.statistics import WHOLE
from pganon.methods.local.form.verification import histogram
from pganon.methods.local.metrics.report import LocalMetrics, measure_steps, metrics_of
from pganon.metrics.evidence.classes import evidence_of
from pganon.policy.options import GROUP_ID
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import col, query
from pganon.steps import State
from pganon.steps.facts import Facts


def _extents(spec: ReleaseSpec, axis: Axis, state: State) -> exp.Select:
    return query(
        "select e.* from e join d on d.group_id = e.class_id join f on f.display = d.display"
        " where :shown",
        {"e": state.work(EXTENTS), "d": state.work(GROUP_SIZES), "f": forms(state)},
        shown=is_generalized(axis.attribute, col("form", "f")),
    )


EVIDENCE = evidence_of(staging.shape, histogram, extents=_extents)


def warnings(spec: ReleaseSpec, facts: Facts) -> list[str]:
    """Warnings to the steward about a release of local groups and buckets."""
    return [*_inference_warnings(spec, facts), *_self_predicates(spec), *_unmeasured(spec, facts)]


def _inference_warnings(spec: ReleaseSpec, facts: Facts) -> Iterator[str]:
    """Warnings about values that can be inferred, unless the policy sets a limit."""
    if spec.policy.inference is not None:
        return
    layout = Layout(spec)
    learned, taught = inference.inferred(layout, facts), inference.taught(layout, facts)
    for item in inference.hidden_in(layout):
        result = learned[item.published]
        if result.told is not None and result.told > NOTICEABLE:
            yield f"{inference_text(item, result)}; {REMEDY}"
        if item.hidden is not None:
            yield _taught(item, taught[item.published])


def _taught(item: Sensitive, result: Inferred) -> str:
    """The warning about inference from records that show the value, which no guarantee covers."""
    name = quote(item.published)
    said = f"records that show {name} teach readers about those that hide it: naive Bayes over"
    if result.share is None or result.accuracy is None:
        return f"{said} their other columns could not be measured"
    return (
        f"{said} their other columns discloses the hidden values of a share of {result.share:.4g}"
        f" of these with a probability above {result.limit:.4g}, and is right as often; it guesses"
        f" {result.accuracy:.4g} of all right, where {result.allowed:.4g} is allowed"
    )


def _self_predicates(spec: ReleaseSpec) -> Iterator[str]:
    """Warnings about columns that are hidden because of their values."""
    for name, column in spec.policy.columns.items():
        when = column.sensitive_when
        if when is not None and when.predicate is not None and name in when.columns:
            yield (
                f"column {quote(name)} is hidden where its own value fulfils a condition: that a"
                " record hides it says so to every reader"
            )


def _unmeasured(spec: ReleaseSpec, facts: Facts) -> Iterator[str]:
    """Warnings about pairs of columns that too few records hide both of."""
    for link in links(Layout(spec), facts):
        if link.few:
            yield (
                f"too few records hide both {quote(link.one.published)} and"
                f" {quote(link.other.published)} to measure whether their buckets disclose each"
                " other"
            )


def made_by(spec: ReleaseSpec) -> list[str]:
    """Names of the steps of staging that create the tables of histograms."""
    return [RECORDS] if Layout(spec).single else []


METRICS = OnRequest(
    steps=lambda spec, tables, request: measure_steps(spec, staging.shape, tables, request),
    report=metrics_of,
    figures=LocalMetrics,
    restricts="yes",
)

LOCAL = PublishedForm(
    staging.shape,
    Staging(staging.relations, lambda spec: staging.staging_steps(Layout(spec))),
    Verification(
        lambda spec, state, tables: verification.checks(Layout(spec), state, tables),
        staging.duplicate_keys,
        verification.MESSAGES,
    ),
    Publication(
        lambda spec, state, tables: views.views(Layout(spec), state, tables),
        "groups",
        warnings=warnings,
    ),
    Statistics(
        lambda spec: statistics.measures(Layout(spec)),
        statistics.utility,
        statistics.LocalUtility,
        WHOLE,
        histogram=verification.histogram,
        on_request=METRICS,
        evidence=EVIDENCE,
        tells=sentences.tell,
    ),
    Linkage(linked_by(histogram, GROUP_ID), made_by, lambda spec, state: "several"),
)
