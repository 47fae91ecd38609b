"""One-dimensional partitioning in plain Python, straight from its definitions.

Nothing of pganon is imported, and nothing is fast: losses and costs are fractions, every window is
measured anew. A unit is a list of records: all of one cell, or one record.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tests.support.oracles.definitions import Attribute, Group, Nominal, Ordered, Record, Tree

SCALE = 10**9
DOMINANT = Fraction(15, 100)
REACH, REACH_OF_ROUNDS = 40, 4
MOST_LENGTHS = 64

Unit = list[Record]
Pieces = list[list[Unit]]
Condition = Callable[[Group], bool]


def exact(number: float) -> Fraction:
    """The fraction that a float stands for; denominators of tests are small."""
    return Fraction(number).limit_denominator(10**7)


# -- digits -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Digit:
    """A digit of one attribute. Attributes: values: by value of the attribute."""

    attribute: int
    level: int
    cost: Fraction
    values: dict[Any, int]

    @property
    def size(self) -> int:
        return max(self.values.values()) + 1


def digits(attributes: Sequence[Attribute], *, apart: bool) -> list[Digit]:
    """The digits of all attributes by falling cost, then by attribute and level."""
    made = [
        Digit(number, level, cost * exact(attribute.weight), values)
        for number, attribute in enumerate(attributes)
        for level, (cost, values) in enumerate(digits_of(attribute, apart=apart))
    ]
    made = [digit for digit in made if digit.size > 1]
    return sorted(made, key=lambda digit: (-digit.cost, digit.attribute, digit.level))


def digits_of(attribute: Attribute, *, apart: bool) -> Iterator[tuple[Fraction, dict[Any, int]]]:
    if isinstance(attribute, Nominal):
        yield from names(attribute, apart=apart)
        return
    if None in attribute.values and attribute.nulls != "own_class":
        yield Fraction(1), {value: int(value is None) for value in {None, *attribute.domain}}
    made = tree(attribute) if isinstance(attribute, Tree) else numbers(attribute)
    for cost, values in made:
        yield cost, {None: 0} | values


def numbers(attribute: Attribute) -> Iterator[tuple[Fraction, dict[Any, int]]]:
    assert isinstance(attribute, Ordered)
    place = {value: exact(attribute.position(value)) for value in attribute.domain}
    if len(place) < 2:
        return
    ordered = list(place.values())
    least = min(b - a for a, b in itertools.pairwise(ordered))
    slack = 1 + Fraction(1, SCALE)
    count = max((i for i in range(21) if Fraction(1, 3**i) > least * slack), default=0)
    bins = {
        value: min(math.floor(3**count * p + Fraction(1, SCALE)), 3**count - 1)
        for value, p in place.items()
    }
    for level in range(1, count + 1):
        yield (
            Fraction(1, 3**level),
            {value: number // 3 ** (count - level) % 3 for value, number in bins.items()},
        )
    members: dict[int, list[Any]] = {}
    for value, number in bins.items():
        members.setdefault(number, []).append(value)
    yield least, {value: members[number].index(value) for value, number in bins.items()}


def names(attribute: Nominal, *, apart: bool) -> Iterator[tuple[Fraction, dict[Any, int]]]:
    often = Counter(attribute.values)
    ranked = sorted(often, key=lambda value: (-often[value], attribute.codes[value]))
    cost = Fraction(1, max(len(often) - 1, 1))
    rank = {value: place for place, value in enumerate(ranked)}
    if apart and len(often) > 2 and 2 * often[ranked[0]] >= often.total():
        yield DOMINANT, {value: min(place, 1) for value, place in rank.items()}
        rank = {value: max(place - 1, 0) for value, place in rank.items()}
    yield cost, rank


def tree(attribute: Tree) -> Iterator[tuple[Fraction, dict[Any, int]]]:
    often = Counter(value for value in attribute.values if value is not None)
    found: list[tuple[Fraction, dict[Any, int]]] = []
    for level in reversed(range(attribute.top())):
        places = {value: among_siblings(attribute, often, value, level) for value in often}
        gains = [
            exact(attribute.level_loss(value, level + 1) - attribute.level_loss(value, level)) * n
            for value, n in often.items()
        ]
        if any(places.values()):
            found.append((sum(gains, Fraction()) / often.total(), places))
    costs = [cost for cost, _ in found]
    for number, (_, places) in enumerate(found):
        yield falling(costs, number), places


def among_siblings(attribute: Tree, often: Counter[Any], value: Any, level: int) -> int:
    """The rank of the node above a value among the children of its parent."""
    siblings: dict[Any, list[Any]] = {}
    for other in attribute.domain:
        if attribute.ancestor(other, level + 1) == attribute.ancestor(value, level + 1):
            siblings.setdefault(attribute.ancestor(other, level), []).append(other)
    ranked = sorted(
        siblings,
        key=lambda node: (
            -sum(often[leaf] for leaf in siblings[node]),
            min(attribute.codes[leaf] for leaf in siblings[node]),
        ),
    )
    return ranked.index(attribute.ancestor(value, level))


def falling(costs: Sequence[Fraction], place: int) -> Fraction:
    """The nearest sequence that never rises (least squares), by its min-max formula."""

    def mean(first: int, last: int) -> Fraction:
        return sum(costs[first : last + 1], Fraction()) / (last - first + 1)

    return min(
        max(mean(first, last) for last in range(place, len(costs))) for first in range(place + 1)
    )


def key(order: Sequence[Digit], record: Record) -> tuple[int, ...]:
    return tuple(digit.values[record.qi[digit.attribute]] for digit in order)


def path(order: Sequence[Digit], record: Record) -> int:
    number = 0
    for digit, d in zip(order, key(order, record), strict=True):
        number = number * digit.size + (digit.size - 1 - d if number % 2 else d)
    return number


# -- draws ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Draws:
    """Attributes: seed: of the run; `block`: its number."""

    seed: int
    block: int

    def uniform(self, *of: int) -> float:
        text = f"{self.seed}|{self.block}|".encode() + b"".join(n.to_bytes(8, "big") for n in of)
        bits = "".join(f"{byte:08b}" for byte in hashlib.sha256(text).digest())
        return (int(bits[:53], 2) + 0.5) / 2**53

    def order(self, made: Sequence[Digit], round_: int, which: int) -> list[Digit]:
        noisy = [
            math.log(digit.cost) - math.log(-math.log(self.uniform(round_, which, number)))
            for number, digit in enumerate(made)
        ]
        places = sorted(range(len(made)), key=lambda number: -noisy[number])
        levels: dict[int, list[Digit]] = {}
        for digit in sorted(made, key=lambda digit: digit.level):
            levels.setdefault(digit.attribute, []).append(digit)
        return [levels[made[place].attribute].pop(0) for place in places]


# -- the partition ----------------------------------------------------------------------------


@dataclass(frozen=True)
class OneDimensional:
    """The brute force.

    Attributes:
        satisfied: whether a group keeps every requirement.
        k: fewest records of a group.
        several: whether there are requirements beyond k.
        compares: whether groups are compared with the distribution of all.
        limit: records that may be left out; `price`: of one.
        size: units of a block.
        held: weighted losses by attribute and values.
    """

    attributes: Sequence[Attribute]
    satisfied: Condition
    k: int
    apart: bool = True
    relaxed: bool = False
    several: bool = False
    compares: bool = False
    rounds: int = 0
    seed: int = 0
    limit: int = 0
    price: float = 1.0
    size: int = 60_000
    held: dict[tuple[int, frozenset[Any]], Fraction] = field(default_factory=dict)

    # -- losses

    def loss(self, records: Iterable[Record]) -> int:
        """|C| * round(10^9 ncp(C))."""
        group = list(records)
        lost = sum(
            self.weighted(i, frozenset(record.qi[i] for record in group))
            for i in range(len(self.attributes))
        )
        return len(group) * round(SCALE * lost / sum(exact(a.weight) for a in self.attributes))

    def weighted(self, i: int, values: frozenset[Any]) -> Fraction:
        if (i, values) not in self.held:
            attribute, some = self.attributes[i], values
            if attribute.nulls == "own_class" and not isinstance(attribute, Nominal):
                some = values - {None}  # it meets no value but where orders are tried
            loss = exact(attribute.loss(some)) if some else Fraction(0)
            self.held[i, values] = exact(attribute.weight) * loss
        return self.held[i, values]

    def allowed(self, records: Group) -> bool:
        return len(records) >= self.k and self.satisfied(records)

    # -- the best pieces

    def lengths(self, longest: int, reach: int) -> list[int]:
        found = list(range(self.k if self.relaxed else 1, max(2 * self.k, 2)))
        if self.several:
            while found[-1] < reach * self.k:
                found.append(math.ceil(Fraction(115, 100) * found[-1]))
        found = [length for length in found if length <= longest] or [longest]
        if self.several and found[-1] < longest <= reach * self.k:
            found.append(longest)
        return found

    def lasts(self, units: Sequence[Unit], end: int, lengths: Sequence[int]) -> list[int]:
        """Lengths of pieces that may end before the unit `end`."""
        if self.k <= MOST_LENGTHS:
            return [length for length in lengths if length <= end]
        targets = {
            round(self.k + Fraction(number * (self.k - 1), MOST_LENGTHS - 1))
            for number in range(MOST_LENGTHS)
        }
        found = {end}
        for target in targets:
            records = 0
            for length in range(1, end + 1):
                records += len(units[end - length])
                if records >= target:
                    found.add(length)
                    break
        return sorted(found)

    def best(
        self, units: Sequence[Unit], lengths: Sequence[int], limit: int = 0
    ) -> tuple[int, Pieces] | None:
        """The least objective and its pieces; None if there are none.

        The smallest last piece wins ties, and a piece those with a unit that is left out.
        """
        price = round(self.price * SCALE)
        value: dict[tuple[int, int], int] = {(0, 0): 0}
        chosen: dict[tuple[int, int], int] = {}
        for i in range(1, len(units) + 1):
            options = {
                length: self.loss(records)
                for length in self.lasts(units, i, lengths)
                if self.allowed(records := joined(units[i - length : i]))
            }
            whole = self.compares and self.allowed(joined(units[:i]))
            for j in range(limit + 1):
                tries = [
                    (value[i - length, j] + lost, 0, length)
                    for length, lost in options.items()
                    if (i - length, j) in value
                ]
                if whole and j == 0:
                    tries.append((self.loss(joined(units[:i])), 1, i))
                before = (i - 1, j - len(units[i - 1]))
                if before in value:
                    tries.append((value[before] + price * len(units[i - 1]), 2, 0))
                if tries:
                    value[i, j], _, chosen[i, j] = min(tries)
        ends = [(value[len(units), j], j) for j in range(limit + 1) if (len(units), j) in value]
        if not ends:
            return None
        total, j = min(ends)
        pieces: Pieces = []
        i = len(units)
        while i:
            length = chosen[i, j]
            if length:
                pieces.insert(0, list(units[i - length : i]))
                i -= length
            else:
                i, j = i - 1, j - len(units[i - 1])
        return total, pieces

    def along(self, units: Iterable[Unit], order: Sequence[Digit]) -> list[Unit]:
        return sorted(units, key=lambda unit: path(order, unit[0]))

    # -- all of it

    def units(self, records: Iterable[Record], order: Sequence[Digit]) -> list[Unit]:
        """In the order of the line."""
        placed = sorted(records, key=lambda r: (key(order, r), r.tie if self.relaxed else 0))
        if self.relaxed:
            return [[record] for record in placed]
        cells: dict[tuple[Any, ...], Unit] = {}
        for record in placed:
            cells.setdefault(record.qi, []).append(record)
        return list(cells.values())

    def blocks(self, units: Sequence[Unit]) -> list[list[Unit]]:
        """Equal pieces of the line, of whole cells, each where its last unit is; one that misses a
        requirement is joined with the next."""
        number = max((len(units) + self.size // 2) // self.size, 1)
        made: list[list[Unit]] = [[] for _ in range(number)]
        last = {unit[0].qi: i for i, unit in enumerate(units)}
        for unit in units:
            made[last[unit[0].qi] * number // len(units)].append(unit)
        made = [block for block in made if block]
        while len(made) > 1:
            misses = [not self.allowed(joined(block)) for block in made]
            if not any(misses):
                break
            after: list[list[Unit]] = []
            for i, block in enumerate(made):
                last = i == len(made) - 1
                if i and (misses[i - 1] or (last and misses[i])):
                    after[-1] = after[-1] + block
                else:
                    after.append(block)
            made = after
        return made

    def classes(self, parts: Sequence[Group]) -> list[Group]:
        """The classes of all parts, of which those that show the same are one."""
        order = digits(self.attributes, apart=self.apart)
        if self.compares:
            order = self.searched([record for part in parts for record in part], order)
        released = sum(map(len, parts))
        blocks = [block for part in parts for block in self.blocks(self.units(part, order))]
        found: list[Group] = []
        for number, block in enumerate(blocks):
            limit = self.limit * len(joined(block)) // released
            pieces = self.of_block(block, order, limit)
            draws = Draws(self.seed, number)
            found += map(joined, self.refined(block, order, pieces, draws))
        return found

    def of_block(self, block: Sequence[Unit], order: Sequence[Digit], limit: int = 0) -> Pieces:
        units = self.along(block, order)
        reach = -(-len(units) // self.k) if self.compares else REACH
        made = self.best(units, self.lengths(len(units), reach), limit)
        return [list(units)] if made is None else made[1]

    def merged(self, groups: Sequence[Group]) -> list[Group]:
        """Groups that show the same made one."""
        found: dict[str, Group] = {}
        for group in groups:
            shown = [
                attribute.published(record.qi[i] for record in group)
                for i, attribute in enumerate(self.attributes)
            ]
            found.setdefault(repr(shown), []).extend(group)
        return list(found.values())

    # -- the order, where groups are compared with all

    def searched(self, records: Group, order: Sequence[Digit]) -> list[Digit]:
        held = list(order)
        least = self.tried(records, held)
        numbers_ = sorted({digit.attribute for digit in held})
        last = None
        while len(numbers_) > 1:
            tries = [
                (self.tried(records, moved(held, number)), number)
                for number in numbers_
                if number != last
            ]
            objective, number = min(tries)
            if objective >= least:
                break
            least, held, last = objective, moved(held, number), number
        return held

    def tried(self, records: Group, order: Sequence[Digit]) -> float:
        units = self.along(self.units(records, order), order)
        grouped: dict[int, Unit] = {}
        before = 0
        for unit in units:
            grouped.setdefault(before // self.k, []).extend(unit)
            before += len(unit)
        line = list(grouped.values())
        lengths = [1]
        while lengths[-1] < len(line) // 2:
            lengths.append(max(112 * lengths[-1] // 100, lengths[-1] + 1))
        lengths = [length for length in lengths if length < len(line)] + [len(line)]
        made = self.best(line, lengths)
        return math.inf if made is None else made[0]

    # -- refinement

    def refined(
        self, block: Sequence[Unit], order: Sequence[Digit], pieces: Pieces, draws: Draws
    ) -> Pieces:
        staying = [piece for piece in pieces if not self.loss(joined(piece))]
        held = [piece for piece in pieces if self.loss(joined(piece))]
        units = self.along([unit for piece in held for unit in piece], order)
        for number in range(1, self.rounds + 1):
            if units:
                held = self.round(units, held, order, number, draws)
        return staying + held

    def round(
        self,
        units: Sequence[Unit],
        held: Pieces,
        order: Sequence[Digit],
        number: int,
        draws: Draws,
    ) -> Pieces:
        size = math.ceil((Fraction(9, 2) if self.several else 3) * self.k)
        offset = int(draws.uniform(number, 2) * size)
        first, second = (draws.order(order, number, which) for which in (0, 1))
        rank = {id(unit): place for place, unit in enumerate(self.along(units, first))}
        extreme = min if number % 2 else max
        held = sorted(held, key=lambda piece: extreme(rank[id(unit)] for unit in piece))
        groups: dict[int, Pieces] = {}
        before = 0
        for piece in held:
            groups.setdefault((before + offset) // size, []).append(piece)
            before += len(joined(piece))
        lines = {
            n: self.along([unit for unit in units if unit_in(unit, of)], second)
            for n, of in groups.items()
        }
        lengths = self.lengths(max(map(len, lines.values())), REACH_OF_ROUNDS)
        after: Pieces = []
        for n, of in groups.items():
            made = self.best(lines[n], lengths)
            old = sum(self.loss(joined(piece)) for piece in of)
            after += made[1] if made is not None and made[0] < old else of
        return after


def joined(units: Iterable[Unit]) -> Group:
    return [record for unit in units for record in unit]


def unit_in(unit: Unit, pieces: Pieces) -> bool:
    return any(other is unit for piece in pieces for other in piece)


def moved(order: Sequence[Digit], attribute: int) -> list[Digit]:
    """The digits of one attribute behind all others."""
    return sorted(order, key=lambda digit: digit.attribute == attribute)
