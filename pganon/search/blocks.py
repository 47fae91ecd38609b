"""Pieces of a curve merged into blocks that satisfy frequency conditions."""

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

    def holds(self, least: Mapping[int, int], minimum: int) -> bool:
        """Whether the block could be one bucket."""
        return self.size >= minimum and all(
            least[condition] * max(counter.values(), default=0) <= self.size
            for condition, counter in self.counts.items()
        )


def merged(
    pieces: Iterable[Piece], least: Mapping[int, int], minimum: int
) -> list[tuple[int, int, int]]:
    """(stratum, piece, block) of every piece; a block bears the number of its first piece.

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
        if not blocks or blocks[-1].holds(least, minimum):
            blocks.append(_Block(piece.piece))
        blocks[-1].add(piece)
    for blocks in strata.values():
        while len(blocks) > 1 and not blocks[-1].holds(least, minimum):
            last = blocks.pop()
            blocks[-1].join(last)
    return [
        (stratum, piece, block.first)
        for stratum, blocks in strata.items()
        for block in blocks
        for piece in block.pieces
    ]
