"""The measuring functions against the oracle, and on awkward tables, names and sessions."""

from __future__ import annotations

import math
import random
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.harness.cluster import Connection, Database
from tests.support.oracles import model as oracle

MODEST = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
INTS = st.one_of(st.none(), st.integers(1, 5))
ROWS = st.lists(
    st.tuples(
        st.sampled_from([None, 0, 1]),
        st.sampled_from([None, "a", "b"]),
        INTS,
        st.sampled_from([None, "x", "y", "Y"]),
        st.integers(1, 4),
    ),
    min_size=1,
    max_size=25,
)


@pytest.fixture
def conn(db: Database) -> Connection:
    """The analyst, with a table of its own."""
    conn = db.connect("analyst")
    conn.execute("CREATE TEMP TABLE t (a int, b text, s int, d text, p int)")
    return conn


def fill(conn: Connection, rows: Any) -> None:
    conn.execute("TRUNCATE pg_temp.t")
    conn.cursor().executemany("INSERT INTO pg_temp.t VALUES (%s, %s, %s, %s, %s)", rows)


def value(conn: Connection, call: str, *arguments: Any) -> Any:
    row = conn.execute(f"SELECT {call}".encode(), arguments).fetchone()
    assert row is not None
    return row[0]


def assessed(conn: Connection, text: str) -> dict[tuple[str, str | None], Any]:
    rows = conn.execute(f"SELECT * FROM pganon.assess({text})".encode()).fetchall()
    return {(row[0], row[1]): row[2:] for row in rows}


@MODEST
@given(rows=ROWS, l=st.sampled_from([1, 2, 3]))
@pytest.mark.slow
def test_assess_is_the_brute_force(conn: Connection, rows: Any, l: int) -> None:  # noqa: E741
    fill(conn, rows)
    found = assessed(conn, f"'t', '{{a,b}}', '{{s,d}}', 'p', '{{}}', {l}")
    classes = list(oracle.groups(rows, lambda row: row[:2]).values())
    assert found.pop(("k_anonymity", None))[0] == min(map(len, classes))
    persons = [[(row[4], row[2]) for row in group] for group in classes]
    assert found.pop(("ir_k_anonymity", None))[0] == min(map(oracle.ir_k, persons))
    assert float(found.pop(("ir_alpha", None))[0]) == pytest.approx(
        float(max(map(oracle.ir_alpha, persons)))
    )
    for column, at in (("s", 2), ("d", 3)):
        values = [[row[at] for row in group] for group in classes]
        for name, expected in oracle.measures(values, column == "s", l).items():
            got = float(found.pop((name, column))[0])
            assert got == pytest.approx(expected, abs=1e-12), name
        pairs = [[(row[4], row[at]) for row in group] for group in classes]
        assert float(found.pop(("ir_beta", column))[0]) == pytest.approx(
            float(max(map(oracle.alpha, values)))
        )
        assert float(found.pop(("eir_beta", column))[0]) == pytest.approx(
            float(max(map(oracle.eir_beta, pairs)))
        )
        assert found.pop(("eir_l_diversity", column))[0] == min(map(reasoning, pairs))
        call = "pganon.eir_l_diversity('t', '{a,b}', %s, 'p')"
        assert value(conn, call, column) == min(map(reasoning, pairs))
    assert not found


def reasoning(pairs: Any) -> int:
    """Fewest values that one record of every person can have."""
    held = oracle.groups(pairs, lambda pair: pair[0]).values()
    return oracle.smallest_hitting_set([{repr(v) for _, v in records} for records in held])


@MODEST
@given(rows=ROWS, l=st.integers(1, 5))
def test_classes_that_miss_eir_l_diversity(conn: Connection, rows: Any, l: int) -> None:  # noqa: E741
    fill(conn, rows)
    found = assessed(conn, f"'t', '{{a,b}}', '{{s}}', 'p', '{{\"eir_l_diversity\": {l}}}'")
    classes = [
        [(row[4], row[2]) for row in group]
        for group in oracle.groups(rows, lambda row: row[:2]).values()
    ]
    missed = [pairs for pairs in classes if reasoning(pairs) < l]
    least, required, *violating = found[("eir_l_diversity", "s")]
    assert (least, required) == (min(l, *map(reasoning, classes)), l)
    people = sum(len({person for person, _ in pairs}) for pairs in missed)
    assert violating == [not missed, len(missed), sum(map(len, missed)), people]


@pytest.mark.slow
def test_a_class_that_cannot_be_decided(conn: Connection) -> None:
    """`assess` counts it as one that shares a value, the function says that it does not know."""
    rng = random.Random(1)
    rows = [(1, "b", s, "d", p) for p in range(300) for s in rng.sample(range(60), 3)]
    fill(conn, rows)
    found = assessed(conn, "'t', '{a,b}', '{s}', 'p', '{\"eir_l_diversity\": 27}'")
    assert found[("eir_l_diversity", "s")] == (1, 27, False, 1, len(rows), 300)
    with pytest.raises(psycopg.Error) as caught:
        value(conn, "pganon.eir_l_diversity('t', '{a,b}', 's', 'p', 27)")
    assert caught.value.sqlstate == "PA201"
    with pytest.raises(psycopg.Error) as caught:
        value(conn, "pganon.eir_l_diversity('t', '{a,b}', 's', 'p', 0)")
    assert caught.value.sqlstate == "PA114"


def test_frequency_l_diversity_is_the_privacy_degree(conn: Connection) -> None:
    fill(conn, [(1, "b", s, "d", 1) for s in (1, 1, 2, 3, 4)])
    assert value(conn, "pganon.l_diversity('t', '{a,b}', 's', 'frequency')") == 2.5


@MODEST
@given(rows=ROWS, k=st.integers(1, 6), c=st.sampled_from(["0.5", "1", "2", "3"]))
def test_violations_are_counted_in_records_and_individuals(
    conn: Connection, rows: Any, k: int, c: str
) -> None:
    fill(conn, rows)
    required = f'{{"k_anonymity": {k}, "recursive_cl_diversity": {c}, "ir_k_anonymity": {k}}}'
    found = assessed(conn, f"'t', '{{a,b}}', '{{s}}', 'p', '{required}'")
    classes = list(oracle.groups(rows, lambda row: row[:2]).values())
    bad = {
        ("k_anonymity", None): [g for g in classes if len(g) < k],
        ("ir_k_anonymity", None): [g for g in classes if len({r[4] for r in g}) < k],
        ("recursive_cl_diversity", "s"): [
            g for g in classes if not oracle.recursive_c([r[2] for r in g], 2) < float(c)
        ],
    }
    for key, missed in bad.items():
        records = [row for group in missed for row in group]
        expected = (not missed, len(missed), len(records), len({row[4] for row in records}))
        assert found[key][2:] == expected, key


@MODEST
@given(rows=ROWS, population=ROWS)
def test_risk_is_the_brute_force(conn: Connection, rows: Any, population: Any) -> None:
    conn.execute("CREATE TEMP TABLE IF NOT EXISTS everyone (LIKE pg_temp.t)")
    conn.execute("TRUNCATE pg_temp.everyone")
    conn.cursor().executemany(
        "INSERT INTO pg_temp.everyone VALUES (%s, %s, %s, %s, %s)", [*population, *rows]
    )
    fill(conn, rows)
    found = conn.execute("SELECT * FROM pganon.risk('t', '{a,b}', 'everyone', 'p')").fetchall()
    got = {name: float(number) for name, size, number in found if size is None}
    key = lambda row: row[:2]  # noqa: E731
    classes = oracle.groups(rows, key)
    outside = {k: len(g) for k, g in oracle.groups([*population, *rows], key).items()}
    n = len(rows)
    highest: dict[int, float] = {}
    for group in classes.values():
        persons = {row[4] for row in group}
        for person in persons:
            highest[person] = max(highest.get(person, 0), 1 / len(persons))
    expected = {
        "records": n,
        "classes": len(classes),
        "unique_records": sum(len(g) == 1 for g in classes.values()),
        "unique_share": sum(len(g) == 1 for g in classes.values()) / n,
        "prosecutor_highest": max(1 / len(g) for g in classes.values()),
        "prosecutor_mean": sum(1 / len(classes[key(row)]) for row in rows) / n,
        "prosecutor_above_threshold": sum(1 / len(classes[key(row)]) > 0.2 for row in rows),
        "journalist_highest": max(1 / outside[key(row)] for row in rows),
        "journalist_mean": sum(1 / outside[key(row)] for row in rows) / n,
        "journalist_above_threshold": sum(1 / outside[key(row)] > 0.2 for row in rows),
        "marketer": sum(1 / outside[key(row)] for row in rows) / n,
        "not_in_population": 0,
        "individuals": len(highest),
        "unique_individuals": sum(risk == 1 for risk in highest.values()),
        "individual_highest": max(highest.values()),
        "individual_mean": sum(highest.values()) / len(highest),
        "individuals_above_threshold": sum(risk > 0.2 for risk in highest.values()),
    }
    assert got == pytest.approx(expected, abs=1e-12)
    sizes = {size: int(number) for _, size, number in found if size is not None}
    assert sum(size * number for size, number in sizes.items()) == n
    sets = conn.execute("SELECT * FROM pganon.distinguishing('t', '{a,b,d}', 2)").fetchall()
    assert len(sets) == 6
    for columns, distinction, separation in sets:
        at = [{"a": 0, "b": 1, "d": 3}[name] for name in columns]
        tuples = [tuple(row[i] for i in at) for row in rows]
        assert float(distinction) == pytest.approx(len(set(tuples)) / n, abs=1e-12)
        assert float(separation) == pytest.approx(oracle.separation(tuples), abs=1e-12)


def test_mean_risk_is_per_record(conn: Connection) -> None:
    """Classes of 2 and 98: 0.02, where an average over classes would say 0.255."""
    fill(conn, [(0, "a", 1, "x", 1)] * 2 + [(1, "a", 1, "x", 1)] * 98)
    call = "value FROM pganon.risk('t', '{a}') WHERE measure = 'prosecutor_mean'"
    assert float(value(conn, call)) == 0.02


def test_one_null_is_a_class_of_its_own(conn: Connection) -> None:
    fill(conn, [(0, "a", 1, "x", 1)] * 4 + [(None, "a", 1, "x", 1)])
    assert value(conn, "pganon.k_anonymity('t', '{a}')") == 1


@pytest.mark.parametrize("m", [2, 3, 4, 6, 7])
def test_entropy_of_uniform_values(conn: Connection, m: int) -> None:
    fill(conn, [(0, "a", i, "x", 1) for i in range(m)])
    assert float(value(conn, "pganon.l_diversity('t', '{a}', 's', 'entropy')")) == pytest.approx(m)
    required = assessed(conn, f"""'t', '{{a}}', '{{s}}', NULL, '{{"entropy_l_diversity": {m}}}'""")
    assert required["entropy_l_diversity", "s"][2] is True


def test_the_most_frequent_value_comes_first_in_recursive_diversity(conn: Connection) -> None:
    fill(conn, [(0, "a", 1, "x", 1)] * 9 + [(0, "a", 2, "x", 1)])
    assert value(conn, "pganon.l_diversity('t', '{a}', 's', 'recursive')") == 9
    for c, holds in ((9, False), (9.01, True)):  # strict
        required = f'{{"recursive_cl_diversity": {c}}}'
        found = assessed(conn, f"'t', '{{a}}', '{{s}}', NULL, '{required}'")
        assert found["recursive_cl_diversity", "s"][2] is holds


def test_null_constant_and_infinite_sensitive_values(db: Database) -> None:
    conn = db.connect("analyst")
    conn.execute("CREATE TEMP TABLE t (q int, s date, n text, c int)")
    conn.execute(
        "INSERT INTO pg_temp.t VALUES (1, 'infinity', NULL, 7), (1, '-infinity', NULL, 7),"
        " (2, '2020-01-01', NULL, 7), (2, NULL, NULL, 7)"
    )
    assert value(conn, "pganon.t_closeness('t', '{q}', 's', 'ordered')") > 0
    assert value(conn, "pganon.t_closeness('t', '{q}', 's')") == 0.5
    for column in ("n", "c"):
        assert value(conn, "pganon.t_closeness('t', '{q}', %s)", column) == 0
        assert value(conn, "pganon.l_diversity('t', '{q}', %s)", column) == 1
        assert value(conn, "pganon.beta_likeness('t', '{q}', %s)", column) == 0
        assert value(conn, "pganon.delta_disclosure('t', '{q}', %s)", column) == 0
    assert value(conn, "pganon.t_closeness('t', '{q}', 'c', 'ordered')") == 0
    assert value(conn, "pganon.k_anonymity('t', '{n}')") == 4
    assert value(conn, "pganon.k_anonymity('t', '{s}')") == 1


DISEASES = """
    CREATE TEMP TABLE tree (disease text, part text, system text, root text);
    INSERT INTO pg_temp.tree VALUES
        ('flu', 'infection', 'respiratory', '*'), ('pneumonia', 'infection', 'respiratory', '*'),
        ('bronchitis', 'infection', 'respiratory', '*'),
        ('pulmonary edema', 'vascular', 'respiratory', '*'),
        ('pulmonary embolism', 'vascular', 'respiratory', '*'),
        ('gastric ulcer', 'stomach', 'digestive', '*'),
        ('stomach cancer', 'stomach', 'digestive', '*'), ('gastritis', 'stomach', 'digestive', '*'),
        ('colitis', 'colon', 'digestive', '*'), ('colon cancer', 'colon', 'digestive', '*')
"""


@pytest.mark.parametrize(
    ("other", "distance"),
    [("bronchitis", 1 / 3), ("pulmonary embolism", 2 / 3), ("stomach cancer", 1), (None, 1)],
)
def test_distance_over_a_tree(db: Database, other: str | None, distance: float) -> None:
    """Two classes of one disease each: each is half the diseases' distance from the whole."""
    conn = db.connect("analyst")
    conn.execute(DISEASES.encode())
    conn.execute("CREATE TEMP TABLE t AS SELECT 1 AS q, 'flu' AS s UNION ALL SELECT 2, %s", [other])
    call = "pganon.t_closeness('pg_temp.t', '{q}', 's', 'hierarchical', 'pg_temp.tree')"
    assert float(value(conn, call)) == pytest.approx(distance / 2)


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM pg_temp.tree WHERE disease = 'flu'",
        "INSERT INTO pg_temp.tree SELECT * FROM pg_temp.tree WHERE disease = 'flu'",
        "UPDATE pg_temp.tree SET root = 'other' WHERE disease = 'flu'",
        "UPDATE pg_temp.tree SET part = NULL WHERE disease = 'colitis'",
    ],
)
def test_what_is_no_hierarchy_is_refused(db: Database, change: str) -> None:
    conn = db.connect("analyst")
    conn.execute(DISEASES.encode())
    conn.execute("CREATE TEMP TABLE t AS SELECT 1 AS q, 'flu' AS s")
    conn.execute(change.encode())
    with pytest.raises(psycopg.Error) as caught:
        value(conn, "pganon.t_closeness('pg_temp.t', '{q}', 's', 'hierarchical', 'pg_temp.tree')")
    assert caught.value.sqlstate == "PA117"
    assert "flu" not in str(caught.value)


def test_salaries_and_diseases_of_the_t_closeness_paper(db: Database) -> None:
    conn = db.connect("analyst")
    conn.execute("CREATE TEMP TABLE t (q int, salary int, disease text)")
    conn.execute(
        "INSERT INTO pg_temp.t VALUES (1,3,'gastric ulcer'),(1,5,'stomach cancer'),"
        "(1,9,'pneumonia'),(2,6,'gastritis'),(2,11,'flu'),(2,8,'bronchitis'),"
        "(3,4,'gastritis'),(3,7,'bronchitis'),(3,10,'stomach cancer')"
    )
    found = value(conn, "pganon.t_closeness('t', '{q}', 'salary', 'ordered')")
    assert float(found) == pytest.approx(0.167, abs=5e-4)
    conn.execute(
        "UPDATE pg_temp.t SET q = CASE WHEN salary <= 5 THEN 1 WHEN salary IN (6, 8, 11)"
        " THEN 2 ELSE 3 END"
    )
    found = value(conn, "pganon.t_closeness('t', '{q}', 'salary', 'ordered')")
    assert float(found) == pytest.approx(0.375)


def test_values_that_are_equal_are_one(db: Database) -> None:
    conn = db.connect("analyst")
    conn.execute("CREATE TEMP TABLE t (q int, f float8, n numeric, c char(3), x text)")
    conn.execute("INSERT INTO pg_temp.t VALUES (1, 0, 1.0, 'a', 'a'), (1, '-0', 1.00, 'a ', 'A')")
    for column, distinct in (("f", 1), ("n", 1), ("c", 1), ("x", 2)):
        assert value(conn, "pganon.l_diversity('t', '{q}', %s)", column) == distinct
        assert value(conn, "pganon.t_closeness('t', '{q}', %s)", column) == 0
        assert value(conn, "pganon.k_anonymity('t', ARRAY[%s])", column) == 3 - distinct
    conn.execute("INSERT INTO pg_temp.t VALUES (1, 'NaN', 'NaN', NULL, NULL)")
    assert value(conn, "pganon.l_diversity('t', '{q}', 'f')") == 2


def test_citext(db: Database) -> None:
    try:
        db.admin.execute("CREATE SCHEMA ext; CREATE EXTENSION citext SCHEMA ext")
    except psycopg.Error:
        pytest.skip("citext is not available")
    db.admin.execute("CREATE TABLE public.c (q int, e ext.citext); GRANT SELECT ON c TO analyst")
    db.admin.execute("INSERT INTO public.c VALUES (1, 'A'), (1, 'a'), (1, NULL)")
    conn = db.connect("analyst")
    assert value(conn, "pganon.l_diversity('public.c', '{q}', 'e')") == 2
    assert value(conn, "pganon.t_closeness('public.c', '{q}', 'e')") == 0
    assert value(conn, "pganon.k_anonymity('public.c', '{e}')") == 1


def test_names_are_quoted(db: Database) -> None:
    db.source(
        'CREATE SCHEMA "S ""x"; CREATE TABLE "S ""x"."T; --" ("Age" int, "a\'b" text, "q1" int,'
        ' "size" int, "%s" int, "n" int); INSERT INTO "S ""x"."T; --" VALUES (1, 2, 3, 4, 5, 6);'
        ' GRANT USAGE ON SCHEMA "S ""x" TO analyst; GRANT SELECT ON "S ""x"."T; --" TO analyst'
    )
    conn = db.connect("analyst")
    table, qi = '"S ""x"."T; --"', ["Age", "a'b", "q1", "size"]
    assert value(conn, "pganon.k_anonymity(%s, %s)", table, qi) == 1
    rows = conn.execute(
        "SELECT class_values, size FROM pganon.equivalence_classes(%s, %s)", [table, qi]
    ).fetchall()
    assert rows == [({"Age": 1, "a'b": "2", "q1": 3, "size": 4}, 1)]
    names = {
        r[1]
        for r in conn.execute("SELECT * FROM pganon.assess(%s, %s, %s)", [table, qi, ["%s", "n"]])
    }
    assert names == {None, "%s", "n"}
    assert conn.execute("SELECT * FROM pganon.risk(%s, %s)", [table, qi]).fetchall()
    assert conn.execute("SELECT * FROM pganon.distinguishing(%s, %s)", [table, qi]).fetchall()


@pytest.mark.parametrize(
    ("call", "state"),
    [
        ("pganon.k_anonymity('t', '{age}')", "PA112"),
        ("pganon.k_anonymity('t', '{A}')", "PA112"),
        ("pganon.k_anonymity('t', '{ctid}')", "PA112"),
        ("pganon.k_anonymity('t', '{}')", "PA114"),
        ("pganon.k_anonymity('t', NULL)", "PA114"),
        ("pganon.k_anonymity(NULL, '{a}')", "PA111"),
        ("pganon.k_anonymity('t', '{a,a}')", "PA114"),
        ("pganon.k_anonymity('t', ARRAY['a', NULL])", "PA112"),
        ("pganon.k_anonymity('pg_class_oid_index', '{a}')", "PA111"),
        ("pganon.k_anonymity('empty', '{a}')", "PA115"),
        ("pganon.l_diversity('t', '{a}', 's', 'other')", "PA114"),
        ("pganon.l_diversity('t', '{a}', 'a')", "PA114"),
        ("pganon.l_diversity('t', '{a}', NULL)", "PA112"),
        ("pganon.t_closeness('t', '{a}', 'd', 'ordered')", "PA113"),
        ("pganon.t_closeness('t', '{a}', 's', 'x')", "PA114"),
        ("pganon.beta_likeness('t', '{a}', 's', 'x')", "PA114"),
        ("pganon.assess('t', '{a}', '{s}', NULL, '{\"kk\": 1}')", "PA114"),
        ("pganon.assess('t', '{a}', '{s}', NULL, '{\"k_anonymity\": \"1; --\"}')", "PA114"),
        ("pganon.assess('t', '{a}', '{s}', 'd')", "PA116"),
        ("pganon.assess('t', '{j}', '{s}')", "PA113"),
        ("pganon.risk('t', '{a}', threshold => 2)", "PA114"),
    ],
)
def test_what_is_refused(conn: Connection, call: str, state: str) -> None:
    conn.execute("ALTER TABLE pg_temp.t ADD j json; CREATE TEMP TABLE empty (a int)")
    conn.execute("INSERT INTO pg_temp.t VALUES (1, 'a', 1, NULL, 1)")
    with pytest.raises(psycopg.Error) as caught:
        conn.execute(f"SELECT * FROM {call}".encode())
    assert caught.value.sqlstate == state


def test_partitioned_tables_views_and_materialized_views(db: Database) -> None:
    db.source(
        "CREATE TABLE public.p (a int, s text) PARTITION BY LIST (a);"
        "CREATE TABLE public.p1 PARTITION OF p FOR VALUES IN (1);"
        "CREATE TABLE public.p2 PARTITION OF p FOR VALUES IN (2);"
        "INSERT INTO p VALUES (1, 'x'), (1, 'y'), (2, 'x'), (2, 'y'), (2, 'y');"
        "CREATE VIEW public.v AS SELECT * FROM p; CREATE MATERIALIZED VIEW public.m AS TABLE p;"
        "GRANT SELECT ON p, v, m TO analyst"
    )
    conn = db.connect("analyst")
    for relation in ("p", "v", "m"):
        assert value(conn, "pganon.k_anonymity(%s, '{a}')", f"public.{relation}") == 2
        assert value(conn, "pganon.l_diversity(%s, '{a}', 's')", f"public.{relation}") == 2


def test_foreign_tables(db: Database) -> None:
    try:
        db.admin.execute("CREATE EXTENSION file_fdw; CREATE SERVER f FOREIGN DATA WRAPPER file_fdw")
    except psycopg.Error:
        pytest.skip("file_fdw is not available")
    db.admin.execute(
        "CREATE FOREIGN TABLE public.f (a int, s text) SERVER f"
        " OPTIONS (program 'printf \"1,x\\n1,y\\n\"', format 'csv');"
        " GRANT SELECT ON public.f TO analyst"
    )
    assert value(db.connect("analyst"), "pganon.l_diversity('public.f', '{a}', 's')") == 2


def test_prepared_statements_see_new_rows(conn: Connection) -> None:
    fill(conn, [(0, "a", 1, "x", 1)])
    conn.execute("PREPARE k AS SELECT pganon.k_anonymity('t', '{a}')")
    for expected in (1, 2, 3, 4, 5, 6, 7):
        assert conn.execute("EXECUTE k").fetchone() == (expected,)
        conn.execute("INSERT INTO pg_temp.t VALUES (0, 'a', 1, 'x', 1)")


def test_search_path_cannot_change_a_measure(db: Database) -> None:
    db.source(
        "CREATE SCHEMA evil; GRANT ALL ON SCHEMA evil TO analyst;"
        "CREATE TABLE public.t (a int, s int); INSERT INTO t VALUES (1, 1), (1, 2);"
        "GRANT SELECT ON t TO analyst"
    )
    conn = psycopg.connect(db.dsn("analyst"), autocommit=True)
    with conn:
        before = conn.execute("SELECT * FROM pganon.assess('public.t', '{a}', '{s}')").fetchall()
        for name, kind in (("lower", "text"), ("exp", "float8"), ("ln", "float8")):
            conn.execute(
                f"CREATE FUNCTION evil.{name}({kind}) RETURNS {kind} LANGUAGE sql"
                f" AS 'SELECT NULL::{kind}'".encode()
            )
        for name in ("sum", "count", "max", "min"):
            conn.execute(
                f"CREATE AGGREGATE evil.{name}(bigint) (SFUNC = int8pl, STYPE = bigint,"
                " INITCOND = '41')".encode()
            )
        conn.execute("CREATE TABLE evil.t (a int, s int)")
        conn.execute("SET search_path = evil, pg_catalog, public")
        after = conn.execute("SELECT * FROM pganon.assess('public.t', '{a}', '{s}')").fetchall()
    assert before == after


def test_no_privilege_beyond_select(db: Database) -> None:
    db.source("CREATE TABLE public.t (a int, s int); INSERT INTO t VALUES (1, 1)", grant=False)
    conn = db.connect("analyst")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        value(conn, "pganon.k_anonymity('public.t', '{a}')")
    db.source("GRANT SELECT (a) ON public.t TO analyst", grant=False)
    assert value(conn, "pganon.k_anonymity('public.t', '{a}')") == 1
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        value(conn, "pganon.l_diversity('public.t', '{a}', 's')")


def test_a_table_that_cannot_be_seen_does_not_matter(db: Database) -> None:
    db.source("CREATE SCHEMA hidden; CREATE TABLE hidden.t (a int);", grant=False)
    conn = db.connect("analyst")
    conn.execute("CREATE TEMP TABLE mine (a int)")
    conn.execute("INSERT INTO pg_temp.mine VALUES (1)")
    assert value(conn, "pganon.k_anonymity('mine', '{a}')") == 1


def test_other_sensitive_columns_as_quasi_identifiers(conn: Connection) -> None:
    fill(conn, [(0, "a", i % 2, "xy"[i // 2], 1) for i in range(4)])
    plain = assessed(conn, "'t', '{a}', '{s,d}'")
    assert plain["distinct_l_diversity", "s"][0] == 2
    joint = assessed(conn, "'t', '{a}', '{s,d}', others_as_qi => true")
    assert joint["k_anonymity", None][0] == 2
    assert joint["distinct_l_diversity", "s"][0] == 2


def test_infinite_where_no_parameter_would_do(conn: Connection) -> None:
    fill(conn, [(0, "a", 1, "x", 1), (1, "a", 2, "x", 1)])
    assert math.isinf(value(conn, "pganon.delta_disclosure('t', '{a}', 's')"))
    assert math.isinf(value(conn, "pganon.l_diversity('t', '{a}', 's', 'recursive')"))
    # q = 1, p = 1/2: the gain of 1 is above -ln p = 0.69, whatever beta is.
    assert math.isinf(value(conn, "pganon.beta_likeness('t', '{a}', 's')"))
    assert value(conn, "pganon.beta_likeness('t', '{a}', 's', 'basic')") == 1
