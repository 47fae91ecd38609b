"""Base columns of the columns of a relation: those of tables that a view's values come from.

A view's rule is read as the server keeps it, in which names are resolved: `{VAR :varno 1 :varattno
2 ..}` is the second column of the first relation of the query around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import psycopg

from pganon import sqlfiles
from pganon.catalog.model import Origin

Connection = psycopg.Connection[Any]
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
    """What an expression is made of; `plain` where it is a column as it is."""

    bases: set[Base] = field(default_factory=set)
    functions: set[int] = field(default_factory=set)
    plain: bool = False
    resolved: bool = True

    def add(self, other: Found) -> None:
        self.bases |= other.bases
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
        wanted = (e for e in query[":targetList"] if e[":resno"] == str(number))
        return _expression(queries, next(wanted)[":expr"], ctes)
    found = Found()
    for leaf in _nodes(query[":setOperations"], "RANGETBLREF"):
        part = _of_relation(queries, int(leaf[":rtindex"]), number, ctes)
        found.add(part)
        found.resolved &= bool(part.bases)  # a constant says which part a row is from
    return found


def _expression(queries: Sequence[Node], node: Any, ctes: frozenset[int]) -> Found:
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
            found.add(_of_variable(queries, item, ctes))
        elif item[""] == "QUERY":
            found.add(_whole(queries, item, ctes))
        elif item[""] == "RANGETBLREF":
            relation = queries[-1][":rtable"][int(item[":rtindex"]) - 1]
            if relation[":rtekind"] == _SUBQUERY:
                found.add(_whole(queries, relation[":subquery"], ctes))
        else:
            found.functions |= {int(item[name]) for name in _FUNCTIONS if name in item}
            rest += item.values()
    return found


def _whole(queries: Sequence[Node], query: Node, ctes: frozenset[int]) -> Found:
    """What a query shows, and what decides which of its rows."""
    parts = [query[name] for name in (":targetList", ":jointree", ":havingQual")]
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
    around = queries[: len(queries) - int(relation[":ctelevelsup"])]
    named = (c for c in around[-1][":cteList"] if c[":ctename"] == relation[":ctename"])
    cte = next(named)
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
            item = list(item.values())
        rest += item if isinstance(item, list) else []


def base_columns(conn: Connection, oid: int, numbers: Iterable[int]) -> dict[int, Found]:
    """What columns of a relation are made of, through views at any depth and generated columns."""
    rules: dict[int, dict[int, Any]] = {}
    found = {number: Found({(oid, number)}, plain=True) for number in numbers}
    while True:
        new = {relation for one in found.values() for relation, _ in one.bases} - rules.keys()
        if not new:
            return found
        rules |= {relation: {} for relation in new}
        rows = conn.execute(sqlfiles.query("catalog", "rules"), {"oids": list(new)}).fetchall()
        for relation, number, text in rows:
            rules[relation][number] = parsed(text)
        found = {number: _below(one, rules) for number, one in found.items()}


def _below(one: Found, rules: dict[int, dict[int, Any]]) -> Found:
    """The same with columns of views replaced by what these are made of."""
    below = Found(functions=one.functions, plain=one.plain, resolved=one.resolved)
    for relation, number in one.bases:
        rule = rules[relation]
        if 0 in rule:  # a view
            (query,) = rule[0]
            every = [int(e[":resno"]) for e in query[":targetList"]]
            parts = [_column([query], n, frozenset()) for n in ([number] if number else every)]
        else:
            below.bases.add((relation, number))
            around = {":rtable": [{":rtekind": "0", ":relid": str(relation)}]}
            computed = [expr for n, expr in rule.items() if number in (0, n)]
            parts = [_expression([around], expr, frozenset()) for expr in computed]
        for part in parts:
            below.add(part)
            below.plain &= part.plain
    return below


def origins_of(conn: Connection, found: dict[int, Found]) -> dict[int, Origin]:
    """By number of a column: its base columns by name, and by number of the table and their own."""
    bases = sorted({base for one in found.values() for base in one.bases})
    values = {"oids": [oid for oid, _ in bases], "numbers": [number for _, number in bases]}
    rows = conn.execute(sqlfiles.query("catalog", "base_columns"), values).fetchall()
    names = {(oid, number): frozenset(texts) for oid, number, texts in rows}
    used = sorted({function for one in found.values() for function in one.functions})
    opaque: set[int] = set()
    if used:
        rows = conn.execute(sqlfiles.query("catalog", "opaque"), {"oids": used}).fetchall()
        opaque = {row[0] for row in rows}
    return {
        number: Origin(
            frozenset().union(*(names.get(base, frozenset()) for base in one.bases)),
            one.plain and len(one.bases) == 1,
            one.resolved and one.functions.isdisjoint(opaque),
        )
        for number, one in found.items()
    }
