"""Columns of a policy's source, and conditions over them; problems are reported."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sqlglot import exp

from pganon.catalog.model import TIMELESS_KINDS, Column, Relation
from pganon.catalog.values import as_text, in_order, stored
from pganon.errors import PreconditionError, Problem
from pganon.hierarchies import hierarchy_steps
from pganon.identifiers import MAX_BYTES, fits, quote
from pganon.policy.document import Lines
from pganon.policy.expressions import ExpressionProblem, check_where, refuse_moving_times
from pganon.policy.hierarchies import Hierarchy
from pganon.policy.refusals import Place, Refusal, nearest, show
from pganon.policy.tables import in_root
from pganon.sqltools import num


@dataclass
class Problems:
    """Problems in the order in which they were reported, each with the line of its field.

    Attributes:
        root: the table that has keys in place of the policy.
    """

    lines: Lines = field(default_factory=Lines)
    reported: list[Problem] = field(default_factory=list)
    root: str | None = None

    def report(self, place: Place, message: str, suggestion: str | None = None) -> None:
        self.reported.append(self.lines.problem(in_root(self.root, place), message, suggestion))

    def refuse(self, refusals: Iterable[Refusal]) -> None:
        for refusal in refusals:
            self.report(refusal.place, refusal.message, refusal.suggestion)


SUPPORTED = (
    "integers, numeric, floats, date, timestamp, timestamptz, boolean, text, varchar, char,"
    " citext, enum, uuid and domains over these"
)


@dataclass(frozen=True)
class Source:
    """The relation that a policy releases."""

    relation: Relation
    problems: Problems

    def column(self, place: Place, name: str) -> Column | None:
        """The column that a field of the policy names; reports what is wrong with it."""
        self.problems.refuse(column_refusals(place, self.relation, name))
        return self.relation.column(name)

    def condition(self, place: Place, text: str | None) -> exp.Expr | None:
        """A condition over columns of the source; None if there is none, or a wrong one."""
        if text is None:
            return None
        try:
            where = check_where(text)
            columns = [self.column(place, name) for name in sorted(where.columns)]
            if not all(column is None or column.kind in TIMELESS_KINDS for column in columns):
                refuse_moving_times(where.expression)
            return typed(where.expression, self.relation)
        except ExpressionProblem as problem:
            self.problems.report(place, problem.problem.message, problem.problem.suggestion)
            return None

    def supports(self, name: str, column: Column) -> bool:
        """Whether values of the column's type can be released; reports it if not."""
        if column.kind != "unsupported":
            return True
        self.problems.report(
            ("columns", name),
            f"column {quote(name)} has the type {column.type_name}, which cannot be released",
            f"supported are {SUPPORTED}; cast it in a view over the source",
        )
        return False

    def check_hierarchy(
        self, place: Place, column: Column, hierarchy: Hierarchy, kind: str, base_dir: Path
    ) -> None:
        """Reports problems of a hierarchy that need no values: files, kinds."""
        try:
            hierarchy_steps(
                "", hierarchy, lambda s: s.work("values"), kind, base_dir, quote(column.name)
            )
        except PreconditionError as error:
            self.problems.report((*place, "hierarchy"), error.message, error.hint)


# What is wrong with a column of a relation, or with the name of a published one.


def column_refusals(place: Place, relation: Relation, name: str) -> Iterator[Refusal]:
    """The relation has no such column, or nobody let the owner read it."""
    column = relation.column(name)
    if column is None:
        message = f"{relation.name} has no column {quote(name)}"
        yield Refusal(place, message, nearest(name, relation.column_names))
    elif not column.readable:
        yield Refusal(
            place,
            f"column {quote(name)} of {relation.name} may not be read",
            f"GRANT SELECT ({quote(name)}) ON {relation.name} TO the pganon owner",
        )


def spelled(place: Place, column: Column, *, keyed: bool) -> Iterator[Refusal]:
    """Equal values of the column may look different, and one person or row would be two.

    Args:
        keyed: whether they are compared as texts.
    """
    if keyed and not column.has_canonical_text:
        yield Refusal(
            place,
            f"column {quote(column.name)} is {column.type_name}, a type in which equal values may"
            " be spelled differently; it tells nobody apart, and names no rows",
            "name a view that casts it to a type such as integer, text or uuid"
            + (", or declare `individual`" if place == ("source",) else ""),
        )
    elif not column.collation_deterministic:
        yield Refusal(
            place,
            f"column {quote(column.name)} has the collation {column.collation}, which calls"
            " different texts equal; they would count as several values",
            "name a view that makes them one text, such as"
            f' lower({quote(column.name)}) COLLATE "C"',
        )


def comparable(
    place: Place,
    column: Column,
    source: Relation,
    relation: Relation,
    compared: Callable[[Column], str],
    name: str | None = None,
) -> Iterator[Refusal]:
    """A column of another relation, by default of the same name, holds values of the same kind."""
    named = name or column.name
    yield from column_refusals(place, relation, named)
    other = relation.column(named)
    if other is not None and compared(column) != compared(other):
        theirs = "" if named == column.name else f"{quote(named)} is "
        yield Refusal(
            place,
            f"column {quote(column.name)} is {column.type_name} in {source.name}"
            f" and {theirs}{other.type_name} in {relation.name}",
            "name a view that casts it to the type of the source",
        )


def refused_names(
    names: Iterable[tuple[Place, str]],
    added: Collection[str] = (),
    what: str = "published columns",
    remedy: str = "choose another name with `as:`",
) -> Iterator[Refusal]:
    """Names that pganon adds, that are there twice, or too long."""
    used = set[str]()
    for place, name in names:
        if name in added:
            yield Refusal(place, f"{quote(name)} is a column that pganon adds", remedy)
        elif name in used:
            yield Refusal(place, f"two {what} would be named {quote(name)}", remedy)
        elif not fits(name):
            message = f"the name {quote(name)} has more than {MAX_BYTES} bytes"
            yield Refusal(place, message, remedy)
        used.add(name)


# The policy's `where` over the types of the source's columns.
#
# An operator or function that meets a value of a user's type may find an implicit cast that the
# owner of the type planted. So none does: a domain becomes the type below it, a value of any other
# type that is not the server's own its text. Enums stay comparable by their order.

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
