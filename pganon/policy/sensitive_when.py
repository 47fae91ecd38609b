"""For whom the value of a semi-sensitive column is sensitive."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pganon.policy.expressions import ExpressionProblem, check_where
from pganon.policy.hierarchies import OneKey
from pganon.policy.labels import Condition, Name, RelationName

EXCEPTION_COLUMN = "attribute"
"""Column of a relation of exceptions with the name of the column whose value is sensitive."""

HIDDEN = ("sensitive", "semi_sensitive")
"""Roles of columns whose values a release unlinks from at least some persons."""


class SensitiveWhen(OneKey):
    """Exactly one of these says it; where it says NULL, the value is sensitive.

    Attributes:
        column: a boolean column of the source.
        predicate: a condition over columns of the source.
        relation: a table with the source's primary key and a column `attribute`, a row for each
            value that is sensitive.
    """

    column: Name | None = None
    predicate: Annotated[Condition, Field(max_length=20_000)] | None = None
    relation: RelationName | None = None

    @property
    def columns(self) -> frozenset[str]:
        """Columns of the source that it reads."""
        if self.column is not None:
            return frozenset({self.column})
        if self.predicate is None:
            return frozenset()
        try:
            return check_where(self.predicate).columns
        except ExpressionProblem:
            return frozenset()
