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

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[(){}\[\]]|(?:[^\s(){}\[\]\\]|\\.)+')
_FUNCTIONS = (":funcid", ":opfuncid", ":aggfnoid", ":winfnoid")
_SUBQUERY, _JOIN, _CTE, _GROUP = "1", "2", "6", "9"
"""Kinds of relations of a query whose columns are expressions that it has itself."""

_WHOLE = (_SUBQUERY, _JOIN, "3", "5", "8")
"""Those of which all is known: also functions, VALUES, and nothing at all."""


def parsed(text: str) -> Any:
    """A tree of nodes as the server prints it."""
    tokens = _TOKEN.findall(text)
    place = 0

    def value() -> Any:
        nonlocal place
        word = tokens[place]
        place += 1
        if word == "{":
            node: Node = {"": tokens[place]}
            place += 1
            while tokens[place] != "}":
                name = tokens[place]
                place += 1
                node[name] = value()
                if tokens[place] == "[":  # bytes of a constant
                    place = tokens.index("]", place) + 1
            place += 1
            return node
        if word == "(":
            items: list[Any] = []
            while tokens[place] != ")":
                items.append(value())
            place += 1
            return items
        return word

    return value()


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
    """A column of the innermost of queries, each of which is in the one before."""
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
    if isinstance(node, list):
        return _all(_expression(queries, item, ctes) for item in node)
    if not isinstance(node, dict):
        return Found()
    match node[""]:
        case "VAR":
            around = queries[: len(queries) - int(node[":varlevelsup"])]
            return _of_relation(around, int(node[":varno"]), int(node[":varattno"]), ctes)
        case "RELABELTYPE":
            return _expression(queries, node[":arg"], ctes)
        case "QUERY":  # what it shows, and which of its rows, are a value
            inner = [*queries, node]
            parts = (node[":targetList"], node[":jointree"], node[":havingQual"])
            found = _all(_expression(inner, part, ctes) for part in parts)
            for leaf in _nodes(node[":setOperations"], "RANGETBLREF"):
                leaves = node[":rtable"][int(leaf[":rtindex"]) - 1][":subquery"]
                found.add(_expression(inner, leaves, ctes))
            return found
        case "RANGETBLREF":
            relation = queries[-1][":rtable"][int(node[":rtindex"]) - 1]
            if relation[":rtekind"] == _SUBQUERY:
                return _expression(queries, relation[":subquery"], ctes)
            return Found()
        case _:
            found = _all(_expression(queries, value, ctes) for value in node.values())
            found.functions |= {int(node[name]) for name in _FUNCTIONS if name in node}
            return found


def _of_relation(queries: Sequence[Node], place: int, number: int, ctes: frozenset[int]) -> Found:
    """A column of a relation of the innermost query."""
    relation = queries[-1][":rtable"][place - 1]
    kind = relation[":rtekind"]
    if kind == "0":
        return Found({(int(relation[":relid"]), number)}, plain=True)
    if number == 0 or kind not in (_SUBQUERY, _JOIN, _CTE, _GROUP):
        # A row as a whole, or of functions: whatever they are given.
        columns = [relation.get(n, []) for n in (":functions", ":values_lists", ":joinaliasvars")]
        found = _all(
            _expression(queries, part, ctes) for part in (*columns, relation.get(":subquery"))
        )
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
        return Found(resolved=cte[":cterecursive"] == "true")
    return _column([*around, cte[":ctequery"]], number, ctes | {id(cte)})


def _all(parts: Iterable[Found]) -> Found:
    found = Found()
    only = list(parts)
    for part in only:
        found.add(part)
    return found


def _nodes(tree: Any, name: str) -> Iterator[Node]:
    if isinstance(tree, list):
        for item in tree:
            yield from _nodes(item, name)
    elif isinstance(tree, dict):
        if tree[""] == name:
            yield tree
        for value in tree.values():
            yield from _nodes(value, name)


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
