"""What readers of versions about two columns conclude, by going through all possible worlds.

Some versions tell of one column and some of another, about the same people. A world gives everybody
a value of each. A belief either takes the columns to be independent, or one to say the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

from tests.support.oracles.guard_worlds import (
    Era,
    History,
    World,
    cells,
    worlds,
)

Belief = Callable[[World, World], float]


def posteriors(
    one: History, other: History, domain: str, belief: Belief
) -> dict[tuple[Era, str], float]:
    """The probability of every value of the first column, given all versions."""
    total, sums = 0.0, Counter[tuple[Era, str]]()
    others = worlds(other, domain)
    for world in worlds(one, domain):
        weight = sum(belief(world, second) for second in others)
        total += weight
        for era, values in world.items():
            for value in values:
                sums[era, value] += weight
    return {key: weight / total for key, weight in sums.items()} if total else {}


def independent(one: History, other: History, random: Random) -> Belief:
    """A belief per column, the same if people with one past in its versions change places."""
    first, second = _exchangeable(one, random), _exchangeable(other, random)
    return lambda world, another: first(world) * second(another)


def _exchangeable(history: History, random: Random) -> Callable[[World], float]:
    told = cells(history)
    weights: dict[object, float] = {}

    def weight(world: World) -> float:
        product = 1.0
        for signature, members in told.items():
            had = sorted((era, v) for (who, era), v in world.items() if who in members)
            product *= weights.setdefault((signature, tuple(had)), random.random() ** 3 + 1e-9)
        return product

    return weight


def the_same(world: World, another: World) -> float:
    """Of who knows that both columns have one value for a person."""
    return float(all(another.get(era, values) == values for era, values in world.items()))
