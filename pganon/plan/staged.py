"""What a finished run hands over for publication.

Everything in a :class:`Staged` release refers to tables by their final names; until publication
they lie in the staging schema under the same table name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pganon.identifiers import QualifiedName
from pganon.policy.partition import Part

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
    """

    model: str
    symbol: str
    column: str | None
    parameter: float
    bound: str
    against: str
    sql: str

    def as_dict(self) -> dict[str, Any]:
        return dict(self.__dict__)


@dataclass(frozen=True)
class Staged:
    """A verified release in the staging schema, ready to be published.

    Attributes:
        guarantee: what the release promises, as shown to analysts: list of
            {model, parameter..., column}.
        measures: utility and risk for the steward.
        stamps: pganon.stamp() of each of `relations`, of when it was made.
        fingerprint: keyed fingerprint of the published relations when they were verified.
        partition: the partition part of the policy.
        sources: names of the source and of all that its rows come from.
        source_fingerprint: what the source of later versions is compared with.
        compared_with: runs of the versions over these sources that this one was compared with;
            None if it may appear beside any other.
    """

    run_id: int
    release: str
    source: str
    method: str
    policy: dict[str, Any]
    policy_hash: str
    guarantee: list[dict[str, Any]]
    relations: tuple[StoredRelation, ...]
    views: tuple[PublishedView, ...]
    checks: tuple[CheckQuery, ...]
    readers: tuple[str, ...]
    keep: int
    row_count: int
    suppressed: int
    stamps: tuple[str, ...]
    fingerprint: bytes
    source_fingerprint: bytes
    partition: Part
    sources: tuple[str, ...]
    compared_with: frozenset[int] | None = None
    measures: dict[str, Any] = field(default_factory=dict)
