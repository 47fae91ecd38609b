"""Equivalence classes as metrics see them: a class is a group with one published value each."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.looks import unchanged
from pganon.forms.elements import attribute_columns
from pganon.forms.facts import losses
from pganon.forms.form import (
    Description,
    Linkage,
    OnRequest,
    Publication,
    PublishedForm,
    Relations,
    Staging,
    Statistics,
    Tables,
    Verification,
    Whole,
)
from pganon.forms.told import nothing
from pganon.forms.utility import ClassUtility, class_utility
from pganon.forms.work import EXTENTS
from pganon.identifiers import QualifiedName
from pganon.methods.common.form import class_checks, class_views, classes
from pganon.methods.common.form.class_records import (
    classes_of_cells,
    encoded_records,
    same_cell,
)
from pganon.methods.common.form.population import covered_people
from pganon.metrics import loss
from pganon.metrics.evidence.classes import described, evidence_of
from pganon.metrics.report import ClassMetrics, metrics_of
from pganon.metrics.steps import measure_steps
from pganon.policy.options import CLASS_ID
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, col, named, query
from pganon.steps import Chains, Check, State, Step


def shown(spec: ReleaseSpec, tables: Relations) -> exp.Select:
    tree = query(
        "select c.class_id as group_id, r.n from classes as c"
        " join (select x.class_id, count(*) as n from records as x group by x.class_id) as r"
        " on r.class_id = c.class_id",
        dict(tables),
    )
    for attribute in spec.attributes:
        tree = tree.select(col(attribute.published, "c"))
        if attribute.null_column is not None:
            tree = tree.select(col(attribute.null_column, "c"))
    return tree


def values(spec: ReleaseSpec, tables: Tables) -> exp.Select:
    tree = query("select r.class_id as group_id from records as r", dict(tables))
    return tree.select(*[named(col(item.published, "r"), work) for work, item in unchanged(spec)])


def members(spec: ReleaseSpec, state: State) -> exp.Select:
    names = [axis.code for axis in axes(spec.attributes)]
    names += [name for name, _ in unchanged(spec)]
    records = encoded_records(spec, state)
    tree = query("select g.class_id as group_id from c", {"c": records}).join(
        aliased(classes_of_cells(spec, state), "g"),
        on=same_cell(spec, state, "g", "c"),
        join_type="left",
    )
    return tree.select(*[col(name, "c") for name in names])


def extents(state: State) -> exp.Select:
    return query("select e.*, e.class_id as group_id from e", {"e": state.work(EXTENTS)})


def measures(spec: ReleaseSpec) -> Chains:
    """Steps that observe the facts of :func:`pganon.forms.utility.class_utility`."""
    basic = Check(
        "utility",
        "loss, discernibility, class sizes",
        lambda s: loss.basic(spec, extents(s), s),
        gives=losses(spec),
    )
    return [[basic]]


def whole_columns(spec: ReleaseSpec, state: State) -> dict[str, list[str]]:
    described = [c.name for a in spec.attributes for c in attribute_columns(a)]
    return {
        "classes": [CLASS_ID, *described],
        "records": [CLASS_ID, *[item.published for _, item in unchanged(spec)]],
    }


def whole_measures(
    spec: ReleaseSpec,
    relations: Callable[[State], Relations],
    lost: Callable[[State], QualifiedName],
) -> list[Step]:
    """The same as :func:`measures` of all classes."""
    basic = Check(
        "utility",
        "loss, discernibility, class sizes of the whole version",
        lambda s: loss.basic(
            spec, query("select l.* from l", {"l": lost(s)}), s, lost=loss.known_loss
        ),
        gives=losses(spec),
    )
    return [basic]


DESCRIPTION = Description(shown, values, members, extents)

ON_REQUEST = OnRequest(
    steps=lambda spec, tables, request: measure_steps(spec, DESCRIPTION, tables, request),
    report=metrics_of,
    figures=ClassMetrics,
    classifies=True,
)

CLASSES = PublishedForm(
    Staging(classes.relations, classes.staging_steps),
    Verification(class_checks.checks, classes.released, classes.duplicate_keys, class_checks.SAID),
    Publication(class_views.views, "classes"),
    Statistics(
        measures,
        class_utility,
        ClassUtility,
        Whole(whole_columns, shown, whole_measures, class_utility),
        class_checks.histogram,
        ON_REQUEST,
        evidence_of(described(DESCRIPTION), class_checks.histogram, covered=covered_people),
        nothing,
    ),
    Linkage(class_checks.linked),
)
