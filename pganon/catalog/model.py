"""Facts about a source relation: read once from pg_catalog, immutable after that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from pganon.identifiers import QualifiedName

Kind = Literal[
    "integer",
    "numeric",
    "float",
    "date",
    "timestamp",
    "timestamptz",
    "boolean",
    "text",
    "bpchar",
    "citext",
    "enum",
    "uuid",
    "unsupported",
]
RelationKind = Literal["table", "partitioned table", "view", "materialized view", "foreign table"]

NUMBER_KINDS: frozenset[Kind] = frozenset({"integer", "numeric", "float"})
TIME_KINDS: frozenset[Kind] = frozenset({"date", "timestamp", "timestamptz"})
# Not all others: an unsupported type may hold times.
TIMELESS_KINDS: frozenset[Kind] = frozenset(
    {"integer", "numeric", "float", "boolean", "text", "bpchar", "citext", "enum", "uuid"}
)

# Types that cannot be released and can identify people: equal values have equal texts.
_ALIKE: frozenset[str] = frozenset({"bytea", "inet", "cidr", "macaddr", "macaddr8", "oid"})


@dataclass(frozen=True)
class Column:
    """One column of a relation.

    Attributes:
        type_name: the declared type as SQL writes it, schema-qualified where it must be.
        base: the type below all domains, as SQL writes it; equal to `type_name` without domains.
        nullable: False only if the server enforces NOT NULL for every row that a query sees.
        collation: name of the collation, None for a type without one.
        collation_deterministic: False if the collation can call different texts equal.
        readable: the current role may SELECT it.
        built_in: the type below all domains is the server's own.
        labels: of an enum, in its order.
    """

    attnum: int
    name: str
    type_oid: int
    type_name: str
    base_oid: int
    base: str
    kind: Kind
    nullable: bool
    collation: str | None = None
    collation_deterministic: bool = True
    readable: bool = True
    built_in: bool = True
    labels: tuple[str, ...] = ()

    @property
    def is_number(self) -> bool:
        return self.kind in NUMBER_KINDS

    @property
    def is_time(self) -> bool:
        return self.kind in TIME_KINDS

    @property
    def has_canonical_text(self) -> bool:
        """Whether all spellings of a value are one text, by :mod:`pganon.catalog.keys`.

        Not of intervals (24 hours are 1 day), JSON (1 is 1.0), ranges, arrays and composite types,
        whose elements have spellings, nor of types whose equality is their owner's.
        """
        return self.kind != "unsupported" or (self.built_in and self.base in _ALIKE)

    @property
    def stored_type(self) -> str:
        """Type in which values are kept and published, as SQL writes it.

        An enum is text and a domain its base type: the owner of a type can change its labels,
        plant casts and checks, or drop it together with the relations that use it.
        """
        return "text" if self.kind == "enum" else self.base


@dataclass(frozen=True)
class Origin:
    """What a column of a relation is made of.

    Attributes:
        bases: columns of tables that its values come from, each by name and by number, also those
            of the tables that these are parts of.
        plain: whether it is one of them as it is.
        resolved: whether nothing else may be in it, as functions that read tables could add.
        chosen: columns of tables by which rows with its values are found, as those of a table that
            is joined.
    """

    bases: frozenset[str]
    plain: bool = True
    resolved: bool = True
    chosen: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ForeignKey:
    """Columns that together name a row of another table."""

    columns: tuple[str, ...]
    table: QualifiedName


@dataclass(frozen=True)
class Reference:
    """A foreign key between tables: `columns` of one name rows of another by its columns `keys`."""

    source: QualifiedName
    columns: tuple[str, ...]
    target: QualifiedName
    keys: tuple[str, ...]


@dataclass(frozen=True)
class Relation:
    """A table, view or foreign table.

    Attributes:
        columns: in attnum order, without dropped ones.
        primary_key: names in the key's order; empty if there is none that covers every row.
        unique: columns that are unique by themselves.
        foreign_keys: of the relation, or of a table that it shows the columns of.
        origins: by column, what it is made of.
        row_security: policies of row-level security apply to the current role.
        owner: role that owns it.
    """

    oid: int
    name: QualifiedName
    kind: RelationKind
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...]
    row_security: bool
    owner: str
    unique: frozenset[str] = frozenset()
    foreign_keys: tuple[ForeignKey, ...] = ()
    origins: Mapping[str, Origin] = field(default_factory=dict)

    def column(self, name: str) -> Column | None:
        """The column of exactly this name."""
        return next((column for column in self.columns if column.name == name), None)

    def refers_to(self, name: str) -> QualifiedName | None:
        """The table in which the column, perhaps with others, names a row."""
        return next((key.table for key in self.foreign_keys if name in key.columns), None)

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def record_key(self) -> tuple[str, ...]:
        """Columns of the primary key; none where there is no key, or it may not be read."""
        return () if self.unreadable(self.primary_key) else self.primary_key

    def unreadable(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of the named columns that the current role may not SELECT."""
        wanted = set(names)
        return tuple(c.name for c in self.columns if c.name in wanted and not c.readable)


@dataclass(frozen=True)
class DistributedRead:
    """Tables with shards that a statement reads, perhaps each at an instant of its own.

    Attributes:
        distributed: the tables that Citus distributes.
        locked: all stored tables that it reads, if it reads several shards or tables and the
            current role may lock all of them against writers.
        unlocked: otherwise those that it may not lock; empty where one shard is all that is read.
    """

    distributed: tuple[QualifiedName, ...]
    locked: tuple[QualifiedName, ...] = ()
    unlocked: tuple[QualifiedName, ...] = ()

    @property
    def several(self) -> bool:
        """Whether it reads more than one shard or table."""
        return bool(self.locked or self.unlocked)


@dataclass(frozen=True)
class Shards:
    """A table whose rows are in shards, by hashes of a column."""

    table: QualifiedName
    column: str


@dataclass(frozen=True)
class ExternalObjects:
    """Relations and functions that others may have made, whose code a statement may run."""

    relations: tuple[QualifiedName, ...] = ()
    functions: tuple[QualifiedName, ...] = ()

    @property
    def named(self) -> tuple[QualifiedName, ...]:
        return (*self.relations, *self.functions)
