"""Base columns of the columns of a relation: those of tables that a view's values come from.

A view's rule is read as the server keeps it, in which names are resolved: `{VAR :varno 1 :varattno
2 ..}` is the second column of the first relation of the query around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pganon.catalog.model import Origin
from pganon.sqlfiles import Connection, ask

Base = tuple[int, int]
"""A relation and the number of a column; 0: all of its columns."""

Node: TypeAlias = "dict[str, Any]"
"""Fields of a node by name, its own name under the empty one; lists are lists, all else texts."""

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[(){}]|(?:[^\s(){}\\]|\\.)+', re.DOTALL)
_FUNCTIONS = (":funcid", ":opfuncid", ":aggfnoid", ":winfnoid")
_SUBQUERY, _JOIN, _CTE, _GROUP = "1", "2", "6", "9"
"""Kinds of relations of a query whose columns are expressions that it has itself."""

_KNOWN = "known"
"""Field of a query that is not the server's: columns that were looked at."""

_WHOLE = (_SUBQUERY, _JOIN, "3", "5", "8")
"""Those of which all is known: also functions, VALUES, and nothing at all."""


def parsed(text: str) -> Any:
    """A tree of nodes as the server prints it. Long sums are deep, so nothing here recurs."""
    around: list[list[Any]] = [[]]
    for word in _TOKEN.findall(text):
        if word in ("{", "("):
            around.append([])
        elif word in ("}", ")"):
            items = around.pop()
            around[-1].append(_node(items) if word == "}" else items)
        else:
            around[-1].append(word)
    return around[0][0]


def _node(items: list[Any]) -> Node:
    node: Node = {"": items[0]}
    place = 1
    while place < len(items):
        name, node[name] = items[place], items[place + 1]
        place += 2
        if name == ":constvalue" and place < len(items) and items[place] == "[":
            place = items.index("]", place) + 1
    return node


@dataclass
class Found:
    """What an expression is made of; `plain` where it is a column as it is.

    What conditions choose rows by is `chosen`: a column of a table of numbers that is joined on age
    is an age. Conditions on one column of a view are `filters`, of which nobody knows yet whether
    it computes that column.
    """

    bases: set[Base] = field(default_factory=set)
    chosen: set[Base] = field(default_factory=set)
    filters: set[Base] = field(default_factory=set)
    functions: set[int] = field(default_factory=set)
    plain: bool = False
    resolved: bool = True

    def add(self, other: Found) -> None:
        self.bases |= other.bases
        self.chosen |= other.chosen
        self.filters |= other.filters
        self.functions |= other.functions
        self.resolved &= other.resolved


def _column(queries: Sequence[Node], number: int, ctes: frozenset[int]) -> Found:
    """A column of the innermost of queries, each of which is in the one before.

    It is kept there: what a query names twice, and the next one twice, is looked at once.
    """
    known = queries[-1].setdefault(_KNOWN, {})
    if (number, ctes) not in known:
        known[number, ctes] = _computed(queries, number, ctes)
    return known[number, ctes]


def _computed(queries: Sequence[Node], number: int, ctes: frozenset[int]) -> Found:
    query = queries[-1]
    if query[":setOperations"] == "<>":
        shown = next(e for e in query[":targetList"] if e[":resno"] == str(number))[":expr"]
        found = _expression(queries, shown, ctes)
        for place in _mentioned(query, shown).places:
            choice = _choice(queries, place, ctes)
            choice.chosen |= choice.bases
            choice.bases = set()
            found.add(choice)
        return found
    found = Found()
    for leaf in _nodes(query[":setOperations"], "RANGETBLREF"):
        part = _of_relation(queries, int(leaf[":rtindex"]), number, ctes)
        found.add(part)
        found.resolved &= bool(part.bases)  # a constant says which part a row is from
    return found


@dataclass
class Mentioned:
    """Which relations of a query, and how many of their columns, an expression has; and whether
    anything of another query."""

    places: set[int] = field(default_factory=set)
    columns: set[tuple[int, int]] = field(default_factory=set)
    others: bool = False


def _mentioned(query: Node, tree: Any) -> Mentioned:
    found = Mentioned()
    rest = [(tree, 0)]
    while rest:
        item, depth = rest.pop()
        if isinstance(item, list):
            rest += ((one, depth) for one in item)
        elif isinstance(item, dict) and item[""] == "VAR":
            if int(item[":varlevelsup"]) != depth:
                found.others = True
                continue
            place, number = int(item[":varno"]), int(item[":varattno"])
            relation = query[":rtable"][place - 1]
            if relation[":rtekind"] in (_JOIN, _GROUP) and number:
                names = ":joinaliasvars" if relation[":rtekind"] == _JOIN else ":groupexprs"
                rest.append((relation[names][number - 1], 0))
            else:
                found.places.add(place)
                found.columns.add((place, number))
        elif isinstance(item, dict):
            below = depth + (item[""] == "QUERY")
            rest += ((one, below) for name, one in item.items() if name != _KNOWN)
            if item[""] == "AGGREF" and next(_nodes(item[":args"], "VAR"), None) is None:
                found.places |= _leaves(query[":jointree"])  # it counts whatever is joined
    return found


def _leaves(tree: Any) -> set[int]:
    return {int(leaf[":rtindex"]) for leaf in _nodes(tree, "RANGETBLREF")}


def _choice(queries: Sequence[Node], place: int, ctes: frozenset[int]) -> Found:
    """What chooses rows of a relation of the innermost query, there and in those joined with it.

    Of a table alone, rows are what they are, whichever of them a condition takes.
    """
    query = queries[-1]
    found, seen, rest = Found(), set[int](), [place]
    while rest:
        place = rest.pop()
        if place in seen:
            continue
        seen.add(place)
        for tree, nullable in _conditions(query):
            has = _mentioned(query, tree)
            places = has.places | nullable
            if place not in places:
                continue
            if len(places) > 1 or has.others:
                found.add(_expression(queries, tree, ctes, frozenset(seen)))
                rest += places - seen
            elif query[":rtable"][place - 1].get(":relkind") not in ("r", "p", "f", "m"):
                one = _expression(queries, tree, ctes)
                (column, *more) = has.columns
                if more or not _of_relation(queries, *column, ctes).plain:
                    found.add(one)
                else:
                    found.filters |= one.bases
    if query[":hasDistinctOn"] == "true" or query[":limitCount"] != "<>":
        by = [e[":expr"] for e in query[":targetList"] if e[":ressortgroupref"] != "0"]
        found.add(_expression(queries, by, ctes))
    return found


def _conditions(query: Node) -> Iterator[tuple[Any, set[int]]]:
    """All that must be true of a row, and relations that are NULL where it is not."""
    rest: list[tuple[Any, set[int]]] = [(query[":jointree"], set())]
    while rest:
        item, nullable = rest.pop()
        if isinstance(item, list):
            rest += ((one, nullable) for one in item)
        elif not isinstance(item, dict) or item[""] == "RANGETBLREF":
            continue
        elif item[""] == "FROMEXPR":
            rest += [(item[":fromlist"], set()), (item[":quals"], set())]
        elif item[""] == "JOINEXPR":
            sides = item[":larg"], item[":rarg"]
            rest += [(side, set()) for side in sides]
            padded = {"1": sides[1:], "2": sides, "3": sides[:1]}.get(item[":jointype"], ())
            rest.append((item[":quals"], _leaves(list(padded))))
        elif item[""] == "BOOLEXPR" and item[":boolop"] == "and" and not nullable:
            rest.append((item[":args"], nullable))
        else:
            yield item, nullable


def _expression(
    queries: Sequence[Node],
    node: Any,
    ctes: frozenset[int],
    without: frozenset[int] = frozenset(),
) -> Found:
    """What an expression is made of, but for columns of some relations of the innermost query."""
    while isinstance(node, dict) and node[""] == "RELABELTYPE":
        node = node[":arg"]
    found = Found()
    if isinstance(node, dict) and node[""] == "VAR":
        return _of_variable(queries, node, ctes)
    rest = [node]
    while rest:
        item = rest.pop()
        if isinstance(item, list):
            rest += item
        elif not isinstance(item, dict):
            continue
        elif item[""] == "VAR":
            if item[":varlevelsup"] != "0" or int(item[":varno"]) not in without:
                found.add(_of_variable(queries, item, ctes))
        elif item[""] == "QUERY":
            found.add(_whole(queries, item, ctes))
        elif item[""] == "RANGETBLREF":
            found.add(_rows(queries, int(item[":rtindex"]), ctes))
        else:
            found.functions |= {int(item[name]) for name in _FUNCTIONS if name in item}
            rest += item.values()
            if item[""] == "WINDOWFUNC":
                window = _window(queries[-1], item)
                rest.append(window)
                # Without an order rows are numbered as they come.
                found.resolved &= item[":winagg"] == "true" or bool(window)
    return found


def _window(query: Node, function: Node) -> list[Any]:
    """What the rows are divided and ordered by that a function looks at."""
    window = next(c for c in query[":windowClause"] if c[":winref"] == function[":winref"])
    clauses = [window[name] for name in (":partitionClause", ":orderClause")]
    by = {one[":tleSortGroupRef"] for one in _nodes(clauses, "SORTGROUPCLAUSE")}
    ordered = function[":winagg"] == "true" or window[":orderClause"] != "<>"
    return [e for e in query[":targetList"] if e[":ressortgroupref"] in by] if ordered else []


def _rows(queries: Sequence[Node], place: int, ctes: frozenset[int]) -> Found:
    """What decides which rows a relation of the innermost query has, other than a table."""
    relation = queries[-1][":rtable"][place - 1]
    if relation[":rtekind"] == _SUBQUERY:
        return _whole(queries, relation[":subquery"], ctes)
    if relation[":rtekind"] != _CTE:
        made = [relation.get(name) for name in (":functions", ":values_lists")]
        return _expression(queries, made, ctes)
    around, cte = _named(queries, relation)
    if id(cte) in ctes:
        return Found()
    return _whole(around, cte[":ctequery"], ctes | {id(cte)})


def _named(queries: Sequence[Node], relation: Node) -> tuple[Sequence[Node], Node]:
    """The query of WITH that a relation stands for, and those around it."""
    around = queries[: len(queries) - int(relation[":ctelevelsup"])]
    named = (c for c in around[-1][":cteList"] if c[":ctename"] == relation[":ctename"])
    return around, next(named)


def _whole(queries: Sequence[Node], query: Node, ctes: frozenset[int]) -> Found:
    """What a query shows, and what decides which of its rows."""
    names = (":targetList", ":jointree", ":havingQual", ":limitOffset", ":limitCount")
    parts = [query[name] for name in names]
    leaves = list(_nodes(query[":setOperations"], "RANGETBLREF"))
    return _expression([*queries, query], [*parts, *leaves], ctes)


def _of_variable(queries: Sequence[Node], node: Node, ctes: frozenset[int]) -> Found:
    around = queries[: len(queries) - int(node[":varlevelsup"])]
    return _of_relation(around, int(node[":varno"]), int(node[":varattno"]), ctes)


def _of_relation(queries: Sequence[Node], place: int, number: int, ctes: frozenset[int]) -> Found:
    """A column of a relation of the innermost query."""
    relation = queries[-1][":rtable"][place - 1]
    kind = relation[":rtekind"]
    if kind == "0":
        return Found({(int(relation[":relid"]), number)}, plain=True)
    if number == 0 or kind not in (_SUBQUERY, _JOIN, _CTE, _GROUP):
        # A row as a whole, or of functions: whatever they are given.
        names = (":functions", ":values_lists", ":joinaliasvars", ":subquery")
        found = _expression(queries, [relation.get(name) for name in names], ctes)
        found.resolved &= kind in _WHOLE
        return found
    if kind == _SUBQUERY:
        return _column([*queries, relation[":subquery"]], number, ctes)
    if kind != _CTE:
        columns = relation[":joinaliasvars" if kind == _JOIN else ":groupexprs"]
        return _expression(queries, columns[number - 1], ctes)
    around, cte = _named(queries, relation)
    if id(cte) in ctes:  # its recursive part adds nothing to what it begins with
        return Found()
    recursive = {id(cte)} if cte[":cterecursive"] == "true" else set[int]()
    return _column([*around, cte[":ctequery"]], number, ctes | recursive)


def _nodes(tree: Any, name: str) -> Iterator[Node]:
    rest = [tree]
    while rest:
        item = rest.pop()
        if isinstance(item, dict):
            if item[""] == name:
                yield item
            item = [one for field_name, one in item.items() if field_name != _KNOWN]
        rest += item if isinstance(item, list) else []


def base_columns(conn: Connection, oid: int, numbers: Iterable[int]) -> dict[int, Found]:
    """What columns of a relation are made of, through views at any depth and generated columns."""
    rules: dict[int, dict[int, Any]] = {}
    found = {number: Found({(oid, number)}, plain=True) for number in numbers}
    while True:
        bases = {b for one in found.values() for b in one.bases | one.chosen | one.filters}
        new = {relation for relation, _ in bases} - rules.keys()
        if not new:
            return found
        rules |= {relation: {} for relation in new}
        rows = ask(conn, "catalog", "rules", oids=list(new)).fetchall()
        for relation, number, text in rows:
            rules[relation][number] = parsed(text)
        found = {number: _below(one, rules) for number, one in found.items()}


def _below(one: Found, rules: dict[int, dict[int, Any]]) -> Found:
    """The same with columns of views replaced by what these are made of."""
    below = Found(functions=one.functions, plain=one.plain, resolved=one.resolved)
    for base in one.bases:
        for part in _replaced(base, rules):
            below.add(part)
            below.plain &= part.plain
    for base in one.chosen:
        for part in _replaced(base, rules):
            below.chosen |= part.bases | part.chosen
            below.functions |= part.functions
            below.resolved &= part.resolved
    for base in one.filters:
        for part in _replaced(base, rules):
            below.chosen |= set[Base]() if part.plain else part.bases
            below.filters |= part.bases if part.plain else set[Base]()
    return below


def _replaced(base: Base, rules: dict[int, dict[int, Any]]) -> Iterator[Found]:
    relation, number = base
    rule = rules[relation]
    if 0 in rule:  # a view
        (query,) = rule[0]
        every = [int(e[":resno"]) for e in query[":targetList"]]
        for one in [number] if number else every:
            yield _column([query], one, frozenset())
        return
    yield Found({base}, plain=True)
    around = {":rtable": [{":rtekind": "0", ":relid": str(relation)}]}
    for one, expr in rule.items():
        if number in (0, one):
            yield _expression([around], expr, frozenset())


def origins_of(conn: Connection, found: dict[int, Found]) -> dict[int, Origin]:
    """By number of a column: its base columns by name, and by number of the table and their own."""
    bases = sorted({base for one in found.values() for base in one.bases | one.chosen})
    values = {"oids": [oid for oid, _ in bases], "numbers": [number for _, number in bases]}
    rows = ask(conn, "catalog", "base_columns", **values).fetchall()
    names = {(oid, number): frozenset(texts) for oid, number, texts in rows}
    used = sorted({function for one in found.values() for function in one.functions})
    opaque: set[int] = set()
    if used:
        rows = ask(conn, "catalog", "opaque", oids=used).fetchall()
        opaque = {row[0] for row in rows}
    return {
        number: Origin(
            frozenset().union(*(names.get(base, frozenset()) for base in one.bases)),
            one.plain and len(one.bases) == 1,
            one.resolved and one.functions.isdisjoint(opaque),
            frozenset().union(*(names.get(base, frozenset()) for base in one.chosen)),
        )
        for number, one in found.items()
    }
