"""Attack: names of columns, tables and schemas that would change a statement if not quoted."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import sql

from pganon.identifiers import quote
from tests.support.harness.driver import leftovers, publish, refused
from tests.support.sources.builders import make_table, policy

pytestmark = [pytest.mark.slow, pytest.mark.primary_server_only]

NAMES = [
    "Age",
    'x"; drop table t; --',
    "a,b",
    "n" * 63,
    "ü" * 31,
    "select",
    "user",
    "with.dots.in",
    "100%s %(x)s %",
    "back\\slash \\' \\n",
    "{} {0} {x}",
    ":name :0",
    "'; --",
    "$1 $$ $body$",
    "t",
    "r",
    "src",
    "ctid_",
    " leading and trailing ",
    "🦊",
    "null",
    "value",
    "c0",
    "node",
    "n",
]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: repr(name)[:20])
def test_a_hostile_name_through_a_whole_run(db: Any, name: str) -> None:
    source = db.connect("source_owner")
    other = ("y" + name)[:31]
    source.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
    source.execute(sql.SQL("GRANT USAGE ON SCHEMA {} TO steward").format(sql.Identifier(name)))
    rows = [[n // 2, n % 2, n] for n in range(8)]
    third = ("z" + name)[:31]
    make_table(
        source, {name: "integer", other: "integer", third: "integer"}, rows, name=(name, name)
    )
    source.execute(
        sql.SQL("ALTER TABLE {} ALTER {} SET NOT NULL").format(
            sql.Identifier(name, name), sql.Identifier(name)
        )
    )
    columns = {name: {"type": "categorical"}, other: "s", third: "i"}
    privacy = [
        {"model": "k_anonymity", "k": 2},
        {"model": "distinct_l_diversity", "column": other, "l": 2},
        {"model": "t_closeness", "column": other, "t": 0.5},
    ]
    quoted = '"' + name.replace('"', '""') + '"'
    release = name.encode()[:58].decode(errors="ignore")  # the flat view takes five more
    declared = policy(
        columns, privacy, source=f"{quoted}.{quoted}", where=f"{quoted} >= 0",
        release=release, publish={"schema": "out " + name[:20], "readers": ["analyst"]},
    )  # fmt: skip
    result = publish(db, declared)
    view = sql.Identifier("out " + name[:20], release)
    analyst = db.connect("analyst")
    cursor = analyst.execute(sql.SQL("SELECT * FROM {}").format(view))
    assert [c.name for c in cursor.description or []] == ["class_id", name, other, third]
    assert sorted(row[3] for row in cursor.fetchall()) == list(range(8))
    assert result.view == f"{quote('out ' + name[:20])}.{quote(release)}"
    assert leftovers(db) == []
    # Nothing was dropped, and a second version takes the place of the first.
    assert publish(db, declared).version == 2
    asked = "SELECT bool_and(holds) FROM pganon.verify(%s)"
    assert db.owner().execute(asked, [release]).fetchone() == (True,)


@pytest.mark.parametrize("name", ["tab\tname", "line\nname", "", "n" * 64])
def test_names_that_no_terminal_or_catalog_can_hold_are_refused(db: Any, name: str) -> None:
    with refused("policy"):
        publish(db, policy({"q": "q"}, 2, release=name))


def test_enum_labels_and_values_are_data(db: Any) -> None:
    source = db.connect("source_owner")
    bad = ["it''s", '"', "\\", "{}", "%s", "a,b", "NULL", ""]
    make_table(source, {"q": "text", "s": "text"}, [[v, v] for v in bad for _ in "ab"])
    result = publish(db, policy({"q": "q", "s": "s"}, 2))
    rows = db.owner().execute(f"SELECT q, s FROM {result.view}").fetchall()
    assert sorted(rows) == sorted(([v], v) for v in bad for _ in "ab")


def test_labels_of_a_policy_are_data(db: Any) -> None:
    source = db.connect("source_owner")
    make_table(source, {"q": "text"}, [["a'; --"], ["b\\"], ["c%s"], [":x"]])
    tree = {"'top'": {"{}; drop": ["a'; --", "b\\"], "%(y)s": ["c%s", ":x"]}}
    result = publish(db, policy({"q": {"hierarchy": {"inline": tree}}}, 2))
    rows = db.owner().execute(f"SELECT DISTINCT q FROM {result.view}").fetchall()
    assert {row[0] for row in rows} == {"{}; drop", "%(y)s"}
