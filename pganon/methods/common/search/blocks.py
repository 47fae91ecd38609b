"""Pieces of a curve put together to blocks that satisfy frequency conditions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

Histograms = Mapping[int, Sequence[tuple[int, int]]]
"""By condition, (value, records)."""


@dataclass(frozen=True)
class Piece:
    """Neighbouring records.

    Attributes:
        stratum: pieces of different strata are never merged.
        size: number of records.
        counts: records per value of every condition.
    """

    stratum: int
    piece: int
    size: int
    counts: Histograms


@dataclass
class _Block:
    first: int
    pieces: list[int] = field(default_factory=list)
    size: int = 0
    counts: dict[int, Counter[int]] = field(default_factory=dict)

    def add(self, piece: Piece) -> None:
        self.pieces.append(piece.piece)
        self.size += piece.size
        for condition, histogram in piece.counts.items():
            counter = self.counts.setdefault(condition, Counter())
            for value, n in histogram:
                counter[value] += n

    def join(self, other: _Block) -> None:
        self.pieces += other.pieces
        self.size += other.size
        for condition, counter in other.counts.items():
            self.counts.setdefault(condition, Counter()).update(counter)

    def fits(self, least: Mapping[int, int], size: int) -> bool:
        """Whether so many records satisfy the conditions even with all the frequent ones."""
        return all(least[c] * max(n.values(), default=0) <= size for c, n in self.counts.items())

    def suffices(self, least: Mapping[int, int], minimum: int) -> bool:
        """Whether the block could be one bucket."""
        return self.size >= minimum and self.fits(least, self.size)

    def tightest(self, least: Mapping[int, int]) -> int:
        """The condition with the fewest records to spare."""
        return max(
            self.counts, key=lambda c: (least[c] * max(self.counts[c].values(), default=0), -c)
        )


@dataclass(frozen=True)
class Placed:
    """Where a piece went.

    Attributes:
        block: number of the first piece of its block.
        size: records of the block.
        tightest: the condition with the fewest records to spare in the block.
    """

    stratum: int
    piece: int
    block: int
    size: int
    tightest: int


def merged(pieces: Iterable[Piece], least: Mapping[int, int], minimum: int) -> list[Placed]:
    """The block of every piece, as small as the order of the pieces allows.

    A piece that could not be a bucket is merged with the next one until it could, the last with
    the one before. The union of two blocks that satisfy the conditions satisfies them, so this
    ends well whenever the strata do.

    Args:
        pieces: in the order of the curve, stratum by stratum.
        least: l by condition.
        minimum: records of the smallest bucket.
    """
    strata: dict[int, list[_Block]] = {}
    for piece in pieces:
        blocks = strata.setdefault(piece.stratum, [])
        if not blocks or blocks[-1].suffices(least, minimum):
            blocks.append(_Block(piece.piece))
        blocks[-1].add(piece)
    for blocks in strata.values():
        while len(blocks) > 1 and not blocks[-1].suffices(least, minimum):
            last = blocks.pop()
            blocks[-1].join(last)
    return _placed(strata, least)


def halved(pieces: Iterable[Piece], least: Mapping[int, int], minimum: int) -> list[Placed]:
    """The block of every piece, where nothing but frequencies in whole blocks decides.

    The pieces of a stratum are halved, and the halves again, as long as the smaller half satisfies
    the conditions wherever the values are.
    """
    strata: dict[int, list[_Block]] = {}
    for piece in pieces:
        strata.setdefault(piece.stratum, []).append(_single(piece))
    halves = {s: _halved(blocks, least, minimum)[1] for s, blocks in strata.items()}
    return _placed(halves, least)


def _halved(
    pieces: list[_Block], least: Mapping[int, int], minimum: int
) -> tuple[_Block, list[_Block]]:
    """All pieces as one block, and the blocks that they are divided into."""
    if len(pieces) == 1:
        return pieces[0], pieces
    middle = len(pieces) // 2
    one, first = _halved(pieces[:middle], least, minimum)
    two, second = _halved(pieces[middle:], least, minimum)
    whole = _Block(one.first)
    whole.join(one)
    whole.join(two)
    size = min(one.size, two.size)
    if size < minimum or not whole.fits(least, size):
        return whole, [whole]
    return whole, [*first, *second]


def _single(piece: Piece) -> _Block:
    block = _Block(piece.piece)
    block.add(piece)
    return block


def _placed(strata: Mapping[int, Sequence[_Block]], least: Mapping[int, int]) -> list[Placed]:
    return [
        Placed(stratum, piece, block.first, block.size, block.tightest(least))
        for stratum, blocks in strata.items()
        for block in blocks
        for piece in block.pieces
    ]
