"""Groups of related tables from the definitions: goodness, division, pairs, and posteriors.

Nothing is shared with pganon. `without` names conditions to leave out: `k`, `beta`, `size`,
`membership`, `apart`; of pairs `first`, `second`, `enough`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

Person = Any
Row = tuple[Person, tuple[Any, ...]]


@dataclass(frozen=True)
class Events:
    """Rows of a table with their people; `sensitive` numbers the columns that are bounded."""

    rows: Sequence[Row]
    sensitive: Collection[int] = ()
    membership: bool = False
    parent: int | None = None

    def of(self, people: Collection[Person]) -> list[Row]:
        return [row for row in self.rows if row[0] in people]

    def holders(self, people: Collection[Person]) -> set[Person]:
        return {person for person, _ in self.of(people)}

    def counts(self, people: Collection[Person], column: int) -> Counter[Any]:
        return Counter(value for _, value in {(p, v[column]) for p, v in self.of(people)})


@dataclass(frozen=True)
class Rule:
    k: int
    size: int
    beta: Fraction
    without: frozenset[str] = field(default=frozenset())

    def good(self, people: Collection[Person], tables: Sequence[Events]) -> bool:
        if "size" not in self.without and len(people) < self.size:
            return False
        return all(self._good(people, one, tables) for one in tables)

    def _good(self, people: Collection[Person], one: Events, tables: Sequence[Events]) -> bool:
        holders = one.holders(people)
        if not holders:
            return True
        if "k" not in self.without and len(holders) < self.k:
            return False
        if "beta" not in self.without:
            for column in one.sensitive:
                if max(one.counts(people, column).values()) > self.beta * len(holders):
                    return False
        if one.membership and "membership" not in self.without:
            could = people if one.parent is None else tables[one.parent].holders(people)
            return len(holders) <= self.beta * len(could)
        return True

    def open(self, rows: Iterable[tuple[Person, Any, Any]]) -> set[Any]:
        """The first values of the rows of a group beside which others are shown."""
        facts = set(rows)
        stays = {x for _, x, _ in facts}
        while True:
            firsts, seconds = defaultdict(set), defaultdict(set)
            both: dict[Any, set[Person]] = defaultdict(set)
            for person, x, y in facts:
                firsts[x].add(person)
                if x in stays:
                    seconds[y].add(person)
                    both[x, y].add(person)
            closed = {
                x
                for (x, y), people in both.items()
                if ("first" not in self.without and len(people) > self.beta * len(firsts[x]))
                or ("second" not in self.without and len(people) > self.beta * len(seconds[y]))
                or ("enough" not in self.without and len(seconds[y]) < self.k)
            }
            if not closed:
                return stays
            stays -= closed


def divide(
    rule: Rule,
    children: Mapping[Any, Sequence[Any]],
    people: Mapping[Any, Collection[Person]],
    tops: Iterable[Any],
    tables: Sequence[Events],
) -> set[frozenset[Person]] | None:
    """The groups: nodes of trees that are not divided any more; None where a top is not good."""
    found: set[frozenset[Person]] = set()
    waiting = list(tops)
    if not all(rule.good(people[top], tables) for top in waiting):
        return None
    while waiting:
        node = waiting.pop()
        below = children.get(node, ())
        if below and all(rule.good(people[child], tables) for child in below):
            waiting += below
        else:
            found.add(frozenset(people[node]))
    return found


# -- worlds ----------------------------------------------------------------------------------------


def worlds(people: int, facts: Sequence[Any]) -> Iterable[tuple[frozenset[Any], ...]]:
    """All ways in which people of a group may have facts, or none; all equally likely."""
    sets = [
        frozenset(fact for fact, held in zip(facts, bits, strict=True) if held)
        for bits in product((False, True), repeat=len(facts))
    ]
    return product(sets, repeat=people)


def posteriors(
    found: Iterable[tuple[frozenset[Any], ...]],
    published: Any,
    secret: Any,
    known: Any = lambda facts: True,
) -> dict[Any, Fraction]:
    """By what is published of worlds, what readers believe that the first person has.

    Args:
        published: of a world; None: it is refused.
        secret: of the facts of a person, whether it is what they must not learn.
        known: of these, what they know before.
    """
    seen: dict[Any, list[int]] = defaultdict(lambda: [0, 0])
    for world in found:
        shown = published(world)
        if shown is None or not known(world[0]):
            continue
        seen[shown][0] += 1
        seen[shown][1] += bool(secret(world[0]))
    return {shown: Fraction(yes, whole) for shown, (whole, yes) in seen.items()}
