"""A block of rows divided into compact buckets that satisfy conditions.

The rows of a group have different values, so groups are colours of a graph in which rows that share
a value are neighbours. Rows get colours one by one; where none is free, and where groups are too
small, two colours are exchanged along a chain of neighbours (Kempe). Of two conditions the graph is
the line graph of a bipartite one: where no value has more rows than there are groups, all rows find
a colour (Koenig), and all groups become as large as each other, to one row (de Werra). With more
conditions both may fail, and rows may remain without a group.
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pganon.methods.buckets.search.conditions import Codes, Condition
from pganon.methods.buckets.search.firefly import IMPROVEMENT, mfa_split
from pganon.methods.buckets.search.tree import Block, Bucket, Split, base_split, grow, objective

TRIES = 200
"""Most exchanges that are tried for a row, or for a group that is too small. With two conditions
one of the first succeeds.
"""


def distinct_groups(values: np.ndarray, size: int) -> list[np.ndarray]:
    """Groups of at least `size` rows; other rows are in no group.

    Args:
        values: conditions x rows; numbers that no two conditions share. The order of the rows
            decides ties.
    """
    colours = _Colours(values, values.shape[1] // size)
    frequency = np.bincount(values.ravel())
    for row in np.argsort(-frequency[values].sum(axis=0), kind="stable"):
        colours.place(int(row))
    colours.level(size)
    return [np.sort(np.array(rows, dtype=np.intp)) for rows in colours.dissolved(size)]


class _Colours:
    """Rows by colour, and the row of every colour that has a value."""

    def __init__(self, values: np.ndarray, number: int) -> None:
        self.values: list[list[int]] = values.T.tolist()
        self.rows: list[set[int]] = [set() for _ in range(number)]
        self.holders: list[dict[int, int]] = [{} for _ in range(number)]
        self.remaining: list[int] = []

    def place(self, row: int) -> None:
        free = self._smallest(row)
        if free is None:
            free = self._freed(row)
        if free is None:
            self.remaining.append(row)
        else:
            self._add(row, free)

    def level(self, size: int) -> None:
        """Enlarge the colours with fewer than `size` rows as long as that is possible."""
        while any(len(rows) < size for rows in self.rows) and self._levelled():
            pass

    def dissolved(self, size: int) -> list[list[int]]:
        """Colours of at least `size` rows; rows of the others join them where possible."""
        small = [number for number, rows in enumerate(self.rows) if len(rows) < size]
        loose = sorted(row for number in small for row in self.rows[number]) + self.remaining
        for row in loose:
            free = self._smallest(row, small)
            if free is not None:
                self._add(row, free)
        return [sorted(rows) for n, rows in enumerate(self.rows) if n not in small]

    def _add(self, row: int, colour: int) -> None:
        self.rows[colour].add(row)
        for value in self.values[row]:
            self.holders[colour][value] = row

    def _remove(self, row: int, colour: int) -> None:
        self.rows[colour].remove(row)
        for value in self.values[row]:
            del self.holders[colour][value]

    def _neighbours(self, row: int, colour: int) -> set[int]:
        """Rows of a colour that share a value with the row."""
        holders = self.holders[colour]
        return {holders[value] for value in self.values[row] if value in holders}

    def _smallest(self, row: int, but: Sequence[int] = ()) -> int | None:
        """The smallest colour without a value of the row, the first on a tie."""
        free = [
            (len(rows), number)
            for number, rows in enumerate(self.rows)
            if number not in but and self.holders[number].keys().isdisjoint(self.values[row])
        ]
        return min(free)[1] if free else None

    def _freed(self, row: int) -> int | None:
        """A colour that an exchange freed of the values of the row; None if no exchange does.

        Where two colours have the same value of the row, their rows with it stay neighbours.
        """
        shared = [holders.keys() & self.values[row] for holders in self.holders]
        order = sorted(range(len(self.rows)), key=lambda number: (len(shared[number]), number))
        tries = 0
        for one, other in itertools.product(order, order):
            if shared[one] & shared[other]:
                continue
            chain = self._chain(self._neighbours(row, one), one, other)
            if chain[1].isdisjoint(self._neighbours(row, other)):
                self._exchange(chain, one, other)
                return one
            tries += 1
            if tries == TRIES:
                break
        return None

    def _chain(self, start: set[int], one: int, other: int) -> tuple[set[int], set[int]]:
        """Rows of either colour that are connected with some of the first one."""
        sides: tuple[set[int], set[int]] = (set(start), set())
        side, ends = 0, set(start)
        while ends:
            colour, side = (other, 1) if side == 0 else (one, 0)
            ends = {near for row in ends for near in self._neighbours(row, colour)} - sides[side]
            sides[side].update(ends)
        return sides

    def _exchange(self, chain: tuple[set[int], set[int]], one: int, other: int) -> None:
        for row in chain[0]:
            self._remove(row, one)
        for row in chain[1]:
            self._remove(row, other)
        for row in chain[0]:
            self._add(row, other)
        for row in chain[1]:
            self._add(row, one)

    def _levelled(self) -> bool:
        """Whether an exchange made the smallest colour larger, by rows of a larger one."""
        order = sorted(range(len(self.rows)), key=lambda number: (len(self.rows[number]), number))
        small, tries = order[0], 0
        for large in reversed(order):
            difference = len(self.rows[large]) - len(self.rows[small])
            if difference < 2 or tries >= TRIES:
                return False
            for row in sorted(self.rows[large]):
                chain = self._chain({row}, large, small)
                if 0 < len(chain[0]) - len(chain[1]) < difference:
                    self._exchange(chain, large, small)
                    return True
                tries += 1
        return False


REPAIR_BUDGET = 50


@dataclass(frozen=True, eq=False)
class Partition:
    """A partition of a block.

    Attributes:
        labels: number of the bucket of every row, from 0 in the order of first rows; -1 for none.
        objective: J, the sum of the distances of all points to the mean of their bucket.
        baseline: J of the median tree; never lower than `objective`, unless the rows of compact
            parts are dealt out, or buckets divided so that all values are different.
    """

    labels: np.ndarray
    objective: float
    baseline: float


def partition(
    z: np.ndarray,
    conditions: Sequence[Condition],
    minimum_size: int,
    *,
    swarm: bool,
    seed: int,
    norm: float = 2.0,
    path: str = "",
    repair_budget: int = REPAIR_BUDGET,
    public: bool = False,
    distinct: bool = False,
) -> Partition:
    """Divide a block of rows; same arguments, same buckets.

    Args:
        z: n x D points; the order of the rows is the order of ties.
        conditions: satisfied by the block as a whole, and then by every bucket.
        minimum_size: rows of the smallest bucket; at least the largest l in any case.
        swarm: whether fireflies look for better halves than those of the median tree.
        seed: of the random numbers.
        norm: order of the Minkowski distance, at least 1.
        path: name of the block; blocks with different names draw different numbers.
        repair_budget: exchanges tried by one repair.
        public: divide by `z` only where the halves satisfy the conditions wherever the values
            are, and deal out the rows of the remaining parts at random. A reader who knows the
            points and the buckets then learns nothing from the procedure.
        distinct: rows of a bucket also differ in the values of every condition, all of which have
            the same l; rows that fit in no such bucket are in none.

    Raises:
        ValueError: the block does not satisfy the conditions or is too small.
    """
    smallest = max([1, minimum_size, *(condition.l for condition in conditions)])
    if len(z) < smallest:
        raise ValueError(f"{len(z)} rows, but a bucket needs {smallest}")
    if not all(condition.satisfied for condition in conditions):
        raise ValueError("the block as a whole does not satisfy the conditions")
    columns = np.ascontiguousarray(z.T, dtype=np.float64)
    block = Block(columns, Codes.of(conditions, len(z)), smallest, norm, repair_budget)
    divided = PublicBisection(block, seed, path) if public else Bisection(block, seed, path)
    base = divided.parts(swarm=False)
    parts = divided.parts(swarm=True) if swarm else base
    # Better halves everywhere need not make a better partition.
    if objective(block, parts) >= objective(block, base) - IMPROVEMENT:
        parts = base
    compact, plain = divided.buckets(parts), divided.buckets(base)
    if distinct:
        compact, plain = _different(block, compact), _different(block, plain)
    return Partition(_labels(compact, len(z)), objective(block, compact), objective(block, plain))


@dataclass(frozen=True, eq=False)
class Bisection:
    """Repeated halving while both halves satisfy the conditions: all parts are buckets."""

    block: Block
    seed: int
    path: str

    def parts(self, *, swarm: bool) -> list[np.ndarray]:
        return grow(self.block, self._splits(swarm=swarm), self.path)

    def buckets(self, parts: list[np.ndarray]) -> list[np.ndarray]:
        return parts

    def _splits(self, *, swarm: bool) -> Callable[[Bucket, str], Split | None]:
        if not swarm:
            return lambda bucket, at: base_split(bucket)
        return lambda bucket, at: mfa_split(bucket, at, self.seed)


@dataclass(frozen=True, eq=False)
class PublicBisection(Bisection):
    """Halving by points only while every value fits into the smaller half; then buckets of each
    part regardless of its points.

    The records per value of a part can be read off the buckets, so the decision to divide it
    discloses nothing. Buckets of a part follow its values and a random order that nothing else
    depends on. So exchanging members of a bucket does not change how likely the buckets are.
    """

    def parts(self, *, swarm: bool) -> list[np.ndarray]:
        block, split = self.block, self._splits(swarm=swarm)
        free = dataclasses.replace(block, codes=Codes.of([], block.z.shape[1]))

        def where_sure(bucket: Bucket, at: str) -> Split | None:
            return split(bucket, at) if _sure(bucket, block.codes) else None

        return grow(free, where_sure, self.path)

    def buckets(self, parts: list[np.ndarray]) -> list[np.ndarray]:
        rank = np.argsort(self._shuffled())
        return [bucket for part in parts for bucket in self._dealt(part[np.argsort(rank[part])])]

    def _shuffled(self) -> np.ndarray:
        digest = hashlib.sha256(f"{self.seed}|{self.path}deal".encode()).digest()
        draw = random.Random(int.from_bytes(digest[:8], "big")).random  # noqa: S311
        return np.argsort([draw() for _ in range(self.block.z.shape[1])], kind="stable")

    def _dealt(self, rows: np.ndarray) -> list[np.ndarray]:
        """Buckets of a part in which all rows are at one point."""
        nowhere = np.zeros((1, len(rows)))
        part = dataclasses.replace(self.block, z=nowhere, codes=self.block.codes.among(rows))
        buckets = grow(part, lambda bucket, at: base_split(bucket))
        return [np.sort(rows[members]) for members in buckets]


def _sure(bucket: Bucket, codes: Codes) -> bool:
    """Whether both halves satisfy the conditions wherever the values of the bucket are."""
    if not bucket.divisible:
        return False
    mine = codes.among(bucket.rows)
    return bool((mine.least[mine.owner] * mine.totals <= bucket.cuts.middle).all())


def _different(block: Block, buckets: list[np.ndarray]) -> list[np.ndarray]:
    """Buckets in which all values differ; buckets that satisfy this already stay as they are."""
    differing: list[np.ndarray] = []
    for rows in buckets:
        codes = block.codes.among(rows)
        if codes.totals.max(initial=0) <= 1:
            differing.append(rows)
        else:
            differing += [rows[group] for group in distinct_groups(codes.values, block.smallest)]
    return differing


def _labels(buckets: list[np.ndarray], rows: int) -> np.ndarray:
    labels = np.full(rows, -1, dtype=np.intp)
    for number, members in enumerate(sorted(buckets, key=lambda members: members[0])):
        labels[members] = number
    return labels
