"""Which classes of a release are looked at together, and what is told of their members.

It is computed outside the server, of numbers alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from pganon.attacks import worlds
from pganon.attacks.worlds import Class, Condition, Cut, Family, Shares, remaining

Made = tuple[int, int | None, int | None, int | None]
"""(node, attr, left_node, right_node), as :class:`pganon.methods.common.minimality.Minimality` has
them."""


@dataclass
class Tree:
    """Groups that were cut, down to classes, which are numbers below 0.

    Attributes:
        cuts: by group its attribute and sides.
        above: by group the one that it comes from; a group that only got another number is none.
        sizes: members of all groups.
    """

    sizes: Counter[int]
    cuts: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    above: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, sizes: Iterable[tuple[int, int]], made: Iterable[Made]) -> Tree:
        """Args: sizes: (class_id, n) of all classes."""
        tree = cls(Counter({-class_id: n for class_id, n in sizes}))
        same: dict[int, int] = {}
        for node, attr, left, right in made:
            if attr is not None and left is not None and right is not None:
                tree.cuts[node] = attr, left, right
            elif left is not None:
                same[node] = left

        def last(node: int) -> int:
            while node in same:
                node = same[node]
            return node

        for node, (attr, left, right) in tree.cuts.items():
            sides = last(left), last(right)
            tree.cuts[node] = attr, *sides
            tree.above |= dict.fromkeys(sides, node)
        for group, n in list(tree.sizes.items()):
            for node in tree.ancestors(group):
                tree.sizes[node] += n
        return tree

    def ancestors(self, group: int) -> Iterator[int]:
        while group in self.above:
            group = self.above[group]
            yield group

    def roots(self, group: int) -> list[int]:
        """The groups that a class is looked at with, from the largest to itself."""
        above = [node for node in self.ancestors(group) if self.sizes[node] <= worlds.LARGEST]
        return [*reversed(above), group]

    def below(self, root: int) -> tuple[list[int], list[int]]:
        """The classes that became of a group, and the groups that were cut for it."""
        classes, nodes, left_to_see = [], [], [root]
        while left_to_see:
            node = left_to_see.pop()
            if node in self.cuts:
                nodes.append(node)
                left_to_see += self.cuts[node][1:]
            else:
                classes.append(node)
        return sorted(classes), sorted(nodes)

    def groups(self, attacked: Iterable[int]) -> list[tuple[int, int | None, int]]:
        """Rows (node, attr, class_id) of all that is looked at with these classes."""
        found: set[tuple[int, int | None, int]] = set()
        for group in attacked:
            classes, nodes = self.below(self.roots(group)[0])
            found |= {(one, None, -one) for one in classes}
            for node in nodes:
                found |= {(node, self.cuts[node][0], -one) for one in self.below(node)[0]}
        return sorted(found, key=lambda row: (row[0], row[2]))


@dataclass(frozen=True)
class Attacker:
    """What he knows of groups, by their numbers.

    Attributes:
        cells: (cell, members) of classes.
        places: by attribute the position of cells.
        rows: numbers of values, and how many members have them.
    """

    tree: Tree
    cells: Mapping[int, Sequence[tuple[int, int]]]
    places: Mapping[int, Mapping[int, Mapping[int, int]]]
    rows: Mapping[int, Sequence[tuple[tuple[int, ...], int]]]

    @classmethod
    def of(
        cls,
        tree: Tree,
        cells: Iterable[Sequence[int]],
        places: Iterable[Sequence[int]],
        rows: Iterable[Sequence[int]],
    ) -> Attacker:
        """From (node, cell, w), (node, attr, cell, pos) and (class_id, w, numbers), in order."""
        by_node: dict[int, dict[int, dict[int, int]]] = {}
        for node, attr, cell, pos in places:
            by_node.setdefault(node, {}).setdefault(attr, {})[cell] = pos
        return cls(
            tree,
            {node: [(cell, w) for _, cell, w in some] for node, some in groupby(cells, _first)},
            by_node,
            {-g: [(tuple(k), w) for _, w, *k in some] for g, some in groupby(rows, _first)},
        )

    def told(
        self,
        attacked: Iterable[int],
        least: int,
        conditions: Sequence[Condition],
        seed: int,
    ) -> Iterator[tuple[int, int, int, float]]:
        """Rows (cell, place of the column, number of the value, share)."""
        done: set[int] = set()
        for group in sorted(attacked):
            if group in done:
                continue
            for root in self.tree.roots(group):
                classes, nodes = self.tree.below(root)
                family = self._family(classes, nodes)
                draw = np.random.default_rng((seed, abs(root)))
                shares = remaining(family, least, conditions, draw)
                if shares is not None:
                    yield from self._rows(set(classes) - done, classes, shares)
                    done |= set(classes)
                    break

    def _rows(
        self, wanted: Collection[int], classes: Sequence[int], shares: Shares
    ) -> Iterator[tuple[int, int, int, float]]:
        cells = [(one, cell) for one in classes for cell, _ in self.cells[one]]
        for (one, cell), by_column in zip(cells, shares, strict=True):
            for column, by_value in enumerate(by_column if one in wanted else ()):
                yield from ((cell, column, k, share) for k, share in by_value.items())

    def _family(self, classes: Sequence[int], nodes: Sequence[int]) -> Family:
        cuts: list[Cut] = []
        for node in nodes:
            attr, left, _ = self.tree.cuts[node]
            inside, _ = self.tree.below(node)
            positions = self.places[node][attr]
            cuts.append(
                Cut(
                    [classes.index(one) for one in inside],
                    [positions[cell] for one in inside for cell, _ in self.cells[one]],
                    self.tree.sizes[left],
                )
            )
        return Family([self._class(one) for one in classes], cuts)

    def _class(self, group: int) -> Class:
        cells = self.cells[group]
        return Class(
            [w for _, w in cells],
            {
                attr: [positions[cell] for cell, _ in cells]
                for attr, positions in self.places[group].items()
            },
            self.rows[group],
        )


def _first(row: Sequence[int]) -> int:
    return row[0]
