"""Whether a version is m-invariant is checked by what it publishes, whatever its method did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import UUID

import psycopg
import pytest
from psycopg import sql

from pganon.encode.people import mark_from, mark_seed, population_secret
from pganon.errors import PrivacyRefusal
from pganon.forms.elements import vector_key
from pganon.forms.links import LinkedRows
from pganon.history.invariance.signatures import (
    SIGNATURE_VALUES,
    SIGNATURES,
    InvariantVersion,
    signature_steps,
)
from pganon.history.model import GroupTables
from pganon.identifiers import QualifiedName
from pganon.ledger import repository as ledger
from pganon.resolved.invariance import OUT, Signatures
from pganon.run.executor import Executor
from pganon.sqltools import col, fragment, named, query, statement
from pganon.steps import State
from tests.support.harness.cluster import Database

pytestmark = pytest.mark.primary_server_only

Connection = psycopg.Connection[Any]
Placed = Mapping[int, tuple[int, str]]
"""By person: number of the group, negative of who was left out, and a letter per column."""
Nobody = Sequence[tuple[int, str]]
"""Groups with values that nobody has, a letter per column."""
AT = QualifiedName("pganon_work", "given")


@dataclass
class Held:
    """Versions of the same people, held against the signatures that they had."""

    conn: Connection
    width: int = 1
    earlier: Signatures | None = None
    state: State = field(default_factory=lambda: State(0))

    def __post_init__(self) -> None:
        self.state = State(ledger.start_run(self.conn, "r", ""))

    def add(self, placed: Placed, nobody: Nobody = ()) -> None:
        """Check a version; its signatures are the next one's, also if it is refused."""
        self._give(placed, nobody)
        executor = Executor(self.conn, self.state)
        try:
            executor.run(signature_steps(self._version()))
            self._keep()
        finally:
            self._clear()

    @property
    def sets(self) -> dict[int, str]:
        """By person."""
        assert self.earlier is not None
        tree = query("select p.person, p.value_set::text from p", {"p": self.earlier.people})
        return {person.int: found for person, found in self._rows(tree)}

    def _version(self) -> InvariantVersion:
        places = tuple(range(1, self.width + 1))
        members, histogram = self._named("members"), self._named("histogram")
        return InvariantVersion(
            tuple("vw"[: self.width]),
            places,
            places,
            lambda s: GroupTables(members, members, "grp"),
            lambda s: histogram,
            self.earlier,
            lambda s: self._linked(),
        )

    def _linked(self) -> list[LinkedRows]:
        keys = [col(f"v{place}", "g") for place in range(self.width)]
        tree = query("select g.grp as link from g", {"g": self._named("rows")})
        rows = tree.select(named(vector_key(keys), "value"))
        return [LinkedRows(tuple("vw"[: self.width]), rows)]

    def _give(self, placed: Placed, nobody: Nobody) -> None:
        shown = [(grp, values) for grp, values in placed.values() if grp > 0] + [*nobody]
        counted = Counter(
            (place, grp, value)
            for grp, values in shown
            for place, value in enumerate(values, start=1)
        )
        columns = ", ".join(f"v{place} text" for place in range(self.width))
        self._table("rows", f"grp bigint, {columns}", [(grp, *values) for grp, values in shown])
        rows = [(*key, n) for key, n in counted.items()]
        self._table("histogram", "col integer, link bigint, value text, n bigint", rows)
        people = [(UUID(int=person), *found) for person, found in placed.items()]
        self._table("given", "member uuid, grp bigint, letters text", people)
        seed = mark_seed(col("member", "m"), population_secret(self.state))
        marks = ", ".join(f":m{place}" for place in range(self.width))
        own = {
            f"m{place}": mark_from(seed, fragment(f"substr(m.letters, {place + 1}, 1)"))
            for place in range(self.width)
        }
        tree = query(
            f"select m.member, m.grp, array[{marks}] as marks from m",
            {"m": self._named("given")},
            **own,
        )
        self._make(self._named("members"), tree)

    def _keep(self) -> None:
        found = Signatures(self._named("had_person"), self._named("had_sets"), self.width)
        for name, table in ((SIGNATURES, found.people), (SIGNATURE_VALUES, found.values)):
            self.conn.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(table.identifier))
            self._make(table, query("select t.* from t", {"t": self.state.stage(name)}))
        self.earlier = found

    def _clear(self) -> None:
        names = ("members", "given", "histogram", "rows")
        work = ("completed", "value_set_of")
        tables = [
            *map(self._named, names),
            *map(self.state.work, work),
            *map(self.state.stage, (SIGNATURES, SIGNATURE_VALUES)),
        ]
        for table in tables:
            self.conn.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(table.identifier))

    def _named(self, name: str) -> QualifiedName:
        return QualifiedName(AT.schema, f"{AT.name}_{name}")

    def _make(self, name: QualifiedName, tree: Any) -> None:
        self.conn.execute(sql.SQL("CREATE TABLE {} AS {}").format(name.identifier, statement(tree)))

    def _table(self, name: str, shape: str, rows: Sequence[Sequence[Any]]) -> None:
        table = self._named(name).identifier
        self.conn.execute(sql.SQL("CREATE TABLE {} ({})").format(table, sql.SQL(cast(Any, shape))))
        text = sql.SQL("COPY {} FROM STDIN").format(table)
        with self.conn.cursor() as cursor, cursor.copy(text) as copy:
            for row in rows:
                copy.write_row(row)

    def _rows(self, tree: Any) -> list[tuple[Any, ...]]:
        return self.conn.execute(statement(tree)).fetchall()


def refused(held: Held, placed: Placed, nobody: Nobody = ()) -> PrivacyRefusal:
    with pytest.raises(PrivacyRefusal) as caught:
        held.add(placed, nobody)
    assert caught.value.code == "value_sets"
    return caught.value


THREE: Placed = {1: (1, "a"), 2: (1, "b"), 3: (1, "c")}


@pytest.mark.parametrize(
    ("second", "nobody", "people"),
    [
        ({1: (1, "a"), 9: (1, "b")}, [(1, "d")], 1),
        ({1: (1, "a"), 2: (1, "b")}, [], 2),
        ({1: (1, "b"), 2: (1, "a")}, [(1, "c")], 2),
    ],
    ids=["another set", "fewer values", "changed values"],
)
def test_who_would_get_other_values(
    db: Database, second: Placed, nobody: Nobody, people: int
) -> None:
    held = Held(db.owner())
    held.add(THREE)
    before = held.sets
    assert refused(held, second, nobody).observed == people
    assert held.sets == before
    # The values of who left are nobody's.
    held.add({1: (7, "a"), 9: (7, "b")}, [(7, "c")])
    assert len(set(held.sets.values())) == 1


def test_who_was_left_out_stays_out(db: Database) -> None:
    """Left out by a method that reads values: for good. Else not."""
    held = Held(db.owner())
    held.add({**THREE, 7: (-1, "d"), 8: (0, "e")})
    assert (held.sets[7], 8 in held.sets) == (OUT, False)
    others = {9: (9, "f"), 10: (9, "g")}
    assert refused(held, {**THREE, **others, 7: (9, "d")}).observed == 1
    held.add({**THREE, **others, 8: (9, "e")})


BOTH: Placed = {1: (1, "ax"), 2: (1, "by"), 3: (1, "cz")}


def test_vectors_are_completed_by_those_of_the_set(db: Database) -> None:
    held = Held(db.owner(), width=2)
    held.add(BOTH)
    missing = [(7, "cz"), (8, "ax"), (8, "by")]
    held.add({1: (7, "ax"), 5: (7, "by"), 3: (8, "cz")}, missing)
    assert len(set(held.sets.values())) == 1


@pytest.mark.parametrize(
    ("second", "nobody", "people"),
    [
        ({1: (1, "ax"), 5: (1, "bz"), 6: (1, "cy")}, [], 3),
        ({1: (1, "ax"), 5: (1, "bz")}, [(1, "cy")], 2),
        ({1: (1, "ax"), 5: (1, "bv")}, [(1, "cz")], 2),
        ({1: (1, "ax")}, [(1, "by")], 1),
        ({1: (1, "ax"), 5: (1, "ax")}, [(1, "by"), (1, "cz")], 2),
        ({1: (1, "ay"), 2: (1, "bx"), 3: (1, "cz")}, [], 3),
        ({1: (1, "by")}, [(1, "ax"), (1, "cz")], 1),
        ({1: (1, "ax")}, [(1, "bz"), (1, "cy")], 1),
    ],
    ids=[
        "other vectors",
        "other vectors and nobody",
        "other values of a column",
        "fewer",
        "twice the same",
        "changed",
        "changed to another of the set",
        "rows of no vector",
    ],
)
def test_who_would_get_other_vectors(
    db: Database, second: Placed, nobody: Nobody, people: int
) -> None:
    """Also where every column has the same values as before."""
    held = Held(db.owner(), width=2)
    held.add(BOTH)
    found = refused(held, second, nobody)
    assert found.observed == people
    assert "columns v, w" in found.message


def test_people_of_two_sets_with_the_same_values(db: Database) -> None:
    """In one group: each of them has a vector of the other's set."""
    held = Held(db.owner(), width=2)
    held.add({**BOTH, 4: (2, "ax"), 5: (2, "bz"), 6: (2, "cy")})
    assert len(set(held.sets.values())) == 2
    refused(held, {2: (1, "by"), 4: (1, "ax")}, [(1, "cz")])
