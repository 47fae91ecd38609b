"""Pieces put together to blocks, on random histograms and against the definition."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from pganon.methods.common.search.blocks import Piece, Placed, halved, merged

LEAST = {0: 2, 1: 3}
MINIMUM = 4
Values = list[list[tuple[int, int]]]
"""Records of every piece, each with its values of both conditions."""


def values(rng: random.Random) -> Values:
    return [
        [(rng.randint(0, 3), rng.randint(0, 5)) for _ in range(rng.randint(1, 9))]
        for _ in range(rng.randint(1, 12))
    ]


def pieces(stratum: int, held: Values) -> list[Piece]:
    return [
        Piece(
            stratum,
            number,
            len(records),
            {c: sorted(Counter(record[c] for record in records).items()) for c in LEAST},
        )
        for number, records in enumerate(held)
    ]


def most(records: Sequence[tuple[int, int]]) -> dict[int, int]:
    return {c: least * max(Counter(r[c] for r in records).values()) for c, least in LEAST.items()}


def holds(records: Sequence[tuple[int, int]]) -> bool:
    return len(records) >= MINIMUM and max(most(records).values()) <= len(records)


def blocks(found: Sequence[Placed], stratum: int) -> list[list[int]]:
    """Pieces of every block, in order."""
    grouped: dict[int, list[int]] = {}
    for placed in found:
        if placed.stratum == stratum:
            grouped.setdefault(placed.block, []).append(placed.piece)
    assert all(block == held[0] for block, held in grouped.items())
    return list(grouped.values())


def together(held: Values, numbers: Sequence[int]) -> list[tuple[int, int]]:
    return [record for number in numbers for record in held[number]]


def first_that_hold(held: Values) -> list[list[int]]:
    """From the first piece on until the block holds; what is left joins backwards."""
    found: list[list[int]] = [[]]
    for number in range(len(held)):
        if found[-1] and holds(together(held, found[-1])):
            found.append([])
        found[-1].append(number)
    while len(found) > 1 and not holds(together(held, found[-1])):
        found[-2:] = [found[-2] + found[-1]]
    return found


def sure_halves(held: Values, numbers: list[int]) -> list[list[int]]:
    """Halves, as long as each satisfies even with all the most frequent values in it."""
    middle = len(numbers) // 2
    halves = numbers[:middle], numbers[middle:]
    room = min(len(together(held, half)) for half in halves)
    if not middle or room < max(MINIMUM, *most(together(held, numbers)).values()):
        return [numbers]
    return [block for half in halves for block in sure_halves(held, half)]


def test_blocks_are_those_of_the_definition() -> None:
    for seed in range(40):
        compare(random.Random(seed), f"seed {seed}")


def compare(rng: random.Random, seed: str) -> None:
    """Blocks of drawn strata with those of the definition."""
    strata = [values(rng) for _ in range(2)]
    every = [piece for stratum, held in enumerate(strata) for piece in pieces(stratum, held)]
    found, divided = merged(every, LEAST, MINIMUM), halved(every, LEAST, MINIMUM)
    for stratum, held in enumerate(strata):
        assert blocks(found, stratum) == first_that_hold(held), seed
        assert blocks(divided, stratum) == sure_halves(held, list(range(len(held)))), seed
    for placed in (*found, *divided):
        of = found if placed in found else divided
        numbers = [p.piece for p in of if (p.stratum, p.block) == (placed.stratum, placed.block)]
        records = together(strata[placed.stratum], numbers)
        assert placed.size == len(records), seed
        room = most(records)
        assert placed.tightest == max(LEAST, key=lambda c, room=room: (room[c], -c)), seed


def test_both_rules_make_several_blocks() -> None:
    even = [[(n % 3, n % 6) for n in range(12)] for _ in range(4)]
    every = pieces(0, even)
    assert blocks(merged(every, LEAST, MINIMUM), 0) == [[0], [1], [2], [3]]
    assert blocks(halved(every, LEAST, MINIMUM), 0) == [[0, 1, 2, 3]]
    assert blocks(halved(every, {0: 1, 1: 2}, MINIMUM), 0) == [[0], [1], [2], [3]]
    assert blocks(halved(every, {0: 1, 1: 1}, 12), 0) == [[0], [1], [2], [3]]
    assert blocks(halved(every, {0: 1, 1: 1}, 13), 0) == [[0, 1], [2, 3]]
    assert {placed.tightest for placed in merged(every, {0: 3, 1: 2}, MINIMUM)} == {0}
