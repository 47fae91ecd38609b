"""Tables of a version that grows, beside those of its form.

as_released   (person, quasi)   the quasi-identifiers that people were released with, as a mark
withdrawn     (number)          all groups that the version shows no longer
"""

from __future__ import annotations

from sqlglot import exp

from pganon.catalog.values import equal_key
from pganon.encode.people import has_several, mark, population_secret
from pganon.forms.elements import text_key
from pganon.forms.facts import LEAVING
from pganon.forms.work import LEAVING_GROUPS
from pganon.resolved.increments import AS_RELEASED, NUMBER, TESTED, WHOLE, WITHDRAWN, Growth
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import cast, col, fragment, named, query, stacked
from pganon.steps import CreateTable, State, Step
from pganon.steps.relations import DATA_SCHEMA, PRIVATE_SCHEMA


def growing_parts(growth: Growth, state: State) -> list[tuple[str, str]]:
    """(part, schema) of the tables."""
    found = [(AS_RELEASED, PRIVATE_SCHEMA)] if growth.adds else []
    return [*found, *([(WITHDRAWN, DATA_SCHEMA)] if state.facts.get(LEAVING) else [])]


def growing_steps(spec: ReleaseSpec, growth: Growth) -> tuple[Step, ...]:
    as_released = CreateTable(
        AS_RELEASED,
        "the quasi-identifiers of everybody who is tested, as marks",
        lambda s: s.stage(AS_RELEASED),
        lambda s: _as_released(spec, s),
        analyze=False,  # see pganon.methods.common.form.members.members_step
    )
    withdrawn = CreateTable(
        WITHDRAWN,
        "groups that are shown no longer",
        lambda s: s.stage(WITHDRAWN),
        lambda s: _withdrawn(growth, s),
        when=lambda s: bool(s.facts.get(LEAVING)),
    )
    return (*([as_released] if growth.adds else []), withdrawn)


def quasi_mark(spec: ReleaseSpec, state: State, table: str) -> exp.Expr:
    """One number for all different quasi-identifiers of a `person`'s records; see
    :func:`of_everybody`."""
    values = [
        text_key(equal_key(attribute.column, col(f"q{attribute.index}", table)))
        for attribute in spec.attributes
    ]
    text = cast(exp.func("jsonb_build_array", *values), "text")
    return one_mark(spec, mark(col("person", table), text, population_secret(state)))


def one_mark(spec: ReleaseSpec, each: exp.Expr) -> exp.Expr:
    """One number for a set of marks; NULL where there is none."""
    return fragment("sum(distinct :mark)", mark=each) if has_several(spec) else each


def of_everybody(spec: ReleaseSpec, rows: exp.Select, person: exp.Expr) -> exp.Select:
    """A row per person of rows of records, or as they are where everybody has one record.

    To sort the records of people takes longer than to hash what they have.
    """
    return rows.group_by(person, copy=False) if has_several(spec) else rows


def _as_released(spec: ReleaseSpec, state: State) -> exp.Expr:
    tree = query(
        "select w.person, :quasi as quasi from w join d on d.person = w.person",
        {"w": state.work(WHOLE), "d": state.work(TESTED)},
        quasi=quasi_mark(spec, state, "w"),
    )
    return of_everybody(spec, tree, col("person", "w"))


def _withdrawn(growth: Growth, state: State) -> exp.Expr:
    """These groups, and those that were withdrawn before."""
    tables = [state.work(LEAVING_GROUPS)]
    tables += [] if growth.withdrawn is None else [growth.withdrawn]
    each = [
        query("select 1 from t", {"t": table}).select(named(col(NUMBER, "t"), NUMBER), append=False)
        for table in tables
    ]
    return query("select u.* from u order by 1", {"u": stacked(each)})
