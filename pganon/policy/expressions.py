"""The policy's `where`: one condition over columns of the source, parsed and checked by a list.

The condition becomes part of the statement that reads the source, run by the steward's role. So
it may contain only the constructs named here: no sub-select, no function outside a short list,
nothing volatile. The caller renders the checked tree, never the text.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from pganon.errors import Problem
from pganon.identifiers import NameProblem, check_name
from pganon.sqltools import function_name

Tree = exp.Expr  # pyright: ignore[reportPrivateImportUsage]

MAX_NODES = 5_000


class ExpressionProblem(ValueError):
    """A condition that cannot be used; `problem` says why, without place.

    Attributes:
        node: the part of the condition that is at fault, if one is.
    """

    node: Tree | None = None

    def __init__(self, message: str, suggestion: str | None = None) -> None:
        super().__init__(message)
        self.problem = Problem(message, field="where", suggestion=suggestion)


@dataclass(frozen=True)
class Where:
    """A checked condition.

    Attributes:
        expression: tree whose column references are quoted and hold catalog names.
        columns: names of the source columns in it.
    """

    expression: Tree
    columns: frozenset[str]


def _kinds(names: str) -> tuple[type[exp.Expr], ...]:
    """Kinds of nodes, by their names."""
    return tuple(getattr(exp, name) for name in names.split())


_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_CONDITIONS = (
    *_COMPARISONS,
    *_kinds("NullSafeEQ NullSafeNEQ And Or Not In Between Like ILike Escape Is Boolean"),
)
_FUNCTIONS = _kinds("Coalesce Nullif Lower Upper Length Abs TimestampTrunc Extract")
_VALUES = _kinds("Paren Column Identifier Literal Null Var Case If Cast DataType DataTypeParam")
_ALLOWED = (*_CONDITIONS, *_FUNCTIONS, *_VALUES, *_kinds("Add Sub Mul Div Mod Neg DPipe"))
_TYPE_NAMES = (
    "smallint, integer, bigint, numeric, real, double precision, text, varchar, char, date,"
    " timestamp, timestamptz, boolean, uuid"
)
_TYPES = frozenset(exp.DataType.build(n, dialect="postgres").this for n in _TYPE_NAMES.split(", "))
_MOVING = _kinds("Rand CurrentDate CurrentTime CurrentTimestamp Localtime Localtimestamp")
# Words that the server reads as a time of its clock, alone or with others ("today 12:00").
_MOVING_WORDS = frozenset({"now", "today", "tomorrow", "yesterday"})
_LETTERS = re.compile("[a-z]+", re.ASCII)
_TIMES = frozenset(
    {exp.DataType.Type.DATE, exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPTZ}
)
_READ_AS_TIMES = (exp.Column, exp.Literal, exp.Null)
_UNITS = (
    *("second", "minute", "hour", "day", "dow", "isodow", "doy", "week", "month"),
    *("quarter", "year", "isoyear", "decade", "century", "epoch"),
)
_FUNCTION_NAMES = "coalesce, nullif, lower, upper, length, abs, date_trunc, extract"


def check_where(text: str) -> Where:
    """Parse and check a condition in PostgreSQL's syntax; :class:`ExpressionProblem` if refused."""
    try:
        tree = _parse(text)
        nodes = list(tree.walk())
        if len(nodes) > MAX_NODES:
            raise ExpressionProblem(f"the condition has more than {MAX_NODES} parts")
        check_nodes(tree)
        _check_root(tree)
        if any(_is_time(node) for node in nodes):
            refuse_moving_times(tree)
        columns = frozenset(fold_column(column) for column in tree.find_all(exp.Column))
        check_rendering(tree)
    except RecursionError:
        raise ExpressionProblem("the condition is nested too deeply") from None
    return Where(tree, columns)


def check_nodes(tree: Tree, functions: Sequence[type[exp.Expr]] = ()) -> None:
    """Refuse an expression with a construct that is not on the list.

    Args:
        functions: what is allowed beside the list.

    Raises:
        ExpressionProblem: with the node.
    """
    for node in tree.walk():
        try:
            _check_node(node, functions)
        except ExpressionProblem as problem:
            problem.node = node
            raise


def refuse_moving_times(condition: Tree) -> None:
    """Refuse a condition with a text that the server's clock decides if it becomes a time.

    For conditions that contain times at all: any text compared with one may be converted to one.
    """
    for literal in condition.find_all(exp.Literal):
        if literal.is_string and _MOVING_WORDS.intersection(_LETTERS.findall(_lower(literal.name))):
            raise ExpressionProblem(
                "a time that moves is not allowed, because a release must be repeatable",
                "write the date itself; compare such a text in a view over the source",
            )


def _lower(text: str) -> str:
    """As the server folds names and words of times: ASCII letters alone."""
    return "".join(char.lower() if char.isascii() else char for char in text)


def _is_time(node: Any) -> bool:
    """Whether it is a time, or may take a text for one."""
    if isinstance(node, exp.Cast):
        return node.to.this in _TIMES
    return isinstance(node, exp.TimestampTrunc | exp.Extract)


def _parse(text: str) -> Tree:
    trees: list[Any] = []
    # The parser's own message quotes the text with terminal codes; the reader has the text.
    with contextlib.suppress(SqlglotError):
        trees = list(sqlglot.parse(text, dialect="postgres"))
        if len(trees) > 1:
            raise ExpressionProblem("only one condition is allowed, without semicolons")
    if not trees or trees[0] is None:
        raise ExpressionProblem(
            "is not a condition that can be read", "for example: age >= 18 and country = 'DE'"
        )
    for node in trees[0].walk():
        node.comments = None
    return trees[0]


def _check_node(node: Any, functions: Sequence[type[exp.Expr]]) -> None:
    if isinstance(node, exp.Query | exp.Exists | exp.Subquery):
        raise ExpressionProblem("a sub-select is not allowed")
    if isinstance(node, exp.Window):
        raise ExpressionProblem("a window function is not allowed")
    if isinstance(node, exp.AggFunc):
        raise ExpressionProblem("an aggregate is not allowed")
    # A subclass may mean something else (TRY_CAST is a Cast), so the type must be the very one.
    if type(node) not in (*_ALLOWED, *functions):
        raise ExpressionProblem(*_not_allowed(node, functions))
    if isinstance(node, exp.Column):
        _check_column(node)
    elif isinstance(node, exp.Cast):
        _check_cast(node)
    elif isinstance(node, exp.TimestampTrunc | exp.Extract):
        _check_unit(node)
    elif isinstance(node, exp.In):
        _check_in(node)
    elif isinstance(node, _COMPARISONS) and exp.Null in map(type, (node.this, node.expression)):
        raise ExpressionProblem(
            "a comparison with null is never true", "write `is null` or `is not null`"
        )


def _not_allowed(node: Any, functions: Sequence[Any]) -> tuple[str, str | None]:
    if isinstance(node, _MOVING):
        return "random(), now() and the like are not allowed: a release must be repeatable", None
    if isinstance(node, exp.Func) and not isinstance(node, exp.Binary):
        more = [function.sql_name().lower() for function in functions]
        return (
            f"the function {function_name(node)[:63]}() is not allowed",
            f"allowed functions: {', '.join([_FUNCTION_NAMES, *more])}",
        )
    if isinstance(node, exp.Command | exp.DDL | exp.Drop | exp.Copy | exp.Set):
        return "a command is not allowed; only a condition is", None
    if isinstance(node, exp.Placeholder | exp.Parameter):
        return "a parameter is not allowed", "write the value itself"
    if isinstance(node, exp.RawString | exp.ByteString | exp.UnicodeString | exp.National):
        return "only plain strings in single quotes are allowed", "write 'text'"
    class_name = type(node).__name__
    out = ""
    for i, char in enumerate(class_name):
        if char.isupper() and i and not class_name[i - 1].isupper():
            out += " "
        out += char.lower()
    return f"{out} is not allowed here", None


def _check_column(node: exp.Column) -> None:
    if not isinstance(node.this, exp.Identifier):
        raise ExpressionProblem("* is not allowed")
    if node.table:
        raise ExpressionProblem(
            "columns are written without the table's name", f"write {node.name[:63]}"
        )
    try:
        check_name(node.name)
    except NameProblem as problem:
        raise ExpressionProblem(f"column: {problem}"[:200]) from None


def _check_cast(node: exp.Cast) -> None:
    to = node.to
    plain = type(to) is exp.DataType and to.this in _TYPES
    if not plain or any(type(part) is not exp.DataTypeParam for part in to.expressions):
        raise ExpressionProblem(
            "a cast to this type is not allowed",
            f"allowed: {_TYPE_NAMES}",
        )
    value = node.this.unnest()
    if to.this in _TIMES and not (_is_time(value) or isinstance(value, _READ_AS_TIMES)):
        raise ExpressionProblem(
            "only a column or a text in quotes can be cast to a time, because what is computed may"
            " be a time that moves",
            "compute it in a view over the source",
        )


def _check_in(node: exp.In) -> None:
    if node.args.get("query") is not None:
        raise ExpressionProblem("a sub-select is not allowed")
    if not node.expressions or set(node.args) - {"this", "expressions"}:
        raise ExpressionProblem("in needs a list of values", "for example: state in ('A', 'B')")
    if any(isinstance(value, exp.Null) for value in node.expressions):
        raise ExpressionProblem(
            "null in a list never matches", "write `is null` or `is not null` beside the list"
        )


def _check_unit(node: exp.TimestampTrunc | exp.Extract) -> None:
    trunc = isinstance(node, exp.TimestampTrunc)
    unit = node.args.get("unit") if trunc else node.this
    if not isinstance(unit, exp.Var | exp.Literal) or unit.name.lower() not in _UNITS:
        raise ExpressionProblem(
            f"{'date_trunc' if trunc else 'extract'} with this unit is not allowed",
            f"allowed: {', '.join(_UNITS)}",
        )
    if trunc and node.args.get("zone") is not None:
        raise ExpressionProblem("date_trunc with a time zone is not allowed", "times are in UTC")


def _check_root(tree: Tree) -> None:
    top = tree.unnest()
    if isinstance(top, (*_CONDITIONS, exp.Column, exp.Case, exp.If, exp.Coalesce)):
        return
    if isinstance(top, exp.Cast) and top.to.this == exp.DataType.Type.BOOLEAN:
        return
    raise ExpressionProblem("is a value, not a condition", "compare it with something")


def fold_column(column: exp.Column) -> str:
    """Give the reference its catalog name, quoted. The server folds ASCII letters alone."""
    identifier = column.this
    if not identifier.quoted:
        identifier.set("this", _lower(identifier.name))
        identifier.set("quoted", True)
    return identifier.name


def check_rendering(tree: Tree) -> None:
    """Refuse an expression that does not survive a round trip through the parser."""
    rendered = tree.sql(dialect="postgres", identify=True)
    with contextlib.suppress(SqlglotError):
        if sqlglot.parse_one(rendered, dialect="postgres") == tree:
            return
    raise ExpressionProblem("cannot be read without doubt", "write it in a simpler form")
