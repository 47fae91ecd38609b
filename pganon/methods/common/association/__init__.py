"""How much attributes of a relation have to do with each other, for all pairs of them at once.

It stands with the encoding because a method decides by it which columns to publish together:
it reads codes of records, where metrics read what was published.

    contingency   Cramer's V, corrected for bias (Bergsma 2013)
    msc           mean-square contingency coefficient of classical slicing (Li et al. 2012)
    pearson       numbers |r|, nominal attributes V, one of each the correlation ratio
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

from sqlglot import exp

from pganon.methods.common.association.contingency import (
    Pairs,
    contingency,
    mean_square_contingency,
)
from pganon.methods.common.association.numbers import correlation, correlation_ratio
from pganon.methods.common.association.pairs import Associated, Relation, determined, nothing
from pganon.sqltools import cast, fragment, named, query, stacked

__all__ = ["Associated", "Mode", "association", "associations", "dependencies", "matrix", "values"]

Mode = Literal["contingency", "msc", "pearson"]


def association(
    relation: Relation, columns: Sequence[Associated], mode: Mode, *, weighted: bool = False
) -> exp.Select:
    """One row, one column `association`: the text of a JSON array of [i, j, value] for i < j.

    Values are in [0, 1], with 9 decimals; i and j are places in `columns`. Pairs may be missing,
    which means 0: see :func:`matrix`. A column of one value has association 0 with all others.
    NULL is a value of its own, but `pearson` takes numbers from the records that have them, and
    gives 0 where some are not finite. Its three measures are not strictly comparable.

    Args:
        weighted: whether a row of the relation stands for `w` records; for `contingency` alone.
    """
    chosen = dict(enumerate(columns))
    if mode == "msc":
        return _as_json(mean_square_contingency(relation, chosen), "association")
    if mode == "contingency":
        return _as_json(contingency(relation, chosen, weighted=weighted), "association")
    nominal = {i: column for i, column in chosen.items() if column.number is None}
    numbers = {i: column for i, column in chosen.items() if column.number is not None}
    parts = [contingency(relation, nominal), correlation(relation, numbers)]
    parts.append(correlation_ratio(relation, nominal, numbers))
    # In a subquery each, for a WITH cannot follow UNION.
    every = stacked([query("select v.* from v", {"v": part}) for part in parts])
    return _as_json(every, "association")


def associations(relation: Relation, columns: Sequence[Associated], pairs: Pairs) -> exp.Select:
    """The same of some pairs i < j alone, by `contingency`."""
    return _as_json(contingency(relation, dict(enumerate(columns)), pairs), "association")


def dependencies(relation: Relation, columns: Sequence[Associated]) -> exp.Select:
    """One row, one column `dependencies`: the text of a JSON array of [i, j, 1] in both orders,
    where column i determines column j.

    Records with equal values of i have equal values of j, and j has more than one value. NULL is
    one value. A column without repetition determines all others that are not constant.
    """
    pairs = determined(relation, dict(enumerate(columns))) if len(columns) > 1 else nothing()
    return _as_json(pairs, "dependencies")


def matrix(text: str, size: int) -> list[list[float]]:
    """The symmetric matrix of a JSON text of pairs; 1 on the diagonal, 0 for missing pairs."""
    result = [[float(i == j) for j in range(size)] for i in range(size)]
    for (i, j), value in values(text).items():
        result[i][j] = result[j][i] = value
    return result


def values(text: str) -> dict[tuple[int, int], float]:
    """The values of a JSON text of pairs."""
    return {(i, j): float(value) for i, j, value in json.loads(text)}


def _as_json(pairs: exp.Select, name: str) -> exp.Select:
    # Sums depend in their last digits on the order in which the server adds.
    listed = fragment(
        "coalesce(jsonb_agg(jsonb_build_array(v.i, v.j, trim_scale(round(v.value::numeric, 9)))"
        " order by v.i, v.j), '[]'::jsonb)"
    )
    return query("select 1 as n from v", {"v": pairs}).select(
        named(cast(listed, "text"), name), append=False
    )
