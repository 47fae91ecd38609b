"""Attack: read in a release what only a record has that was suppressed.

One record is left out because a quasi-identifier of it is NULL. Nobody else has any of its other
values; each has the SECRET digits in it, or ends of a hierarchy near them.
"""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import sql

from tests.support.harness.cluster import Database
from tests.support.harness.driver import drop_leftovers, fetch, publish, run
from tests.support.sources.builders import make_table, policy

pytestmark = [pytest.mark.slow, pytest.mark.primary_server_only]

SECRET = ("7319", "732", "735", "2731", "2732", "274")
"""Digits of the suppressed values, and of the ends of intervals, years and decades around them."""

COLUMNS = {
    "person": "text",
    "known": "integer",
    "grade": "text",
    "step": "text",
    "stage": "public.stage",
    "floor": "integer",
    "ward": "text",
    "age": "integer",
    "born": "date",
    "zip": "text",
    "town": "text",
    "disease": "text",
    "drug": "text",
    "nights": "numeric",
}
STEPS = ["s0", "s1", "s7319", "s2", "s3"]
TOWNS = {"all": {"near": [f"t{n}" for n in range(4)], "far": {"far 7319": ["t7319"]}}}
WARDS = {"inline": {"all": ["w0", "w1", "w2", "w3", "w7319"]}}


def _record(n: int, value: Any, known: int | None, age: int, born: str, floor: int) -> list[Any]:
    words = [f"g{value}", f"s{value}", f"e{value}", floor, f"w{value}"]
    return [
        f"p{n}",
        known,
        *words,
        age,
        born,
        f"z{value}",
        f"t{value}",
        f"d{n % 4}",
        f"m{n % 3}",
        1,
    ]


def _rows() -> list[list[Any]]:
    """24 records with values 0 to 3, and the one with 7319 between or beyond them."""
    ordinary = [
        _record(n, n // 2 % 4, 1 + n // 12, 20 + n, f"19{60 + n}-05-01", 7000 + n % 2 * 1000)
        for n in range(24)
    ]
    hidden = _record(24, 7319, None, 7319, "2731-09-01", 7319)
    hidden[2], hidden[-3:] = "g1-7319", ["d7319", "m7319", "7319.50"]
    return [*ordinary, hidden]


CLASSES: dict[str, Any] = {
    "known": {"nulls": "suppress"},
    "grade": {"type": "ordinal"},
    "step": {"type": "ordinal", "order": STEPS},
    "stage": {"type": "ordinal"},
    "floor": {"type": "ordinal"},
    "ward": {"type": "categorical"},
    "age": {"hierarchy": {"intervals": [10, 50]}},
    "born": {"hierarchy": {"date": ["year", "decade"]}},
    "zip": {"hierarchy": {"prefix": [1]}},
    "town": {"hierarchy": {"inline": TOWNS}},
}
TREES = {**CLASSES, "grade": "i", "step": "i", "stage": "i", "floor": "i"} | {
    "known": {"nulls": "suppress", "hierarchy": {"intervals": [2]}},
    "ward": {"hierarchy": WARDS},
}
PLAIN = {**dict.fromkeys(CLASSES, "q"), "known": {"nulls": "suppress"}}
SENSITIVE = {"disease": "s", "nights": "i"}
IR = [{"model": "ir_kl_anonymity", "column": "disease", "k": 2, "l": 2}]
BUCKETS = [{"model": "slicing_l_diversity", "l": 2}]
SLICING = {"name": "slicing", "columns": [["known", "grade"], [*CLASSES][2:], ["disease"]]}
UNIQUE = [{**BUCKETS[0], "level": "unique"}]
QS: dict[str, Any] = {
    "known": {"role": "quasi_sensitive", "set": "known", "nulls": "suppress"},
    "grade": {"role": "quasi_sensitive", "set": "rest", "type": "ordinal"},
    "floor": {"role": "quasi_sensitive", "set": "rest"},
}


def _policies() -> dict[str, dict[str, Any]]:
    two = {"disease": "s", "drug": "s", "nights": "i"}
    anatomy = [{"model": "anatomy_l_diversity", "column": "disease", "l": 2}]
    owned = {"person": "individual"}
    return {
        "mondrian": policy({**CLASSES, **SENSITIVE}, 2),
        "mondrian, one class": policy({**CLASSES, **SENSITIVE}, 24),
        "danonyir": policy({**owned, **CLASSES, **SENSITIVE}, IR, method={"name": "danonyir"}),
        "geneir": policy({**owned, **TREES, **SENSITIVE}, IR, method={"name": "geneir"}),
        "geneir, one class": policy(
            {**owned, **TREES, **SENSITIVE}, [{**IR[0], "k": 24}], method={"name": "geneir"}
        ),
        "sloms": policy(
            {**CLASSES, **two},
            [{"model": "k_anonymity", "k": 8}, *UNIQUE],
            method={"name": "sloms", "link_threshold": 1},
        ),
        "anatomy": policy({**PLAIN, **SENSITIVE}, anatomy, method={"name": "anatomy"}),
        "slicing": policy({**PLAIN, **SENSITIVE}, BUCKETS, method=SLICING),
        "slamsa": policy({**PLAIN, **two}, BUCKETS, method={"name": "slamsa"}),
        "msb": policy({**PLAIN, **two}, UNIQUE, method={"name": "msb"}),
        **{
            name: policy(
                {**QS, "nights": "i"}, [{"model": "qs_k_anonymity", "k": 2}], method={"name": name}
            )
            for name in ("qs_greedy", "qs_efficient")
        },
    }


POLICIES = _policies()


def _shown(db: Database) -> dict[str, list[str]]:
    """Everything that readers see of release r: rows, definitions and comments of its views."""
    views = fetch(
        db.admin,
        sql.SQL(
            "SELECT c.relname::text AS name, pg_get_viewdef(c.oid) AS definition,"
            " array(SELECT description FROM pg_description WHERE objoid = c.oid) AS comments"
            " FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace"
            " WHERE n.nspname = 'published'"
        ),
    )
    found: dict[str, list[str]] = {}
    for view in views:
        name = sql.Identifier("published", view["name"])
        rows = fetch(db.admin, sql.SQL("SELECT v::text AS row FROM {} AS v").format(name))
        assert rows
        texts = [*[row["row"] for row in rows], view["definition"], *view["comments"]]
        found[view["name"]] = texts
    return found


@pytest.fixture
def source(db: Database) -> Database:
    owner = db.connect("source_owner")
    owner.execute("CREATE TYPE public.stage AS ENUM ('e0', 'e1', 'e7319', 'e2', 'e3')")
    make_table(owner, COLUMNS, _rows())
    return db


@pytest.mark.parametrize("method", POLICIES)
def test_what_only_a_suppressed_record_has_shows_nowhere(source: Database, method: str) -> None:
    result = publish(source, {**POLICIES[method], "suppression_limit": 0.5})
    assert result.suppressed >= 1
    for view, texts in _shown(source).items():
        for text in texts:
            assert not [digits for digits in SECRET if digits in text], (view, text)


def test_what_others_have_between_the_ends_of_a_class_shows(source: Database) -> None:
    publish(source, {**POLICIES["mondrian, one class"], "suppression_limit": 0.5})
    (row,) = fetch(
        source.admin,
        sql.SQL(
            "SELECT DISTINCT grade::text, step::text, stage::text, floor::text, age::text,"
            " born::text FROM published.r"
        ),
    )
    assert row == {
        "grade": "{g0,g1,g2,g3}",
        "step": "{s0,s1,s2,s3}",
        "stage": "{e0,e1,e2,e3}",
        "floor": "{7000,8000}",
        "age": "[0,50)",
        "born": "[1960-01-01,1990-01-01)",
    }


# -- nodes of hierarchies above what only a suppressed record has -------------------------------

NODES: dict[str, tuple[str, dict[str, Any], list[Any], tuple[Any, ...]]] = {
    "label": (
        "text",
        {"inline": {"all": {"near": ["t0", "t1"], "far": {"north": ["t7", "t8"], "s": ["t9"]}}}},
        ["t0", "t1", "t7"],
        ("t7", "t8", "t9"),
    ),
    "prefix": ("text", {"prefix": [3, 1]}, ["1000", "1001", "7000"], ("7000", "7001", "7010")),
    "range": ("integer", {"intervals": [10, 50]}, [1, 12, 60], (60, 61, 72)),
    "decade": (
        "date",
        {"date": ["year", "decade"]},
        ["1991-02-03", "1992-05-06", "2003-04-05"],
        ("2003-04-05", "2003-06-07", "2005-06-07"),
    ),
}
"""Type and hierarchy, values of released records, the last alone below its nodes, and values that a
suppressed record may have below the same nodes."""


@pytest.mark.parametrize(("kind", "hierarchy", "values", "hidden"), NODES.values(), ids=list(NODES))
def test_a_node_shows_the_same_whatever_is_suppressed_below_it(
    db: Database, kind: str, hierarchy: dict[str, Any], values: list[Any], hidden: tuple[Any, ...]
) -> None:
    """Classes whose hierarchy has gone up, above one released value."""
    columns = {"person": "text", "known": "integer", "x": kind, "age": "integer", "disease": "text"}
    ordinary = [[f"p{n}", 1 + n % 2, values[n % 3], 20 + n, f"d{n % 4}"] for n in range(24)]
    declared = policy(
        {
            "person": "individual",
            "known": {"nulls": "suppress", "hierarchy": {"intervals": [2]}},
            "x": {"hierarchy": hierarchy},
            "age": {"hierarchy": {"intervals": [10, 50]}},
            "disease": "s",
        },
        IR,
        method={"name": "geneir"},
        suppression_limit=0.5,
    )
    owner, steward = db.connect("source_owner"), db.owner()
    # Seeds under which the hierarchy of x goes up before classes are made.
    for seed in (2, 4):
        seen = []
        for value in hidden:
            make_table(owner, columns, [*ordinary, ["p24", None, value, 20, "d0"]])
            drop_leftovers(steward)
            staged = run(steward, declared, seed=seed)
            assert staged.facts["suppressed"] == 1
            seen.append([staged.table("classes"), staged.table("records")])
        assert [seen[0]] * len(seen) == seen
