"""Versions of a population as tables that the guard reads, and the memory that it makes of them.

A version is what it says of every person of its source; nothing is encoded or published.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql
from psycopg.rows import dict_row
from sqlglot import exp

from pganon.encode.people import mark_column
from pganon.guard import work
from pganon.guard.arrays import bigints
from pganon.guard.floors import Applied
from pganon.guard.keys import key_of
from pganon.guard.model import Memory, Version
from pganon.guard.packed import bounds_rows, own_rows, remembered_bounds, remembered_own
from pganon.guard.report import figures
from pganon.guard.rules import Rule
from pganon.guard.steps import guard_steps, new_memory
from pganon.guard.verdict import found_outcome, numbered
from pganon.identifiers import QualifiedName
from pganon.publish import memory
from pganon.run.executor import Executor
from pganon.sqltools import col, query, statement
from pganon.steps import State
from tests.support.harness.cluster import Database

Connection = psycopg.Connection[Any]
Person = int
Values = tuple[str, ...]
_RUNS = itertools.count(500_000)


@dataclass(frozen=True)
class Row:
    """What a version has of one person.

    Attributes:
        groups: per column the published group, from 1; () with `left_out`.
        values: per column the values, of several records sorted.
        left_out: 0 or -1 where the person is in no group.
    """

    groups: tuple[int, ...]
    values: tuple[Values, ...]
    left_out: int = 0


Source = Mapping[Person, Row]


@dataclass
class Population:
    """A memory that grows by versions.

    Attributes:
        columns: names of the remembered columns.
    """

    conn: Connection
    columns: tuple[str, ...] = ("v",)
    memory: Memory | None = None
    state: State = field(default_factory=lambda: State(0))
    _names: dict[int, str] = field(default_factory=dict)
    version: Version = field(default_factory=lambda: Version((), frozenset(), ()))

    def add(
        self,
        source: Source,
        rules: Iterable[Rule] = (),
        *,
        published: Sequence[str] | None = None,
        reference: Mapping[str, Mapping[str, float]] | None = None,
        counterfeits: Iterable[tuple[Any, ...]] = (),
        existing: Sequence[Sequence[Sequence[str]]] = (),
        extra: int = 0,
        **options: Any,
    ) -> dict[str, Any]:
        """Run the guard for a version; its memory is the next one's. Returns the figures.

        Args:
            counterfeits: groups with values that they have of nobody; of the first column, or of a
                column that is named.
            existing: the combinations of every QS set.
            extra: what published counts of values are too high by.
        """
        shown = self.columns if published is None else tuple(published)
        known = self.memory.columns if self.memory else ()
        version = Version(
            tuple(dict.fromkeys((*known, *shown))),
            frozenset(shown),
            tuple(rules),
            memory=self.memory,
            **{
                "republication": "allow",
                "distributed": frozenset(reference or ()),
                **options,
            },
        )
        state = State(next(_RUNS))
        self._load(version, state, source, shown, counterfeits, extra)
        for number, rows in enumerate(existing, start=1):
            shape = ", ".join(f"v{place} text" for place, _ in enumerate(rows[0], start=1))
            self._table(state.work(work.existing(version.part, number)), shape, rows)
        self._reference(version, state, reference or {})
        self._name(version, state)
        executor = Executor(self.conn, state)
        self.state = executor.run(guard_steps(version))
        executor.assert_filled()
        self.version = version
        self.memory = new_memory(version, self.state)
        return figures(version, self.state.facts)

    def _load(
        self,
        version: Version,
        state: State,
        source: Source,
        shown: Sequence[str],
        counterfeits: Iterable[tuple[Any, ...]],
        extra: int,
    ) -> None:
        number = {name: place for place, name in enumerate(version.columns, start=1)}
        combinations: dict[tuple[int, ...], int] = {}
        people, own = [], []
        histogram: dict[tuple[int, int, str], int] = {}
        for link, value, *column in counterfeits:
            histogram[number[column[0] if column else shown[0]], link, value] = 1
        for person, row in source.items():
            marks: list[int | None] = [None] * len(version.columns)
            for name, values in zip(shown, row.values, strict=True):
                marks[number[name] - 1] = _mark(person, values)
            grp = row.left_out
            if row.groups:
                grp = combinations.setdefault(row.groups, len(combinations) + 1)
                for name, link, values in zip(shown, row.groups, row.values, strict=True):
                    for value in dict.fromkeys(values) if link > 0 else ():
                        key = (number[name], link, value)
                        histogram[key] = histogram.get(key, 0) + 1
                        own.append((uuid(person), number[name], value, values.count(value)))
            people.append((uuid(person), grp, marks))
        links = [
            (grp, number[name], link)
            for groups, grp in combinations.items()
            for name, link in zip(shown, groups, strict=True)
            if link > 0
        ]
        counted = [(*key, n + extra) for key, n in histogram.items()]
        part = version.part
        self._table(state.work(work.new(part)), "person uuid, grp bigint, marks bigint[]", people)
        self._table(state.work(work.links(part)), "grp bigint, col integer, link bigint", links)
        shape = "col integer, link bigint, value text, n bigint"
        self._table(state.work(work.histogram(part)), shape, counted)
        self._table(
            state.work(work.own(part)), "person uuid, col integer, value text, n bigint", own
        )

    def _reference(
        self, version: Version, state: State, shares: Mapping[str, Mapping[str, float]]
    ) -> None:
        rows = [
            (version.columns.index(name) + 1, value, place, share, None)
            for name, found in shares.items()
            for place, (value, share) in enumerate(sorted(found.items()), start=1)
        ]
        shape = "col integer, value text, position bigint, share float8, path integer[]"
        self._table(state.work(work.reference(version.part)), shape, rows)

    def _table(self, name: QualifiedName, shape: str, rows: Sequence[Sequence[Any]]) -> None:
        self.conn.execute(
            sql.SQL("CREATE TABLE {} ({})").format(name.identifier, sql.SQL(shape))  # pyright: ignore
        )
        text = sql.SQL("COPY {} FROM STDIN").format(name.identifier)
        with self.conn.cursor() as cursor, cursor.copy(text) as copy:
            for row in rows:
                copy.write_row(row)

    def _name(self, version: Version, state: State) -> None:
        tree = query(
            "select distinct :key as key, h.value from h",
            {"h": state.work(work.histogram(version.part))},
            key=key_of(col("col", "h"), col("value", "h")),
        )
        self._names |= dict(self.conn.execute(statement(tree)).fetchall())

    # -- what is there afterwards -----------------------------------------------------------------

    def rows(self, name: QualifiedName) -> list[dict[str, Any]]:
        return self._rows_of(query("select t.* from t", {"t": name}))

    def _rows_of(self, tree: exp.Select) -> list[dict[str, Any]]:
        with self.conn.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(statement(tree)).fetchall()

    @property
    def cell_of(self) -> dict[Person, int]:
        assert self.memory is not None
        return {row["person"].int: row["cell"] for row in self.rows(self.memory.person)}

    @property
    def cells(self) -> dict[int, dict[str, Any]]:
        """By number; with `people`, and `values`: (column, value) to a row of the memory.

        The memory knows values by numbers; here they have their names.
        """
        assert self.memory is not None
        found = {row["cell"]: row for row in self.rows(self.memory.cell)}
        for row in found.values():
            row |= {"people": set(), "values": {}}
        for person, cell in self.cell_of.items():
            found[cell]["people"].add(person)
        for row in self._rows_of(bounds_rows(remembered_bounds(self.memory))):
            value = self._names[row["value"]]
            row["own"] = row["at_most"] if row.pop("is_own") else None
            found[row["cell"]]["values"][row["col"], value] = {**row, "value": value}
        own = {
            (row["cell"], row["col"], self._names[row["value"]]): row["own"]
            for row in self._rows_of(own_rows(remembered_own(self.memory)))
        }
        said = {(cell, column) for cell, column, _ in own}
        for cell, known in found.items():
            for (column, value), row in known["values"].items():
                if row["own"] is None and (cell, column) in said:
                    row["own"] = own.pop((cell, column, value), 0)
        assert not own  # of values that are possible, and of cells of which nothing else says it
        return found

    @property
    def judged(self) -> list[dict[str, Any]]:
        """Cells of the last version by its own numbers."""
        return self.rows(self.version.work(self.state, "cells"))

    @property
    def applied(self) -> list[Applied]:
        """The rules of the last version and of its floors, by their numbers."""
        return [applied for _, applied in numbered(self.version)]

    def outcome(self, number: int = 0) -> dict[int, dict[str, Any]]:
        """By cell: what a rule of the last version found."""
        applied = self.applied[number]
        found = found_outcome(self.version, self.state, number, applied)
        tree = query("select r.* from r", {"r": found})
        return {row["id"]: row for row in self._rows_of(tree)}


def uuid(person: Person) -> UUID:
    return UUID(int=person)


def _mark(person: Person, values: Values) -> int:
    text = f"{person}:{sorted(set(values))}".encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big", signed=True)


def released(group: int, *values: str) -> Row:
    """Of one column: one record per value."""
    return Row((group,), (tuple(values),))


def left_out(kind: int, *values: str) -> Row:
    return Row((), (tuple(values),), kind)


def remembered(db: Database) -> tuple[Any, ...]:
    """The one memory that a database has, whatever the numbers of its cells."""
    conn, _, found = _the_memory(db)

    def rows(tree: exp.Select) -> list[tuple[Any, ...]]:
        return conn.execute(statement(tree)).fetchall()

    known = found.memory
    people = rows(
        query(
            "select p.cell, p.person, to_jsonb(p) - 'cell' from p order by 2", {"p": known.person}
        )
    )
    first: dict[int, Any] = {}
    for number, who, _ in people:
        first.setdefault(number, who)
    parts = [
        query("select t.cell, to_jsonb(t) - 'cell' from t", {"t": table})
        for table in (
            known.cell,
            bounds_rows(remembered_bounds(known)),
            own_rows(remembered_own(known)),
        )
    ]
    return (
        [(first[number], who, marks) for number, who, marks in people],
        *[sorted([(first[number], str(row)) for number, row in rows(p)], key=str) for p in parts],
        known.columns,
        known.floors,
    )


def _the_memory(db: Database) -> tuple[Connection, int, memory.Remembered]:
    ((population,),) = db.admin.execute("SELECT population FROM pganon_private.memory").fetchall()
    conn = db.connect("steward")
    (found,) = memory.read(conn, population)
    return conn, population, found


def as_before(conn: Connection, known: Memory, *, own_apart: bool = True) -> Memory:
    """A memory as it was once: marks in an array, and a row of bounds per value.

    Args:
        own_apart: whether own values that bounds do not say were in tables of their own already.
    """
    assert known.marked_apart
    assert known.packed

    def copied(name: QualifiedName, tree: exp.Select) -> QualifiedName:
        made = QualifiedName(name.schema, f"{name.name}_before")
        conn.execute(sql.SQL("CREATE TABLE {} AS {}").format(made.identifier, statement(tree)))
        return made

    marks = [col(mark_column(n), "p") for n, _ in enumerate(known.columns, start=1)]
    return replace(
        known,
        person=copied(
            known.person,
            query(
                "select p.person, p.cell, :marks as marks from p",
                {"p": known.person},
                marks=bigints(marks),
            ),
        ),
        value=copied(
            known.value,
            query(
                "select b.cell, b.col, b.value, case when b.is_own then b.at_most"
                " when not :apart and (b.cell, b.col) in (select k.cell, k.col from k)"
                " then coalesce(o.own, 0) end as own, b.at_least, b.at_most"
                " from b left join o using (cell, col, value)",
                {
                    "b": bounds_rows(known.value),
                    "o": own_rows(known.own),
                    "k": own_rows(known.own),
                },
                apart=exp.true() if own_apart else exp.false(),
            ),
        ),
        own=tuple(
            copied(table, query("select o.* from o", {"o": own_rows([table])}))
            for table in (known.own if own_apart else ())
        ),
        marked_apart=False,
        packed=False,
    )


def remember_as_before(db: Database) -> None:
    """Make the one memory of a database one as it was once."""
    conn, population, found = _the_memory(db)
    known = as_before(conn, found.memory)
    for now, before in zip(found.memory.tables, known.tables, strict=True):
        if now != before:
            conn.execute(sql.SQL("DROP TABLE {}").format(now.identifier))
            conn.execute(
                sql.SQL("ALTER TABLE {} RENAME TO {}").format(
                    before.identifier, sql.Identifier(now.name)
                )
            )
    (found,) = memory.read(conn, population)
    assert not found.memory.marked_apart
    assert not found.memory.packed
    memory.remember_fingerprint(conn, population, found)
