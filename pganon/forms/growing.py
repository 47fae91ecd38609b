"""Tables of a version that grows, beside those of its form.

as_released     (person, quasi)   the quasi-identifiers that people were released with, as a mark
withdrawn       (number)          all groups that the version shows no longer
standing_<t>    as the stored table t of an earlier increment, without the rows of these groups

Readers' conditions, and what the server expects of them, come before those of a view. So no view
leaves out rows: it reads what stands of a table, and nothing else reads that.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from sqlglot import exp

from pganon.catalog.values import equal_key
from pganon.encode.people import has_several, mark, population_secret
from pganon.errors import Unbalanced
from pganon.forms.elements import text_key
from pganon.forms.facts import LEAVING, leaving_of
from pganon.forms.stored_relations import index_step
from pganon.forms.work import LEAVING_GROUPS
from pganon.identifiers import QualifiedName
from pganon.resolved.increments import (
    AS_RELEASED,
    NUMBER,
    STANDING,
    TESTED,
    WHOLE,
    WITHDRAWN,
    Growth,
    Increment,
    in_place,
)
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import cast, col, fragment, named, query, render, stacked
from pganon.steps import Check, CreateTable, State, Step
from pganon.steps.facts import count
from pganon.steps.relations import DATA_SCHEMA, PRIVATE_SCHEMA, CheckQuery

ROW_MARKS = "row_marks"
"""Work table (person, rows) of related tables: the key of everybody with rows, and their sum."""


def everybody(spec: ReleaseSpec, state: State) -> QualifiedName | exp.Select:
    """The records of the whole source; of related tables with a number for their rows of events."""
    whole = state.work(WHOLE)
    if spec.related is None or not spec.related.lasting:
        return whole
    return query(
        "select w.*, m.rows from w left join m on m.person = w.individual",
        {"w": whole, "m": state.work(ROW_MARKS)},
    )


def growing_parts(growth: Growth, state: State) -> list[tuple[str, str]]:
    """(part, schema) of the tables."""
    found = [(AS_RELEASED, PRIVATE_SCHEMA)] if growth.adds else []
    return [*found, *renewed_parts(growth, state)]


def renewed_parts(growth: Growth, state: State) -> list[tuple[str, str]]:
    """Those of them that take the place of what the version before has."""
    if not state.facts.get(LEAVING):
        return []
    torn = [(STANDING + table.name, DATA_SCHEMA) for table in _torn(growth, state)]
    return [(WITHDRAWN, PRIVATE_SCHEMA), *torn]


def _torn(growth: Growth, state: State) -> list[QualifiedName]:
    """Stored tables that have groups which the run withdraws."""
    return [
        table
        for place, increment in enumerate(growth.increments)
        if _leaves(place, state)
        for table in growth.shown_of(increment)
    ]


def _standing(growth: Growth, state: State) -> dict[QualifiedName, QualifiedName]:
    """What views of the version read in place of stored tables."""
    made = {
        table: QualifiedName(DATA_SCHEMA, state.stage(STANDING + table.name).name)
        for table in _torn(growth, state)
    }
    return {**growth.standing, **made}


def standing_increments(growth: Growth, state: State) -> tuple[Increment, ...]:
    """The increments so far, with views of what stands of them."""
    made = {growth.standing.get(t, t): new for t, new in _standing(growth, state).items()}
    return tuple(in_place(increment, made) for increment in growth.increments)


def standing_check(growth: Growth, state: State) -> tuple[CheckQuery, ...]:
    """The check, of stored tables, that what stands are all rows of groups that are shown."""
    tables = _standing(growth, state)
    if not tables:
        return ()
    withdrawn = growth.withdrawn
    if state.facts.get(LEAVING):
        withdrawn = QualifiedName(PRIVATE_SCHEMA, state.stage(WITHDRAWN).name)
    assert withdrawn is not None
    astray = render(_astray(growth, tables, withdrawn))
    return (CheckQuery(_CHECK, "violations", None, 0, "<=", "", astray),)


_CHECK = "standing"


def _astray(
    growth: Growth, tables: Mapping[QualifiedName, QualifiedName], withdrawn: QualifiedName
) -> exp.Select:
    """SELECT measured, failing: how many different rows are there more or less often."""
    each = [
        query(
            "select count(*) as n from a full join b on b.line = a.line"
            " where a.n is distinct from b.n",
            {"a": _lines(_without(growth, table, withdrawn)), "b": _lines(copy)},
        )
        for table, copy in tables.items()
    ]
    return query(
        "select sum(s.n) as measured, sum(s.n) as failing from s",
        {"s": stacked(each or [query("select 0 as n")])},
    )


def _lines(rows: QualifiedName | exp.Select) -> exp.Select:
    lines = query("select (r.*)::text as line from r", {"r": rows})
    return query("select l.line, count(*) as n from l group by l.line", {"l": lines})


def _without(growth: Growth, table: QualifiedName, withdrawn: QualifiedName) -> exp.Select:
    """The rows of a stored table that stand, in their order."""
    assert growth.number is not None  # what withdraws has one partition
    return query(
        "select t.* from t where not exists (select 1 from w where w.number = :number)"
        " order by t.ctid",
        {"t": table, "w": withdrawn},
        number=col(growth.number, "t"),
    )


def _standing_steps(growth: Growth) -> list[Step]:
    """Steps that make what views read instead of tables that have withdrawn groups now."""
    steps: list[Step] = []
    for place, increment in enumerate(growth.increments):
        torn = partial(_leaves, place)
        for table in growth.shown_of(increment):
            part = STANDING + table.name
            copied = CreateTable(
                part,
                f"the groups of {table.name} that are shown",
                lambda s, part=part: s.stage(part),
                lambda s, table=table: _without(growth, table, s.stage(WITHDRAWN)),
                when=torn,
            )
            key = index_step(lambda s, part=part: (part, growth.number or ""), part, torn)
            steps += [copied, key]
    return steps


def _leaves(place: int, state: State) -> bool:
    return bool(state.facts.get(leaving_of(place)))


def _standing_check_step(growth: Growth) -> Check:
    def select(state: State) -> exp.Select:
        staged = {table: state.stage(STANDING + table.name) for table in _torn(growth, state)}
        return query(
            "select a.measured as astray from a",
            {"a": _astray(growth, staged, state.stage(WITHDRAWN))},
        )

    return Check(
        "standing",
        "what stands are all rows of groups that are shown",
        select,
        lambda row, state: (
            Unbalanced(f"{row['astray']} rows are shown that do not stand, or the other way round")
            if row["astray"]
            else None
        ),
        gives=[count("astray", assumed=0)],
    )


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
    steps = [*([as_released] if growth.adds else []), withdrawn]
    if spec.policy.leavers == "withdraw" and growth.version is not None:
        steps += [*_standing_steps(growth), _standing_check_step(growth)]
    return tuple(steps)


def quasi_mark(spec: ReleaseSpec, state: State, table: str) -> exp.Expr:
    """One number for all different quasi-identifiers of a `person`'s records, and rows of events;
    see :func:`of_everybody`."""
    values = [
        text_key(equal_key(attribute.column, col(f"q{attribute.index}", table)))
        for attribute in spec.attributes
    ]
    if spec.related is not None and spec.related.lasting:
        values.append(text_key(col("rows", table)))
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
        {"w": everybody(spec, state), "d": state.work(TESTED)},
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
