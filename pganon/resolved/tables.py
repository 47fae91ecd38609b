"""Related tables, resolved: events in an order in which each leads to tables before it, lookups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from sqlglot import exp

from pganon.catalog.model import Column, Relation
from pganon.catalog.types import canonical_type
from pganon.hierarchies import leaf_kind
from pganon.identifiers import QualifiedName
from pganon.policy.hierarchies import Hierarchy
from pganon.policy.options import GROUP_ID

GROUPS = "groups"
"""View with the groups in which most tables have their values."""

HOLDERS, GROUP_SIZE, EVENT_SHARE = "holders", "group_size", "event_share"
"""What is required of groups: people with rows of a table, people, and the share of a value."""

PEOPLE, PERSONS, PERIOD = "people", "persons", "period"
"""Columns of published views: everybody of a group, who has rows, or a value, and when."""


@dataclass(frozen=True)
class Item:
    """A published column of events.

    Attributes:
        index: place in its table, from 0.
        limit: the share of the people with rows that may have a value; None: it is not sensitive.
        level: of the hierarchy, that is published.
        lookup: number of the lookup whose key its values are.
    """

    index: int
    column: Column
    published: str
    limit: Fraction | None
    hierarchy: Hierarchy | None = None
    level: int = 0
    lookup: int | None = None

    @property
    def published_type(self) -> str:
        return self.column.stored_type if self.hierarchy is None else "text"

    @property
    def leaf_kind(self) -> str:
        """Of the values, for the hierarchy."""
        return leaf_kind(self.hierarchy, None, canonical_type(self.column))


@dataclass(frozen=True)
class Pair:
    """Columns whose values of one row are published together; the first is a slice, too.

    Attributes:
        limit: of who has one of the values, the share that may have the other.
    """

    first: Item
    second: Item
    limit: Fraction


@dataclass(frozen=True)
class Way:
    """Columns that name a row of another table of people.

    Attributes:
        table: number of that table; None: the root.
    """

    table: int | None
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Events:
    """A table of rows about people.

    Attributes:
        index: its number.
        key: by which rows of others name its rows; empty where none do.
        pairs: columns that are published together.
        membership: the share of those who could have rows that may have some; None: any.
        own: whether its values stand in groups of their own.
        period: the column with the time of rows, where closed periods are published.
    """

    index: int
    name: str
    relation: Relation
    where: exp.Expr | None
    key: tuple[Column, ...]
    ways: tuple[Way, ...]
    items: tuple[Item, ...]
    pairs: tuple[Pair, ...]
    membership: Fraction | None
    own: bool
    leaves_orphans_out: bool
    period: Column | None = None

    @property
    def slices(self) -> tuple[Item, ...]:
        """The columns that are published by themselves."""
        second = {pair.second.index for pair in self.pairs}
        return tuple(item for item in self.items if item.index not in second)

    @property
    def parents(self) -> tuple[int, ...]:
        """Numbers of the tables of events to which its rows lead."""
        return tuple(dict.fromkeys(w.table for w in self.ways if w.table is not None))

    @property
    def candidates(self) -> tuple[int | None, ...]:
        """Who could have rows: those with rows in a table, by its number; None: everybody."""
        return tuple(dict.fromkeys(way.table for way in self.ways))


@dataclass(frozen=True)
class Lookup:
    """A table without people."""

    index: int
    name: str
    relation: Relation
    key: Column
    columns: tuple[tuple[Column, str], ...]


@dataclass(frozen=True)
class Partition:
    """Groups of whole classes in which some tables have their values.

    Attributes:
        index: its number.
        number: published column with the number of a group.
        part: of the view of the groups.
        events: the tables.
    """

    index: int
    number: str
    part: str
    events: tuple[Events, ...]

    def holders(self, events: Events) -> str:
        """Published column with the people who have rows in a table."""
        return PERSONS if events.own else events.name


@dataclass(frozen=True)
class Related:
    """What a policy says about tables beside its root.

    Attributes:
        k: fewest people with rows in a table, of a group that has any.
        group_size: fewest people of a group.
        every: how long a period is; None: there are none.
    """

    k: int
    group_size: int
    events: tuple[Events, ...]
    lookups: tuple[Lookup, ...]
    every: str | None = None

    @cached_property
    def timed(self) -> frozenset[int]:
        """Numbers of the tables of which periods are published: with a period, and below those."""
        found = set[int]()
        for one in self.events:  # each is after those that its rows lead to
            if one.period is not None or not found.isdisjoint(one.parents):
                found.add(one.index)
        return frozenset(found)

    @property
    def lasting(self) -> tuple[Events, ...]:
        """The other tables."""
        return tuple(one for one in self.events if one.index not in self.timed)

    @property
    def closing(self) -> Related:
        """What a run is about that adds a period to groups that there are."""
        return replace(self, events=tuple(one for one in self.events if one.index in self.timed))

    @property
    def partitions(self) -> tuple[Partition, ...]:
        common = tuple(one for one in self.events if not one.own)
        found = [(GROUP_ID, GROUPS, common)] if common else []
        found += [
            (f"{e.name}_{GROUP_ID}", f"{e.name}_{GROUPS}", (e,)) for e in self.events if e.own
        ]
        return tuple(Partition(index, *each) for index, each in enumerate(found))

    def partition_of(self, events: Events) -> Partition:
        return next(one for one in self.partitions if events in one.events)

    @property
    def read(self) -> dict[str, Relation]:
        """The tables beside the root, by name."""
        return {one.name: one.relation for one in (*self.events, *self.lookups)}

    @property
    def relations(self) -> tuple[QualifiedName, ...]:
        """Those that a run reads beside the source."""
        return tuple(relation.name for relation in self.read.values())


# -- names of views ------------------------------------------------------------------------------


def slice_part(events: Events, *items: Item) -> str:
    return "_".join((events.name, *(item.published for item in items)))


def rows_part(events: Events) -> str:
    return f"{events.name}_rows"


def parts(related: Related) -> Iterator[tuple[str, str]]:
    """The view of every part, with the table that it is of."""
    for partition in related.partitions:
        yield partition.part, partition.events[0].name
    for events in related.events:
        for item in events.slices:
            yield slice_part(events, item), events.name
        for pair in events.pairs:
            yield slice_part(events, pair.first, pair.second), events.name
        yield rows_part(events), events.name
    for lookup in related.lookups:
        yield lookup.name, lookup.name
