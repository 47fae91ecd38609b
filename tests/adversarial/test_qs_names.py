"""Attack: names of sets and columns that would change a statement or a message if not quoted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from psycopg import sql

from pganon.errors import PganonError
from pganon.identifiers import quote
from tests.support.harness.driver import leftovers, publish, refused
from tests.support.sources import vehicles
from tests.support.sources.builders import make_table

pytestmark = pytest.mark.primary_server_only

NAMES = [
    "Set",
    'x"; drop table t; --',
    "a,b",
    "ü" * 31,
    "select",
    "with.dots.in",
    "100%s %(x)s %",
    "%I %L %1$s",
    "back\\slash \\' \\n",
    "{} {0} {x}",
    ":name :0 :set",
    "'; --",
    "$1 $$ $body$",
    "🦊",
    "null",
    "attribute_set",
    "measure",
    *("c", "x", "v", "d", "a", "u0", "g", "e", "p", "s", "n", "b", "k", "c0", "v1", "r", "rid"),
]


def document(names: Sequence[str], **changes: Any) -> dict[str, Any]:
    """Four names as columns, the first and the last as sets."""
    found = vehicles.document(carried=(), source="public.t", release=("r" + names[0])[:20])
    found["columns"] = {
        name: {"role": "quasi_sensitive", "set": names[0] if place < 2 else names[3]}
        for place, name in enumerate(names)
    }
    return found | changes


def build(db: Any, columns: Any) -> None:
    kinds = ("integer", "text", "integer", "text")
    rows = [[n % 7, f"v{n % 5}", n % 11, f"%s{n % 3}"] for n in range(60)]
    make_table(db.connect("source_owner"), dict(zip(columns, kinds, strict=True)), rows)


@pytest.mark.parametrize("first", range(0, len(NAMES), 4))
@pytest.mark.slow
def test_hostile_names_through_a_whole_run(db: Any, first: int) -> None:
    names = (NAMES + NAMES)[first : first + 4]
    method = {"name": vehicles.METHODS[first // 4 % 2], "block_size": 32}
    privacy = vehicles.requirement(3, min_values=2)
    declared = document(names, method=method, privacy=privacy)
    build(db, declared["columns"])
    result = publish(db, declared)
    analyst = db.connect("analyst")
    release = declared["release"]
    for view, added in ((release, ["size"]), (f"{release}_expanded", [])):
        cursor = analyst.execute(
            sql.SQL("SELECT * FROM {}").format(sql.Identifier("published", view))
        )
        columns = [column.name for column in cursor.description or []]
        assert columns == ["cluster_no", *declared["columns"], *added]
        assert cursor.fetchone() is not None
    assert leftovers(db) == []
    assert list(result.as_dict()["utility"]["supported"]) == [names[0], names[3]]
    conn = db.owner()
    holds = conn.execute("SELECT bool_and(holds) FROM pganon.verify(%s)", [release]).fetchone()
    assert holds == (True,)
    # A set that cannot reach k is named as it is.
    with refused("infeasible") as errors:
        publish(db, {**declared, "privacy": vehicles.requirement(10_000)})
    assert quote(names[0]) in str(errors[0])


@pytest.mark.parametrize(
    "name", ["tab\tname", "line\nname", "\x1b[31mred", "\u202eabc", "", "n" * 64, "\x00"]
)
def test_set_names_that_no_terminal_can_show_are_refused(db: Any, name: str) -> None:
    """An error text with such a name could hide or forge lines."""
    found = vehicles.document(carried=())
    for column in found["columns"].values():
        if column["set"] == "vehicle":
            column["set"] = name
    with pytest.raises(PganonError) as caught:
        publish(db, found)
    assert caught.value.code == "policy"
    assert all(c.isprintable() or c == "\n" for c in str(caught.value))


def test_values_are_data(db: Any) -> None:
    words = ["it''s", '"', "\\", "{}", "%s", "a,b", "NULL", "", "{a,b}", "\n", "🦊", " "]
    make_table(
        db.connect("source_owner"),
        vehicles.COLUMNS,
        [(n, words[n % 12], words[n * 5 % 12], n % 7, words[n * 7 % 12], n) for n in range(72)],
        name=("public", "vehicle"),
    )
    publish(db, vehicles.document(carried=("note",)))
    conn = db.owner()
    rows = conn.execute("SELECT colour, zone, note FROM published.vehicles").fetchall()
    for place in range(3):
        assert {value for row in rows for value in row[place]} == set(words)
    assert sum(len(row[2]) for row in rows) == 72
    holds = conn.execute("SELECT bool_and(holds) FROM pganon.verify('vehicles')").fetchone()
    assert holds == (True,)
