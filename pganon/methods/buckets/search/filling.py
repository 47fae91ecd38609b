"""How many new records join groups with old signatures, while the others stay eligible.

Of r_v new records with vector v at most min(r_v, need_v) can be taken. The others are eligible if
no value of any column has more than 1/l of them. Take all that fit, and let c be the largest count
of a value among the others. Where the others are not eligible then, some are put back among them,
as long as no value has more than c of them, until they are l c.

With one column this takes as many as possible, since more than c of a value would need even more
others. If there are fewer than l c others even then, no choice makes them eligible. The reason is
that g(c) = sum of min(r_v, c) - l c is concave with g(0) = 0: once it is negative it stays so.

With several columns fewer may be taken than possible. If the others are eligible neither so nor
with all new records among them, all that fit are taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

Value = tuple[int, int]
"""A column and the code of a value in it."""


@dataclass(frozen=True)
class Candidates:
    """New records with the same vector.

    Attributes:
        code: of the vector.
        values: codes of its values, column by column.
        count: number of these records.
        need: free places for them.
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
    """Number of records that are taken, by the code of their vector; the others are l-eligible."""
    taken = {one.code: one.fitting for one in candidates}
    remaining = _remaining(candidates, taken)
    cap = max(remaining.values(), default=0)
    missing = l * cap - sum(one.count - one.fitting for one in candidates)
    if missing <= 0:
        return taken
    fewer = dict(taken)
    # The most frequent vectors of the others are taken first.
    for one in sorted(candidates, key=lambda c: (c.count, -c.code)):
        margin = min(cap - remaining[value] for value in one.held)
        back = max(min(margin, one.fitting, missing), 0)
        fewer[one.code] -= back
        missing -= back
        for value in one.held:
            remaining[value] += back
    if missing == 0:
        return fewer
    none = dict.fromkeys(taken, 0)
    everybody = max(_remaining(candidates, none).values()) * l <= sum(
        one.count for one in candidates
    )
    return none if everybody else taken


def _remaining(candidates: Sequence[Candidates], taken: dict[int, int]) -> Counter[Value]:
    """Number of the other records by value."""
    remaining: Counter[Value] = Counter()
    for one in candidates:
        for value in one.held:
            remaining[value] += one.count - taken[one.code]
    return remaining
