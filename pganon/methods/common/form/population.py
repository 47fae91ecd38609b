"""Classes beside a population: the people whom their published values cover.

population  (cell, q<i>, path<i>, n)  people of the population by their quasi-identifiers, with the
            labels of a value from itself to the top where labels are published; for the owner alone

A class covers a person whose every value is in the published range or set, or below the published
label, or missing where the class shows that values are missing. Where labels overlap, a person is
covered by several classes, and counts for each.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.encode.work import POPULATION as CELLS
from pganon.encode.work import place
from pganon.forms.form import Tables
from pganon.methods.common.form.checks import requirement_check
from pganon.privacy.base import Requirement, share
from pganon.privacy.population import (
    AverageRisk,
    LeastPresent,
    MostPresent,
    Presence,
    RecordsAtRisk,
)
from pganon.resolved.model import Attribute, ReleaseSpec, Shown
from pganon.sqltools import aliased, cast, col, fragment, materialized, named, query
from pganon.steps import CreateTable, State, staged
from pganon.steps.relations import CheckQuery

POPULATION = "population"
"""Part: the stored relation."""

_TOGETHER = "require less of the whole release, or more people per class, for example by k_map"
_HINTS = {
    MostPresent: "people whom several classes cover count for each: write a larger max, or use"
    " a method whose classes do not overlap",
    LeastPresent: "lower min, or take people out of the population whom no class covers",
    AverageRisk: _TOGETHER,
    RecordsAtRisk: _TOGETHER,
}
"""What to do if all classes together miss a model."""


def population_steps(spec: ReleaseSpec) -> list[CreateTable]:
    if spec.population is None:
        return []
    return [
        staged(
            "stored_population",
            f"people of {spec.population.name}, to measure the release by",
            lambda s: _stored(spec, s),
            into=POPULATION,
        )
    ]


def _stored(spec: ReleaseSpec, state: State) -> exp.Select:
    values = [col(f"q{attribute.index}", "p") for attribute in spec.attributes]
    cell = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=values))
    tree = query("select p.n from p", {"p": state.work(CELLS)})
    tree = tree.select(named(cell, "cell"), *[value.copy() for value in values])
    for attribute in (a for a in spec.attributes if a.form is Shown.LABEL):
        alias = f"l{attribute.index}"
        on = exp.EQ(this=col("value", alias), expression=col(f"q{attribute.index}", "p"))
        tree = tree.join(
            aliased(state.work(place(attribute.index)), alias), on=on, join_type="left"
        ).select(named(col("path", alias), f"path{attribute.index}"))
    return tree


# -- verification ----------------------------------------------------------------------------------


def population_checks(spec: ReleaseSpec, tables: Tables) -> list[CheckQuery]:
    counting = (r for r in spec.in_population if r not in spec.profits)
    return [_check(spec, requirement, tables) for requirement in counting]


def _check(spec: ReleaseSpec, requirement: Requirement, tables: Tables) -> CheckQuery:
    model, pairs = requirement.model, covers(spec, tables)
    if isinstance(model, Presence):
        measured = model.measure(presence(tables, pairs), [])
    else:
        measured = model.measure(covered_people(tables, pairs), [])
    return requirement_check(requirement, measured, hint=_HINTS.get(type(model)))


def covered_people(tables: Tables, pairs: exp.Select) -> exp.Select:
    """SELECT class_id, n, covered: the records of every class, and the people whom it covers."""
    covered = query("select v.class_id, sum(v.n) as n from v group by v.class_id", {"v": pairs})
    return query(
        "select r.class_id, r.n, coalesce(o.n, 0)::bigint as covered from (select x.class_id,"
        " count(*) as n from records as x group by x.class_id) as r"
        " left join o on o.class_id = r.class_id",
        {**tables, "o": covered},
    )


def presence(tables: Tables, pairs: exp.Select) -> exp.Select:
    """SELECT n, presence: so many people, and the chance of each to be in the table; 0 where no
    class is."""
    shares = query(
        "select o.class_id, :share as share from o where o.covered > 0",
        {"o": covered_people(tables, query("select v.class_id, v.n from covered as v"))},
        share=share(col("n", "o"), col("covered", "o")),
    )
    chances = query(
        "select v.cell, sum(s.share) as share from covered as v join s on s.class_id = v.class_id"
        " group by v.cell",
        {"s": shares},
    )
    # Shares are cut off at 40 decimals. Rounded to 30, thirds are a whole again.
    tree = query(
        "select p.n, least(1, round(coalesce(x.share, 0), 30)) as presence"
        " from population as p left join x on x.cell = p.cell",
        {**tables, "x": chances},
    )
    return materialized(tree, covered=pairs)


def covers(spec: ReleaseSpec, tables: Tables) -> exp.Select:
    """SELECT class_id, cell, n: the classes that cover people of the stored population.

    Every published value of one column is compared with every value of that column first. Classes
    are then joined with few of the cells, and compared with these on the other columns.
    """
    first, *others = sorted(spec.attributes, key=lambda a: a.form is not Shown.RANGE)
    classes = query("select c.* from classes as c", dict(tables))
    classes = classes.select(_numbered(_shown(first)))
    people = query("select p.* from population as p", dict(tables))
    had = col(f"q{first.index}", "p")
    if first.value_type == "text":
        had = fragment(':v collate "C"', v=had)
    people = people.select(_numbered([had]))
    kinds = query("select distinct on (c.number) c.* from classes_numbered as c", {})
    cells = query("select distinct on (p.number) p.* from people_numbered as p", {})
    both = query(
        "select c.number as shown, p.number as value from c cross join p", {"c": kinds, "p": cells}
    ).where(_covers(first, "c", "p"))
    tree = query(
        "select c.class_id, p.cell, p.n from classes_numbered as c join b on b.shown = c.number"
        " join people_numbered as p on p.number = b.value",
        {"b": both},
    )
    if others:
        tree = tree.where(*[_covers(attribute, "c", "p") for attribute in others])
    return materialized(tree, classes_numbered=classes, people_numbered=people)


def _numbered(values: Sequence[exp.Expr]) -> exp.Expr:
    """The same number for rows with the same values."""
    order = exp.Order(expressions=[exp.Ordered(this=value) for value in values])
    return named(exp.Window(this=fragment("dense_rank()"), order=order), "number")


def _shown(attribute: Attribute) -> list[exp.Expr]:
    """What classes `c` show of an attribute, to be told apart by every difference."""
    shown = col(attribute.published, "c")
    if attribute.form is Shown.LABEL:
        shown = fragment(':c collate "C"', c=shown)
    elif attribute.value_type == "text":
        shown = fragment(':c collate "C"', c=cast(shown, "text[]"))
    missing = attribute.null_column
    return [shown, *([col(missing, "c")] if missing is not None else [])]


def _covers(attribute: Attribute, classes: str, people: str) -> exp.Expr:
    shown = col(attribute.published, classes)
    value = col(f"q{attribute.index}", people)
    if attribute.null_column is not None:
        missing: exp.Expr = col(attribute.null_column, classes)
    else:
        missing = fragment(":shown is null", shown=shown)
    among = _among(attribute, shown, value, people)  # NULL where no value is shown
    return fragment(
        "case when :value is null then :missing else :among end",
        value=value.copy(),
        missing=exp.paren(missing),
        among=among,
    )


def _among(attribute: Attribute, shown: exp.Expr, value: exp.Expr, people: str) -> exp.Expr:
    """Whether a value is in what a class shows."""
    match attribute.form:
        case Shown.RANGE:
            if attribute.column.is_number:
                value = cast(value, "numeric")
            return fragment(":shown @> :value", shown=shown.copy(), value=value)
        case Shown.LABEL:
            path = col(f"path{attribute.index}", people)
            return fragment(':shown collate "C" = any(:path)', shown=shown.copy(), path=path)
        case _:
            if attribute.value_type == "text":
                return fragment(
                    ':value collate "C" = any(:shown)',
                    value=value.copy(),
                    shown=cast(shown.copy(), "text[]"),
                )
            return fragment(":value = any(:shown)", value=value.copy(), shown=shown.copy())
