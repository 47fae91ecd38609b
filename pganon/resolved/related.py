"""Resolves the other tables of a policy, and finds what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path

from pganon.catalog.model import Column, Relation
from pganon.catalog.values import texts_of
from pganon.identifiers import fits, quote
from pganon.policy.model import Policy
from pganon.policy.options import FLAT, part_name
from pganon.policy.refusals import Place, Refusal
from pganon.policy.tables import EventTable, LookupTable
from pganon.privacy.frequency import KAnonymity
from pganon.privacy.models import EventShare
from pganon.resolved.source import SUPPORTED, Problems, Source, refused_names, spelled
from pganon.resolved.tables import (
    PEOPLE,
    PERIOD,
    PERSONS,
    Events,
    Item,
    Lookup,
    Pair,
    Related,
    Way,
    parts,
)


def related(
    policy: Policy, source: Source, relations: Mapping[str, Relation], base_dir: Path
) -> Related | None:
    """The tables of a policy; None of a policy about one table. Problems go to those of the source.

    Args:
        source: the root's.
        relations: of the other tables, by name.
    """
    if not policy.tables:
        return None
    made = _Resolver(policy, source, relations, base_dir)
    found = made.resolve()
    source.problems.refuse(_name_refusals(policy, found))
    source.problems.refuse(_twice_refusals(policy, source.relation, found))
    source.problems.refuse(_rows_refusals(found))
    return found


def _in_order(declared: Mapping[str, EventTable]) -> Iterator[tuple[str, EventTable]]:
    """Tables in the order of the policy, each after those that its rows name."""
    ready: set[str] = set()
    while waiting := [name for name in declared if name not in ready]:
        for name in waiting:
            others = {r.table for r in declared[name].references} & declared.keys()
            if others <= ready and name not in ready:
                yield name, declared[name]
                ready.add(name)
                break


class _Resolver:
    def __init__(
        self, policy: Policy, source: Source, relations: Mapping[str, Relation], base_dir: Path
    ) -> None:
        self.policy = policy
        self.root = source
        self.relations = relations
        self.base_dir = base_dir
        self.problems: Problems = source.problems
        tables = policy.tables
        declared = {n: t for n, t in tables.items() if isinstance(t, EventTable)}
        self.events = dict(_in_order(declared))
        self.lookups = {n: t for n, t in tables.items() if isinstance(t, LookupTable)}
        self.numbers = {name: number for number, name in enumerate(self.events)}
        self.shares = [model for model in policy.privacy if isinstance(model, EventShare)]

    def resolve(self) -> Related:
        lookups = [
            self._lookup(number, name, table)
            for number, (name, table) in enumerate(self.lookups.items())
        ]
        events = [self._events(name, table) for name, table in self.events.items()]
        found = [lookup for lookup in lookups if lookup is not None]
        k = next(m.k for m in self.policy.privacy if isinstance(m, KAnonymity))
        periods = [t.period for t in self.events.values() if t.period is not None]
        every = periods[0].every if periods else None
        return Related(k, self.policy.group_size or 10 * k, tuple(events), tuple(found), every)

    def _lookup(self, number: int, name: str, table: LookupTable) -> Lookup | None:
        source = Source(self.relations[name], self.problems)
        place: Place = ("tables", name)
        relation = source.relation
        people, named = self._people
        ways = [w.table for w in relation.foreign_keys]
        for way in [w for w in ways if any(base.startswith(f"{w}.") for base in named)]:
            self.problems.report(
                (*place, "people"),
                f"{relation.name} names rows of {way}, which is about people",
                "write references: in place of people: none",
            )
        shows = [base for one in (table.key, *table.columns) for base in _bases(relation, one)]
        if not people.isdisjoint([str(relation.oid), *_tables_of(shows)]):
            self.problems.report(
                (*place, "people"),
                f"{relation.name} shows columns of a table about people, whose rows would be"
                " published as they are",
                "leave it out, and declare what of it is wanted as columns of that table",
            )
        key = self._key(source, (*place, "key"), table.key)
        columns = {table.key: None, **table.columns}
        shown: list[tuple[Column, str]] = []
        for column, declared in columns.items():
            at = (*place, "columns", column) if declared else (*place, "key")
            found = source.column(at, column)
            if found is not None and self._supported(at, found):
                shown.append((found, (declared and declared.published_as) or column))
        return None if key is None else Lookup(number, name, source.relation, key, tuple(shown))

    @cached_property
    def _people(self) -> tuple[set[str], list[str]]:
        """Numbers of the tables with keys of people, or of rows about them, and these columns."""
        keys = [(self.root.relation, self.policy.individual_key)]
        for name, table in self.events.items():
            references = [column for one in table.references for column in one.columns]
            keys.append((self.relations[name], (*(table.key or ()), *references)))
        bases = [base for relation, names in keys for n in names for base in _bases(relation, n)]
        return {str(relation.oid) for relation, _ in keys} | _tables_of(bases), bases

    def _events(self, name: str, table: EventTable) -> Events:
        source = Source(self.relations[name], self.problems)
        place: Place = ("tables", name)
        keys = [self._key(source, (*place, "key"), column) for column in table.key or ()]
        items = self._items(name, table, source)
        by_name = {item.column.name: item for item in items}
        pairs: list[Pair] = []
        for one, two in table.together:
            if one in by_name and two in by_name:
                both = by_name[one], by_name[two]
                # The bound of the stricter column; all of them, where neither is sensitive.
                limits = [item.limit for item in both if item.limit is not None]
                pairs.append(Pair(*both, min(limits, default=Fraction(1))))
        return Events(
            self.numbers[name],
            name,
            source.relation,
            source.condition((*place, "where"), table.where),
            tuple(key for key in keys if key is not None),
            tuple(self._ways(name, table, source)),
            tuple(items),
            tuple(pairs),
            self._limit(name, None) if table.membership == "sensitive" else None,
            table.groups == "own",
            table.orphans == "leave_out",
            self._period(name, table, source),
        )

    def _period(self, name: str, table: EventTable, source: Source) -> Column | None:
        if table.period is None:
            return None
        place = ("tables", name, "period", "column")
        column = source.column(place, table.period.column)
        if column is None or column.kind in ("date", "timestamp", "timestamptz"):
            return column
        message = f"column {quote(column.name)} is {column.type_name}, which is no time"
        self.problems.report(place, message, "name a column of a date or timestamp type")
        return None

    def _limit(self, table: str, column: str | None) -> Fraction:
        return min(share.limit for share in self.shares if share.bounds(table, column))

    def _ways(self, name: str, table: EventTable, source: Source) -> Iterator[Way]:
        for number, reference in enumerate(table.references):
            place = ("tables", name, "references", number)
            columns = [self._key(source, place, column) for column in reference.columns]
            named, relation = self.policy.individual_key, self.root.relation
            if reference.table in self.numbers:
                named = self.events[reference.table].key or ()
                relation = self.relations[reference.table]
            for column, key in zip(columns, named, strict=False):
                other = relation.column(key)
                if column and other and texts_of(column) != texts_of(other):
                    self._other_type(place, column, other)
            yield Way(self.numbers.get(reference.table), tuple(c for c in columns if c is not None))

    def _other_type(self, place: Place, column: Column, other: Column) -> None:
        self.problems.report(
            place,
            f"column {quote(column.name)} is {column.type_name}, and {quote(other.name)} that it"
            f" names is {other.type_name}",
            "name a view that casts one of them",
        )

    def _items(self, name: str, table: EventTable, source: Source) -> list[Item]:
        lookups = list(self.lookups)
        items: list[Item] = []
        for column_name, declared in table.columns.items():
            place = ("tables", name, "columns", column_name)
            column = source.column(place, column_name)
            if column is None or declared.role == "identifying":
                continue
            if not self._supported(place, column):
                continue
            way = source.relation.refers_to(column_name)
            if way is not None and declared.references is None:
                self.problems.report(
                    place,
                    f"column {quote(column_name)} names rows of {way}, which may be about people",
                    "leave it out, or declare that table with people: none, and references: here",
                )
            lookup = None
            if declared.references is not None:
                named = declared.references
                lookup = lookups.index(named)
                other = self.relations[named].column(self.lookups[named].key)
                if other is not None and texts_of(column) != texts_of(other):
                    self._other_type((*place, "references"), column, other)
            limit = self._limit(name, column_name) if declared.role == "sensitive" else None
            published, level = declared.published_as or column_name, declared.shown or 0
            item = Item(len(items), column, published, limit, declared.hierarchy, level, lookup)
            if item.hierarchy is not None:
                kind = item.leaf_kind
                source.check_hierarchy(place, column, item.hierarchy, kind, self.base_dir)
            items.append(item)
        return items

    def _key(self, source: Source, place: Place, name: str) -> Column | None:
        column = source.column(place, name)
        wrong = [] if column is None else list(spelled(place, column, keyed=True))
        self.problems.refuse(wrong)
        return None if wrong else column

    def _supported(self, place: Place, column: Column) -> bool:
        if column.kind not in ("unsupported", "citext") and column.collation_deterministic:
            return True
        self.problems.report(
            place,
            f"column {quote(column.name)} has the type {column.type_name} or a collation that calls"
            " different texts equal; its values cannot be counted",
            f"supported are {SUPPORTED}, but for citext; cast it in a view",
        )
        return False


def _name_refusals(policy: Policy, found: Related) -> Iterator[Refusal]:
    """Names of views and columns that are there twice, or too long."""
    views: list[tuple[Place, str]] = [(("tables",), part_name(policy.release, FLAT))]
    views += [(("tables", table), part_name(policy.release, part)) for part, table in parts(found)]
    if fits(policy.release):
        remedy = "rename the release, the table, or a column with `as:`"
        yield from refused_names(views, what="views", remedy=remedy)
    numbers = {partition.number for partition in found.partitions}
    for name, column in policy.columns.items():
        published = column.published_as or name
        if column.role != "identifying" and published in numbers:
            yield from refused_names([(("columns", name), published)], numbers)
    for partition in found.partitions:
        added = {PEOPLE, PERSONS, *([PERIOD] if found.timed else [])}
        first, *_ = partition.events
        columns: list[tuple[Place, str]] = [(("tables", first.name), partition.number)]
        columns += [(("tables", e.name), e.name) for e in partition.events if not e.own]
        yield from refused_names(columns, added, remedy="rename the table")
        for events in partition.events:
            added = {partition.number, PERSONS}
            added |= {PERIOD} if events.index in found.timed else set()
            at = ("tables", events.name, "columns")
            items = [((*at, item.column.name), item.published) for item in events.items]
            yield from refused_names(items, added)
    for lookup in found.lookups:
        names = [(("tables", lookup.name, "columns"), name) for _, name in lookup.columns]
        yield from refused_names(names)


def _twice_refusals(policy: Policy, root: Relation, found: Related) -> Iterator[Refusal]:
    """Columns of tables that stand in two slices: what one leaves out, the other may give away."""
    published = [n for n, c in policy.columns.items() if c.role != "identifying"]
    seen: dict[str, str] = {}
    each: list[tuple[Place, Relation, str, str]] = [
        (("columns", name), root, name, policy.root or "") for name in published
    ]
    for events in found.events:
        at = ("tables", events.name, "columns")
        each += [
            ((*at, i.column.name), events.relation, i.column.name, events.name)
            for i in events.items
        ]
    for place, relation, name, table in each:
        bases = _bases(relation, name)
        if shown := [base for base in bases if base in seen]:
            message = f"shows {shown[0]}, which {seen[shown[0]]} shows, too"
            yield Refusal(place, message, "publish every column of the source once")
        seen.update(dict.fromkeys(bases, table))


def _rows_refusals(found: Related) -> Iterator[Refusal]:
    """Tables with rows of the same table in groups of their own: groups of two kinds are told of
    facts that depend on each other, which holds against nobody who compares them."""
    people = set[str]().union(*[_tables_of(_naming(events)) for events in found.events])
    seen: list[tuple[Events, set[str]]] = []
    for events in found.events:
        shown = [
            base for item in events.items for base in _bases(events.relation, item.column.name)
        ]
        rows = {str(events.relation.oid)} | _tables_of([*shown, *_naming(events)]) & people
        for other, others in seen:
            if not rows.isdisjoint(others) and (events.own or other.own):
                message = (
                    f"has rows of a table that {quote(other.name)} has rows of, in other groups"
                )
                hint = "declare the columns in one table, or leave groups: own out of both"
                yield Refusal(("tables", events.name, "source"), message, hint)
        seen.append((events, rows))


def _naming(events: Events) -> list[str]:
    """Columns of tables by which its rows lead to people."""
    names = [column.name for way in events.ways for column in way.columns]
    return [base for name in names for base in _bases(events.relation, name)]


def _bases(relation: Relation, name: str) -> Sequence[str]:
    """Columns of tables that its values come from, first by their names, then by numbers."""
    origin = relation.origins.get(name)
    bases = sorted(origin.bases, key=lambda base: ("#" in base, base)) if origin else []
    return bases or [f"{relation.name}.{quote(name)}"]


def _tables_of(bases: Sequence[str]) -> set[str]:
    """Numbers of the tables that columns are of."""
    return {base.partition("#")[0] for base in bases if "#" in base}
