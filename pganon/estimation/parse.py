"""The text of a query: parsed, and held against lists of what may be in it.

The text itself never reaches the server. What does is made anew from trees whose nodes are of the
kinds named here, and those that the policy's `where` may have.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from pganon.errors import UsageError
from pganon.estimation.refusals import EstimateRefused, Unsupported
from pganon.policy.expressions import ExpressionProblem, check_nodes, check_rendering, fold_column

MAX_NODES = 1_000
MAX_LISTED = 10_000

FUNCTIONS = (exp.WidthBucket, exp.Floor, exp.Round)
"""What expressions may have beside the functions of the policy's `where`."""

_CLAUSES = {"expressions", "from_", "joins", "where", "group", "having", "order", "limit", "kind"}
SINGLE = "single records have no estimate"
USE_AGGREGATES = "use count(*), sum(column) or avg(column)"
ONE = "write one SELECT from the release alone"
_REFUSED = {
    "with_": "WITH is not estimated",
    "laterals": "a join is not estimated",
    "windows": "a window is not estimated",
    "qualify": "a window is not estimated",
    "distinct": "DISTINCT is not estimated: single records have no estimate",
    "offset": "OFFSET is not estimated",
}


@dataclass(frozen=True)
class Parsed:
    """The clauses of a query; columns of one table are bare and quoted, named as in the catalog.

    Attributes:
        items: of the list, each with its alias.
        rows: FROM and WHERE as they are written, which may be about several tables.
        facts: conditions with sub-selects, by the names of columns that stand for them.
        keys: of GROUP BY, as they are written.
        having: condition of HAVING.
        order: of ORDER BY.
    """

    items: list[tuple[exp.Expr, str | None]]
    source: exp.Table
    rows: exp.Select
    facts: dict[str, exp.Expr]
    where: exp.Expr | None
    keys: list[exp.Expr]
    having: exp.Expr | None
    order: list[exp.Ordered]
    limit: int | None


def parse_query(text: str) -> Parsed:
    """Parse and check a query.

    Raises:
        EstimateRefused: it is not one SELECT, or something in it has no estimate.
        Unsupported: likewise, with the part at fault.
    """
    if "\0" in text:
        raise UsageError("the query has a NUL character")
    try:
        return _clauses(_select(text))
    except RecursionError:
        raise EstimateRefused("the query is nested too deeply") from None


def _select(text: str) -> exp.Select:
    try:
        trees = [tree for tree in sqlglot.parse(text, dialect="postgres") if tree is not None]
    except SqlglotError as error:
        # The parser's own message has terminal codes; its place is enough.
        found = (error.errors or [{}])[0] if isinstance(error, ParseError) else {}
        line, end = found.get("line"), found.get("col")
        if not line or not end:
            raise EstimateRefused("the query cannot be read", hint=ONE) from None
        start = max(end - len(found.get("highlight") or "") + 1, 1)
        raise EstimateRefused(
            f"line {line}, column {start}: the query cannot be read here"
        ) from None
    if len(trees) > 1:
        raise EstimateRefused("there is more than one statement", hint=ONE)
    if not trees or type(trees[0]) is not exp.Select:
        raise EstimateRefused("the query is not a SELECT", hint=ONE)
    return trees[0]


def _clauses(tree: exp.Select) -> Parsed:
    listed = sum(len(node.expressions) for node in tree.find_all(exp.In))
    if listed > MAX_LISTED:
        raise EstimateRefused(f"the lists of the query have more than {MAX_LISTED} elements")
    if sum(1 for _ in tree.walk()) - 2 * listed > MAX_NODES:
        raise EstimateRefused(f"the query has more than {MAX_NODES} parts")
    for name, value in tree.args.items():
        if name not in _CLAUSES and value:
            node = value[0] if isinstance(value, list) else value
            said = _REFUSED.get(name, f"{name.strip('_').upper()} is not estimated")
            raise Unsupported(said, node if isinstance(node, exp.Expr) else None, ONE)
    for node in tree.walk():
        node.comments = None
    rows = tree.copy()
    for name in rows.args.keys() - {"from_", "joins", "where"}:
        rows.set(name, None)
    for name in ("joins", "where") if tree.args.get("joins") else ():
        tree.set(name, None)
    facts = _facts(tree)
    for node in tree.walk():
        if node is not tree and isinstance(node, exp.Query | exp.Exists | exp.Subquery):
            raise Unsupported("a sub-select is not estimated", node, ONE)
    source = named_table(tree.args.get("from_"))
    if not rows.args.get("joins"):
        for column in tree.find_all(exp.Column):
            bare(column, called(source))
    where = tree.args.get("where")
    group = tree.args.get("group")
    order = tree.args.get("order")
    having = tree.args.get("having")
    keys = list(group.expressions) if group else []
    if group and any(value for name, value in group.args.items() if name != "expressions"):
        raise Unsupported("ROLLUP, CUBE and GROUPING SETS are not estimated", group)
    if where is not None:
        check(where.this)
    limit = tree.args["limit"].args.get("expression") if tree.args.get("limit") else None
    is_number = isinstance(limit, exp.Literal) and not limit.is_string and limit.name.isdigit()
    if tree.args.get("limit") and not is_number:
        raise Unsupported("LIMIT takes a number", tree.args["limit"])
    return Parsed(
        [_item(item) for item in tree.expressions],
        source,
        rows,
        facts,
        where.this if where else None,
        keys,
        having.this if having else None,
        list(order.expressions) if order else [],
        int(limit.name[:18]) if limit else None,
    )


def named_table(clause: exp.Expr | None) -> exp.Table:
    """The table of FROM or JOIN: a name, and perhaps an alias."""
    source = clause.this if clause else None
    if type(source) is not exp.Table or not isinstance(source.this, exp.Identifier):
        raise Unsupported("FROM has names of tables alone", source or clause, ONE)
    if {k for k, v in source.args.items() if v} - {"this", "db", "alias"}:
        raise Unsupported("only names of tables, and aliases, may follow FROM", source)
    alias = source.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        raise Unsupported("an alias for columns is not estimated", alias)
    return source


def called(table: exp.Table) -> str:
    """The name of a table in the query."""
    return folded(table.args["alias"].this if table.alias else table.this)


def _facts(tree: exp.Select) -> dict[str, exp.Expr]:
    """Conditions of WHERE and FILTER with a sub-select; columns take their places."""
    found: dict[str, exp.Expr] = {}
    prefix, taken = "EXISTS ", [column.name for column in tree.find_all(exp.Column)]
    while any(name.startswith(prefix) for name in taken):
        prefix += " "
    for node in list(tree.find_all(exp.Exists, exp.In)):
        asks = isinstance(node, exp.Exists) or node.args.get("query")
        if asks and node.find_ancestor(exp.Select) is tree and node.find_ancestor(exp.Where):
            column = exp.column(f"{prefix}{len(found)}", quoted=True)
            column.meta.update(next((n.meta for n in node.walk() if "start" in n.meta), {}))
            found[column.name] = node
            node.replace(column)
    return found


def bare(column: exp.Column, source: str | None) -> None:
    """Take the name of the table off, and quote the name as the catalog has it.

    Args:
        source: the name of the table, if there is one alone.
    """
    if isinstance(column.this, exp.Star):
        raise Unsupported(SINGLE, column, USE_AGGREGATES)
    table = column.args.get("table")
    names = [column.this, *([table] if table else [])]
    if not all(isinstance(name, exp.Identifier) for name in names) or column.args.get("db"):
        raise Unsupported("this is not a column of the release", column)
    if table is not None:
        if source not in (None, folded(table)):
            raise Unsupported(f'there is no table "{table.name[:63]}" in the query', column)
        column.set("table", None)
    fold_column(column)


def folded(identifier: exp.Expr) -> str:
    """A name as the server reads it."""
    name = identifier.name
    if identifier.args.get("quoted"):
        return name
    return "".join(char.lower() if char.isascii() else char for char in name)


def _item(item: exp.Expr) -> tuple[exp.Expr, str | None]:
    if isinstance(item, exp.Alias):
        return item.this, folded(item.args["alias"])
    if isinstance(item, exp.Star):
        raise Unsupported(SINGLE, item, USE_AGGREGATES)
    return item, None


def check(tree: exp.Expr) -> None:
    """Refuse an expression that is not made of what is allowed."""
    try:
        check_nodes(tree, FUNCTIONS)
        check_rendering(tree)
    except ExpressionProblem as found:
        problem = found.problem
        raise Unsupported(
            problem.message.removesuffix(": a release must be repeatable"),
            found.node,
            problem.suggestion,
        ) from None
