"""A round of the search, from rows and to rows: its whole state is in a work table.

Classes of a node are unions of classes of every node below it, so that the table of a lower node is
enough to measure it from. Nodes that share a large one share the table of what they have in common
first.

With several rounds of recoding each has a search of its own. Rows `searched` and `taken` outlast
it.

kind      node    other   source   a          b        c
table     its     name             rows
make      its     name    from              a table to make
measured  node                     failing    lost     classes   R, of the round before
node      node                     failing    lost     classes
exact     node                     failing    lost     stuck     M, of the round before
judged    node                     failing    lost
box       lower   upper            bound
pending   node                     bound
dive      node
begun
judging   node                     failing when it was last judged, or -1
best      node                     cost       the round whose failing classes are left out
failed                             a round whose failing classes are kept
drop                               one whose failing classes are not
ask       node            table             a node to measure
judge     node            table             a node to measure by M
size                               size     classes            of the classes that pass there
missed    node    reason  share             a node whose classes miss what is estimated of them
searched          place            proved              evaluated nodes, at the end of a search
taken     node    place            left       cost               the best node of a search
took      node            round                        the same, as it ends, with the round whose
                                                       failing classes are left out
further                            another search follows
least                              the fewest failing records of a node, at the end
end                                proved     bound    evaluated nodes
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pganon.methods.classes.full_domain.search.boxes import (
    NOT_YET,
    Box,
    BoxSearch,
    Evaluated,
    Rules,
    Wanted,
)
from pganon.methods.classes.full_domain.search.lattice import (
    Lattice,
    Node,
    covers,
    node_of,
    text_of,
)

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


class Row(NamedTuple):
    """A row of the table; see above."""

    kind: str
    node: str = ""
    other: str = ""
    source: str = ""
    a: int | None = None
    b: int | None = None
    c: int | None = None


COLUMNS = (
    ("kind", "text"),
    ("node", "text"),
    ("other", "text"),
    ("source", "text"),
    ("a", "bigint"),
    ("b", "bigint"),
    ("c", "bigint"),
)

ENDED = "end"


class Missed(NamedTuple):
    """What is estimated of classes and too high, or why it cannot be."""

    share: float | None
    reason: str


Whole = Callable[[Mapping[int, int]], Missed | None]
"""Judges all classes that pass together, given how many there are of every size."""


def satisfied(sizes: Mapping[int, int]) -> None:
    """Where no model is about all classes together."""


@dataclass(frozen=True)
class Recoding:
    """A round of recoding.

    Attributes:
        last: whether no other follows.
        whole: what all of its records lose if they are suppressed; 0 in the first round.
    """

    last: bool = True
    whole: int = 0


def next_rows(
    lattice: Lattice,
    rules: Rules,
    number: int,
    rows: Sequence[Sequence[object]],
    recoding: Recoding = Recoding(),
    whole: Whole = satisfied,
) -> list[Row]:
    """The rows after a round.

    Args:
        number: of the round, which names further tables.
        rows: those of the round before, and what was measured since; only tables before the first.
    """
    given: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found = Row(*row)  # pyright: ignore[reportArgumentType]
        given[found.kind].append(found)
    search, left_out = _read(lattice, rules, given)
    for row in given["measured"]:
        search.observe(node_of(row.node), _evaluated(row))
    sizes = {row.a or 0: row.b or 0 for row in given["size"]}
    missed = given["missed"]
    for row in given["exact"]:
        found = whole(sizes) if (row.a or 0) <= rules.limit else None
        node, holds = node_of(row.node), found is None
        if search.judge(node, row.a or 0, row.b or 0, row.c or 0, holds=holds):
            left_out = number - 1
        elif found is not None and search.judging is None:
            share = "" if found.share is None else repr(found.share)
            missed.append(Row("missed", row.node, found.reason, share))
    wanted = search.advance()
    kept = {row.a or 0 for row in given["failed"]} | ({number - 1} if given["exact"] else set())
    again = search.judging is not None and search.judging[1] != NOT_YET
    needed = {left_out, number - 1 if again else None}
    tables = [Table(row.other, node_of(row.node), row.a or 0) for row in given["table"]]
    place = len(given["searched"])
    return [
        *given["searched"],
        *given["taken"],
        *missed,
        *_state(search, left_out),
        *[Row("failed" if round_ in needed else "drop", a=round_) for round_ in sorted(kept)],
        *_tables(tables),
        *(
            _next(search, wanted, tables, number)
            if wanted
            else _end(search, left_out, place, recoding)
        ),
    ]


def _evaluated(row: Row) -> Evaluated:
    return Evaluated(row.a or 0, row.b or 0, row.c or 0)


def _failing(measured: Evaluated) -> int:
    return measured.judged[0] if measured.judged else measured.failing


def _read(
    lattice: Lattice, rules: Rules, given: dict[str, list[Row]]
) -> tuple[BoxSearch, int | None]:
    """The search as a round left it, and the round whose failing classes the best node leaves
    out."""
    search = BoxSearch(lattice, rules, begun=bool(given["begun"]))
    for row in given["node"]:
        search.evaluated[node_of(row.node)] = _evaluated(row)
    for row in given["judged"]:
        search.evaluated[node_of(row.node)].judged = row.a or 0, row.b or 0
    for row in given["dive"]:
        search.dive = node_of(row.node)
    for row in given["judging"]:
        search.judging = node_of(row.node), row.a or 0
    left_out = None
    for row in given["best"]:
        search.best, left_out = _key(row.node, row.a or 0), row.b
    search.restore(
        [Box(_key(r.node, r.a or 0), node_of(r.node), node_of(r.other)) for r in given["box"]],
        [_key(row.node, row.a or 0) for row in given["pending"]],
    )
    return search, left_out


def _key(node: str, cost: int) -> tuple[int, int, Node]:
    levels = node_of(node)
    return cost, sum(levels), levels


def _state(search: BoxSearch, left_out: int | None) -> Iterator[Row]:
    for node, found in search.evaluated.items():
        yield Row("node", text_of(node), a=found.failing, b=found.lost, c=found.classes)
        if found.judged is not None:
            yield Row("judged", text_of(node), a=found.judged[0], b=found.judged[1])
    for box in search.boxes:
        yield Row("box", text_of(box.lower), text_of(box.upper), a=box.bound[0])
    for cost, _, node in search.pending:
        yield Row("pending", text_of(node), a=cost)
    if search.begun:
        yield Row("begun")
    if search.dive is not None:
        yield Row("dive", text_of(search.dive))
    if search.judging is not None:
        yield Row("judging", text_of(search.judging[0]), a=search.judging[1])
    if search.best is not None:
        yield Row("best", text_of(search.best[2]), a=search.best[0], b=left_out)


def _tables(tables: Sequence[Table]) -> Iterator[Row]:
    for table in tables:
        yield Row("table", text_of(table.node), table.name, a=table.rows)


def _next(search: BoxSearch, wanted: Wanted, tables: Sequence[Table], number: int) -> Iterator[Row]:
    found = sources(wanted.nodes, tables, f"{number}_")
    for name, (node, source) in found.made.items():
        yield Row("make", text_of(node), name, source)
    for node in wanted.nodes:
        yield Row("ask", text_of(node), source=found.of[node])
    if wanted.judged is not None:
        yield Row("judge", text_of(wanted.judged), source=smallest_of(wanted.judged, tables).name)


def _end(search: BoxSearch, left_out: int | None, place: int, recoding: Recoding) -> Iterator[Row]:
    """The end of a search: its best node, and whether another follows for what it leaves."""
    yield Row("searched", other=str(place), a=int(search.proved), c=len(search.evaluated))
    left = 0
    if search.best is not None:
        cost, _, node = search.best
        left = _failing(search.evaluated[node])
        source = "" if left_out is None else str(left_out)
        yield Row("taken", text_of(node), str(place), a=left, b=cost - recoding.whole)
        yield Row("took", text_of(node), source=source)
    if left and not recoding.last:
        yield Row("further")
        return
    yield Row("least", a=min(map(_failing, search.evaluated.values())))
    yield Row(ENDED, a=int(search.proved), b=search.bound, c=len(search.evaluated))
