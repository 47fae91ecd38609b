"""Conditions and keys over values instead of published columns."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pganon.estimation.release import FLOATS, Published
from pganon.identifiers import QualifiedName, parse_name
from pganon.sqltools import cast, fragment

Values = Callable[[str], exp.Expr]
"""The value of a column, by its name."""


def typed(column: Published, value: exp.Expr) -> exp.Expr:
    """A value in the type and the collation of the source column."""
    value = cast(value, column.kind)
    return collated(column, value)


def as_numeric(column: Published, value: exp.Expr) -> exp.Expr:
    """A number as numeric. The cast of a float keeps 6 or 15 digits, its text keeps all."""
    return fragment(":v::text::numeric" if column.kind in FLOATS else ":v::numeric", v=value)


def collated(column: Published, value: exp.Expr) -> exp.Expr:
    """A value that is compared as in the source: what is published has another collation."""
    if column.collation is None:
        return value
    schema, name = parse_name(column.collation)
    parts = QualifiedName(schema or "pg_catalog", name).table.parts
    quoted = ".".join(part.sql(dialect="postgres", identify=True) for part in parts)
    return exp.paren(exp.Collate(this=value, expression=exp.Var(this=quoted)), copy=False)


def over(tree: exp.Expr, values: Values) -> exp.Expr:
    """The expression with a value in the place of every column."""
    tree = exp.paren(tree.copy(), copy=False)
    for column in list(tree.find_all(exp.Column)):
        column.replace(values(column.name))
    return tree


def holds(condition: exp.Expr | None, values: Values) -> exp.Expr:
    """Whether a condition is true; without one it always is."""
    if condition is None:
        return exp.true()
    return fragment("(:c) IS TRUE", c=over(condition, values))


def certain(condition: exp.Expr | None, label: exp.Expr) -> exp.Expr:
    """A condition on a column that shows a label: NULL where records below it may differ.

    A record is below the label of its class. So a comparison with that label is true, and one with
    any other label is true or false.
    """
    if condition is None:
        return exp.true()
    tree = exp.paren(condition.copy(), copy=False)
    for node in list(tree.walk()):
        if isinstance(node, exp.EQ | exp.In):
            known = over(node, lambda name: label.copy())
            node.replace(fragment("CASE WHEN :k THEN true END", k=known))
        elif isinstance(node, exp.NEQ):
            known = over(exp.EQ(this=node.this, expression=node.expression), lambda n: label.copy())
            node.replace(fragment("CASE WHEN :k THEN false END", k=known))
        elif isinstance(node, exp.Is) and isinstance(node.expression, exp.Boolean):
            # Of a condition: what is not known of it is not known of whether it is true.
            node.replace(node.this)
        elif isinstance(node, exp.Is):
            node.replace(over(node, lambda name: label.copy()))
    return tree
