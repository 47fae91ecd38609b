"""Tables of the QS k-anonymity oracle: the worked example, and random ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.support.oracles.qs import (
    Attribute,
    Cluster,
    Condition,
    Count,
    QsSets,
    attributes,
    reachable,
)

COLOURS = {
    "white": ("mono", "any"),
    "black": ("mono", "any"),
    "red": ("chroma", "any"),
    "blue": ("chroma", "any"),
}
ZONES = {
    "Z1": ("north", "any"),
    "Z2": ("north", "any"),
    "Z3": ("south", "any"),
    "Z4": ("south", "any"),
}
VEHICLES = [
    (2013, "white", "Z1", 8),
    (2018, "black", "Z2", 9),
    (2015, "red", "Z4", 17),
    (2019, "blue", "Z3", 20),
    (2014, "black", "Z1", 9),
    (2018, "white", "Z3", 21),
]
EFFICIENT_ORDER = [1, 5, 2, 6, 4, 3]


def numeric(name: str, *values: Any) -> Attribute:
    return Attribute(name, "numeric", dict(enumerate(values, 1)))


def tree(name: str, *values: Any, paths: dict[Any, tuple[str, ...]] | None = None) -> Attribute:
    return Attribute(name, "tree", dict(enumerate(values, 1)), paths)


def vehicles(rows: Sequence[tuple[Any, ...]] = VEHICLES) -> QsSets:
    year, colour, zone, hour = zip(*rows, strict=True)
    return {
        "QS1": [numeric("reg_year", *year), tree("colour", *colour, paths=COLOURS)],
        "QS2": [tree("zone", *zone, paths=ZONES), numeric("hour", *hour)],
    }


def records(sets: QsSets) -> list[int]:
    return sorted(attributes(sets)[0].values)


# -- random tables -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A table whose equal records have consecutive numbers, and what is asked of it."""

    condition: Condition
    start: int

    @property
    def sets(self) -> QsSets:
        return self.condition.sets

    @property
    def records(self) -> list[int]:
        return records(self.sets)

    def row(self, record: int) -> tuple[Any, ...]:
        return tuple(a.values[record] for a in attributes(self.sets))

    def holds_not(self, cluster: Cluster) -> bool:
        return not self.condition.holds(cluster)


@st.composite
def columns(draw: st.DrawFn) -> tuple[list[Any], dict[str, tuple[str, ...]] | None]:
    """Values of a column, and its tree if it is not numeric."""
    if draw(st.booleans()):
        return [None, *range(draw(st.sampled_from([1, 2, 4, 7])))], None
    leaves = "abcdef"[: draw(st.sampled_from([1, 2, 4, 6]))]
    paths: dict[str, tuple[str, ...]] = dict.fromkeys(leaves, ())
    above = list(leaves)
    for level in range(draw(st.integers(0, 2))):
        parent = {node: f"{level}{draw(st.integers(0, 2))}" for node in dict.fromkeys(above)}
        above = [parent[node] for node in above]
        paths = {leaf: (*paths[leaf], node) for leaf, node in zip(leaves, above, strict=True)}
    return [None, *leaves], {leaf: (*p, "root") for leaf, p in paths.items()}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    shape = [
        [draw(columns()) for _ in range(draw(st.integers(1, 2)))]
        for _ in range(draw(st.integers(2, 3)))
    ]
    flat = [column for qs_set in shape for column in qs_set]
    row = st.tuples(*(st.sampled_from(values) for values, _ in flat))
    size = draw(st.sampled_from([1, 4, 8]))
    kinds = draw(st.lists(row, min_size=size, max_size=size).map(dict.fromkeys))
    rows = [kind for kind in kinds for _ in range(draw(st.sampled_from([1, 1, 2, 3])))]
    made = (
        tree(str(i), *column, paths=paths) if paths else numeric(str(i), *column)
        for i, (column, (_, paths)) in enumerate(zip(zip(*rows, strict=True), flat, strict=True))
    )
    sets = {f"QS{j}": [next(made) for _ in qs_set] for j, qs_set in enumerate(shape, 1)}
    count: Count = "product" if draw(st.booleans()) else "supported"
    public = None
    if count == "supported" and draw(st.booleans()):
        known = st.lists(st.sampled_from(rows), min_size=1)
        width = len(shape[0])
        public = {"QS1": {r[:width] for r in draw(known)}}
    numbers = range(1, len(rows) + 1)
    best = reachable(numbers, sets, count, public)
    k = draw(st.sampled_from(range(1, max(2, min(best.values()) + 1))))
    fewest = min(len(a.of(numbers)) for a in attributes(sets))
    condition = Condition(sets, k, count, draw(st.sampled_from(range(1, fewest + 1))), public)
    return Case(condition, draw(st.sampled_from(numbers)))
