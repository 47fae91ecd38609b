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

from pganon.forms.form import (
    Linkage,
    OnRequest,
    Publication,
    PublishedForm,
    Staging,
    Statistics,
    Verification,
)
from pganon.methods.local.form import figures, links, staging, verification, views, warned
from pganon.methods.local.form.layout import Layout
from pganon.methods.local.metrics.relations import Parts
from pganon.methods.local.metrics.report import LocalMetrics, metrics_of
from pganon.methods.local.metrics.steps import measure_steps

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
        staging.misplaced,
    ),
    Publication(
        lambda spec, state, tables: views.views(Layout(spec), state, tables),
        "groups",
        warnings=warned.warnings,
    ),
    Statistics(
        lambda spec: figures.measures(Layout(spec)),
        figures.utility,
        figures.LocalUtility,
        histogram=verification.histogram,
        on_request=METRICS,
    ),
    Linkage(links.linked, links.linked_by, lambda spec, state: "several"),
)
