"""How many newcomers take over a signature: as many as fit, as long as the others stay eligible.

Of r_v newcomers with vector v of values at most min(r_v, need_v) can be taken. Others are eligible
if no value of any column has more than 1/l of them. Let c be the largest count of a value that is
left when all who fit are taken. Where the others are not eligible then, some who fit are put back
among them, as long as no value has more than c of them, until they are l c.

With one column that takes as many as possible: more than c of a value need more others still, and
if there are fewer than l c even then, the others are eligible for no choice at all, since
g(c) = sum of min(r_v, c) - l c is concave with g(0) = 0: once it is negative it stays so. With
several columns fewer may be taken than could be. If the others are eligible neither so nor with
all newcomers among them, all who fit are taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

Value = tuple[int, int]
"""A column and the code of a value in it."""


@dataclass(frozen=True)
class Candidates:
    """Newcomers with one vector.

    Attributes:
        code: of the vector.
        values: codes of its values, column by column.
        count: how many they are.
        need: how many of them fit.
    """

    code: int
    values: tuple[int, ...]
    count: int
    need: int

    @property
    def fitting(self) -> int:
        return min(self.count, self.need)

    @property
    def held(self) -> list[Value]:
        return list(enumerate(self.values))


def filled(candidates: Sequence[Candidates], l: int) -> dict[int, int]:  # noqa: E741
    """How many of every vector are taken, by its code; l: of which the others are eligible."""
    taken = {one.code: one.fitting for one in candidates}
    left = _left(candidates, taken)
    cap = max(left.values(), default=0)
    missing = l * cap - sum(one.count - one.fitting for one in candidates)
    if missing <= 0:
        return taken
    fewer = dict(taken)
    # The most frequent vectors of the others are taken first.
    for one in sorted(candidates, key=lambda c: (c.count, -c.code)):
        room = min(cap - left[value] for value in one.held)
        back = max(min(room, one.fitting, missing), 0)
        fewer[one.code] -= back
        missing -= back
        for value in one.held:
            left[value] += back
    if missing == 0:
        return fewer
    none = dict.fromkeys(taken, 0)
    everybody = max(_left(candidates, none).values()) * l <= sum(one.count for one in candidates)
    return none if everybody else taken


def _left(candidates: Sequence[Candidates], taken: dict[int, int]) -> Counter[Value]:
    """How many of the others have each value."""
    left: Counter[Value] = Counter()
    for one in candidates:
        for value in one.held:
            left[value] += one.count - taken[one.code]
    return left
