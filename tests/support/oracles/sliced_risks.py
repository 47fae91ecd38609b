"""What releases of slicing and SLAMSA disclose against their source, in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.support.oracles.sliced import Published, Row, Value, holder, members, values

# -- membership (M8) ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Membership:
    """Distinct vectors of the source, those that records may have, and how many are fakes."""

    originals: int
    candidates: int
    fakes: int


def membership(p: Published, rows: Iterable[Row], names: Sequence[str]) -> Membership:
    """Of the quasi-identifiers of that name."""
    originals = {tuple(row[name] for name in names) for row in rows}
    candidates = {tuple(vector[name] for name in names) for _, vector in members(p)}
    return Membership(len(originals), len(candidates), len(candidates - originals))


# -- who knows the joint distribution (M7) ------------------------------------------------------


def informed(
    p: Published, source: Sequence[Row], row: Row, column: str, others: Sequence[str]
) -> dict[Value, Fraction]:
    """What a row of the last QIT has, weighted by how often values meet in the source.

    `others` are columns of other sensitive tables. It ignores the other records of the groups, and
    so may say less than what is learnt.
    """

    def share(name: str) -> Counter[tuple[Value, ...]]:
        j, st = holder(p, name)
        return values(st, [name])[p.link(row, j)]

    def lift(v: Value, name: str, y: Value) -> Fraction:
        one = sum(r[column] == v for r in source)
        two = sum(r[name] == y for r in source)
        both = sum(r[column] == v and r[name] == y for r in source)
        return Fraction(both * len(source), one * two)

    weights = {}
    for (v,), n in share(column).items():
        met = [
            sum(Fraction(f, held.total()) * lift(v, name, y) for (y,), f in held.items())
            for name, held in [(name, share(name)) for name in others]
        ]
        weights[v] = n * math.prod(met)
    total = sum(weights.values())
    return {v: Fraction(w) / total for v, w in weights.items()}
