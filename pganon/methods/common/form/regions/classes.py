"""Groups in regions: which region a group is in, what it shows and loses, and the check of it."""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.work import CODED
from pganon.forms.form import Tables
from pganon.forms.stored_relations import numbers
from pganon.forms.work import GROUPED_CLASSES
from pganon.identifiers import QualifiedName
from pganon.methods.common.form.checks import violations_check
from pganon.policy.options import CLASS_ID
from pganon.resolved.increments import BOUNDS, REGIONS, TESTED
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, col, equal, named, query
from pganon.steps import CreateTable, State, staged
from pganon.steps.relations import PRIVATE_SCHEMA, CheckQuery


def _earlier(spec: ReleaseSpec) -> QualifiedName | None:
    """The bounds that the first version of the release keeps; None where this is it."""
    return spec.growth.bounds if spec.growth is not None else None


def _bounds(spec: ReleaseSpec, state: State) -> QualifiedName:
    return _earlier(spec) or state.stage(BOUNDS)


def region_parts(spec: ReleaseSpec) -> list[tuple[str, str]]:
    """(part, schema) of the tables."""
    if not spec.shows_regions:
        return []
    first = [] if _earlier(spec) is not None else [BOUNDS]
    return [(part, PRIVATE_SCHEMA) for part in (*first, REGIONS)]


def region_step(spec: ReleaseSpec) -> CreateTable:
    return staged(REGIONS, "the region of every class", lambda s: _regions(spec, s))


def _regions(spec: ReleaseSpec, state: State) -> exp.Select:
    if _earlier(spec) is None:
        return query(
            "select n.class_id, -n.gid as region from n order by n.class_id",
            {"n": numbers(state, CLASS_ID)},
        )
    codes = [axis.code for axis in axes(spec.attributes)]
    cohorts = query("select g.class_id, min(c.cohort) as cohort from g", {"g": _grouped(state)})
    cohorts = cohorts.join(aliased(state.work(CODED), "c"), on=equal(codes, "g", "c"))
    return query(
        "select f.class_id, d.region from f join d on d.cohort = f.cohort order by f.class_id",
        {
            "f": cohorts.group_by(col(CLASS_ID, "g")),
            "d": query("select distinct t.cohort, t.region from t", {"t": state.work(TESTED)}),
        },
    )


def _grouped(state: State) -> QualifiedName:
    return state.work(GROUPED_CLASSES)


def regional_classes(spec: ReleaseSpec, state: State) -> exp.Select:
    """SELECT class_id and the published columns of every class."""
    tree = query(
        "select r.class_id from r join b on b.region = r.region",
        {"r": state.stage(REGIONS), "b": _bounds(spec, state)},
    )
    return tree.select(*[named(value, name) for name, value in _shown(spec).items()])


def _shown(spec: ReleaseSpec) -> dict[str, exp.Expr]:
    """Published columns, from bounds `b`."""
    shown: dict[str, exp.Expr] = {}
    for attribute in spec.attributes:
        shown[attribute.published] = col(f"g{attribute.index}", "b")
        if attribute.null_column is not None:
            shown[attribute.null_column] = col(f"z{attribute.index}", "b")
    return shown


def region_losses(spec: ReleaseSpec, state: State, sized: exp.Select) -> exp.Select:
    """A SELECT with `class_id` and what is lost in its region."""
    tree = query(
        "select e.* from e join r on r.class_id = e.class_id join b on b.region = r.region",
        {"e": sized, "r": state.stage(REGIONS), "b": _bounds(spec, state)},
    )
    names = [f"{name}{a.index}" for a in spec.attributes for name in ("loss", "glm", "height")]
    return tree.select(*[col(name, "b") for name in names])


def region_check(spec: ReleaseSpec, tables: Tables) -> CheckQuery:
    """Every class shows the bounds of its region; those are the owner's."""
    relations = dict(tables)
    bounds = relations.pop(BOUNDS, None) or _earlier(spec)
    assert bounds is not None
    differs = [
        exp.NullSafeNEQ(this=col(name, "c"), expression=value)
        for name, value in _shown(spec).items()
    ]
    broken = query(
        "select count(*) as measured from classes as c full join regions as r"
        " on r.class_id = c.class_id left join b on b.region = r.region"
        " where c.class_id is null or b.region is null or :differs",
        {**relations, "b": bounds},
        differs=exp.paren(exp.or_(*differs)),
    )
    return violations_check(REGIONS, broken)
