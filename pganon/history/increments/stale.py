"""People whose values or quasi-identifiers changed after they were released."""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.people import mark, population_secret
from pganon.encode.sensitive import sensitive_key
from pganon.forms.elements import element, text_key
from pganon.forms.growing import everybody, of_everybody, one_mark, quasi_mark
from pganon.forms.work import LEAVING_GROUPS
from pganon.history.increments.removals import shown_members
from pganon.resolved.increments import AS_RELEASED, Growth
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, chain, col, fragment, named, query, stacked
from pganon.steps import Check, State, Step
from pganon.steps.facts import count

STALE = count("stale_people", assumed=0)
"""People in groups that stay, with another value, quasi-identifier or row of events than then."""


def stale_steps(spec: ReleaseSpec, growth: Growth, columns: tuple[str, ...]) -> list[Step]:
    """Steps that count them, after the groups to be withdrawn are listed.

    Args:
        columns: columns of the marks of members, in their order.
    """
    if growth.version is None:
        return []
    return [
        Check(
            "stale",
            "how many have changed since they were released",
            lambda s: _counted(spec, s, growth, columns),
            gives=[STALE],
        )
    ]


def _counted(
    spec: ReleaseSpec, state: State, growth: Growth, columns: tuple[str, ...]
) -> exp.Select:
    """SELECT stale_people.

    Values are compared of everybody, the rest of people whom increments added.
    """
    values = [f"v{place}" for place, _ in enumerate(columns, start=1)]
    other = [
        fragment(
            "(:old is not null and :old is distinct from :new)", old=col(v, "o"), new=col(v, "n")
        )
        for v in values
    ]
    tree = query(
        "select count(distinct o.person) as stale_people from o join n on n.person = o.person",
        {"o": _then(spec, state, growth, values), "n": _now(spec, state, columns)},
    )
    released = [query("select t.* from t", {"t": table}) for table in growth.tables_of(AS_RELEASED)]
    if released:
        same = fragment("q.person = o.person")
        tree = tree.join(aliased(stacked(released), "q"), on=same, join_type="left")
        other.append(fragment("coalesce(q.quasi <> n.quasi, false)"))
    return tree.where(chain(exp.Or, other) if other else exp.false())


def _then(spec: ReleaseSpec, state: State, growth: Growth, values: list[str]) -> exp.Select:
    """SELECT person, v1, ..: marks of the values of people in groups that stay."""
    marks = [
        named(one_mark(spec, fragment(f"m.marks[{place}]")), name)
        for place, name in enumerate(values, start=1)
    ]
    tree = query(
        "select m.person from m left join l on l.number = m.number where l.number is null",
        {"m": shown_members(growth), "l": state.work(LEAVING_GROUPS)},
    )
    return of_everybody(spec, tree.select(*marks, copy=False), col("person", "m"))


def _now(spec: ReleaseSpec, state: State, columns: tuple[str, ...]) -> exp.Select:
    """SELECT person, v1, .., quasi: the same of their values in the source."""
    secret = population_secret(state)
    marks = [
        named(one_mark(spec, mark(col("person", "w"), _text(spec, name), secret)), f"v{place}")
        for place, name in enumerate(columns, start=1)
    ]
    tree = query("select w.person from w", {"w": everybody(spec, state)})
    tree = tree.select(*marks, named(quasi_mark(spec, state, "w"), "quasi"), copy=False)
    return of_everybody(spec, tree, col("person", "w"))


def _text(spec: ReleaseSpec, name: str) -> exp.Expr:
    """The value of a column as text, from which the marks of members are made."""
    for item in spec.sensitive:
        if item.column.name == name:
            return text_key(sensitive_key(item, col(f"s{item.index}", "w")))
    attribute = next(a for a in spec.attributes if a.column.name == name)
    return text_key(element(attribute, col(f"q{attribute.index}", "w")))
