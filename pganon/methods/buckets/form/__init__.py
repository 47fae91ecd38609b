"""The published form of anatomy and slicing: exact values in tables that only buckets link.

Stored are the quasi-identifier tables (QIT) and sensitive tables (ST) of an arrangement and the
steward's `members`. The view of the release joins the tables the only safe way: every
combination that a bucket allows, with its probability.

Bucket numbers are a random permutation under the run's secret key, one of its own for every
partition. Rows of every relation are in an order that depends on their own published columns
alone, so none shows which value belongs to which record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

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
from pganon.forms.linked import Linked, LinkedRows, linked_column, part_number
from pganon.forms.utility import AnatomyUtility
from pganon.methods.buckets.form import figures, inferred, verification, views
from pganon.methods.buckets.form.verification import histogram, histogram_of
from pganon.methods.buckets.metrics.report import BucketMetrics, metrics_of
from pganon.methods.buckets.metrics.steps import measure_steps
from pganon.methods.common.arrangement import Arrange, Arrangement
from pganon.methods.common.form import bucket_staging as staging
from pganon.methods.common.form.bucket_rows import link_of
from pganon.methods.common.form.grouping import NUMBERED, Grouping
from pganon.policy.options import EXPECTED, GROUP_ID, PROBABILITY
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, query
from pganon.steps.facts import Facts


def linked(spec: ReleaseSpec, arrangement: Arrangement, tables: Tables) -> Linked:
    """By buckets. Where quasi-identifiers stand beside sensitive values, who knows those of a
    person knows more than the bucket: the rows of it that show them."""
    columns = []
    for item in spec.sensitive:
        table = arrangement.table_of(item.index)
        _, found = histogram_of(arrangement, tables, item)
        group = col(GROUP_ID, "h")
        shown = [col(attribute.published, "h") for attribute in table.quasi]
        number = part_number(group, shown) if shown else group
        column = linked_column(item.column.name, link_of(table), found, number)
        rows = tuple(other.column.name for other in table.sensitive)
        columns.append(replace(column, exact=not arrangement.counterfeits, rows=rows))
    parts = [link_of(table) for table in arrangement.sensitive if table.quasi]
    rows = _rows(arrangement, tables) if arrangement.counterfeits else ()
    return Linked((*arrangement.partitions, *parts), tuple(columns), tuple(rows))


def _rows(arrangement: Arrangement, tables: Tables) -> Iterator[LinkedRows]:
    for table in arrangement.sensitive:
        if len(table.sensitive) == 1:
            continue
        found = histogram(tables, table, [GROUP_ID], table.sensitive)
        rows = query("select :link as link, h.value from h", {"h": found}, link=col(GROUP_ID, "h"))
        yield LinkedRows(tuple(item.column.name for item in table.sensitive), rows)


def anatomized(
    arrange: Arrange,
    *,
    groups: str,
    buckets: Grouping = NUMBERED,
    settled: Callable[[ReleaseSpec], bool] = lambda spec: True,
    warnings: Callable[[ReleaseSpec, Facts], Sequence[str]] = lambda spec, facts: (),
) -> PublishedForm:
    """The form of an arrangement.

    Args:
        groups: what the method calls its groups.
        buckets: where the buckets of the records are read.
        settled: see :class:`~pganon.forms.form.Publication`.
        warnings: the same, beside what may be inferred.
    """
    metrics = OnRequest(
        steps=lambda spec, tables, request: measure_steps(spec, arrange, tables, request),
        report=metrics_of,
        figures=BucketMetrics,
        restricts="always",
    )
    return PublishedForm(
        Staging(
            lambda spec, state: staging.relations(arrange(spec, state), state),
            lambda spec: staging.staging_steps(spec, arrange, buckets),
        ),
        Verification(
            lambda spec, state, tables: verification.checks(spec, arrange(spec, state), tables),
            lambda spec, state, tables: staging.released(arrange(spec, state), tables),
            lambda spec, state: staging.duplicate_keys(spec, arrange(spec, state), buckets, state),
        ),
        Publication(
            lambda spec, state, tables: views.views(spec, arrange(spec, state), tables),
            groups,
            settled,
            (PROBABILITY, EXPECTED),
            lambda spec, facts: [*inferred.warnings(spec, facts), *warnings(spec, facts)],
        ),
        Statistics(
            lambda spec: figures.measures(spec, arrange, buckets),
            figures.utility,
            AnatomyUtility,
            histogram=lambda spec, state, tables, item: verification.histogram_of(
                arrange(spec, state), tables, item
            ),
            on_request=metrics,
        ),
        Linkage(
            lambda spec, state, tables: linked(spec, arrange(spec, state), tables),
            shows=lambda spec, state: "exact" if arrange(spec, state).aligned else "several",
        ),
    )
