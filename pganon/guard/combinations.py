"""QS k-anonymity of cells: combinations of the values that their people do have."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.guard import work
from pganon.guard.floors import Applied
from pganon.guard.keys import key_of
from pganon.guard.model import Version
from pganon.guard.own import own_of_cells
from pganon.privacy.quasi_sensitive import (
    QSKAnonymity,
    QSSet,
    product_histogram,
    supported_histogram,
)
from pganon.sqltools import col, fragment, named, num, query
from pganon.steps import State


def measured(version: Version, state: State, applied: Applied) -> exp.Select:
    """SELECT id, era, measure: the fewest combinations of a set; 0 with too few people or values.

    Cells of which some values are not known, or were changed, have no row.
    """
    model = applied.rule.model
    assert isinstance(model, QSKAnonymity)
    cells = _arrays(version, state, applied, model)
    sets = {
        number: QSSet(
            [version.columns.index(name) for name in names],
            [_array(version, name) for name in names],
            _existing(version, state, number, names) if model.counts_supported else None,
        )
        for number, names in enumerate(applied.rule.sets, start=1)
    }
    if model.counts_supported:
        histogram = supported_histogram(cells, "id", sets, lambda value, attribute: value)
    else:
        histogram = product_histogram(cells, "id", sets)
    return query("select g.id, 0 as era, g.measure from g", {"g": model.measure(histogram, ["id"])})


def compared_sets(version: Version) -> tuple[tuple[str, ...], ...]:
    """The QS sets of which it is known which combinations exist: those that the version has."""
    for rule in version.rules:
        if isinstance(rule.model, QSKAnonymity) and rule.model.counts_supported:
            return rule.sets
    return ()


def _existing(version: Version, state: State, number: int, names: Sequence[str]) -> exp.Select:
    """SELECT v1, v2, ..: the combinations of a set that exist, as numbers of values."""
    tree = query("select 1 from e", {"e": state.work(work.existing(version.part, number))})
    values = [
        key_of(num(version.columns.index(name) + 1), col(f"v{place}", "e"))
        for place, name in enumerate(names, start=1)
    ]
    found = [named(value, f"v{place}") for place, value in enumerate(values, start=1)]
    return tree.select(*found, append=False, copy=False)


def _array(version: Version, name: str) -> str:
    return f"a{version.columns.index(name) + 1}"


def _arrays(version: Version, state: State, applied: Applied, model: QSKAnonymity) -> exp.Select:
    """SELECT id, an array of own values per column, of cells large enough in people and values."""
    columns = applied.rule.columns
    tree = query(
        "select c.id from o join c on c.id = o.cell where c.size >= :size group by c.id",
        {"o": own_of_cells(version, state), "c": version.work(state, "cells")},
        size=num(model.size),
    )
    for name in columns:
        number = version.columns.index(name) + 1
        values = fragment("array_agg(o.value) filter (where o.col = :col)", col=num(number))
        tree = tree.select(named(values, _array(version, name)), copy=False)
    enough = [
        fragment(
            "cardinality(:a) >= :least",
            a=col(_array(version, name), "x"),
            least=num(model.min_values),
        )
        for name in columns
    ]
    return query("select x.* from x where :enough", {"x": tree}, enough=exp.and_(*enough))
