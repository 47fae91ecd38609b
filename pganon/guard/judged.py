"""Cells measured against a rule: who must satisfy it, and what is measured of them.

What is measured of a cell depends on the model; see :mod:`pganon.privacy.judged`. Where values
that people had earlier were published, the rule holds for these as well.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pganon.guard import combinations, known
from pganon.guard.bounded import by_bounds, by_extremes, largest
from pganon.guard.floors import Applied
from pganon.guard.model import Version
from pganon.privacy.base import Bound
from pganon.privacy.judged import Judged
from pganon.privacy.quasi_sensitive import QSKAnonymity
from pganon.sqltools import col, fragment, named, num, query
from pganon.steps import State

Measured = Callable[[Version, State, Applied], exp.Select]
"""SELECT id, era, measure; a cell without a row does not satisfy the rule."""


def at_once(applied: Applied) -> bool:
    """Whether a look at the cells decides."""
    model = applied.rule.model
    return model.judged in (Judged.PEOPLE, Judged.VALUES) or (
        model.judged is Judged.MOST and not model.needs_reference
    )


def outcome(version: Version, state: State, applied: Applied) -> exp.Select:
    """SELECT id, size, judged, measure, holds of every cell that the rule is about.

    Others than the judged ones are whole: they hold what their people were promised at first.
    """
    if not at_once(applied):
        return _of_eras(version, state, applied)
    model = applied.rule.model
    match model.judged:
        case Judged.PEOPLE:
            tree = query(
                "select c.id, c.size, not c.whole as judged, c.size as measure from c"
                " where c.seen and :applies",
                {"c": version.work(state, "cells")},
                applies=applied.applies("c"),
            )
        case Judged.VALUES:
            values = fragment("least(coalesce(m.varied, m.fewest), m.past_own)")
            tree = _of_column(version, state, applied).select(named(values, "measure"), copy=False)
        case _:
            tree = largest(_of_column(version, state, applied), model)
            if model.of_rows:
                tree = _best(tree)
    return query(
        "select x.*, :holds as holds from x", {"x": tree}, holds=model.holds(fragment("x.measure"))
    )


def _of_column(version: Version, state: State, applied: Applied) -> exp.Select:
    """SELECT id, size, col, judged: cells for whose people values of the columns were published.

    Of a rule about rows of several columns, there is one for each of these.
    """
    return query(
        "select m.id, m.size, m.col, not m.whole or m.fresh as judged from m"
        " where :among and :applies",
        {"m": version.work(state, "measured")},
        among=_among(version, applied),
        applies=applied.applies("m"),
    )


def _among(version: Version, applied: Applied) -> exp.Expr:
    """SQL condition on a row of `m`: it is of one of the rule's columns, or of all of them."""
    columns = applied.rule.columns or version.columns
    numbers = [num(version.columns.index(name) + 1) for name in columns]
    return exp.In(this=col("col", "m"), expressions=numbers)


def _best(cells: exp.Select) -> exp.Select:
    """No row of values is more frequent than the least frequent of these."""
    return query(
        "select x.id, x.size, bool_or(x.judged) as judged, max(x.measure) as measure from x"
        " group by x.id, x.size",
        {"x": cells},
    )


# -- models of all values of a cell, or of several columns ----------------------------------------


def _of_eras(version: Version, state: State, applied: Applied) -> exp.Select:
    """Values that people had earlier are judged as a cell of their own, of `era` 1."""
    model = applied.rule.model
    both = query(
        "select c.id, c.size, c.judged, m.measure, coalesce(:holds, false) as holds"
        " from c left join m on m.id = c.id and m.era = c.era",
        {"c": _concerned(version, state, applied), "m": _measured(version, state, applied)},
        holds=model.holds(col("measure", "m")),
    )
    worst = "min(x.measure)" if model.bound is Bound.AT_LEAST else "max(x.measure)"
    return query(
        "select x.id, x.size, x.judged, :worst as measure, bool_and(x.holds) as holds from x"
        " group by x.id, x.size, x.judged",
        {"x": both},
        worst=fragment(worst),
    )


def _concerned(version: Version, state: State, applied: Applied) -> exp.Select:
    """SELECT id, era, size, judged: cells for whose people all the columns were published."""
    columns = applied.rule.columns or version.columns
    each = query(
        "select m.id, m.size, bool_and(m.most is not null) and count(*) = :many as now,"
        " bool_or(m.past is not null) as past, not bool_and(m.whole) or bool_or(m.fresh) as judged"
        " from m where :among and :applies group by m.id, m.size",
        {"m": version.work(state, "measured")},
        many=num(len(columns)),
        among=_among(version, applied),
        applies=applied.applies("m"),
    )
    return query(
        "select x.id, e.era, x.size, x.judged from x cross join (values (0), (1)) as e(era)"
        " where case e.era when 0 then x.now else x.past end",
        {"x": each},
    )


def _measured(version: Version, state: State, applied: Applied) -> exp.Select:
    if not _comparable(version, applied):
        return query(
            "select m.id, 0 as era, null::float8 as measure from m where false",
            {"m": version.work(state, "measured")},
        )
    return _measure_of(applied)(version, state, applied)


def _comparable(version: Version, applied: Applied) -> bool:
    """Whether there is what the model compares with; if not, whoever is judged misses it."""
    rule = applied.rule
    if isinstance(rule.model, QSKAnonymity) and rule.model.counts_supported:
        return rule.sets == combinations.compared_sets(version)
    if not rule.model.needs_reference:
        return True
    known = version.hierarchical if rule.model.needs_tree else version.distributed
    return rule.column in version.published & known


def _measure_of(applied: Applied) -> Measured:
    match applied.rule.model.judged:
        case Judged.MOST:
            return by_bounds
        case Judged.EXTREMES:
            return by_extremes
        case Judged.COMBINATIONS:
            return combinations.measured
        case Judged.RECORDS:
            return known.records
        case _:
            raise ValueError(f"nothing of a cell is held against {applied.rule.model.name}")
