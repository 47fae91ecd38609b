"""The policy's `where` over the types of the source's columns.

An operator or function that meets a value of a user's type may find an implicit cast that the
owner of the type planted. So none does: a domain becomes the type below it, a value of any other
type that is not the server's own its text. Enums stay comparable by their order.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from pganon.catalog.model import Column, Relation
from pganon.catalog.values import as_text, in_order, stored
from pganon.identifiers import quote
from pganon.policy.expressions import ExpressionProblem
from pganon.policy.refusals import show
from pganon.sqltools import num

_BY_ORDER = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
_BY_LABEL = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.In)


def typed(condition: exp.Expr, relation: Relation) -> exp.Expr:
    """The same condition, rewritten so that no code of a type's owner runs.

    Raises:
        ExpressionProblem: an enum is compared with a text that is none of its labels.
    """

    def converted(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column):
            column = relation.column(node.name)
            return node if column is None else _value(column, node)
        if isinstance(node, _BY_ORDER + _BY_LABEL):
            column = _enum(node, relation)
            if column is not None:
                _check_labels(node, column)
                return _placed(node, column) if isinstance(node, _BY_ORDER) else node
        return node

    return condition.transform(converted)


def _value(column: Column, value: exp.Expr) -> exp.Expr:
    if column.built_in or column.kind == "citext":
        return stored(column, value)
    return exp.paren(as_text(column, value))


def _enum(comparison: exp.Expr, relation: Relation) -> Column | None:
    """The enum whose values and labels alone are compared, if they are."""
    enum: Column | None = None
    for operand in _operands(comparison):
        if isinstance(operand, exp.Column):
            column = relation.column(operand.name)
            if column is None or column.kind != "enum":
                return None
            if enum is not None and enum.base_oid != column.base_oid:
                return None
            enum = column
        elif not (isinstance(operand, exp.Literal) and operand.is_string):
            return None
    return enum


def _operands(comparison: exp.Expr) -> Iterator[exp.Expr]:
    for operand in comparison.iter_expressions():
        yield operand.unnest()


def _check_labels(comparison: exp.Expr, column: Column) -> None:
    for operand in _operands(comparison):
        if isinstance(operand, exp.Literal) and operand.name not in column.labels:
            raise ExpressionProblem(
                f"column {quote(column.name)} is {column.type_name}; {show(operand.name)} is no"
                " label of it"
            )


def _placed(comparison: exp.Expr, column: Column) -> exp.Expr:
    """The comparison of places in the order of the enum."""
    result = comparison.copy()
    for operand in list(result.iter_expressions()):
        value = operand.unnest()
        if isinstance(value, exp.Literal):
            operand.replace(num(column.labels.index(value.name) + 1))
        else:
            operand.replace(in_order(column, exp.paren(as_text(column, value))))
    return result
