"""What nodes are measured from: classes of a node are unions of classes of every node below it.

So the table of a lower node is enough. Nodes that share a large one share the table of what they
have in common first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pganon.methods.classes.full_domain.search.lattice import Node, covers

WORTH = 500
"""Rows of a table from which on a smaller one pays."""

SHARED_BY = 3
"""Nodes that a further table must serve."""

MOST = 4
"""Further tables of a round."""


@dataclass(frozen=True)
class Table:
    """A table of the classes of a node."""

    name: str
    node: Node
    rows: int


@dataclass(frozen=True)
class Sources:
    """The tables of a round.

    Attributes:
        made: the node of every further table, and the table that it is made from.
        of: the table of every node that is measured.
    """

    made: Mapping[str, tuple[Node, str]]
    of: Mapping[Node, str]


def sources(nodes: Sequence[Node], tables: Sequence[Table], prefix: str) -> Sources:
    """The smallest table for every node.

    Args:
        prefix: of the names of further tables; a number follows.
    """
    smallest = {node: smallest_of(node, tables) for node in nodes}
    made: dict[str, tuple[Node, str]] = {}
    of = {node: table.name for node, table in smallest.items()}
    for table in {table.name: table for table in smallest.values()}.values():
        sharing = [node for node, found in smallest.items() if found == table]
        served = _served(sharing, table)
        if table.rows <= WORTH or len(served) < SHARED_BY or len(made) == MOST:
            continue
        name = f"{prefix}{len(made)}"
        made[name] = _meet(served), table.name
        of |= dict.fromkeys(served, name)
    return Sources(made, of)


def smallest_of(node: Node, tables: Sequence[Table]) -> Table:
    """The smallest table of a node that is not above this one."""
    below = [table for table in tables if covers(node, table.node)]
    return min(below, key=lambda table: (table.rows, table.name))


def _served(nodes: Sequence[Node], table: Table) -> Sequence[Node]:
    """All of them, if they have more in common than the table; else the most that do."""
    if _meet(nodes) != table.node:
        return nodes
    raised = [
        [node for node in nodes if node[place] > level] for place, level in enumerate(table.node)
    ]
    return max(raised, key=len)


def _meet(nodes: Sequence[Node]) -> Node:
    """The highest node that is below all of them."""
    return tuple(map(min, zip(*nodes, strict=True)))
