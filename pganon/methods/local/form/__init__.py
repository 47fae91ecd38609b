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
from dataclasses import replace

from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.forms import sentences as sentences
from pganon.forms.elements import exact_column
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
from pganon.forms.inference import Inferred
from pganon.forms.links import linked_by
from pganon.forms.sentences import Told, count, share, told
from pganon.forms.utility import Utility
from pganon.forms.work import GROUP_SIZES
from pganon.identifiers import quote
from pganon.methods.common.form.attacks import NOTICEABLE, REMEDY, inference_text
from pganon.methods.common.form.flat import FlatColumn, record_views, shown_columns
from pganon.methods.common.form.recode import EXTENTS
from pganon.methods.local.form import inference, staging, statistics, verification
from pganon.methods.local.form.layout import Layout, forms, is_generalized
from pganon.methods.local.form.shared_buckets import links, set_of
from pganon.methods.local.form.staging import RECORDS, part_of, shape
from pganon.methods.local.form.statistics import WHOLE, LocalUtility
from pganon.methods.local.form.verification import histogram
from pganon.methods.local.local_names import bucket_column, form_column, values_part
from pganon.methods.local.metrics.report import LocalMetrics, measure_steps, metrics_of
from pganon.metrics.evidence.classes import evidence_of
from pganon.policy.options import COUNT, GROUP_ID
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import cast, col, named, query, render
from pganon.steps import State
from pganon.steps.facts import Facts
from pganon.steps.relations import PublishedView, ViewColumn

_GROUP = ViewColumn(GROUP_ID, "integer", "Number of the group, random per release.")


def views(layout: Layout, state: State, tables: Tables) -> tuple[PublishedView, ...]:
    """Views of the records, also without ranges or sets, and of the values of buckets."""
    spec = layout.spec
    by_flag = {item.hidden.index: item for item in spec.sensitive if item.hidden is not None}

    def columns(flat: bool) -> Iterator[FlatColumn]:
        """The group, the attributes with buckets and forms beside them, sensitive columns, the
        rest."""
        yield FlatColumn(_GROUP, col(GROUP_ID, "r"))
        for attribute in spec.attributes:
            yield from shown_columns(spec, attribute, GROUP_ID, flat=flat)
            if attribute.hidden is not None:
                yield from _hidden(layout, by_flag[attribute.hidden.index], state, flat)
        for item in spec.sensitive:
            if item.hidden is None:
                yield from _hidden(layout, item, state, flat)
        for item in spec.carried:
            column = exact_column(item.published, item.column, "Insensitive, unchanged.")
            column = column if flat else column.located(GROUP_ID, RECORDS)
            yield FlatColumn(column, col(item.published, "r"))

    guarantee = "; ".join(requirement.label for requirement in spec.requirements)
    comment = (
        "Anonymized release: values are generalized per group, or in a bucket where they are"
        f" sensitive. Guarantee: {guarantee}."
    )
    shown = record_views(spec, shape(spec, state), tables, columns, comment)
    return (*shown, *[_values(layout, item, tables) for item in spec.sensitive])


def _hidden(layout: Layout, item: Sensitive, state: State, flat: bool) -> list[FlatColumn]:
    name = bucket_column(item.published)
    part = layout.spec.view_of(values_part(item.published))
    said = f"Number of the bucket in {part} that has the value of the record, random per release."
    others = [c for c in set_of(layout, state.facts, item) if c != item]
    if others:
        names = " and ".join(quote(bucket_column(other.published)) for other in others)
        said += f" The same number is in {names}."
    column = ViewColumn(name, "integer", said)
    if not flat:
        column = replace(column, form="bucket").located(GROUP_ID, values_part(item.published))
    columns = [FlatColumn(column, col(name, "r"))]
    if layout.has_form(item):
        name = form_column(item.published)
        said = (
            f"How {quote(item.published)} is shown: g generalized, b in a bucket because it is"
            " sensitive, w withheld."
        )
        column = ViewColumn(name, "text", said)
        if not flat:
            meant = {"kind": item.published, "collation": '"default"'}
            column = replace(column, form="display", **meant).located(GROUP_ID, RECORDS)
        columns.append(FlatColumn(column, col(name, "c")))
    return columns


def _values(layout: Layout, item: Sensitive, tables: Tables) -> PublishedView:
    spec = layout.spec
    held = "; ".join(r.label for r in spec.requirements if r.sensitive == item.index)
    part, bucket = values_part(item.published), bucket_column(item.published)
    said = "Number of records of the bucket that have this value."
    columns = (
        ViewColumn(bucket, "integer", "Number of the bucket, random per release."),
        exact_column(item.published, item.column, "Sensitive, of some of the bucket."),
        ViewColumn(COUNT, "bigint", said, "count"),
    )
    number, *others = columns
    columns = (number, *[column.located(bucket, part) for column in others])
    tree: exp.Select = query("select 1 from t", {"t": tables[part_of(item)]})
    # Where a value is hidden on a condition, its type has lost its length or scale.
    shown = [cast(col(column.name, "t"), column.type) for column in columns]
    tree = tree.select(
        *[named(value, column.name) for value, column in zip(shown, columns, strict=True)],
        append=False,
    )
    return PublishedView(
        spec.view_of(part),
        render(tree),
        columns,
        f"Values of {quote(item.published)} in every bucket of {spec.view}. Per bucket: {held}.",
    )


def tell(utility: Utility, members: str) -> list[Told]:
    assert isinstance(utility, LocalUtility)
    return list(_told(utility, members))


def _told(utility: LocalUtility, members: str) -> Iterator[Told]:
    for name, found in utility.buckets.items():
        if not found.buckets:
            yield told(f"buckets of {name}", f"Nobody's value in the column {name} is in a bucket.")
        elif found.largest == 1:
            yield told(
                f"buckets of {name}",
                f"Every hidden value in the column {name} stands alone: it is hidden as far as the"
                " group hides whose it is.",
            )
        else:
            yield told(
                f"buckets of {name}",
                count(found.cells),
                f" values in the column {name} are in ",
                count(found.buckets),
                " buckets of at least ",
                count(found.smallest),
                ". Whose value it is, is hidden. One value has at most ",
                share(found.share),
                " of a bucket.",
                of=found.cells,
            )
    for names in utility.aligned:
        yield told(
            "buckets in common", f"The columns {' and '.join(names)} have their buckets in common."
        )
    yield from sentences.learned(utility.inferred, members, "learning {}", "the buckets")
    yield from sentences.learned(
        utility.taught, members, "learning {} from others", "those who show it"
    )


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
        lambda spec, state, tables: views(Layout(spec), state, tables),
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
        tells=tell,
    ),
    Linkage(linked_by(histogram, GROUP_ID), made_by, lambda spec, state: "several"),
)
