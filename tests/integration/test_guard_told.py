"""What a version with several partitions tells of people, from its members and histograms."""

from __future__ import annotations

from uuid import UUID

import pytest
from sqlglot import exp

from pganon.encode.people import mark
from pganon.guard import work
from pganon.guard.model import Version
from pganon.guard.told import LEFT_OUT, Told, told_steps
from pganon.identifiers import QualifiedName
from pganon.run.executor import Executor
from pganon.sqltools import fragment, query, statement
from pganon.steps import State
from tests.support.harness.cluster import Connection, Database

pytestmark = pytest.mark.primary_server_only

MEMBERS, HISTOGRAM = (QualifiedName("pganon_work", f"r1_{name}") for name in ("told_m", "told_h"))
SECRET = query("select '\\x00'::bytea as secret")
RELEASED = {1: (1, 1, "a", "x"), 2: (1, 2, "a", "y"), 3: (1, 2, "b", "x")}
"""By person: groups and values of two columns."""


def told(conn: Connection) -> None:
    conn.execute("CREATE TABLE pganon_work.r1_told_m (member uuid, g int, h int, marks bigint[])")
    conn.execute("CREATE TABLE pganon_work.r1_told_h (col int, link bigint, value text, n bigint)")
    counted: dict[tuple[int, int, str], int] = {}
    for person, (g, h, v, w) in RELEASED.items():
        marks = [marked(conn, person, value) for value in (v, w)]
        row = [UUID(int=person), g, h, marks]
        conn.execute("INSERT INTO pganon_work.r1_told_m VALUES (%s, %s, %s, %s)", row)
        for key in ((1, g, v), (2, h, w)):
            counted[key] = counted.get(key, 0) + 1
    left_out = [UUID(int=9), LEFT_OUT, LEFT_OUT, None]
    conn.execute("INSERT INTO pganon_work.r1_told_m VALUES (%s, %s, %s, %s)", left_out)
    for key, n in counted.items():
        conn.execute("INSERT INTO pganon_work.r1_told_h VALUES (%s, %s, %s, %s)", [*key, n])


def marked(conn: Connection, person: int, value: str) -> int:
    tree = query(
        "select :m as m", m=mark(fragment(":p::uuid", p=text(person)), literal(value), SECRET)
    )
    ((found,),) = conn.execute(statement(tree)).fetchall()
    return found


def text(person: int) -> exp.Expr:
    return literal(str(UUID(int=person)))


def literal(value: str) -> exp.Expr:
    return fragment(f"'{value}'::text")


def test_several_partitions(db: Database) -> None:
    conn = db.owner()
    told(conn)
    version = Version(("v", "w"), frozenset("vw"), ())
    tells = Told(MEMBERS, HISTOGRAM, ("g", "h"), (("v", "g"), ("w", "h")), several=False)
    state = State(1)
    Executor(conn, state).run(told_steps(lambda s: tells, version, lambda s: SECRET, plain=False))

    def rows(name: str) -> list[tuple[object, ...]]:
        table = state.work(name).identifier.as_string(conn)
        return conn.execute(f"SELECT * FROM {table}".encode()).fetchall()

    groups = {person.int: grp for person, grp, _ in rows(work.new().name)}  # pyright: ignore
    assert groups.pop(9) == LEFT_OUT
    assert len(set(groups.values())) == 2
    assert groups[2] == groups[3]
    assert min(groups.values()) > 0
    links = {(grp, col): link for grp, col, link in rows(work.links().name)}
    assert links == {
        (groups[person], col): link
        for person, found in RELEASED.items()
        for col, link in enumerate(found[:2], start=1)
    }
    own = {(person.int, col): value for person, col, value, _ in rows(work.own().name)}  # pyright: ignore
    assert own == {
        (person, col): value
        for person, found in RELEASED.items()
        for col, value in enumerate(found[2:], start=1)
    }
