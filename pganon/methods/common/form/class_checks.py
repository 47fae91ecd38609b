"""Verification of classes from their stored relations, and how people are linked to values."""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.first import first_of
from pganon.encode.sensitive import sensitive_key
from pganon.forms.elements import text_key
from pganon.forms.form import Tables
from pganon.forms.shape import Relations
from pganon.methods.common.form.averages import MEANS, mean_checks
from pganon.methods.common.form.checks import requirement_check, structure_check
from pganon.methods.common.form.classes import shape
from pganon.methods.common.form.population import population_checks
from pganon.methods.common.form.profit import profit_checks
from pganon.methods.common.form.reference import (
    MESSAGES as OF_REFERENCES,
)
from pganon.methods.common.form.reference import (
    against,
    reference_checks,
    released_counts,
    source_counts,
    with_shares,
)
from pganon.methods.common.form.regions.classes import region_check
from pganon.policy.options import CLASS_ID
from pganon.privacy.base import Relation, Requirement
from pganon.resolved.increments import REGIONS
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import col, presorted, query
from pganon.steps import State
from pganon.steps.relations import CheckQuery

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
    queries += [_whole_check(requirement, tables) for requirement in spec.of_release]
    queries += [*population_checks(spec, tables), *profit_checks(spec, tables)]
    return (*queries, *reference_checks(spec, tables))


def _check(spec: ReleaseSpec, requirement: Requirement, kind: str, tables: Tables) -> CheckQuery:
    reference: Relation | None = None
    counted = class_sizes(tables)
    if requirement.sensitive is not None:
        item = spec.sensitive[requirement.sensitive]
        counted = _counted(tables, item)
        reference = _reference_shares(spec, item, kind, tables) if kind else None
    measured = requirement.model.measure(counted, [CLASS_ID], reference)
    return requirement_check(requirement, measured, against(spec, kind))


def _whole_check(requirement: Requirement, tables: Tables) -> CheckQuery:
    measured = requirement.model.measure(class_sizes(tables), [CLASS_ID])
    return requirement_check(requirement, measured, hint=MERGE)


def histogram(
    spec: ReleaseSpec, state: State, tables: Relations, item: Sensitive
) -> tuple[list[str], exp.Select]:
    return [CLASS_ID], _counted(tables, item)


def class_sizes(tables: Relations) -> exp.Select:
    """SELECT class_id, value, n: the records of every class, as a histogram."""
    return query(
        "select r.class_id, 1 as value, count(*) as n from records as r group by r.class_id, 2",
        dict(tables),
    )


def _counted(tables: Relations, item: Sensitive) -> exp.Select:
    rows = query(
        "select r.class_id, :key as key from records as r",
        dict(tables),
        key=sensitive_key(item, col(item.published, "r")),
    )
    # Texts are made of values that are counted, not of every record's.
    counted = query(
        "select r.class_id, r.key, count(*) as n from r group by r.class_id, r.key",
        {"r": presorted(rows)},
    )
    value = text_key(col("key", "h"))
    return query("select h.class_id, :value as value, h.n from h", {"h": counted}, value=value)


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
