"""Base columns of views, from their rules."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pganon.catalog.introspect import read_relation
from pganon.catalog.model import Origin
from tests.support.harness.cluster import Database

SOURCE = """
    CREATE TABLE public.t (
        id int PRIMARY KEY, age int, s varchar(9), income numeric,
        half int GENERATED ALWAYS AS (age / 2) STORED
    );
    CREATE TABLE public.d (id int, ":varno" text, r int REFERENCES public.t);
    CREATE TABLE public.numbers (x int);
    CREATE VIEW public.nearest AS SELECT id, x, row_number() OVER (
        PARTITION BY id ORDER BY x - age) AS r FROM public.t, public.numbers;
    CREATE VIEW public.again AS SELECT * FROM public.nearest;
    CREATE VIEW public.equal AS SELECT x AS y FROM public.t, public.numbers WHERE x = age;
    CREATE TABLE public.parts (id int, age int) PARTITION BY RANGE (id);
    CREATE TABLE public.part PARTITION OF public.parts FOR VALUES FROM (0) TO (10);
    CREATE VIEW public.v AS SELECT id, age AS yrs, age / 10 AS band, s::text AS s FROM public.t;
    CREATE FUNCTION public.reads(int) RETURNS int LANGUAGE sql AS
        $$ SELECT age FROM public.t WHERE id = $1 $$;
    CREATE AGGREGATE public.most(int) (SFUNC = int4larger, STYPE = int)
"""

AGE, ID, S, INCOME = "public.t.age", "public.t.id", "public.t.s", "public.t.income"
D, REF, X = "public.d.id", "public.d.r", "public.numbers.x"


def view(db: Database, select: str) -> dict[str, tuple[set[str], bool, bool]]:
    return {name: told(origin) for name, origin in origins(db, select).items()}


def origins(db: Database, select: str) -> Mapping[str, Origin]:
    db.source(SOURCE)
    db.source(f"CREATE VIEW public.x AS {select}")
    return read_relation(db.connect(), "x").origins


def told(origin: Origin) -> tuple[set[str], bool, bool]:
    return {base for base in origin.bases if "#" not in base}, origin.plain, origin.resolved


@pytest.mark.all_versions
@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ("SELECT yrs AS a, band AS b FROM v", {"a": ({AGE}, True), "b": ({AGE}, False)}),
        ("SELECT x.* FROM (SELECT s AS a FROM v) AS x", {"a": ({S}, True)}),
        (
            "WITH c AS MATERIALIZED (SELECT id, yrs + 1 AS y FROM v), e AS (SELECT y FROM c)"
            " SELECT y AS a FROM e",
            {"a": ({AGE}, False)},
        ),
        (
            'SELECT id AS a, ":varno" AS b, income AS c FROM d JOIN t USING (id)',
            {
                "a": ({"public.d.id"}, True),
                "b": ({'public.d.":varno"'}, True),
                "c": ({INCOME}, True),
            },
        ),
        ("SELECT id AS a FROM d FULL JOIN t USING (id)", {"a": ({D, ID}, False)}),
        ("SELECT s AS a FROM t UNION ALL SELECT s FROM v", {"a": ({S}, False)}),
        (
            "SELECT (SELECT max(income) FROM t AS o WHERE o.age < t.age) AS a,"
            " EXISTS (SELECT FROM d WHERE d.id = t.id) AS b FROM t",
            {"a": ({INCOME, AGE}, False), "b": ({D, ID}, False)},
        ),
        (
            "SELECT age AS a, max(s) OVER (PARTITION BY age) AS b, count(*) AS c FROM t"
            " GROUP BY age, s",
            {"a": ({AGE}, True), "b": ({S, AGE}, False), "c": (set[str](), False)},
        ),
        ("SELECT to_jsonb(v) AS a FROM v", {"a": ({ID, AGE, S}, False)}),
        (
            "SELECT l.a FROM t, LATERAL (SELECT CASE WHEN income > 1 THEN 'x' END AS a) AS l",
            {"a": ({INCOME}, False)},
        ),
        ("SELECT g AS a FROM t, generate_series(1, age) AS g", {"a": ({AGE}, False)}),
        ("SELECT x AS a FROM t, LATERAL (VALUES (income)) AS r(x)", {"a": ({INCOME}, False)}),
        ("SELECT half AS a FROM t", {"a": ({AGE, "public.t.half"}, False)}),
        ("SELECT age AS a FROM part", {"a": ({"public.part.age", "public.parts.age"}, True)}),
    ],
)
def test_base_columns(
    bare_db: Database, select: str, expected: dict[str, tuple[set[str], bool]]
) -> None:
    found = view(bare_db, select)
    assert {name: (bases, plain) for name, (bases, plain, _) in found.items()} == expected
    assert all(resolved for _, _, resolved in found.values())


CROSS = "FROM t, numbers AS n"


@pytest.mark.all_versions
@pytest.mark.parametrize(
    ("select", "chosen"),
    [
        (f"SELECT n.x AS a {CROSS} WHERE n.x = age", {AGE}),
        ("SELECT n.x AS a FROM numbers AS n JOIN v ON n.x - yrs = 0 AND id > 1", {AGE}),
        ("SELECT n.x AS a FROM t LEFT JOIN numbers AS n ON age > 40", {AGE}),
        ("SELECT a FROM t, LATERAL (SELECT x AS a FROM numbers WHERE x = age) AS n", {AGE}),
        (f"SELECT x AS a FROM (SELECT x, age {CROSS}) AS n WHERE x = age", {AGE, X}),
        (f"SELECT x AS a {CROSS} WHERE (id, x) IN (SELECT id, age FROM t)", {AGE, ID}),
        (f"SELECT count(*) AS a {CROSS} WHERE x <= age GROUP BY id", {AGE, X}),
        (f"SELECT DISTINCT ON (id) x AS a {CROSS} ORDER BY id, x - age", {AGE, ID, X}),
        (
            "SELECT x AS a FROM (SELECT x, row_number() OVER (PARTITION BY id ORDER BY x - age)"
            f" AS r {CROSS}) AS n WHERE r = 1",
            {AGE, ID, X},
        ),
        ("SELECT x AS a FROM nearest WHERE r = 1", {AGE, ID, X}),
        ("SELECT x AS a FROM nearest WHERE id = 1", set[str]()),
        ("SELECT x AS a FROM again WHERE r = 1", {AGE, ID, X}),
        ("SELECT n.x AS a FROM numbers AS n JOIN equal ON n.x = y", {AGE, X}),
        ("SELECT x AS a FROM numbers WHERE x = (SELECT max(age) FROM t)", {AGE}),
        (
            "SELECT a FROM t, LATERAL (SELECT x AS a FROM numbers ORDER BY abs(x - age) LIMIT 1)"
            " AS n",
            {AGE, X},
        ),
        # What chooses who is found chooses nothing of what is found about them.
        ("SELECT income AS a FROM t WHERE age > 40 AND half < income", set[str]()),
        ("SELECT income AS a FROM d JOIN t ON r = t.id JOIN numbers ON x = age", {REF, X}),
        ("SELECT x AS a FROM d JOIN t ON r = t.id JOIN numbers ON x = age", {AGE, REF}),
        ("SELECT income AS a FROM t LEFT JOIN d ON d.id = age", {D}),
    ],
)
def test_what_chooses_a_row(bare_db: Database, select: str, chosen: set[str]) -> None:
    origin = origins(bare_db, select)["a"]
    assert {base for base in origin.chosen if "#" not in base} == chosen
    assert origin.resolved


@pytest.mark.parametrize(
    ("select", "bases"),
    [
        ("SELECT rank() OVER (ORDER BY age) AS a FROM t", {AGE}),
        ("SELECT (SELECT count(*) FROM generate_series(1, age)) AS a FROM t", {AGE}),
        (
            "SELECT (WITH c AS (SELECT FROM generate_series(1, age)) SELECT count(*) FROM c) AS a"
            " FROM t",
            {AGE},
        ),
        ("SELECT (SELECT x FROM numbers ORDER BY x OFFSET age LIMIT 1) AS a FROM t", {AGE, X}),
    ],
)
def test_what_is_counted_and_ordered(bare_db: Database, select: str, bases: set[str]) -> None:
    assert view(bare_db, select) == {"a": (bases, False, True)}


def test_long_expressions_and_odd_names(bare_db: Database) -> None:
    long = " + ".join(["age"] * 1500)
    found = view(
        bare_db,
        f"""SELECT {long} AS a, y."[x" AS "({{ ]", y.":varno 1}}" AS "<>" FROM (
            SELECT age AS "[x", s AS ":varno 1}}", '[ 1 ]' AS "]" FROM t) AS y, t AS " \\[" """,
    )
    assert found == {
        "a": ({AGE}, False, True),
        "({ ]": ({AGE}, True, True),
        "<>": ({S}, True, True),
    }


def test_what_is_named_twice_is_looked_at_once(bare_db: Database) -> None:
    chain = ", ".join(
        f"c{n} AS (SELECT a.x + b.x AS x FROM c{n - 1} AS a, c{n - 2} AS b)" for n in range(2, 60)
    )
    first = "c0 AS (SELECT age AS x FROM t), c1 AS (SELECT age AS x FROM t)"
    assert view(bare_db, f"WITH {first}, {chain} SELECT x FROM c59") == {"x": ({AGE}, False, True)}


@pytest.mark.all_versions
@pytest.mark.parametrize(
    "select",
    [
        "SELECT reads(id) AS a FROM t",
        "SELECT r AS a FROM t, reads(t.id) AS r",
        "SELECT x AS a FROM t JOIN numbers ON x = reads(id)",
        "SELECT EXISTS (SELECT FROM reads(id)) AS a FROM t",
        "SELECT row_number() OVER () AS a FROM (SELECT FROM t ORDER BY age) AS o",
        "SELECT query_to_xml('SELECT age FROM public.t', false, false, '')::text AS a FROM t",
        "SELECT 'old' AS a FROM t WHERE age > 60 UNION ALL SELECT 'young' FROM t WHERE age <= 60",
        "WITH RECURSIVE r AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM r WHERE a < 3)"
        " SELECT a FROM r",
    ],
)
def test_what_cannot_be_told(bare_db: Database, select: str) -> None:
    assert not view(bare_db, select)["a"][2]


def test_functions_of_the_server_are_known(bare_db: Database) -> None:
    found = view(bare_db, "SELECT most(age) AS a, lower(min(s)) AS b FROM t")
    assert found == {"a": ({AGE}, False, True), "b": ({S}, False, True)}


def test_foreign_keys_of_views_are_those_of_their_tables(bare_db: Database) -> None:
    view(bare_db, "SELECT r::text AS person, id FROM d")
    (key,) = read_relation(bare_db.connect(), "x").foreign_keys
    assert (key.columns, str(key.table)) == (("person",), "public.t")


def test_a_column_keeps_its_number(bare_db: Database) -> None:
    """A renamed one is the same."""
    before = view(bare_db, "SELECT age AS a FROM t")
    conn = bare_db.connect()
    one = read_relation(conn, "x").origins["a"]
    bare_db.source("ALTER TABLE public.t RENAME COLUMN age TO years")
    assert not one.bases.isdisjoint(read_relation(conn, "t").origins["years"].bases)
    assert before["a"][0] == {AGE}
