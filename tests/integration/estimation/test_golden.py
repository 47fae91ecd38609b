"""Figures that were computed by hand, on the server."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pganon.estimation.ask import answer
from pganon.estimation.parse import parse_query
from pganon.estimation.refusals import Unsupported
from pganon.estimation.release import AskedRelease, Part, Published
from pganon.estimation.resolve import resolve
from pganon.identifiers import QualifiedName
from tests.support.harness.cluster import Database

VIEW = QualifiedName("golden", "released")
QIT, ST = QualifiedName("golden", "released_qit"), QualifiedName("golden", "released_st")


def boxed(name: str, form: str, kind: str) -> Published:
    return Published(name, form, kind, None, True, Part(name, False, VIEW, "class_id", None))


AGE, SEX = boxed("age", "range", "integer"), boxed("sex", "set", "text")
ILL = Published("ill", "exact", "text", None, False, Part("records", True, VIEW, "class_id", None))
CLASSES = AskedRelease(
    "released", 1, VIEW, AGE.part, None, {item.name: item for item in (AGE, SEX, ILL)}
)


def ask(conn: Any, release: AskedRelease, text: str, spread: Any = "uniform") -> dict[str, Any]:
    (row,) = answer(conn, resolve(parse_query(text), release), spread).as_dicts()
    return row


@pytest.fixture
def one_class(db: Database) -> Any:
    """Ten records with ages 30 to 40 of both sexes; four of them have flu."""
    with db.connect() as conn:
        conn.execute("CREATE SCHEMA golden")
        conn.execute(
            "CREATE TABLE golden.released AS SELECT 1 AS class_id, numrange(30, 40, '[]') AS age,"
            " '{F,M}'::text[] AS sex, CASE WHEN g <= 4 THEN 'flu' ELSE 'cold' END AS ill"
            " FROM generate_series(1, 10) AS g"
        )
        yield conn


@pytest.mark.parametrize(
    ("where", "lower", "upper", "estimate", "variance"),
    [
        ("age <= 33", 1, 9, 3.909091, 2.931129),
        ("sex = 'F'", 1, 9, 5, 6.666667),
        ("age <= 33 AND ill = 'flu'", 0, 4, 1.563636, 1.025748),
        ("age <= 33 AND sex = 'F' AND ill = 'flu'", 0, 4, 0.781818, 0.735636),
        ("age <= 33 OR ill = 'flu'", 4, 10, 6.345455, 1.611974),
    ],
)
def test_a_class(
    one_class: Any, where: str, lower: int, upper: int, estimate: float, variance: float
):
    row = ask(one_class, CLASSES, f"SELECT count(*) FROM released WHERE {where}")
    assert (row["count_lower"], row["count_upper"]) == (lower, upper)
    assert row["count"] == pytest.approx(estimate, abs=5e-7)
    assert row["count_error"] ** 2 == pytest.approx(variance, abs=5e-7)
    assert row["classes"] == 1
    assert row["few"]
    assert row["maybe_empty"] == (lower == 0)


def test_citext_is_not_compared(one_class: Any):
    """Its operators are not looked for, and those of text tell spellings apart."""
    release = replace(CLASSES, columns={**CLASSES.columns, "ill": replace(ILL, kind="x.citext")})
    assert ask(one_class, release, "SELECT count(ill) FROM released")["count"] == 10
    assert ask(one_class, release, "SELECT count(*) FROM released WHERE ill IS NULL")["count"] == 0
    for text in ("WHERE ill = 'Flu'", "GROUP BY ill", "WHERE NOT ill LIKE 'F%'"):
        with pytest.raises(Unsupported, match="citext"):
            ask(one_class, release, f"SELECT count(*) FROM released {text}")


def test_an_enum_has_no_order(one_class: Any):
    """It is published as a text, whose order is another."""
    assert ask(one_class, CLASSES, "SELECT count(*) FROM released WHERE ill = 'flu'")["count"] == 4
    for where in ("ill < 'flu'", "ill BETWEEN 'a' AND 'z'", "'e' <= ill"):
        with pytest.raises(Unsupported, match="an enum"):
            ask(one_class, CLASSES, f"SELECT count(*) FROM released WHERE {where}")


def test_texts_are_counted(one_class: Any):
    """A count of a column is one of its records that have a value."""
    row = ask(one_class, CLASSES, "SELECT count(sex) AS n FROM released WHERE sex = 'F'")
    assert (row["n_lower"], row["n_upper"], row["n"]) == (1, 9, 5)
    one_class.execute("ALTER TABLE golden.released ADD lacking boolean DEFAULT true")
    sex = replace(SEX, null_column="lacking")
    release = replace(CLASSES, columns={"sex": sex})
    row = ask(one_class, release, "SELECT count(sex) AS n FROM released")
    # One of the ten surely lacks it, so does one of three of the seven that are free.
    assert (row["n_lower"], row["n_upper"]) == (2, 9)
    assert row["n"] == pytest.approx(2 + 7 * 2 / 3)


@pytest.mark.parametrize(
    ("having", "ills"),
    [
        ("count(*) > 1.6", ["cold"]),
        ("count(*) BETWEEN 1 AND 1.6 AND ill <> 'cold'", ["flu"]),
        ("max(age) IS NULL", ["cold", "flu"]),
        ("avg(age) - 30 > count(*) OR ill = 'cold'", ["cold"]),
        ("count(*) FILTER (WHERE sex = 'F') < 1", ["flu"]),
        ("count(sex) FILTER (WHERE ill = 'flu') = 0", ["cold"]),
    ],
)
def test_groups_whose_estimates_fulfil_a_condition(one_class: Any, having: str, ills: list[str]):
    """1.56 with flu and 2.35 with a cold are 30 to 33 years old, 31.4 in the mean."""
    text = (
        "SELECT ill, count(*), max(age), avg(age) FROM released WHERE age <= 33"
        f" GROUP BY ill HAVING {having} ORDER BY 1"
    )
    rows = answer(one_class, resolve(parse_query(text), CLASSES), "uniform").as_dicts()
    assert [row["ill"] for row in rows] == ills


def test_different_filters(one_class: Any):
    """Each is asked for itself, whatever is grouped by; NULL is a group like any other."""
    one_class.execute("UPDATE golden.released SET ill = NULL WHERE ill = 'cold'")
    text = (
        "SELECT ill, count(*) FILTER (WHERE sex = 'F') AS women, count(*) AS n,"
        " count(*) FILTER (WHERE ill IS NULL) AS well, sum(age) FILTER (WHERE ill = 'no') AS s,"
        " avg(age) FILTER (WHERE ill = 'flu') AS a FROM released GROUP BY ill"
    )
    flu, well = answer(one_class, resolve(parse_query(text), CLASSES), "uniform").as_dicts()
    assert (flu["ill"], flu["women"], flu["n"], flu["well"], flu["s"]) == ("flu", 2, 4, 0, 0)
    assert (flu["well_upper"], flu["well_error"], flu["classes"]) == (0, 0, 0)
    assert (well["ill"], well["women"], well["n"], well["well"], well["s"]) == (None, 3, 6, 6, 0)
    assert (flu["a"], well["a"], well["a_upper"]) == (35, None, None)


@pytest.mark.parametrize(
    ("expression", "lower", "upper", "estimate"),
    [
        # 1 to 9 are women, and 5 are expected.
        ("100.0 * count(*) FILTER (WHERE sex = 'F') / count(*)", 10, 90, 50),
        ("count(*) FILTER (WHERE sex = 'F') / 2", 0, 4, 2.5),
        ("count(*) FILTER (WHERE sex = 'F')::real / 2", 0.5, 4.5, 2.5),
        ("-2 * (count(*) FILTER (WHERE sex = 'F') - 4)", -10, 6, -2),
        ("- count(*) FILTER (WHERE sex = 'F')", -9, -1, -5),
        ("3 - (count(*) + count(*) FILTER (WHERE sex = 'F'))", -16, -8, -12),
        ("count(*) / (count(*) FILTER (WHERE sex = 'F') - 1)", None, None, 2.5),
        ("count(*) / (count(*) FILTER (WHERE sex = 'F') - 10)", -10, -1, -2),
        ("max(age) / 3", 13, 13, 13),
        # Sums of whole numbers are whole, means are not.
        ("sum(age) FILTER (WHERE sex = 'X') + avg(age) / count(*)", 3.1, 3.9, 3.5),
        ("count(*) / 3", 3, 3, 3),
        ("count(*) / 3 * 3.0", 9, 9, 9),
        ("(sum(age) FILTER (WHERE sex = 'X') + 1) / 2", 0, 0, 0),
        ("count(*) / 0", None, None, None),
        # Perhaps nobody has a greatest age.
        ("1 + max(age) FILTER (WHERE sex = 'F' AND ill = 'flu')", None, 41, None),
        ("2 * max(age) FILTER (WHERE sex = 'F' AND ill = 'flu')", None, None, None),
    ],
)
def test_arithmetic(one_class: Any, expression: str, lower: Any, upper: Any, estimate: Any):
    row = ask(one_class, CLASSES, f"SELECT {expression} AS v FROM released")
    found = [row[name] if row[name] is None else float(row[name]) for name in _NAMES]
    assert found == pytest.approx([lower, upper, estimate, None])


_NAMES = ("v_lower", "v_upper", "v", "v_error")


def test_products_of_many(one_class: Any):
    """The text of a statement grows with them, and no more."""
    text = f"SELECT {' * '.join(['count(*)'] * 15)} AS v FROM released"
    found = answer(one_class, resolve(parse_query(text), CLASSES), "uniform")
    (row,) = found.as_dicts()
    assert row["v_lower"] == row["v_upper"] == row["v"] == 10**15
    assert len(found.sql) < 100_000


def test_a_bucket(db: Database):
    """Of four records three match one table and two the other."""
    qit = Part("qit", True, QIT, "group_id", None)
    st = Part("st", True, ST, "group_id", "count")
    columns = {
        "x": Published("x", "exact", "integer", None, False, qit),
        "old": Published("old", "exact", "boolean", None, False, qit),
        "ill": Published("ill", "exact", "text", None, False, st),
    }
    release = AskedRelease("released", 1, VIEW, qit, None, columns)
    with db.connect() as conn:
        conn.execute("CREATE SCHEMA golden")
        conn.execute("CREATE TABLE golden.released_qit (group_id int, x int, old boolean)")
        conn.execute("CREATE TABLE golden.released_st (group_id int, ill text, count bigint)")
        conn.execute(
            "INSERT INTO golden.released_qit VALUES (1, 10, true), (1, 20, true), (1, 40, true),"
            " (1, 90, false)"
        )
        conn.execute("INSERT INTO golden.released_st VALUES (1, 'flu', 2), (1, 'cold', 2)")
        text = "SELECT count(*) n, sum(x) s, avg(x) a FROM released WHERE old AND ill = 'flu'"
        row = ask(conn, release, text)
        assert (row["n_lower"], row["n_upper"], row["n"]) == (1, 2, 1.5)
        assert row["n_error"] ** 2 == pytest.approx(0.25)
        assert (row["s_lower"], row["s_upper"], row["s"]) == (10, 60, 35)
        assert row["s_error"] ** 2 == pytest.approx(291.666667)
        conn.execute("INSERT INTO golden.released_qit VALUES (2, 30, true), (2, 50, true)")
        conn.execute("INSERT INTO golden.released_st VALUES (2, 'flu', 1), (2, 'cold', 1)")
        conn.execute(
            "INSERT INTO golden.released_qit SELECT 2, 0, false FROM generate_series(1, 9)"
        )
        conn.execute("INSERT INTO golden.released_st VALUES (2, 'none', 9)")
        row = ask(conn, release, text)
        assert (row["a_lower"], row["a_upper"]) == (10, 45)
        # The least of the three, of which one surely matches, is there twice.
        conn.execute("DELETE FROM golden.released_qit WHERE group_id = 2")
        conn.execute("UPDATE golden.released_qit SET x = 10 WHERE x = 20")
        extremes = text.replace("sum(x) s, avg(x) a", "min(x) least, max(x) most")
        row = ask(conn, release, extremes)
        assert (row["most_lower"], row["most_upper"], row["most"]) == (10, 40, None)
        assert (row["least_lower"], row["least_upper"], row["most_error"]) == (10, 40, None)


@pytest.mark.parametrize(("records", "width"), [(5, 300), (200, 1000), (1000, 3600)])
def test_sums_of_numbers_far_from_zero_are_not_certain(db: Database, records: int, width: int):
    """Seconds of an epoch vary as much as those since its last hour, but for what rounding adds."""
    part = replace(AGE, kind="bigint")
    release = AskedRelease("released", 1, VIEW, part.part, None, {"age": part})
    errors: list[float] = []
    with db.connect() as conn:
        conn.execute("CREATE SCHEMA golden")
        for first in (0, 1_700_000_000):
            conn.execute("DROP TABLE IF EXISTS golden.released")
            conn.execute(
                f"CREATE TABLE golden.released AS SELECT c AS class_id,"
                f" int8range({first}, {first + width}, '[]') AS age"
                f" FROM generate_series(1, 3) AS c, generate_series(1, {records})".encode()
            )
            errors.append(ask(conn, release, "SELECT sum(age) AS s FROM released")["s_error"])
    assert errors[1] == pytest.approx(errors[0], rel=0.3)


def test_a_fitted_spread(db: Database):
    """The classes [1,3] of five, [3,4] of four and [2,2] of three records, together."""
    release = AskedRelease("released", 1, VIEW, AGE.part, None, {"age": AGE, "ill": ILL})
    sizes = ((1, 3, 5), (3, 4, 4), (2, 2, 3))
    with db.connect() as conn:
        conn.execute("CREATE SCHEMA golden")
        conn.execute("CREATE TABLE golden.released (class_id int, age numrange, ill text)")
        for low, high, n in sizes:
            conn.execute(
                "INSERT INTO golden.released SELECT %s, numrange(%s, %s, '[]'), %s"
                " FROM generate_series(1, %s)",
                [low, low, high, str(low), n],
            )
        text = "SELECT count(*) FROM released WHERE age = 2 AND ill = '1'"
        assert ask(conn, release, text, "column")["count"] == pytest.approx(1.192611, abs=5e-7)
        assert ask(conn, release, text)["count"] == pytest.approx(1)


def test_columns_may_have_the_names_that_a_statement_uses(db: Database):
    """`n`, `bucket`, `cells` and others are names inside it."""
    names = ("n", "bucket", "cells", "a0", "grp", "values0")
    columns = {
        name: Published(name, "range", "integer", None, True, Part(name, False, VIEW, "cell", None))
        for name in names
    }
    release = AskedRelease("released", 1, VIEW, columns["n"].part, None, columns)
    with db.connect() as conn:
        conn.execute("CREATE SCHEMA golden")
        shown = ", ".join(f"numrange({i}, {i + 1}, '[]') AS {n}" for i, n in enumerate(names))
        conn.execute(
            f"CREATE TABLE golden.released AS SELECT 1 AS cell, {shown}"
            " FROM generate_series(1, 4)".encode()
        )
        where = " AND ".join(f"{name} <= {i}" for i, name in enumerate(names))
        row = ask(
            conn, release, f"SELECT sum(n) bounds, count(*) totals FROM released WHERE {where}"
        )
    assert (row["totals_lower"], row["totals_upper"]) == (0, 3)
    assert row["totals"] == pytest.approx(4 / 2**6)


def test_labels_that_are_asked_for(db: Database):
    """A class that shows the label matches; one that shows another may; NULL does not."""
    part = Part("zip", False, VIEW, "class_id", None)
    zips = Published("zip", "label", "text", '"default"', False, part, "zip_null")
    release = AskedRelease("released", 1, VIEW, part, None, {"zip": zips})
    with db.connect() as conn:
        conn.execute("CREATE SCHEMA golden")
        conn.execute(
            "CREATE TABLE golden.released AS"
            " SELECT c AS class_id, z AS zip, missing AS zip_null FROM (VALUES (1, 'north', false),"
            " (2, 'north', true), (3, '*', false), (4, NULL, true)) AS v(c, z, missing)"
            " CROSS JOIN generate_series(1, 3)"
        )

        def bounds(where: str) -> tuple[int, int]:
            text = f"SELECT count(*), count(zip) zips FROM released WHERE {where}"
            row = ask(conn, release, text)
            found = row["count_lower"], row["count_upper"]
            if "IS NULL" not in where:
                # Records that match have a value, so both are the same.
                assert (row["zips_lower"], row["zips_upper"]) == found, where
                assert row["zips_error"] == row["count_error"], where
            return found

        assert bounds("zip = 'north'") == (3, 8)
        assert bounds("NOT zip = 'north'") == (0, 3)
        assert bounds("zip <> 'north'") == (0, 3)
        assert bounds("zip IN ('north', 'south')") == (3, 8)
        assert bounds("zip = 'south'") == (0, 8)
        assert bounds("zip IS NULL") == (4, 6)
        row = ask(conn, release, "SELECT count(*) FROM released WHERE zip = 'north'")
        assert row["count_error"] is None
        assert (row["count_low"], row["count_high"]) == (3, 8)


def test_names_and_values_with_quotes(db: Database):
    name, value = 'a"b; -- :x', 'it\'s \\ "one" $1'
    part = Part(name, False, VIEW, 'class "id"', None)
    column = Published(name, "set", "text", '"default"', True, part)
    release = AskedRelease("released", 1, VIEW, part, None, {name: column})
    quoted, text = name.replace('"', '""'), value.replace("'", "''")
    with db.connect() as conn:
        conn.execute("CREATE SCHEMA golden")
        conn.execute(
            f'CREATE TABLE golden.released AS SELECT 1 AS "class ""id""",'
            f" ARRAY['{text}', 'other'] AS \"{quoted}\" FROM generate_series(1, 4)".encode()
        )
        where = f"\"{quoted}\" = '{text}'"
        row = ask(conn, release, f"SELECT count(*) FROM released WHERE {where}")
        assert (row["count_lower"], row["count_upper"], row["count"]) == (1, 3, 2)
        (first, other) = answer(
            conn,
            resolve(
                parse_query(f'SELECT "{quoted}" AS k, count(*) FROM released GROUP BY "{quoted}"'),
                release,
            ),
            "uniform",
        ).as_dicts()
    assert {first["k"], other["k"]} == {value, "other"}
    assert first["count"] == other["count"] == pytest.approx(2)


def test_two_tables_with_buckets_of_their_own(db: Database):
    """Of three records of a bucket one has flu, of one all; a cold is one of two in both."""
    records = {"flu": [(1, 1), (1, 0), (1, 0), (2, 1)], "cold": [(1, 1), (1, 0), (2, 1), (2, 0)]}
    columns: dict[str, Published] = {}
    with db.connect() as conn:
        conn.execute("CREATE SCHEMA golden")
        conn.execute(
            "CREATE TABLE golden.released AS SELECT * FROM (VALUES (1, 1), (1, 1), (1, 2), (2, 2))"
            " AS v(flu_group_id, cold_group_id)"
        )
        for name, values in records.items():
            view = QualifiedName("golden", name)
            conn.execute(
                f"CREATE TABLE golden.{name} (group_id int, {name} int, count int)".encode()
            )
            for value in values:
                conn.execute(f"INSERT INTO golden.{name} VALUES (%s, %s, 1)".encode(), value)
            part = Part(name, True, view, "group_id", "count")
            columns[name] = Published(name, "exact", "integer", None, False, part)
        home = Part("qit", True, VIEW, "flu_group_id", None)
        links = {name: f"{name}_group_id" for name in records}
        release = AskedRelease("released", 1, VIEW, home, None, columns, links)
        row = ask(conn, release, "SELECT count(*) FROM released WHERE flu = 1 AND cold = 1")
    assert (row["count_lower"], row["count_upper"]) == (0, 2)
    assert (row["count"], row["count_error"] ** 2) == pytest.approx((1, 1 / 3))
    assert (row["classes"], row["few"], row["maybe_empty"]) == (2, True, True)
