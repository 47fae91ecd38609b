"""What all versions together tell, in the figures of a report."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlglot import exp

from pganon.guard.measured import with_measures
from pganon.guard.model import Version
from pganon.guard.propagation import limit, rounds_taken
from pganon.guard.verdict import found_outcome, numbered
from pganon.privacy.judged import Judged
from pganon.sqltools import cast, chain, fragment, named, query, stacked
from pganon.steps import Check, State, Step
from pganon.steps.facts import Fact, Facts, count, measure, or_null

OF = {"": "true", "newcomers": "not c.known", "leavers": "c.left_now", "changed": "c.moved"}
"""Whose figures: of all who were ever released; of who was not before; of who was in cells of which
only a part is in the version; of who has another value than before."""

_FIGURES = {
    "people": "coalesce(sum(c.size), 0)::bigint",
    "smallest_cell": "min(c.size)",
    "below_k": "coalesce(sum(c.size) filter (where c.small), 0)::bigint",
    "worst_probability": "max(c.probability)",
    "above": "coalesce(sum(c.size) filter (where c.above), 0)::bigint",
    "fewest_values": "min(c.fewest)",
    "certain": "coalesce(sum(c.size) filter (where c.certain), 0)::bigint",
}
"""Counts of people, but for the smallest cell, the largest probability that one of them has a
value, and the fewest different values of a cell."""

OF_VALUES = ("worst_probability", "above", "fewest_values", "certain")
"""Those about what can be learned of columns."""

_ABSENT = ("smallest_cell", "worst_probability", "fewest_values")
"""Figures that are None where there is nobody."""


def report_step(version: Version) -> Step:
    return Check(
        "guard report",
        "what all versions together tell",
        lambda s: _select(version, s),
        gives=list(_facts(version).values()),
    )


def figures(version: Version, facts: Facts) -> dict[str, Any]:
    """By their names in the report; `guard_rounds` is kept with the version.

    `guard_value_sets` are the columns that are judged by value sets, not by cells; None for none.
    """
    found = {name: facts.get(fact) for name, fact in _facts(version).items()}
    rounds = facts.get(rounds_taken(version)) if limit(version) else 0
    return {**found, "guard_rounds": rounds, "guard_value_sets": list(version.kept or ()) or None}


def _facts(version: Version) -> dict[str, Fact[Any]]:
    found: dict[str, Fact[Any]] = {}
    for group in OF:
        for name in _FIGURES:
            column = "_".join(filter(None, ["guard", name, group]))
            of = "" if version.number == 0 else f"memory{version.number}_"
            plain = measure(column, of) if name == "worst_probability" else count(column, of)
            found[column] = or_null(plain, plain.assumed) if name in _ABSENT else plain
    return found


def _select(version: Version, state: State) -> exp.Select:
    cells, measures = with_measures(
        version,
        state,
        query(
            "select c.size, c.known, c.moved, c.known and c.grp <= 0 and not c.whole as left_now,"
            " s.id is not null as small, a.id is not null as above from c"
            " left join s on s.id = c.id left join a on a.id = c.id where c.seen",
            {
                "c": version.work(state, "cells"),
                "s": _misses(version, state, {Judged.PEOPLE}),
                "a": _misses(version, state, {Judged.MOST, Judged.EXTREMES}),
            },
        ),
    )
    worst = {
        "probability": _extreme("greatest", map(_probability, measures), "float8"),
        "fewest": _extreme("least", map(_fewest, measures), "bigint"),
        "certain": chain(exp.Or, [exp.false(), *map(_certain, measures)]),
    }
    cells = cells.select(*[named(value, name) for name, value in worst.items()])
    tree = query("select 1 from c", {"c": cells})
    chosen = [
        fragment(f"{_among(figure, condition)}")
        for condition in OF.values()
        for figure in _FIGURES.values()
    ]
    names = list(_facts(version))
    return tree.select(
        *[exp.alias_(value, name, quoted=True) for value, name in zip(chosen, names, strict=True)],
        append=False,
    )


def _among(figure: str, condition: str) -> str:
    if "filter (where " in figure:
        return figure.replace("filter (where ", f"filter (where {condition} and ")
    head, closed, tail = figure.partition(")")
    return f"{head}{closed} filter (where {condition}){tail}"


def _extreme(function: str, of_columns: Iterable[exp.Expr], sql_type: str) -> exp.Expr:
    """NULL where nothing is known of any column, or there is none."""
    return exp.func(function, *of_columns, cast(exp.null(), sql_type))


def _probability(m: str) -> exp.Expr:
    return fragment(
        f"case when {m}.varied is null then greatest({m}.most, {m}.past)::float8 / {m}.size"
        f" else 1.0::float8 / {m}.varied end"
    )


def _fewest(m: str) -> exp.Expr:
    return fragment(f"least(coalesce({m}.varied, {m}.fewest), {m}.past_own)")


def _certain(m: str) -> exp.Expr:
    return fragment(f"coalesce({m}.certain and {m}.varied is null, false)")


def _misses(version: Version, state: State, kinds: set[Judged]) -> exp.Select:
    """SELECT DISTINCT id: cells that miss one of such rules, whether they are judged or not."""
    tables = [
        found_outcome(version, state, number, applied)
        for number, applied in numbered(version)
        if applied.rule.model.judged in kinds
    ]
    if not tables:
        return query("select c.id from c where false", {"c": version.work(state, "cells")})
    parts = [query("select r.id from r where not r.holds", {"r": table}) for table in tables]
    return query("select distinct u.id from u", {"u": stacked(parts)})
