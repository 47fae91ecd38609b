"""Relations of a release: tables in the staging schema, views over them, and what verifies them.

They refer to tables by their final names; until publication these lie in the staging schema under
the same table name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pganon.identifiers import QualifiedName

DATA_SCHEMA = "pganon_data"
PRIVATE_SCHEMA = "pganon_private"


@dataclass(frozen=True)
class StoredRelation:
    """A table of a release.

    Attributes:
        part: what it is, e.g. "classes", "records", "members", "reference".
        staged: where verification reads it.
        stored: where publication moves it. In DATA_SCHEMA if views read it, in PRIVATE_SCHEMA if
            it is the steward's memory or evidence.
    """

    part: str
    staged: QualifiedName
    stored: QualifiedName


@dataclass(frozen=True)
class ViewColumn:
    """A published column: name, SQL type as format_type() writes it, and its COMMENT."""

    name: str
    type: str
    comment: str


@dataclass(frozen=True)
class PublishedView:
    """A view to create: `select` is a complete SELECT over stored tables, names quoted."""

    name: QualifiedName
    select: str
    columns: tuple[ViewColumn, ...]
    comment: str


@dataclass(frozen=True)
class CheckQuery:
    """One verification: `sql` selects one row (measured, failing) from stored relations alone.

    Attributes:
        against: for models that compare with a distribution, which one; else "".
        hint: what to do where the release as a whole misses it; None if groups do. Not stored.
    """

    model: str
    symbol: str
    column: str | None
    parameter: float
    bound: str
    against: str
    sql: str
    hint: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "hint"}
