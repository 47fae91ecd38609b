"""Columns of a policy's source, and conditions over them; problems are reported."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from pganon.catalog.model import TIMELESS_KINDS, Column, Relation
from pganon.identifiers import quote
from pganon.policy.expressions import ExpressionProblem, check_where, refuse_moving_times
from pganon.resolved.conditions import typed
from pganon.resolved.other import column_refusals
from pganon.resolved.problems import Problems

SUPPORTED = (
    "integers, numeric, floats, date, timestamp, timestamptz, boolean, text, varchar, char,"
    " citext, enum, uuid and domains over these"
)


@dataclass(frozen=True)
class Source:
    """The relation that a policy releases."""

    relation: Relation
    problems: Problems

    def column(self, field: str, name: str) -> Column | None:
        """The column that a field of the policy names; reports what is wrong with it."""
        for wrong in column_refusals((), self.relation, name):
            self.problems.report(field, wrong.message, wrong.suggestion)
        return self.relation.column(name)

    def condition(self, field: str, text: str | None) -> exp.Expr | None:
        """A condition over columns of the source; None if there is none, or a wrong one."""
        if text is None:
            return None
        try:
            where = check_where(text)
        except ExpressionProblem as problem:
            self.problems.report(field, problem.problem.message, problem.problem.suggestion)
            return None
        columns = [self.column(field, name) for name in sorted(where.columns)]
        try:
            if not all(column is None or column.kind in TIMELESS_KINDS for column in columns):
                refuse_moving_times(where.expression)
            return typed(where.expression, self.relation)
        except ExpressionProblem as problem:
            self.problems.report(field, problem.problem.message, problem.problem.suggestion)
            return None

    def supports(self, name: str, column: Column) -> bool:
        """Whether values of the column's type can be released; reports it if not."""
        if column.kind != "unsupported":
            return True
        self.problems.report(
            f"columns.{name}",
            f"column {quote(name)} has the type {column.type_name}, which cannot be released",
            f"supported are {SUPPORTED}; cast it in a view over the source",
        )
        return False

    @property
    def record_key(self) -> tuple[str, ...]:
        """Columns of the primary key; none where there is no key, or it may not be read."""
        key = self.relation.primary_key
        return () if self.relation.unreadable(key) else key
