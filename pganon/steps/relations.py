"""Relations of a release: tables in the staging schema, views over them, and what verifies them.

They refer to tables by their final names; until publication these lie in the staging schema under
the same table name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    """A published column: name, SQL type as format_type() writes it, and its COMMENT.

    The rest says how it stands for values of the source, for who computes estimates from it.

    Attributes:
        form: range, set, ordinal (a set of ranked values), label, listed (a label whose values are
            published), exact, multiset (an array of the values of all records), mean, mode; weight
            for the mean of sample weights, weight_range for a range around them; null for a column
            that says whether values are missing; count for numbers of records, individual for
            numbers of individuals, below for values below labels; bucket for numbers of buckets of
            another table, which `part` names; display for how records show a column, which `kind`
            names. In related tables `part` names a table: fact for values of events, persons for
            how many people have them, rows for how many rows; lookup and key for values of a table
            without people; group for numbers of groups, people and holders for how many they have.
            None for any other column.
        kind: type of the values in the source, as format_type() writes it; of holders how rows lead
            to people: columns, the table whose rows they name, its key; as JSON.
        collation: collation of the source column, quoted where SQL needs it.
        attained: whether records have the ends of the range, or the elements of the set.
        part: columns of a part are known together within a bucket; None if they are not estimated
            from.
        bucket: the column of the view with the number of the class or bucket; likewise.
    """

    name: str
    type: str
    comment: str
    form: str | None = None
    kind: str | None = None
    collation: str | None = None
    attained: bool = False
    part: str | None = None
    bucket: str | None = None

    def located(self, bucket: str, part: str | None = None) -> ViewColumn:
        """The same in a view with buckets.

        Args:
            part: what it is known together with; None where the column has a part of its own.
        """
        return replace(self, bucket=bucket, part=part or self.part)


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
