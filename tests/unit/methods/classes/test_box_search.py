"""The search over the lattice of levels against brute force."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import pytest

from pganon.methods.classes.full_domain.search.boxes import BoxSearch, Evaluated, Rules
from pganon.methods.classes.full_domain.search.lattice import Key, Lattice, Node
from pganon.methods.classes.full_domain.search.sources import Table, sources

MODELS = ("size", "distinct", "half", "upward")


@dataclass(frozen=True)
class World:
    """Records with binary hierarchies: the label on a level is the value without its last bits.

    Attributes:
        model: of a class of at least k records: nothing more (size), two sensitive values
            (distinct), none in more than half of them (half), or two values that the relaxed
            model does not know of (upward).
    """

    heights: tuple[int, ...]
    records: tuple[tuple[int, ...], ...]
    sensitive: tuple[int, ...]
    k: int
    model: str

    def lost(self, place: int, level: int) -> int:
        return 0 if level == 0 else (1000 << level) >> self.heights[place]

    @property
    def lattice(self) -> Lattice:
        n = len(self.records)
        losses = tuple(
            tuple(n * self.lost(place, level) for level in range(height + 1))
            for place, height in enumerate(self.heights)
        )
        return Lattice((0,) * len(self.heights), self.heights, losses)

    @property
    def nodes(self) -> Iterator[Node]:
        return itertools.product(*[range(height + 1) for height in self.heights])

    def relaxed(self, group: list[int]) -> bool:
        values = {self.sensitive[number] for number in group}
        return len(group) >= self.k and (self.model != "distinct" or len(values) > 1)

    def holds(self, group: list[int]) -> bool:
        values = [self.sensitive[number] for number in group]
        if not self.relaxed(group):
            return False
        if self.model == "half":
            return 2 * max(map(values.count, values)) <= len(values)
        return self.model != "upward" or len(set(values)) > 1

    def classes(self, node: Node) -> list[list[int]]:
        groups: dict[tuple[int, ...], list[int]] = {}
        for number, record in enumerate(self.records):
            label = tuple(v >> level for v, level in zip(record, node, strict=True))
            groups.setdefault(label, []).append(number)
        return list(groups.values())

    def measured(self, node: Node, *, judged: bool) -> tuple[int, int, int]:
        """Failing records, what they lose beyond their labels, and the number of classes."""
        groups, passes = self.classes(node), self.holds if judged else self.relaxed
        failing = sum(len(group) for group in groups if not passes(group))
        each = sum(1000 - self.lost(place, level) for place, level in enumerate(node))
        return failing, failing * each, len(groups)

    def sizes(self, node: Node) -> Counter[int]:
        """Classes that pass, by their size."""
        return Counter(len(group) for group in self.classes(node) if self.holds(group))

    def left(self, node: Node) -> World:
        """The records of the classes that fail."""
        failing = [group for group in self.classes(node) if not self.holds(group)]
        numbers = sorted(number for group in failing for number in group)
        return replace(
            self,
            records=tuple(self.records[number] for number in numbers),
            sensitive=tuple(self.sensitive[number] for number in numbers),
        )

    @property
    def whole(self) -> int:
        """What all records lose if they are suppressed."""
        return 1000 * len(self.records) * len(self.heights)

    def optimum(self, limit: int) -> Key | None:
        found = ((node, self.measured(node, judged=True)) for node in self.nodes)
        keys = [self.lattice.key(node, lost) for node, (n, lost, _) in found if n <= limit]
        return min(keys, default=None)


def world(rng: random.Random) -> World:
    heights = tuple(rng.randint(1, 3) for _ in range(rng.randint(1, 4)))
    size = rng.randint(2, 14)
    return World(
        heights,
        tuple(tuple(rng.randrange(2**height) for height in heights) for _ in range(size)),
        tuple(rng.randrange(4) for _ in range(size)),
        rng.randint(2, 4),
        rng.choice(MODELS),
    )


def rules(found: World, limit: int, max_nodes: int = 10**6) -> Rules:
    return Rules(
        limit=limit,
        exact=found.model in ("size", "distinct"),
        upward=found.model != "half",
        closes=False,
        moved=False,
        max_nodes=max_nodes,
    )


Whole = Callable[[Mapping[int, int]], bool]


def searched(
    found: World, given: Rules, whole: Whole = lambda sizes: True, *, last: bool = True
) -> BoxSearch:
    """The search at its end.

    Args:
        whole: whether the classes that pass may be released together, by how many there are of a
            size.
        last: whether nothing else becomes of what fails.
    """
    search = BoxSearch(found.lattice, given)
    while wanted := search.advance():
        for node in wanted.nodes:
            search.observe(node, Evaluated(*found.measured(node, judged=False)))
        if (node := wanted.judged) is not None:
            failing, lost, _ = found.measured(node, judged=True)
            stuck = found.left(node).measured(found.heights, judged=True)[0]
            holds = whole(found.sizes(node))
            search.judge(node, failing, lost, 0 if last else stuck, holds=holds)
    return search


@pytest.mark.parametrize("seed", range(300))
def test_the_optimum(seed: int) -> None:
    rng = random.Random(seed)
    found = world(rng)
    limit = rng.choice([0, 1, 2, len(found.records) - 1])
    search = searched(found, rules(found, limit))
    assert search.best == found.optimum(limit)
    assert search.proved


@pytest.mark.parametrize("seed", range(150))
def test_what_all_classes_together_have_to_satisfy(seed: int) -> None:
    """For some nodes, whatever holds above or below."""
    rng = random.Random(seed)
    found = world(rng)
    limit = rng.choice([0, 1, len(found.records) - 1])
    drawn = rng.choice([0.2, 0.7])

    def whole(sizes: Mapping[int, int]) -> bool:
        return random.Random(f"{seed} {sorted(sizes.items())}").random() < drawn

    search = searched(found, replace(rules(found, limit), exact=False), whole)
    passing = {}
    for node in found.nodes:
        failing, lost, _ = found.measured(node, judged=True)
        if failing <= limit:
            passing[node] = (found.lattice.key(node, lost), whole(found.sizes(node)))
    best = min((key for key, holds in passing.values() if holds), default=None)
    assert search.best == best
    if best is None:
        judged = [n for n, f in search.evaluated.items() if f.judged and f.judged[0] <= limit]
        assert len(judged) == len(passing)


@pytest.mark.parametrize("seed", range(100))
def test_no_cost_is_below_the_bound(seed: int) -> None:
    """However early the search ends."""
    rng = random.Random(seed)
    found = world(rng)
    optimum = found.optimum(2)
    for most in (1, 2, 4, 8, 16):
        search = searched(found, rules(found, 2, most))
        assert len(search.evaluated) <= most
        if optimum is not None:
            assert search.bound is None or search.bound <= optimum[0]
            assert search.best is None or search.best >= optimum
        if search.proved:
            assert search.best == optimum


def test_a_failing_top_ends_the_search() -> None:
    alone = World((2,), ((0,), (3,)), (1, 1), 3, "size")
    search = searched(alone, rules(alone, 0))
    assert {node: found.failing for node, found in search.evaluated.items()} == {(2,): 2}
    assert (search.best, search.proved) == (None, True)


def test_a_node_is_judged_again_until_nothing_more_fails() -> None:
    lattice = Lattice((0,), (1,), ((0, 4000),))
    closing = Rules(limit=2, exact=False, upward=False, closes=True, moved=False, max_nodes=10)
    search = BoxSearch(lattice, closing)
    judged: list[Node] = []
    failing: dict[Node, list[int]] = {(1,): [0], (0,): [1, 2, 2]}
    while wanted := search.advance():
        for node in wanted.nodes:
            search.observe(node, Evaluated(0, 0))
        if (node := wanted.judged) is not None:
            judged.append(node)
            n = failing[node].pop(0)
            search.judge(node, n, n * 1000)
    assert judged.count((0,)) == 3
    assert search.best == (2000, 0, (0,))


def test_nodes_share_what_they_have_in_common() -> None:
    base = Table("hist", (0, 0), 1000)
    found = sources([(2, 1), (1, 1), (1, 2)], [base], "3_")
    assert found.made == {"3_0": ((1, 1), "hist")}
    assert set(found.of.values()) == {"3_0"}
    # Nothing in common but the table itself: the most that are raised on one column.
    found = sources([(2, 0), (1, 0), (1, 3), (0, 1)], [base], "3_")
    assert found.made == {"3_0": ((1, 0), "hist")}
    assert found.of == {(2, 0): "3_0", (1, 0): "3_0", (1, 3): "3_0", (0, 1): "hist"}


@pytest.mark.parametrize(
    ("nodes", "rows"), [([(1, 1), (1, 2)], 1000), ([(1, 1), (1, 2), (2, 1)], 500)]
)
def test_few_nodes_and_small_tables_share_nothing(nodes: list[Node], rows: int) -> None:
    assert not sources(nodes, [Table("hist", (0, 0), rows)], "0_").made


def test_a_node_is_judged_again_where_what_is_released_has_moved() -> None:
    """By records that no class failed for."""
    moved = Rules(limit=3, exact=False, upward=False, closes=True, moved=True, max_nodes=10)
    for given, times in ((moved, 2), (replace(moved, moved=False), 1)):
        search = BoxSearch(Lattice((0,), (0,), ((0,),)), given)
        search.observe((0,), Evaluated(0, 0))
        asked = 0
        while search.advance().judged is not None:
            asked += 1
            search.judge((0,), 0, 0)
        assert asked == times


# -- several rounds of recoding ---------------------------------------------------------------


def greedy(found: World, rounds: int, allowed: int) -> tuple[list[tuple[Node, int]], int]:
    """By brute force the node of every round, with the records that it leaves, and the cost."""
    taken: list[tuple[Node, int]] = []
    cost = found.whole
    for number in range(rounds):
        last, keys = number == rounds - 1, []
        for node in found.nodes:
            failing, lost, _ = found.measured(node, judged=True)
            stuck = found.left(node).measured(found.heights, judged=True)[0]
            if failing < len(found.records) and (failing <= allowed or not (last or stuck)):
                keys.append(found.lattice.key(node, lost))
        if not keys:
            break
        best = min(keys)
        cost += best[0] - found.whole
        found = found.left(best[2])
        taken.append((best[2], len(found.records)))
        if not found.records:
            break
    return taken, cost


def recoded(found: World, rounds: int, allowed: int) -> tuple[list[tuple[Node, int]], int]:
    """The same by the search."""
    taken: list[tuple[Node, int]] = []
    cost = found.whole
    for place in range(rounds):
        last, n = place == rounds - 1, len(found.records)
        given = replace(
            rules(found, min(allowed, n - 1) if last else n - 1),
            exact=last and found.model in ("size", "distinct"),
            allowed=allowed,
        )
        best = searched(found, given, last=last).best
        if best is None:
            break
        cost += best[0] - found.whole
        found = found.left(best[2])
        taken.append((best[2], len(found.records)))
        if not found.records:
            break
    return taken, cost


@pytest.mark.parametrize("seed", range(200))
def test_several_rounds(seed: int) -> None:
    rng = random.Random(seed)
    found, rounds, allowed = world(rng), rng.randint(2, 4), rng.choice([0, 0, 1, 3])
    assert recoded(found, rounds, allowed) == greedy(found, rounds, allowed)


def test_no_more_are_left_than_the_limit_allows() -> None:
    """Unless they pass together: three of a kind, and one more who would be left alone."""
    lonely = World((1, 1), ((0, 0), (0, 0), (0, 0), (1, 1)), (0, 0, 0, 0), 2, "size")
    assert recoded(lonely, 2, 1)[0][0] == ((0, 0), 1)
    assert recoded(lonely, 2, 0)[0] == [((1, 1), 0)]
    pair = replace(lonely, records=((0, 0), (0, 0), (0, 1), (1, 0)))
    assert recoded(pair, 2, 0)[0] == [((0, 0), 2), ((1, 1), 0)]
