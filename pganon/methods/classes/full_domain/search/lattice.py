"""The lattice of levels: a node is one level per quasi-identifier, and costs what it loses.

Losses are whole numbers, so that sums are exact in any order and ties are real.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

Node = tuple[int, ...]
"""A level of every quasi-identifier, in the order of the policy."""

Key = tuple[int, int, Node]
"""Cost or a lower bound of it, sum of the levels, node: what is better comes first."""


@dataclass(frozen=True)
class Lattice:
    """The levels that a node may have.

    Attributes:
        lowest, highest: level of every quasi-identifier.
        losses: by quasi-identifier and level, the loss of all records in units of 1e-9.
    """

    lowest: Node
    highest: Node
    losses: tuple[tuple[int, ...], ...]

    def loss(self, node: Node) -> int:
        """Loss of all records on the levels of a node, if none is suppressed."""
        return sum(by_level[level] for by_level, level in zip(self.losses, node, strict=True))

    def key(self, node: Node, suppressed: int) -> Key:
        """The node with its cost.

        Args:
            suppressed: what its suppressed records lose more than their labels, or less.
        """
        return self.loss(node) + suppressed, sum(node), node

    def below(self, node: Node) -> Iterator[Node]:
        """The nodes one level lower on one quasi-identifier."""
        for place, level in enumerate(node):
            if level > self.lowest[place]:
                yield (*node[:place], level - 1, *node[place + 1 :])

    def halves(self, lower: Node, upper: Node) -> tuple[tuple[Node, Node], tuple[Node, Node]]:
        """A box in two, where the highest level of a quasi-identifier loses most more than the
        one below it: that with this level alone, and the rest."""

        def step(place: int) -> int:
            level = upper[place]
            return self.losses[place][level] - self.losses[place][level - 1]

        open_ = [place for place in range(len(upper)) if lower[place] < upper[place]]
        place = max(open_, key=lambda place: (step(place), -place))
        raised = (*lower[:place], upper[place], *lower[place + 1 :])
        lowered = (*upper[:place], upper[place] - 1, *upper[place + 1 :])
        return (raised, upper), (lower, lowered)


def covers(upper: Node, lower: Node) -> bool:
    """Whether every level of the first is at least that of the second."""
    return all(high >= low for high, low in zip(upper, lower, strict=True))


def text_of(node: Node) -> str:
    """As work tables and facts have it: `2.0.1`."""
    return ".".join(map(str, node))


def node_of(text: str) -> Node:
    """The node of such a text."""
    return tuple(map(int, text.split(".")))
