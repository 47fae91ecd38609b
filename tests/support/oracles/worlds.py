"""Exact posteriors of slicing and SLAMSA: all worlds that agree with a small release.

A world deals the rows of every sensitive table to the records of their group, and those of the
other QITs, if the QIT is sliced. All ways to deal are as likely as each other but for what the
adversary knows; equal rows are dealt as often as there are ways. ValueError if V1 is broken.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.support.oracles.sliced import (
    Group,
    Published,
    Relation,
    Row,
    Rule,
    Value,
    columns,
    count,
    data,
    v1,
)

Weight = Fraction | int
Record = tuple[Row, Row]
"""Quasi-identifiers and sensitive values of a record in a world."""
World = list[Record]
Shares = dict[Value, Fraction]


@dataclass(frozen=True)
class Adversary:
    """What is known besides the release; nothing by default (K0).

    Attributes:
        names, vectors: values of those sensitive columns that a person may have, with weights, as
            if every person had drawn them (K1).
        prior: weight of the sensitive values of all records, in the order of the last QIT (K1).
        rules: values that some people never have (K2).
        population: exact quasi-identifiers of everybody in the release. Needed where the QIT is
            sliced, else they are public.
    """

    names: Sequence[str] = ()
    vectors: Mapping[tuple[Value, ...], Weight] | None = None
    prior: Callable[[Sequence[Row]], Weight] | None = None
    rules: Sequence[Rule] = ()
    population: Sequence[Row] | None = None

    @property
    def about(self) -> set[str]:
        """Sensitive columns of which something is known."""
        return {*self.names, *[rule.column for rule in self.rules]}

    def weight(self, vector: Row, sensitive: Row) -> Weight:
        """Weight of one record in a world."""
        held = [r for r in self.rules if r.column in sensitive and sensitive[r.column] == r.value]
        if any(rule.when(vector) for rule in held):
            return 0
        if self.vectors is None:
            return 1
        return self.vectors.get(tuple(sensitive[name] for name in self.names), 0)


NOTHING = Adversary()


def knows(names: Sequence[str], vectors: Collection[tuple[Value, ...]]) -> Adversary:
    """A reader who knows which vectors occur, but not how often."""
    return Adversary(names, dict.fromkeys(vectors, 1))


# -- dealing ------------------------------------------------------------------------------------


@dataclass
class Pile:
    """Rows of a group, and how many of each are left to deal."""

    rows: list[Row]
    left: list[int]
    quasi: bool

    def draws(self) -> Iterator[tuple[Pile, int]]:
        return ((self, i) for i, n in enumerate(self.left) if n)


Place = tuple[str, Group]


@dataclass
class Table:
    """Records of the last QIT, and the piles that each draws from."""

    own: list[Row]
    places: list[list[Place]]
    piles: dict[Place, Pile]

    def parts(self) -> list[list[int]]:
        """Records that share piles, however indirectly."""
        found: list[tuple[set[Place], list[int]]] = []
        for record, places in enumerate(self.places):
            touched = [part for part in found if part[0] & set(places)]
            found = [part for part in found if part not in touched]
            merged = set(places).union(*[part[0] for part in touched])
            found.append((merged, [*itertools.chain(*[part[1] for part in touched]), record]))
        return [sorted(part) for _, part in found]


def _piles(name: str, relation: Relation, quasi: bool) -> dict[Place, Pile]:
    piles: dict[Place, Pile] = {}
    for row in relation:
        pile = piles.setdefault((name, row.get("group_id")), Pile([], [], quasi))
        pile.rows.append(data(row))
        pile.left.append(count(row))
    return piles


def _table(p: Published, tables: Iterable[int]) -> Table:
    if v1(p):
        raise ValueError("groups have different numbers of records in different relations")
    asked = list(tables)
    piles: dict[Place, Pile] = {}
    for i, qit in enumerate(p.qits[:-1]):
        piles |= _piles(f"qit{i}", qit, True)
    for j in asked:
        piles |= _piles(f"st{j}", p.sts[j], False)
    own, places = [], []
    for row in p.qits[-1]:
        held = [(f"qit{i}", row.get("group_id")) for i in range(len(p.qits) - 1)]
        held += [(f"st{j}", p.link(row, j)) for j in asked]
        own += [data(row)] * count(row)
        places += [held] * count(row)
    return Table(own, places, piles)


class _Dealer:
    """Deals to records one after the other, and turns back where a world is impossible."""

    def __init__(self, table: Table, adversary: Adversary, records: Sequence[int]) -> None:
        self.table = table
        self.adversary = adversary
        self.records = records
        people = adversary.population or ()
        self.names = sorted({name for person in people for name in person})
        self.people = Counter(map(self._key, people)) if people else None
        self.world: World = []

    def worlds(self, weight: Weight = 1) -> Iterator[tuple[Weight, World]]:
        if len(self.world) == len(self.records):
            if weight := weight * self._believed():
                yield weight, list(self.world)
            return
        record = self.records[len(self.world)]
        held = [self.table.piles[place] for place in self.table.places[record]]
        for drawn in itertools.product(*[list(pile.draws()) for pile in held]):
            vector, sensitive = dict(self.table.own[record]), {}
            ways: Weight = 1
            for pile, i in drawn:
                (vector if pile.quasi else sensitive).update(pile.rows[i])
                ways *= pile.left[i]
            ways *= self.adversary.weight(vector, sensitive)
            if ways and self._exists(vector):
                self._move(drawn, -1, vector)
                self.world.append((vector, sensitive))
                yield from self.worlds(weight * ways)
                self.world.pop()
                self._move(drawn, 1, vector)

    def _believed(self) -> Weight:
        prior = self.adversary.prior
        return 1 if prior is None else prior([sensitive for _, sensitive in self.world])

    def _exists(self, vector: Row) -> bool:
        return self.people is None or self.people[self._key(vector)] > 0

    def _key(self, vector: Row) -> tuple[Value, ...]:
        return tuple(vector[name] for name in self.names)

    def _move(self, drawn: Iterable[tuple[Pile, int]], step: int, vector: Row) -> None:
        for pile, i in drawn:
            pile.left[i] += step
        if self.people is not None:
            self.people[self._key(vector)] += step


def worlds(
    p: Published, adversary: Adversary = NOTHING, tables: Iterable[int] | None = None
) -> Iterator[tuple[Weight, World]]:
    """Every world that agrees with the release and with what is known, with its weight.

    Records are in the order of the last QIT. `tables` are indices of sensitive tables to deal.
    """
    table = _table(p, range(len(p.sts)) if tables is None else tables)
    return _Dealer(table, adversary, range(len(table.own))).worlds()


def number(p: Published, adversary: Adversary = NOTHING) -> Weight:
    """How many worlds there are, if what is known has no weights."""
    return sum(weight for weight, _ in worlds(p, adversary))


def _asked(p: Published, adversary: Adversary, column: str) -> list[int]:
    """The table of a column, and those of which something is known; others tell nothing."""
    about = adversary.about | {column}
    if adversary.prior is not None:
        return list(range(len(p.sts)))
    return [j for j, st in enumerate(p.sts) if about & set(columns(st))]


def _normal(found: Mapping[Value, Weight]) -> Shares:
    total = sum(found.values())
    return {value: Fraction(n) / total for value, n in found.items() if n}


def posteriors(p: Published, column: str, adversary: Adversary = NOTHING) -> list[Shares]:
    """What is learnt of a sensitive column, for every record of the last QIT in its order.

    Records that are not connected by common groups, even indirectly, are handled separately:
    knowledge about one part says nothing about another, unless it is a prior of all records or a
    population. All are empty if the knowledge is contradictory.
    """
    table = _table(p, _asked(p, adversary, column))
    whole = adversary.prior is not None or adversary.population is not None
    parts = [list(range(len(table.own)))] if whole else table.parts()
    seen: list[dict[Value, Weight]] = [defaultdict(int) for _ in table.own]
    for part in parts:
        for weight, world in _Dealer(table, adversary, part).worlds():
            for record, (_, sensitive) in zip(part, world, strict=True):
                seen[record][sensitive[column]] += weight
    return [_normal(found) if all(seen) else {} for found in seen]


def of_person(p: Published, person: Row, column: str, adversary: Adversary = NOTHING) -> Shares:
    """Inference about somebody who is in the release, by quasi-identifiers.

    In every world the person is each of the records that match with the same probability.
    """
    seen: dict[Value, Weight] = defaultdict(int)
    for weight, world in worlds(p, adversary, _asked(p, adversary, column)):
        found = [s[column] for v, s in world if all(v[name] == person[name] for name in person)]
        for value in found:
            seen[value] += Fraction(weight) / len(found)
    return _normal(seen)
