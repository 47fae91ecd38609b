"""SELECT trees: fixed SQL text parsed once, with tables and expressions filled in.

All queries whose shape depends on the policy are built here from sqlglot trees and rendered
with every identifier quoted, so no name can change what a statement means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import sqlglot
from psycopg import sql
from sqlglot import Dialect, ErrorLevel, exp

from pganon.identifiers import QualifiedName

DIALECT = "postgres"

_DIALECT = Dialect.get_or_raise(DIALECT)
"""Made once: to find and make it for each text takes as long as to render a short one."""


Path = tuple[tuple[str, int | None], ...]
"""Where a node stands in a tree: from the root on, argument and place in its list, if it is one."""


@dataclass(frozen=True)
class _Text:
    """A fixed text, parsed once.

    Attributes:
        tree: not to be changed.
        places: of what stands for a part, with its name.
        tables: of bare names of relations, with the name.
    """

    tree: exp.Expr
    places: tuple[tuple[Path, str], ...]
    tables: tuple[tuple[Path, str], ...]


@lru_cache(maxsize=4096)
def _parse(text: str) -> _Text:
    tree = sqlglot.parse_one(text, dialect=DIALECT)
    for node in tree.walk():
        # Places in the text, types and comments: of no use here, and most of what copying a tree
        # would cost.
        node._meta = node._type = node.comments = None
    places = [(_path(node), node.name) for node in tree.find_all(exp.Placeholder)]
    tables = [(_path(node), node.name) for node in tree.find_all(exp.Table) if not node.db]
    return _Text(tree, tuple(places), tuple(tables))


def _path(node: exp.Expr) -> Path:
    steps: list[tuple[str, int | None]] = []
    while node.parent is not None:
        steps.append((node.arg_key or "", node.index))
        node = node.parent
    return tuple(reversed(steps))


def _at(tree: exp.Expr, path: Path) -> exp.Expr:
    node = tree
    for key, number in path:
        node = node.args[key] if number is None else node.args[key][number]
    return node


def fragment(text: str, **parts: exp.Expr) -> exp.Expr:
    """The expression of a fixed text; `:name` stands for the given part (in parentheses)."""
    parsed = _parse(text)
    tree = parsed.tree.copy()
    return _filled(tree, [(_at(tree, path), name) for path, name in parsed.places], parts)


def query(
    text: str,
    tables: Mapping[str, QualifiedName | exp.Select | exp.Var] | None = None,
    **parts: exp.Expr,
) -> exp.Select:
    """The SELECT of a fixed text; bare table names in `tables` become those relations.

    A relation keeps its alias, or gets the name it had in the text, so that columns can go on
    using it.
    """
    parsed = _parse(text)
    tree = parsed.tree.copy()
    # Before anything is replaced, which may move what stands beside it.
    named = [(_at(tree, path), name) for path, name in parsed.tables if name in (tables or {})]
    tree = _filled(tree, [(_at(tree, path), name) for path, name in parsed.places], parts)
    for table, name in named:
        assert tables is not None
        table.replace(aliased(tables[name], table.alias or name))
    if not isinstance(tree, exp.Select):
        raise TypeError("query() takes a SELECT")
    return tree


def _filled(
    tree: exp.Expr, places: Sequence[tuple[exp.Expr, str]], parts: Mapping[str, exp.Expr]
) -> exp.Expr:
    for place, name in places:
        part = _given(parts[name])
        new = part if _is_closed(part, place) else exp.paren(part, copy=False)
        if place is tree:
            return new
        place.replace(new)
    return tree


def _is_closed(part: exp.Expr, place: exp.Expr) -> bool:
    """Whether the part keeps its meaning there; anything else gets parentheses."""
    if isinstance(part, exp.Connector):  # AND and OR, which sqlglot calls functions
        return not isinstance(place.parent, exp.Binary | exp.Unary | exp.Predicate)
    return isinstance(
        part,
        exp.Column | exp.Literal | exp.Null | exp.Func | exp.Boolean | exp.Subquery | exp.Paren,
    )


def aliased(relation: QualifiedName | exp.Query | exp.Var, alias: str) -> exp.Expr:
    """The relation as a FROM item of that name."""
    if isinstance(relation, QualifiedName):
        return exp.alias_(relation.table, alias, table=True, quoted=True, copy=False)
    name = exp.TableAlias(this=exp.to_identifier(alias))
    return exp.Subquery(this=finished(relation), alias=name)


def scalar(tree: exp.Query) -> exp.Subquery:
    """The one value of a SELECT, to calculate with."""
    return exp.Subquery(this=finished(tree))


class _Rendered(str):
    """The text of a tree that has become part of another one."""

    tree: exp.Expr


def finished(tree: exp.Expr) -> exp.Var:
    """A tree as one node with its text, into which nobody looks.

    Builders of sqlglot copy what they build on. A SELECT within SELECTs would be copied many times
    for each time that it is rendered; this node costs nothing to copy.
    """
    rendered = _Rendered(render(tree))
    rendered.tree = tree
    return exp.Var(this=rendered)


def unparsed(select: str) -> exp.Var:
    """A SELECT that pganon rendered before, and stored, as a table of a query."""
    return exp.Var(this=select)


def names(tree: exp.Expr) -> Iterator[str]:
    """All identifiers of a tree, also those of trees that have become part of it."""
    for node in tree.find_all(exp.Identifier, exp.Var):
        if isinstance(node, exp.Identifier):
            yield node.this
        elif isinstance(node.this, _Rendered):
            yield from names(node.this.tree)


def _given(part: exp.Expr) -> exp.Expr:
    """The part itself for the first tree that takes it up, copies for further ones."""
    return part if part.parent is None else part.copy()


def col(name: str, table: str | None = None) -> exp.Column:
    return exp.column(name, table=table, quoted=True)


def num(value: int) -> exp.Expr:
    return exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))


def text(value: str) -> exp.Literal:
    return exp.Literal.string(value)


def cast(expression: exp.Expr, sql_type: str) -> exp.Cast:
    """A cast to a type given as format_type() writes it, which quotes what needs quotes."""
    kind = exp.DataType(this=exp.DataType.Type.USERDEFINED, kind=sql_type)
    return exp.Cast(this=_given(expression), to=kind)


def named(expression: exp.Expr, name: str) -> exp.Expr:
    return exp.Alias(this=_given(expression), alias=exp.to_identifier(name, quoted=True))


def chain(operator: type[exp.Binary], expressions: Sequence[exp.Expr]) -> exp.Expr:
    """Expressions one after the other, with a left-associative operator between them."""
    result = _given(expressions[0])
    for item in expressions[1:]:
        result = operator(this=result, expression=exp.paren(_given(item), copy=False))
    return result


def total(expressions: Sequence[exp.Expr]) -> exp.Expr:
    """The sum of expressions."""
    return chain(exp.Add, expressions)


def conjunction(conditions: Iterable[exp.Expr]) -> exp.Expr:
    every = [*conditions]
    return exp.and_(*every) if every else exp.true()


def equal(names: Iterable[str], left: str, right: str) -> exp.Expr:
    """Whether the rows of two tables agree on columns of which none is NULL, so that it hashes."""
    return conjunction(exp.EQ(this=col(n, left), expression=col(n, right)) for n in names)


def union_all(selects: Sequence[exp.Select]) -> exp.Expr:
    result: exp.Expr = _given(selects[0])
    for item in selects[1:]:
        # Copies of what is there already would take time that grows with its square.
        result = exp.union(result, _given(item), distinct=False, copy=False)
    return result


def stacked(parts: Sequence[exp.Select]) -> exp.Select:
    """All rows of several SELECTs."""
    both = union_all(parts)
    return query("select u.* from u", {"u": both})  # pyright: ignore[reportArgumentType]


def in_one_row(parts: Iterable[tuple[int, exp.Select]]) -> exp.Select:
    """The columns of SELECTs of one row each, named with the number that each has here."""
    tree = exp.Select()
    for place, (number, part) in enumerate(parts):
        alias = f"row{place}"
        columns = [item.alias_or_name for item in part.expressions]
        row = aliased(part, alias)
        tree = tree.join(row, join_type="cross", copy=False) if place else tree.from_(row)
        shown = [named(col(column, alias), f"{column}{number}") for column in columns]
        tree = tree.select(*shown, copy=False)
    return tree


def presorted(tree: exp.Select) -> exp.Select:
    """The rows in the order of all their columns, to be grouped by them.

    Where rows are stored in nearly this order, sorting them again costs little, while a hash
    table of almost as many groups as rows is slow. The server sees that they are in order.
    """
    columns = [item.this if isinstance(item, exp.Alias) else item for item in tree.expressions]
    return tree.order_by(*[column.copy() for column in columns])


def function_name(node: exp.Func) -> str:
    """As it was written: sqlglot has names of its own for what PostgreSQL has."""
    if isinstance(node, exp.Anonymous):
        return node.name.lower()
    if isinstance(node, exp.Median):  # which PostgreSQL does not have
        return "median"
    found = re.match(r"(\w+)\(", node.sql(dialect=DIALECT, unsupported_level=ErrorLevel.IGNORE))
    return (found[1] if found else node.sql_name()).lower()


def computed_once(tree: exp.Select) -> exp.Select:
    """The same, whose columns the server computes once per row of `tree`.

    PostgreSQL writes out a subquery's columns wherever they are used, unless it has an OFFSET. The
    '0' must be in quotes: a number 0 is converted to bigint too late for the planner, which then
    gives up parallel workers.
    """
    return tree.offset(text("0"))


def materialized(tree: exp.Select, **parts: exp.Select) -> exp.Select:
    """The SELECT with parts that the server computes once, by the name they have in it."""
    tree = tree.copy()
    for name, part in parts.items():
        alias = exp.to_identifier(name, quoted=True)
        tree = tree.with_(alias, as_=finished(part), materialized=True, copy=False)
    return tree


def render(tree: exp.Expr) -> str:
    """The text of a tree, which must not be used afterwards: rendering may change it."""
    return _DIALECT.generate(tree, identify=True, copy=False)


def pretty(tree: exp.Expr) -> str:
    """The text for people, with line breaks."""
    return _opened(tree).sql(dialect=DIALECT, identify=True, pretty=True, copy=False)


def readable(text: str) -> str:
    """A statement that was rendered here, for people."""
    return pretty(sqlglot.parse_one(text, dialect=DIALECT))


def _opened(tree: exp.Expr) -> exp.Expr:
    """A copy that has trees in place of their texts."""
    tree = tree.copy()
    for node in list(tree.find_all(exp.Var)):
        if isinstance(node.this, _Rendered):
            node.replace(_opened(node.this.tree))
    return tree


def statement(tree: exp.Expr | sql.SQL | sql.Composed) -> sql.SQL | sql.Composed:
    """The tree as psycopg text. Safe: names are quoted and values are escaped by sqlglot."""
    if isinstance(tree, sql.SQL | sql.Composed):
        return tree
    return sql.SQL(render(tree))  # pyright: ignore[reportArgumentType]
