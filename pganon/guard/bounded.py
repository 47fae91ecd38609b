"""Models of how many people of a cell can have a value: at most, and at least."""

from __future__ import annotations

from sqlglot import exp

from pganon.guard import work
from pganon.guard.floors import Applied
from pganon.guard.keys import key_of
from pganon.guard.model import Version
from pganon.guard.packed import bounds_rows
from pganon.privacy.base import Model
from pganon.sqltools import col, fragment, named, num, query, scalar, stacked
from pganon.steps import State


def number_of(version: Version, applied: Applied) -> exp.Expr:
    """The number of the column that the rule is about."""
    assert applied.rule.column is not None
    return num(version.columns.index(applied.rule.column) + 1)


def largest(cells: exp.Select, model: Model) -> exp.Select:
    """SELECT id, size, judged, measure of every column, of a model that the largest share decides.

    All values of a set that people keep have the same one.
    """
    counted = cells.select(
        fragment("case when m.varied is null then greatest(m.most, m.past) else 1 end as n"),
        fragment("coalesce(m.varied, m.size) as total"),
        copy=False,
    )
    tree = query(
        "select g.id, g.size, g.judged from g group by g.id, g.size, g.judged, g.col",
        {"g": counted},
    )
    return tree.select(named(model.of_bounds("g"), "measure"), copy=False)


def by_bounds(version: Version, state: State, applied: Applied) -> exp.Select:
    """Of a model that compares the share of every value with the whole."""
    sides = [_rows(version, state, applied, "at_most"), _past(version, state, applied)]
    return _aggregated(applied, _compared(version, state, applied, stacked(sides)))


def by_extremes(version: Version, state: State, applied: Applied) -> exp.Select:
    """Of a model that bounds shares from both sides; what people had earlier has no lower bound."""
    sides = [
        _aggregated(
            applied,
            _compared(version, state, applied, _rows(version, state, applied, side)),
        )
        for side in ("at_most", "at_least")
    ]
    return query(
        "select h.id, 0 as era, greatest(h.measure, coalesce(l.measure, 'Infinity'::float8))"
        " as measure from h left join l on l.id = h.id",
        {"h": sides[0], "l": sides[1]},
    )


def _rows(version: Version, state: State, applied: Applied, side: str) -> exp.Select:
    return query(
        "select c.id, 0 as era, b.value, :n as n, c.size as total from b"
        " join c on c.id = b.cell where b.col = :col and :n > 0",
        {"b": bounds_rows(version.staged(state, "value")), "c": version.work(state, "cells")},
        n=col(side, "b"),
        col=number_of(version, applied),
    )


def _past(version: Version, state: State, applied: Applied) -> exp.Select:
    """As many people as can have had one of the values may have had any of them."""
    return query(
        "select m.id, 1 as era, r.value, m.past as n, m.size as total from m cross join r"
        " where m.col = :col and m.past is not null",
        {"m": version.work(state, "measured"), "r": reference(version, state, applied)},
        col=number_of(version, applied),
    )


def reference(version: Version, state: State, applied: Applied) -> exp.Select:
    """The distribution that cells are compared with, by the numbers of values."""
    return query(
        "select :key as value, r.position, r.share, r.path from r where r.col = :col",
        {"r": state.work(work.reference(version.part))},
        key=key_of(col("col", "r"), col("value", "r")),
        col=number_of(version, applied),
    )


def _compared(version: Version, state: State, applied: Applied, rows: exp.Select) -> exp.Select:
    """With the share of the value in the whole, and how many values that has."""
    whole = reference(version, state, applied)
    occurring = query("select count(*) from r where r.share > 0", {"r": whole})
    return query(
        "select x.id, x.era, x.n, x.total, coalesce(r.share, 0) as share, :domain as domain"
        " from x left join r on r.value = x.value",
        {"x": rows, "r": whole},
        domain=scalar(occurring),
    )


def _aggregated(applied: Applied, rows: exp.Select) -> exp.Select:
    tree = query("select g.id, g.era from g group by g.id, g.era", {"g": rows})
    return tree.select(named(applied.rule.model.of_bounds("g"), "measure"), copy=False)
