"""Equivalence classes: a class is a group with one published value of every quasi-identifier."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.first import first_of
from pganon.encode.records import TIMES
from pganon.encode.shard_counts import unchanged
from pganon.encode.work import weighs
from pganon.forms.elements import exact_column
from pganon.forms.form import (
    Description,
    Linkage,
    OnRequest,
    Publication,
    PublishedForm,
    Staging,
    Statistics,
    Tables,
    Verification,
    Whole,
)
from pganon.forms.links import linked_by
from pganon.forms.sentences import nothing
from pganon.forms.shape import Relations, value_histogram
from pganon.forms.utility import ClassUtility, class_utility
from pganon.forms.work import EXTENTS
from pganon.identifiers import QualifiedName
from pganon.methods.common.form import classes
from pganon.methods.common.form.averages import MEANS, average_columns, mean_checks, mean_column
from pganon.methods.common.form.checks import requirement_check, structure_check
from pganon.methods.common.form.class_records import (
    classes_of_cells,
    encoded_records,
    same_cell,
    weights_of_classes,
)
from pganon.methods.common.form.classes import shape
from pganon.methods.common.form.flat import FlatColumn, record_views, shown_columns
from pganon.methods.common.form.label_values import label_views
from pganon.methods.common.form.population import (
    covered_people,
    covers,
    population_checks,
    presence,
)
from pganon.methods.common.form.profit import profit_checks
from pganon.methods.common.form.reference import (
    MESSAGES as OF_REFERENCES,
)
from pganon.methods.common.form.reference import (
    against,
    reference_checks,
    reference_views,
    released_counts,
    source_counts,
    with_shares,
)
from pganon.methods.common.form.regions.classes import region_check
from pganon.metrics import loss
from pganon.metrics.evidence.classes import COVERED, evidence_of, presence_check
from pganon.metrics.report import ClassMetrics, measure_steps, metrics_of
from pganon.policy.options import CLASS_ID
from pganon.privacy.base import Relation, Requirement
from pganon.resolved.increments import REGIONS
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import aliased, col, query
from pganon.steps import Chains, State, Step, table
from pganon.steps.relations import CheckQuery, PublishedView, ViewColumn

MERGE = "require less of the whole release, or larger classes, for example by a larger k"


MESSAGES = {
    MEANS: "Every number that is shown of {column} is the mean of {required} records or more.",
    **OF_REFERENCES,
    REGIONS: "Every group shows the bounds of its region, which are those of the first version.",
}


def checks(spec: ReleaseSpec, state: State, tables: Tables) -> tuple[CheckQuery, ...]:
    """Queries that re-measure every requirement from the relations in `tables` alone."""
    queries = [structure_check(shape(spec, state), tables)]
    queries += mean_checks(shape(spec, state), spec, tables)
    queries += [region_check(spec, tables)] if spec.shows_regions else []
    for requirement in spec.measured:
        kinds = ("source", "published") if requirement.model.needs_reference else ("",)
        queries += [_check(spec, requirement, kind, tables) for kind in kinds]
    queries += [
        requirement_check(r, r.model.measure(class_sizes(tables), [CLASS_ID]), hint=MERGE)
        for r in spec.of_release
    ]
    queries += [*population_checks(spec, tables), *profit_checks(spec, tables)]
    return (*queries, *reference_checks(spec, tables))


def _check(spec: ReleaseSpec, requirement: Requirement, kind: str, tables: Tables) -> CheckQuery:
    reference: Relation | None = None
    counted = class_sizes(tables)
    if requirement.sensitive is not None:
        item = spec.sensitive[requirement.sensitive]
        _, counted = histogram(spec, State(0), tables, item)
        reference = _reference_shares(spec, item, kind, tables) if kind else None
    measured = requirement.model.measure(counted, [CLASS_ID], reference)
    return requirement_check(requirement, measured, against(spec, kind))


def histogram(
    spec: ReleaseSpec, state: State, tables: Relations, item: Sensitive
) -> tuple[list[str], exp.Select]:
    return [CLASS_ID], value_histogram(tables[_RECORDS], {CLASS_ID: CLASS_ID}, [item])


def class_sizes(tables: Relations) -> exp.Select:
    """SELECT class_id, value, n: the records of every class, as a histogram."""
    return value_histogram(tables[_RECORDS], {CLASS_ID: CLASS_ID})


def _reference_shares(spec: ReleaseSpec, item: Sensitive, kind: str, tables: Tables) -> exp.Select:
    if first_of(spec, item) is not None:
        counts = "n" if kind == "source" else "published_n"
        return with_shares(item, source_counts(item, tables, counts))
    counted = source_counts(item, tables)
    if kind == "published":
        path = [] if item.hierarchy is None else ["path"]
        counted = query(
            "select f.value, f.position, coalesce(p.n, 0) as n from f"
            " left join p on p.value = f.value",
            {"f": counted, "p": released_counts(item, tables)},
        ).select(*[col(name, "f") for name in path])
    return with_shares(item, counted)


_RECORDS = "records"
"""The columns that are published unchanged: those of a record are known together."""

_FURTHER = "Number of the group of classes in which values of other tables are, random per release."
_NUMBER = ViewColumn(CLASS_ID, "integer", "Number of the equivalence class, random per release.")


def views(
    spec: ReleaseSpec, state: State, tables: Tables, owner: ViewColumn | None = None
) -> tuple[PublishedView, ...]:
    """The views over the relations in `tables`; `owner` is a column of records."""

    def columns(flat: bool) -> Iterator[FlatColumn]:
        def of_record(column: ViewColumn) -> FlatColumn:
            located = column if flat else column.located(CLASS_ID, _RECORDS)
            return FlatColumn(located, col(column.name, "r"))

        yield FlatColumn(_NUMBER, col(CLASS_ID, "c"))
        for number in classes.further_numbers(spec):
            yield FlatColumn(ViewColumn(number, "integer", _FURTHER, "group"), col(number, "c"))
        if owner is not None:
            yield of_record(owner)
        for attribute in spec.attributes:
            yield from shown_columns(spec, attribute, CLASS_ID, flat=flat)
        for item in spec.sensitive:
            models = [r.label for r in spec.requirements if r.sensitive == item.index]
            held = f" Per class: {'; '.join(models)}." if models else ""
            said = f"Sensitive, unchanged.{held}"
            yield of_record(exact_column(item.published, item.column, said))
        for item in spec.carried:
            yield of_record(exact_column(item.published, item.column, "Insensitive, unchanged."))
        for item in spec.microaggregated:
            yield FlatColumn(
                mean_column(spec, item, None if flat else CLASS_ID), col(item.published, "r")
            )
        yield from average_columns(spec, state, CLASS_ID, flat=flat)

    guarantee = "; ".join(requirement.label for requirement in spec.requirements)
    comment = f"Anonymized release of equivalence classes. Guarantee: {guarantee}."
    shown = record_views(spec, shape(spec, state), tables, columns, comment)
    return (*shown, *reference_views(spec, tables), *label_views(spec, tables))


def members(spec: ReleaseSpec, state: State) -> exp.Select:
    names = [axis.code for axis in axes(spec.attributes)]
    names += [name for name, _ in unchanged(spec)]
    names += [TIMES] if spec.counted else []
    records = encoded_records(spec, state)
    tree = query("select g.class_id as group_id from c", {"c": records}).join(
        aliased(classes_of_cells(spec, state), "g"),
        on=same_cell(spec, state, "g", "c"),
        join_type="left",
    )
    return tree.select(*[col(name, "c") for name in names])


def measures(spec: ReleaseSpec) -> Chains:
    """Steps that observe the facts of :func:`pganon.forms.utility.class_utility`."""
    extents = lambda s: query("select e.* from e", {"e": s.work(EXTENTS)})  # noqa: E731
    return [[loss.utility_step(spec, "loss, discernibility, class sizes", extents)]]


def whole_measures(
    spec: ReleaseSpec,
    relations: Callable[[State], Relations],
    lost: Callable[[State], QualifiedName],
) -> list[Step]:
    """The same as :func:`measures` of all classes."""
    purpose = "loss, discernibility, class sizes of the whole version"
    return [loss.whole_step(spec, purpose, lost)]


def _among(spec: ReleaseSpec, tables: Callable[[State], Tables]) -> list[Step]:
    """Every class is compared with the population once: nothing in evidence takes longer."""
    purpose = "people of the population whom every class covers"
    if spec.population is None:
        weighed = table(COVERED, purpose, partial(weights_of_classes, spec))
        return [weighed] if weighs(spec) else []

    def pairs(state: State) -> exp.Select:
        return query("select v.* from v", {"v": state.work("mcovers")})

    return [
        table("mcovers", "classes and whom they cover", lambda s: covers(spec, tables(s))),
        table(COVERED, purpose, lambda s: covered_people(tables(s), pairs(s))),
        presence_check(lambda s: presence(tables(s), pairs(s))),
    ]


DESCRIPTION = Description(classes.shape, members)

ON_REQUEST = OnRequest(
    steps=lambda spec, tables, request: measure_steps(spec, DESCRIPTION, tables, request),
    report=metrics_of,
    figures=ClassMetrics,
    classifies=True,
)

CLASSES = PublishedForm(
    classes.shape,
    Staging(classes.relations, classes.staging_steps),
    Verification(checks, classes.duplicate_keys, MESSAGES),
    Publication(views, "classes"),
    Statistics(
        measures,
        class_utility,
        ClassUtility,
        Whole(whole_measures, class_utility),
        histogram,
        ON_REQUEST,
        evidence_of(
            classes.shape,
            histogram,
            among=_among,
            description=DESCRIPTION,
        ),
        nothing,
    ),
    Linkage(linked_by(histogram, CLASS_ID)),
)
