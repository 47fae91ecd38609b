"""Measures of slicing and SLAMSA in plain Python, as exact as they can be; nothing is fast.

A query is a conjunction of conditions by column, quasi-identifying or sensitive.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.support.oracles import anatomy as anatomy_oracle
from tests.support.oracles.sliced import (
    Group,
    Published,
    Relation,
    Row,
    Value,
    columns,
    count,
    data,
    holder,
    sizes,
    values,
)

Query = Mapping[str, Callable[[Value], bool]]
Cells = Mapping[str, Callable[[Value], Hashable]]
"""What is grouped by: columns, and a function of each that gives its part of a cell."""
Cell = tuple[Hashable, ...]
Pdf = dict[Cell, Fraction]


def equal(value: Value) -> Callable[[Value], bool]:
    return lambda other: other == value


def same(value: Value) -> Value:
    return value


def matches(row: Row, query: Query) -> bool:
    """Whether a row satisfies the conditions on its own columns."""
    return all(condition(row[name]) for name, condition in query.items() if name in row)


# -- estimates (M2) -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Drawn:
    """A relation whose rows are dealt to the records of a group at random.

    Attributes:
        matching: rows that match, by group.
        sizes: rows, by group.
    """

    matching: Counter[Group]
    sizes: Counter[Group]

    def one(self, group: Group) -> Fraction:
        """How likely a record gets a match."""
        return Fraction(self.matching[group], self.sizes[group])

    def two(self, one: Group, other: Group) -> Fraction:
        """How likely two records of those groups both get one."""
        if one != other:
            return self.one(one) * self.one(other)
        a, n = self.matching[one], self.sizes[one]
        return Fraction(a * (a - 1), n * (n - 1)) if n > 1 else Fraction(0)


Place = tuple[Drawn, Group]
Places = tuple[Place, ...]


def _drawn(relation: Relation, query: Query) -> Drawn:
    matching: Counter[Group] = Counter()
    for row in relation:
        if matches(data(row), query):
            matching[row.get("group_id")] += count(row)
    return Drawn(matching, sizes(relation))


def _expected(p: Published, query: Query) -> Iterator[tuple[Row, Places, Fraction]]:
    """Matching rows of the last QIT, where they draw, and how likely they get all matches."""
    asked = [j for j, st in enumerate(p.sts) if query.keys() & set(columns(st))]
    sliced = [qit for qit in p.qits[:-1] if query.keys() & set(columns(qit))]
    drawn = [_drawn(r, query) for r in [*sliced, *[p.sts[j] for j in asked]]]
    for row in p.qits[-1]:
        if matches(data(row), query):
            groups = [row.get("group_id")] * len(sliced) + [p.link(row, j) for j in asked]
            places = tuple(zip(drawn, groups, strict=True))
            yield row, places, _product(d.one(group) for d, group in places)


def _product(chances: Iterable[Fraction]) -> Fraction:
    return math.prod(chances, start=Fraction(1))


def estimate(p: Published, query: Query) -> Fraction:
    """Expected number of records that match, for a reader who knows nothing else."""
    return sum((count(row) * chance for row, _, chance in _expected(p, query)), Fraction(0))


def variance(p: Published, query: Query) -> Fraction:
    """Variance of that number: covariances of all pairs of records that share a group."""
    records: Counter[Places] = Counter()
    chances: dict[Places, Fraction] = {}
    sharing: dict[Place, set[Places]] = defaultdict(set)
    for row, places, chance in _expected(p, query):
        records[places] += count(row)
        chances[places] = chance
        for place in places:
            sharing[place].add(places)
    found = Fraction(0)
    for one, n in records.items():
        found += n * chances[one] * (1 - chances[one])
        for other in set().union(*[sharing[place] for place in one]):
            pairs = n * (n - 1) if one == other else n * records[other]
            both = _product(d.two(a, b) for (d, a), (_, b) in zip(one, other, strict=True))
            found += pairs * (both - chances[one] * chances[other])
    return found


def bounds(p: Published, query: Query) -> tuple[int, int]:
    """The fewest and the most that match, where only a sensitive table is dealt."""
    reached: Counter[Place] = Counter()
    for row, (place,), _ in _expected(p, query):
        reached[place] += count(row)
    found = [(b, d.matching[g], d.sizes[g]) for (d, g), b in reached.items()]
    return sum(max(0, a + b - n) for b, a, n in found), sum(min(a, b) for b, a, n in found)


def combinations(p: Published) -> Iterator[tuple[Row, Fraction]]:
    """What the relations join to: vectors, and of how many records each is expected to be.

    Every row of the last QIT is joined with all rows of its groups.
    """
    for row in p.qits[-1]:
        parts = [(qit, row.get("group_id")) for qit in p.qits[:-1]]
        parts += [(st, p.link(row, j)) for j, st in enumerate(p.sts)]
        held = [[r for r in rows if r.get("group_id") == group] for rows, group in parts]
        for drawn in itertools.product(*held):
            shares = [
                Fraction(count(r), sum(map(count, g))) for r, g in zip(drawn, held, strict=True)
            ]
            vector = dict(itertools.chain(*[data(r).items() for r in (row, *drawn)]))
            yield vector, math.prod(shares, start=Fraction(count(row)))


# -- distributions (M3, M4) ---------------------------------------------------------------------


def actual_pdf(rows: Iterable[Row], by: Cells, condition: Query) -> Pdf:
    """Share of every cell of the source in the records that match; empty if none does."""
    cells: Counter[Cell] = Counter()
    for row in rows:
        cells[tuple(part(row[name]) for name, part in by.items())] += matches(row, condition)
    return _shares({cell: Fraction(n) for cell, n in cells.items()})


def estimated_pdf(p: Published, cells: Iterable[Cell], by: Cells, condition: Query) -> Pdf:
    """The same from estimates of the cells that the source has; empty if all are 0."""
    found = dict.fromkeys(cells, Fraction(0))
    drawn = {name: part for name, part in by.items() if name not in columns(p.qits[-1])}
    for rest in {_of(cell, by, drawn) for cell in found}:
        for row, _, chance in _expected(p, _both(condition, drawn, rest)):
            known = {name: part(row[name]) for name, part in by.items() if name not in drawn}
            known |= dict(zip(drawn, rest, strict=True))
            cell = tuple(known[name] for name in by)
            if cell in found:
                found[cell] += count(row) * chance
    return _shares(found)


def _of(cell: Cell, by: Cells, names: Iterable[str]) -> Cell:
    parts = dict(zip(by, cell, strict=True))
    return tuple(parts[name] for name in names)


def _both(condition: Query, by: Cells, cell: Cell) -> Query:
    """Records that satisfy the condition and are in the cell."""

    def tested(name: str, wanted: Hashable) -> Callable[[Value], bool]:
        given = condition.get(name, lambda value: True)
        return lambda value: given(value) and by[name](value) == wanted

    here = {name: tested(name, wanted) for name, wanted in zip(by, cell, strict=True)}
    return {**condition, **here}


def _shares(found: Mapping[Cell, Fraction]) -> Pdf:
    total = sum(found.values())
    return {cell: n / total for cell, n in found.items()} if total else {}


def divergence(actual: Pdf, estimated: Pdf) -> float:
    """Kullback-Leibler divergence in nats; infinite where the estimate lacks a cell."""
    present = {cell: share for cell, share in actual.items() if share}
    if not all(estimated.get(cell) for cell in present):
        return math.inf
    return math.fsum(a * math.log(a / estimated[cell]) for cell, a in present.items())


def kl(p: Published, rows: Sequence[Row], by: Cells, condition: Query) -> float | None:
    """Divergence of one query; None if no record of the source matches."""
    actual = actual_pdf(rows, by, condition)
    return divergence(actual, estimated_pdf(p, actual, by, condition)) if actual else None


def mean_kl(divergences: Iterable[float | None]) -> tuple[float | None, int]:
    """Mean of the finite ones, and how many are infinite; queries without records do not count."""
    asked = [d for d in divergences if d is not None]
    finite = [d for d in asked if math.isfinite(d)]
    return (math.fsum(finite) / len(finite) if finite else None), len(asked) - len(finite)


# -- groups (M5, M6, M9) ------------------------------------------------------------------------


def histogram(relation: Relation) -> dict[int, int]:
    """Groups by number of records."""
    return dict(Counter(sizes(relation).values()))


def discernibility(relation: Relation) -> int:
    return sum(n * n for n in sizes(relation).values())


def reconstruction_error(p: Published, column: str) -> Fraction:
    """RCE of Anatomy, of one sensitive column."""
    _, st = holder(p, column)
    return anatomy_oracle.reconstruction_error(
        [list(found.elements()) for found in values(st, [column]).values()]
    )


def suppression(suppressed: int, records: int) -> Fraction:
    return Fraction(suppressed, records)


def additional_loss(relation: Relation, l: int) -> Fraction | None:  # noqa: E741
    """Additional information loss of MSB; None without groups."""
    held = sizes(relation)
    return Fraction(sum(n - l for n in held.values()), l * len(held)) if held else None
