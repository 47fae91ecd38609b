"""The published form of anatomy and slicing: exact values in tables that only buckets link.

Stored are the quasi-identifier tables (QIT) and sensitive tables (ST) of an arrangement and the
steward's `members`. The view of the release joins the tables without linking records: it has every
combination that a bucket allows, with its probability.

Bucket numbers are a random permutation under the run's secret key, another one for every
partition. The order of the rows of a relation depends only on its published columns, so no order
shows which value belongs to which record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp

from pganon.forms.form import (
    Evidence,
    Linkage,
    OnRequest,
    Publication,
    PublishedForm,
    Staging,
    Statistics,
    Tables,
    Verification,
)
from pganon.forms.links import Linked, LinkedColumn, LinkedRows, part_number
from pganon.forms.shape import Histogram, Relations
from pganon.forms.utility import AnatomyUtility
from pganon.methods.buckets.form import inference, sentences, statistics, verification, views
from pganon.methods.buckets.form.statistics import extents, whole_of
from pganon.methods.buckets.form.verification import histogram, histogram_of
from pganon.methods.buckets.metrics.report import BucketMetrics, measure_steps, metrics_of
from pganon.methods.common.arrangement import Arrange, Arrangement
from pganon.methods.common.form import bucket_staging as staging
from pganon.methods.common.form.bucket_staging import link_of
from pganon.methods.common.form.grouping import NUMBERED, Grouping
from pganon.metrics.evidence.candidates import evidence_of_values
from pganon.metrics.evidence.classes import evidence_of
from pganon.policy.options import EXPECTED, GROUP_ID, PROBABILITY
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import col, query
from pganon.steps import State
from pganon.steps.facts import Facts


def evidence(
    arrange: Arrange, buckets: Grouping, histogram: Histogram, *, generalized: bool
) -> Evidence:
    """Of an arrangement.

    Args:
        generalized: whether classes share generalized quasi-identifiers.
    """
    if not generalized:
        return evidence_of_values(histogram)

    return evidence_of(
        lambda spec, state: arrange(spec, state).shape,
        histogram,
        extents=lambda spec, axis, state: extents(
            spec, arrange(spec, state), buckets.all_records(state), state
        ),
    )


def linked(spec: ReleaseSpec, arrangement: Arrangement, tables: Tables) -> Linked:
    """The links of records and sensitive values, by bucket.

    A sensitive table may have quasi-identifiers, too. A reader who knows those of a person can
    limit the bucket to the rows that show them.
    """
    columns = []
    for item in spec.sensitive:
        table = arrangement.table_of(item.index)
        _, counted = histogram_of(arrangement, tables, item)
        group = col(GROUP_ID, "h")
        shown = [col(attribute.published, "h") for attribute in table.attributes]
        number = part_number(group, shown) if shown else group
        found = query(
            "select :link as link, h.value, sum(h.n)::bigint as n from h group by 1, 2",
            {"h": counted},
            link=number,
        )
        names = tuple(other.column.name for other in table.sensitive)
        columns.append(
            LinkedColumn(
                item.column.name, link_of(table), found, not arrangement.counterfeits, names
            )
        )
    parts = [link_of(table) for table in arrangement.sensitive if table.attributes]
    rows = _rows(arrangement, tables) if arrangement.counterfeits else ()
    return Linked((*arrangement.partitions, *parts), tuple(columns), tuple(rows))


def _rows(arrangement: Arrangement, tables: Tables) -> Iterator[LinkedRows]:
    for table in arrangement.sensitive:
        if len(table.sensitive) == 1:
            continue
        counted = histogram(tables, table, [GROUP_ID], table.sensitive)
        rows = query(
            "select :link as link, h.value from h", {"h": counted}, link=col(GROUP_ID, "h")
        )
        yield LinkedRows(tuple(item.column.name for item in table.sensitive), rows)


def anatomized(
    arrange: Arrange,
    *,
    groups: str,
    buckets: Grouping = NUMBERED,
    generalized: bool = False,
    static_columns: Callable[[ReleaseSpec], bool] = lambda spec: True,
    warnings: Callable[[ReleaseSpec, Facts], Sequence[str]] = lambda spec, facts: (),
) -> PublishedForm:
    """The form of an arrangement.

    Args:
        groups: the method's word for its groups, in the plural.
        buckets: where the buckets of the records are read.
        generalized: whether classes share generalized quasi-identifiers.
        static_columns: whether the policy alone decides the columns of every view.
        warnings: warnings of the method, beside those about inference.
    """
    metrics = OnRequest(
        steps=lambda spec, tables, request: measure_steps(spec, arrange, tables, request),
        report=metrics_of,
        figures=BucketMetrics,
        restricts="always",
    )

    def of_values(
        spec: ReleaseSpec, state: State, tables: Relations, item: Sensitive
    ) -> tuple[Sequence[str], exp.Select]:
        return histogram_of(arrange(spec, state), tables, item)

    return PublishedForm(
        lambda spec, state: arrange(spec, state).shape,
        Staging(
            lambda spec, state: staging.relations(arrange(spec, state), state),
            lambda spec: staging.staging_steps(spec, arrange, buckets),
        ),
        Verification(
            lambda spec, state, tables: verification.checks(spec, arrange(spec, state), tables),
            lambda spec, state: staging.duplicate_keys(spec, arrange(spec, state), buckets, state),
            verification.MESSAGES,
        ),
        Publication(
            lambda spec, state, tables: views.views(spec, arrange(spec, state), tables),
            groups,
            static_columns,
            (PROBABILITY, EXPECTED),
            lambda spec, facts: [*inference.warnings(spec, facts), *warnings(spec, facts)],
        ),
        Statistics(
            lambda spec: statistics.measures(spec, arrange, buckets),
            statistics.utility,
            AnatomyUtility,
            whole_of(arrange, static_columns),
            histogram=of_values,
            on_request=metrics,
            evidence=evidence(arrange, buckets, of_values, generalized=generalized),
            tells=sentences.tell,
        ),
        Linkage(
            lambda spec, state, tables: linked(spec, arrange(spec, state), tables),
            shows=lambda spec, state: "exact" if arrange(spec, state).aligned else "several",
        ),
    )
