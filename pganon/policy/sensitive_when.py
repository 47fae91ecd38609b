"""For whom the value of a semi-sensitive column is sensitive."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from pganon.policy.expressions import ExpressionProblem, check_where
from pganon.policy.hierarchies import Declaration
from pganon.policy.labels import Condition, Name, RelationName
from pganon.policy.refusals import refuse_one

EXCEPTION_COLUMN = "attribute"
"""Column of a relation of exceptions with the name of the column whose value is sensitive."""

HIDDEN = ("sensitive", "semi_sensitive")
"""Roles of columns whose values a release unlinks from at least some persons."""


class SensitiveWhen(Declaration):
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

    @model_validator(mode="after")
    def _exactly_one(self) -> SensitiveWhen:
        given = [name for name, value in self if value is not None]
        if len(given) != 1:
            said = f"has the keys {' and '.join(given)}" if given else "says nothing"
            refuse_one(f"{said}; it takes exactly one of column, predicate, relation", at=())
        return self

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
