"""The guarantee of a release, measured only from its published relations."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.catalog.values import in_order
from pganon.encode.first import first_of
from pganon.forms.elements import attribute_columns, value_key
from pganon.forms.form import Tables
from pganon.forms.shape import Relations, value_histogram
from pganon.methods.common.form.checks import (
    counted,
    offending_check,
    requirement_check,
    structure_check,
    unequal,
)
from pganon.methods.common.form.reference import (
    MESSAGES as OF_REFERENCES,
)
from pganon.methods.common.form.reference import (
    against,
    reference_checks,
    source_counts,
    with_shares,
)
from pganon.methods.local.form.layout import Layout
from pganon.methods.local.form.shared_buckets import sets
from pganon.methods.local.form.staging import RECORDS, part_of, shape
from pganon.methods.local.local_names import bucket_column, form_column
from pganon.methods.local.search.subsets import BUCKET, GENERALIZED
from pganon.policy.options import COUNT, GROUP_ID
from pganon.privacy.base import Requirement
from pganon.privacy.frequency import BucketSize, KAnonymity
from pganon.privacy.likeness import TCloseness
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import col, fragment, named, query, stacked, text
from pganon.steps import State
from pganon.steps.relations import CheckQuery


def checks(layout: Layout, state: State, tables: Tables) -> tuple[CheckQuery, ...]:
    """Queries that re-measure every requirement, only from the relations in `tables`."""
    spec = layout.spec
    queries = [
        structure_check(shape(spec, state), tables),
        offending_check("forms", None, _forms_broken(layout, tables)),
        *[
            offending_check("buckets", item.published, _buckets_broken(spec, state, item, tables))
            for item in spec.sensitive
        ],
    ]
    if layout.aligned:
        queries.append(offending_check("aligned", None, _apart(layout, state, tables)))
    for requirement in spec.requirements:
        queries += _required(layout, requirement, tables)
    return (*queries, *reference_checks(spec, tables))


MESSAGES = {
    **OF_REFERENCES,
    "forms": "Rows of a group show the same columns, and have a bucket where they hide one.",
    "buckets": "Every hidden value in {column} is in one bucket, which has as many values as rows.",
    "aligned": "Columns that have buckets in common have the same ones.",
    "bucket_size": "Every bucket of values in {column} has at least {required} values.",
    "distinct_values": "No bucket of values in {column} has one value alone.",
}


def histogram(
    spec: ReleaseSpec, state: State, tables: Relations, item: Sensitive
) -> tuple[list[str], exp.Select]:
    """The key column of the histogram of a sensitive column, and (key column, value, n).

    The key is the bucket, or the group where every bucket has one value.
    """
    name = bucket_column(item.published)
    if Layout(spec).single:
        tree = query(
            "select r.group_id, :value as value, count(*) as n from records as r"
            " join t on :held = :named group by 1, 2",
            {**tables, "t": tables[part_of(item)]},
            value=value_key(item, "t"),
            held=col(name, "t"),
            named=col(name, "r"),
        )
        return [GROUP_ID], tree
    return [name], value_histogram(tables[part_of(item)], {name: name}, [item], COUNT)


def _forms_broken(layout: Layout, tables: Tables) -> exp.Select:
    """Records with a bucket where they show the value, or without one where they hide it."""
    joined = "select r.group_id from records as r join groups as g on g.group_id = r.group_id"
    wrong: list[exp.Expr] = [exp.false()]
    for item in layout.spec.sensitive:
        bucket = col(bucket_column(item.published), "r")
        if not layout.has_form(item):
            wrong.append(fragment(":b is null", b=bucket))
            continue
        form = col(form_column(item.published), "g")
        wrong.append(
            fragment(
                ":f is null or (:b is not null) <> (:f = :in)",
                f=form,
                b=bucket,
                **{"in": text(BUCKET)},
            )
        )
        letters = "gbw" if item.hidden is not None else "bw"
        allowed = exp.In(this=form.copy(), expressions=[text(letter) for letter in letters])
        wrong.append(exp.not_(allowed))
    for attribute in layout.spec.attributes:
        if attribute.hidden is None:
            continue
        form = col(form_column(attribute.published), "g")
        for column in attribute_columns(attribute):
            value = col(column.name, "g")
            wrong.append(
                fragment(
                    ":v is not null and :f is distinct from :g",
                    v=value,
                    f=form,
                    g=text(GENERALIZED),
                )
            )
    return query(joined, dict(tables)).where(exp.or_(*wrong))


def _buckets_broken(spec: ReleaseSpec, state: State, item: Sensitive, tables: Tables) -> exp.Select:
    """Buckets with another number of values than of records."""
    _, records, *values = shape(spec, state)
    bucket = bucket_column(item.published)
    hidden = query(
        "select c.* from c where c.number is not null", {"c": counted(records, bucket, tables)}
    )
    return unequal(hidden, counted(values[item.index], bucket, tables))


def _apart(layout: Layout, state: State, tables: Tables) -> exp.Select:
    """Violations of shared buckets.

    These are records with different numbers in columns of a set, and buckets whose records do not
    hide the same columns of it.
    """
    records = {"r": tables[RECORDS]}
    broken = [query("select 1 as number from r where false", records)]
    for columns in sets(layout, state.facts):
        numbers = [col(bucket_column(item.published), "r") for item in columns]
        first = exp.func("coalesce", *[number.copy() for number in numbers])
        hides = [fragment("(:b is not null)::int", b=number.copy()) for number in numbers]
        pattern = exp.Array(expressions=[h.copy() for h in hides])
        other = [fragment(":b <> :first", b=n.copy(), first=first.copy()) for n in numbers]
        rows = query("select :first as number from r", records, first=first).select(
            named(pattern, "pattern"),
            named(fragment("coalesce(:o, false)", o=exp.or_(*other)), "o"),
        )
        broken.append(
            query(
                "select x.number from x where x.number is not null group by x.number"
                " having bool_or(x.o) or min(x.pattern) <> max(x.pattern)",
                {"x": rows},
            )
        )
    return stacked(broken)


def _required(layout: Layout, requirement: Requirement, tables: Tables) -> Sequence[CheckQuery]:
    model = requirement.model
    if isinstance(model, KAnonymity):
        sizes = value_histogram(tables[RECORDS], {GROUP_ID: GROUP_ID})
        return [requirement_check(requirement, model.measure(sizes, [GROUP_ID]))]
    assert requirement.sensitive is not None
    item = layout.spec.sensitive[requirement.sensitive]
    by, counted = histogram(layout.spec, State(0), tables, item)
    if not isinstance(model, TCloseness):
        measured = model.measure(counted, by)
        return [requirement_check(requirement, measured, empty=True)]
    size = Requirement(BucketSize(layout.least(item)), item.index, item.published)
    measured = model.measure(counted, by, _whole(layout.spec, item, tables))
    grows = layout.spec.policy.refresh == "increments"
    held = against(layout.spec, "published") if grows else ""
    return [
        requirement_check(requirement, measured, held, empty=True),
        requirement_check(size, size.model.measure(counted, by), empty=True),
        offending_check("distinct_values", item.published, _single(item, tables)),
    ]


def _whole(spec: ReleaseSpec, item: Sensitive, tables: Tables) -> exp.Select:
    """(value, position, share): the distribution of all values in buckets.

    For a cohort of new individuals it is that of the first version.
    """
    if first_of(spec, item) is not None:
        return with_shares(item, source_counts(item, tables))
    rows = query(
        "select :value as value, :v as place, t.count from t",
        {"t": tables[part_of(item)]},
        value=value_key(item, "t"),
        v=in_order(item.column, col(item.published, "t")),
    )
    # The value in a type that min() supports.
    place = col("place", "t")
    counted = query(
        "select t.value, min(:place) as place, sum(t.count) as n from t group by t.value",
        {"t": rows},
        place=fragment(":v::text", v=place) if item.column.kind in ("boolean", "uuid") else place,
    )
    return query(
        "select x.value, row_number() over (order by x.place nulls last)::int as position,"
        " x.n::float8 / sum(x.n) over () as share from x",
        {"x": counted},
    )


def _single(item: Sensitive, tables: Relations) -> exp.Select:
    """One row where all values in buckets are the same."""
    return query(
        "select 1 as single from t having count(distinct :value) = 1",
        {"t": tables[part_of(item)]},
        value=value_key(item, "t"),
    )
