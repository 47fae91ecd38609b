"""Classes beside a population: the people whom their published values cover.

population  (cell, q<i>, path<i>, n)  people of the population by their quasi-identifiers, with the
            labels of a value from itself to the top where labels are published; for the owner alone

A class covers a person whose every value is in the published range or set, or below the published
label, or missing where the class shows that values are missing. Where labels overlap, a person is
covered by several classes, and counts for each.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.work import POPULATION as CELLS
from pganon.encode.work import place
from pganon.forms.form import Tables
from pganon.methods.common.form.checked import requirement_check
from pganon.policy.options import CLASS_ID
from pganon.privacy.base import Requirement, ShareModel
from pganon.privacy.population import AverageRisk, LeastPresent, Presence, RecordsAtRisk
from pganon.resolved.model import Attribute, ReleaseSpec, Shown
from pganon.sqltools import aliased, cast, col, fragment, named, query
from pganon.steps import CreateTable, State
from pganon.steps.relations import PRIVATE_SCHEMA, CheckQuery

POPULATION = "population"
"""Part: the stored relation."""

_TOGETHER = "require less of the whole release, or more people per class, for example by k_map"
_HINTS = {
    LeastPresent: "lower min, or take people out of the population whom no class covers",
    AverageRisk: _TOGETHER,
    RecordsAtRisk: _TOGETHER,
}
"""What to do if all classes together miss a model."""


def population_parts(spec: ReleaseSpec) -> list[tuple[str, str]]:
    """(part, schema) of the table."""
    return [(POPULATION, PRIVATE_SCHEMA)] if spec.outside is not None else []


def population_steps(spec: ReleaseSpec) -> list[CreateTable]:
    if spec.outside is None:
        return []
    return [
        CreateTable(
            "stored_population",
            f"people of {spec.outside.name}, to measure the release by",
            lambda s: s.stage(POPULATION),
            lambda s: _stored(spec, s),
        )
    ]


def _stored(spec: ReleaseSpec, state: State) -> exp.Select:
    values = [col(f"q{attribute.index}", "p") for attribute in spec.attributes]
    cell = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=values))
    tree = query("select p.n from p", {"p": state.work(CELLS)})
    tree = tree.select(named(cell, "cell"), *[value.copy() for value in values])
    for attribute in _labelled(spec):
        alias = f"l{attribute.index}"
        on = exp.EQ(this=col("value", alias), expression=col(f"q{attribute.index}", "p"))
        tree = tree.join(
            aliased(state.work(place(attribute.index)), alias), on=on, join_type="left"
        ).select(named(col("path", alias), f"path{attribute.index}"))
    return tree


def _labelled(spec: ReleaseSpec) -> list[Attribute]:
    return [attribute for attribute in spec.attributes if attribute.form is Shown.LABEL]


# -- verification ----------------------------------------------------------------------------------


def population_checks(spec: ReleaseSpec, tables: Tables) -> list[CheckQuery]:
    counting = (r for r in spec.in_population if r not in spec.profits)
    return [_check(spec, requirement, tables) for requirement in counting]


def _check(spec: ReleaseSpec, requirement: Requirement, tables: Tables) -> CheckQuery:
    model = requirement.model
    if isinstance(model, Presence):
        measured = model.measure(_presence(spec, tables), [])
    else:
        measured = model.measure(outside(spec, tables), [])
    return requirement_check(requirement, measured, hint=_HINTS.get(type(model)))


def outside(spec: ReleaseSpec, tables: Tables) -> exp.Select:
    """SELECT class_id, n, outside: the records of every class, and the people whom it covers."""
    tree = query("select coalesce(sum(p.n), 0)::bigint as outside from classes as c", dict(tables))
    people = aliased(tables[POPULATION], "p")
    tree = tree.join(people, on=covers(spec, "c", "p"), join_type="left")
    tree = tree.select(col(CLASS_ID, "c")).group_by(col(CLASS_ID, "c"))
    return query(
        "select o.class_id, r.n, o.outside from o join (select x.class_id, count(*) as n"
        " from records as x group by x.class_id) as r on r.class_id = o.class_id",
        {**tables, "o": tree},
    )


def _presence(spec: ReleaseSpec, tables: Tables) -> exp.Select:
    """SELECT cell, presence: the chance of everybody to be in the table; 0 where no class is."""
    shares = query(
        "select o.class_id, :share as share from o where o.outside > 0",
        {"o": outside(spec, tables)},
        share=ShareModel.share(col("n", "o"), col("outside", "o")),
    )
    tree = query("select p.cell, s.share from population as p", dict(tables))
    tree = tree.join(
        aliased(tables["classes"], "c"), on=covers(spec, "c", "p"), join_type="left"
    ).join(
        aliased(shares, "s"),
        on=exp.EQ(this=col(CLASS_ID, "s"), expression=col(CLASS_ID, "c")),
        join_type="left",
    )
    # Shares are cut off at 40 decimals. Rounded to 30, thirds are a whole again.
    return query(
        "select x.cell, least(1, round(coalesce(sum(x.share), 0), 30)) as presence from x"
        " group by x.cell",
        {"x": tree},
    )


def covers(spec: ReleaseSpec, classes: str, people: str) -> exp.Expr:
    """Condition: a class covers a person of the stored population."""
    return exp.and_(*[_covers(attribute, classes, people) for attribute in spec.attributes])


def _covers(attribute: Attribute, classes: str, people: str) -> exp.Expr:
    shown = col(attribute.published, classes)
    value = col(f"q{attribute.index}", people)
    if attribute.null_column is not None:
        missing: exp.Expr = col(attribute.null_column, classes)
    else:
        missing = fragment(":shown is null", shown=shown)
    among = _among(attribute, shown, value, people)
    return fragment(
        "case when :value is null then :missing else coalesce(:among, false) end",
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
