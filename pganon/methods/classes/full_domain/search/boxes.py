"""Branch and bound over boxes of the lattice: the node of least cost within the limit.

M is what classes must satisfy, R what follows from it and holds for any class with more records: a
class that fails R fails below as well. F(x) are the records in classes of node x that fail, S(x) is
their number, E(x) what their suppression loses beyond their labels. For u below an evaluated z:

- S by R above the limit at z: u is above it, too. With limit 0 the same of S by M.
- cost(u) >= loss(u) + E(z) by R.

What is estimated of all classes that pass together holds for a node or not, whatever holds above or
below it: a node that misses it is no result, and excludes no other.

So one exact search serves all models. R is measured of every node that the search asks for, M,
which takes longer, of one node at a time: the pending one of the least bound.
Samarati (TKDE 2001); El Emam et al. (JAMIA 2009); Prasser et al. (TDP 2016).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np

from pganon.methods.classes.full_domain.search.lattice import Key, Lattice, Node

AT_ONCE = 32
"""Boxes of a round: their nodes are measured in one statement."""

NOT_YET = -1
"""In place of a number of records, of a node that was not judged yet."""


@dataclass(frozen=True)
class Rules:
    """What the search may conclude, and how long it may go on.

    Attributes:
        limit: records that may be left out.
        exact: whether R is M itself.
        upward: whether M holds for any class with more records.
        closes: whether M compares classes with what is released, so that it is measured again until
            nothing more fails.
        moved: whether what is released differs from the source even if no class fails.
        max_nodes: nodes that are evaluated at most.
        allowed: records that may be left out in the end, where others are released in a further
            round; if a node leaves more, all of them must pass on the highest levels.
    """

    limit: int
    exact: bool
    upward: bool
    closes: bool
    moved: bool
    max_nodes: int
    allowed: int = 0


@dataclass
class Evaluated:
    """Measures of a node: records in failing classes, and what they lose, by R and by M."""

    failing: int
    lost: int
    classes: int = 0
    judged: tuple[int, int] | None = None


@dataclass(order=True)
class Box:
    """Nodes between two, with the least that any of them costs."""

    bound: Key
    lower: Node = field(compare=False)
    upper: Node = field(compare=False)


@dataclass
class Wanted:
    """What the server must measure: R of nodes, M of a node; neither at the end."""

    nodes: list[Node] = field(default_factory=list)
    judged: Node | None = None

    def __bool__(self) -> bool:
        return bool(self.nodes) or self.judged is not None


@dataclass
class BoxSearch:
    """The state of a search between two rounds.

    Attributes:
        dive: the node that the first descent has reached; None when it has ended.
        boxes, pending: heaps of what may hold a better node, and of nodes that keep R.
        best: the best node so far with its cost.
        judging: the node of which M was asked, and the records that failed when it was last;
            :data:`NOT_YET` the first time.
    """

    lattice: Lattice
    rules: Rules
    evaluated: dict[Node, Evaluated] = field(default_factory=dict)
    dive: Node | None = None
    boxes: list[Box] = field(default_factory=list)
    pending: list[Key] = field(default_factory=list)
    best: Key | None = None
    judging: tuple[Node, int] | None = None
    begun: bool = False

    # -- what the server measured -------------------------------------------------------------

    def observe(self, node: Node, measured: Evaluated) -> None:
        """R of a node."""
        self.evaluated[node] = measured
        if measured.failing > self.rules.limit:
            return
        key = self.lattice.key(node, measured.lost)
        if self.rules.exact:
            self.best = key if self.best is None else min(self.best, key)
        elif not self._beaten(key):
            heappush(self.pending, key)

    def judge(
        self, node: Node, failing: int, lost: int, stuck: int = 0, *, holds: bool = True
    ) -> bool:
        """M of a node; whether it became the best one.

        Args:
            stuck: of the records that fail, those that would also fail alone on the highest levels.
            holds: whether the classes that pass may be released together. It says nothing about
                other nodes.
        """
        rules = self.rules
        if self._open(failing):
            self.judging = node, failing
            return False
        self.judging = None
        self.evaluated[node].judged = failing, lost
        if not holds or failing > rules.limit or (stuck and failing > rules.allowed):
            return False
        key = self.lattice.key(node, lost)
        if self._beaten(key):
            return False
        self.best = key
        return True

    def _open(self, failing: int) -> bool:
        """Whether more may fail, against what is left without these."""
        before = self.judging[1] if self.judging else NOT_YET
        if not self.rules.closes or failing > self.rules.limit:
            return False
        if before == NOT_YET:
            return failing > 0 or self.rules.moved
        return failing > before

    # -- the search -----------------------------------------------------------------------------

    def advance(self) -> Wanted:
        """Goes on until the server must measure something, or nothing is left."""
        if self.judging is not None:
            return Wanted(judged=self.judging[0])
        top = self.lattice.highest
        if top not in self.evaluated:
            return Wanted([top])
        if not self.begun:
            wanted = self._begin(top)
            if wanted is not None:
                return wanted
        if self.dive is not None:
            wanted = self._descend()
            if wanted:
                return wanted
        return self._search()

    @property
    def proved(self) -> bool:
        """Whether no node is better than the best one, at the end."""
        return not self.boxes

    @property
    def bound(self) -> int | None:
        """The least cost that any node can have; None if there is none within the limit."""
        costs = [box.bound[0] for box in self.boxes[:1]] + ([self.best[0]] if self.best else [])
        return min(costs, default=None)

    def _begin(self, top: Node) -> Wanted | None:
        """Nothing to search where the top cannot be released; None: go on."""
        measured, rules = self.evaluated[top], self.rules
        if measured.failing > rules.limit:
            return Wanted()
        if rules.limit == 0 and not rules.exact:
            if measured.judged is None:
                self.judging = top, NOT_YET
                self.pending = [key for key in self.pending if key[2] != top]
                return Wanted(judged=top)
            if measured.judged[0] > 0:
                return Wanted()
        self.begun, self.dive = True, top
        return None

    def _descend(self) -> Wanted:
        """From the top to the cheapest neighbour below, while the cost falls."""
        while self.dive is not None:
            below = list(self.lattice.below(self.dive))
            new = [node for node in below if node not in self.evaluated][: self._room]
            if new:
                return Wanted(new)
            best = min((self._key(node) for node in below if self._may_pass(node)), default=None)
            better = best is not None and best[0] < self._key(self.dive)[0]
            self.dive = best[2] if better and best is not None else None
        self._push(_Bounds(self), self.lattice.lowest, self.lattice.highest)
        return Wanted()

    def _search(self) -> Wanted:
        bounds = _Bounds(self)
        while True:
            wanted = Wanted(self._pop(bounds), self._least_pending())
            if wanted.judged is not None:
                self.judging = wanted.judged, NOT_YET
            if wanted or not self.boxes:
                return wanted
            if self._room == 0:
                left = (bounds.shrunk(box.lower, box.upper) for box in self.boxes)
                self.boxes = sorted(box for box in left if box is not None)
                return wanted

    def _pop(self, bounds: _Bounds) -> list[Node]:
        """The nodes to evaluate of up to :data:`AT_ONCE` boxes; others are split."""
        nodes: list[Node] = []
        waiting: list[Box] = []
        room = self._room
        for _ in range(AT_ONCE if room else 0):
            if not self.boxes or len(nodes) == room:
                break
            popped = heappop(self.boxes)
            box = bounds.shrunk(popped.lower, popped.upper)
            if box is None:
                continue
            if box.upper not in self.evaluated:
                nodes.append(box.upper)
                waiting.append(box)
            elif box.lower != box.upper:
                for lower, upper in self.lattice.halves(box.lower, box.upper):
                    self._push(bounds, lower, upper)
        for box in waiting:
            heappush(self.boxes, box)
        return nodes

    def _push(self, bounds: _Bounds, lower: Node, upper: Node) -> None:
        box = bounds.shrunk(lower, upper)
        if box is not None:
            heappush(self.boxes, box)

    def _least_pending(self) -> Node | None:
        while self.pending:
            key = heappop(self.pending)
            if not self._beaten(key):
                return key[2]
        return None

    @property
    def _room(self) -> int:
        return max(self.rules.max_nodes - len(self.evaluated), 0)

    def _key(self, node: Node) -> Key:
        return self.lattice.key(node, self.evaluated[node].lost)

    def _may_pass(self, node: Node) -> bool:
        measured = self.evaluated.get(node)
        return measured is not None and measured.failing <= self.rules.limit

    def _beaten(self, key: Key) -> bool:
        return self.best is not None and key >= self.best


class _Bounds:
    """What the evaluated nodes say about those below them."""

    def __init__(self, search: BoxSearch) -> None:
        self.search = search
        nodes, limit = list(search.evaluated), search.rules.limit
        known = [self._known(search.evaluated[node]) for node in nodes]
        self.nodes = np.array(nodes, dtype=np.int64).reshape(len(nodes), -1)
        self.passes = np.array([failing <= limit for failing, _ in known], dtype=bool)
        self.lost = np.array([lost for _, lost in known], dtype=np.int64)

    def _known(self, measured: Evaluated) -> tuple[int, int]:
        """Failing records, and the least loss by them, of the node and those below it."""
        rules = self.search.rules
        failing, lost = measured.failing, measured.lost
        if measured.judged is None:
            return failing, lost
        if rules.upward:
            return measured.judged
        return max(failing, measured.judged[0]) if rules.limit == 0 else failing, lost

    def shrunk(self, lower: Node, upper: Node) -> Box | None:
        """The part of a box that may hold a better node; None if there is none."""
        lattice, best = self.search.lattice, self.search.best
        high = list(upper)
        while True:
            above = (self.nodes >= np.array(high)).all(axis=1)
            if not self.passes[above].all():
                return None
            lost = int(self.lost[above].max(initial=0))
            bound = lattice.key(lower, lost)
            if best is not None and bound >= best:
                return None
            changed = False
            for place, level in enumerate(lower) if best is not None else ():
                while high[place] > level and self._too_high(lower, place, high[place], lost):
                    high[place] -= 1
                    changed = True
            if not changed:
                return Box(bound, lower, tuple(high))

    def _too_high(self, lower: Node, place: int, level: int, lost: int) -> bool:
        raised = (*lower[:place], level, *lower[place + 1 :])
        best = self.search.best
        return best is not None and self.search.lattice.key(raised, lost) >= best
