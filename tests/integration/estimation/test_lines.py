"""Ranges of numbers that need not be whole, of times, and of more values than are counted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pganon.estimation.ask import answer
from pganon.estimation.boxes import fitted
from pganon.estimation.parse import parse_query
from pganon.estimation.refusals import EstimateRefused, Unsupported
from pganon.estimation.release import AskedRelease, Part, Published
from pganon.estimation.resolve import resolve
from pganon.identifiers import QualifiedName
from tests.support.harness.cluster import Database

VIEW = QualifiedName("lines", "released")


def released(conn: Any, kind: str, *ranges: str, n: int = 5) -> AskedRelease:
    """A release of one column `v`, with a class of `n` records for every range."""
    conn.execute("DROP SCHEMA IF EXISTS lines CASCADE")
    conn.execute("CREATE SCHEMA lines")
    values = ", ".join(f"({i}, {shown})" for i, shown in enumerate(ranges))
    conn.execute(
        f"CREATE TABLE lines.released AS SELECT c AS class_id, v"
        f" FROM (VALUES {values}) AS t(c, v) CROSS JOIN generate_series(1, {n})".encode()
    )
    part = Part("v", False, VIEW, "class_id", None)
    column = Published("v", "range", kind, None, True, part)
    return AskedRelease("released", 1, VIEW, part, None, {"v": column})


def ask(conn: Any, release: AskedRelease, text: str, spread: Any = "uniform") -> Any:
    text = text.replace("RELEASED", "FROM released")
    return answer(conn, resolve(parse_query(text), release), spread).as_dicts()


def counted(conn: Any, release: AskedRelease, where: str) -> tuple[Any, ...]:
    (row,) = ask(conn, release, f"SELECT count(*) AS n RELEASED WHERE {where}")
    return row["n_lower"], row["n_upper"], round(row["n"], 9)


def test_numbers_of_any_kind(db: Database):
    """Five records from 10 to 20, both of which one has."""
    with db.connect() as conn:
        release = released(conn, "numeric", "numrange(10, 20, '[]')")
        assert counted(conn, release, "v < 12.5") == (1, 4, 1.75)
        assert counted(conn, release, "v = 12.5") == (0, 3, 0)
        assert counted(conn, release, "v <> 12.5") == (2, 5, 5)
        assert counted(conn, release, "v >= 10") == (5, 5, 5)
        assert counted(conn, release, "v < 10 OR v IS NULL") == (0, 0, 0)
        assert counted(conn, release, "CASE WHEN v IN (10, 20) THEN 1 END = 1") == (2, 5, 2)
        (row,) = ask(conn, release, "SELECT count(*) n, sum(v) s, avg(v) a RELEASED WHERE v < 12.5")
        assert row["n_error"] ** 2 == pytest.approx(3 * 0.25 * 0.75)
        filtered = "count(*) FILTER (WHERE v < 12.5) f, count(*) FILTER (WHERE v < 15) g"
        (row,) = ask(conn, release, f"SELECT {filtered} RELEASED")
        assert (row["f"], row["g"]) == (1.75, 2.5)
        (row,) = ask(conn, release, "SELECT sum(v) s, avg(v) a RELEASED")
        assert (row["s"], row["s_lower"], row["s_upper"]) == (75, 60, 90)
        assert row["s_error"] == pytest.approx(5)
        assert (row["a"], row["a_lower"], row["a_upper"]) == (15, 12, 18)
        rows = ask(
            conn, release, "SELECT width_bucket(v, 10, 20, 2) b, count(*) n RELEASED GROUP BY 1"
        )
        assert [(row["b"], row["n"]) for row in rows] == [(1, 2.5), (2, 1.5), (3, 1)]
        # No decimal is the border 10 + 10 / 3, or 10 + 20 / 3.
        for bucket, beside in ((1, "> 13.3333333333333333"), (3, "< 16.6666666666666667")):
            where = f"width_bucket(v, 10, 20, 3) = {bucket} AND v {beside}"
            assert counted(conn, release, where) == (0, 3, 0)


def test_a_range_of_one_number_beside_missing_values(db: Database):
    """A point has no share in a density, so how often values are missing decides."""
    with db.connect() as conn:
        release = released(conn, "numeric", "numrange(3, 3, '[]')", "numrange(4, 8, '[]')")
        conn.execute("ALTER TABLE lines.released ADD missing boolean DEFAULT false")
        conn.execute("UPDATE lines.released SET missing = true WHERE class_id = 0")
        column = release.columns["v"]
        column = Published("v", "range", "numeric", None, True, column.part, "missing")
        release = AskedRelease("released", 1, VIEW, column.part, None, {"v": column})
        assert counted(conn, release, "v = 3") == (1, 4, 2.5)
        known = fitted(conn, column, "column")
        # Nine values are surely there or free to be, one is missing: so is one of ten.
        (row,) = ask(conn, release, "SELECT count(*) n RELEASED WHERE v = 3", "column")
        assert row["n"] == pytest.approx(1 + 3 / (1 + known.odds))
        assert known.odds == pytest.approx(known.lacking / (1 - known.lacking))
        assert 0.1 < known.lacking < 0.2
        (row,) = ask(conn, release, "SELECT sum(v) s RELEASED WHERE v = 3")
        assert (row["s"], row["s_lower"], row["s_upper"]) == (7.5, 3, 12)
        assert row["s_error"] ** 2 == pytest.approx(9 * 5 / 4)


def test_a_scale_has_next_values(db: Database):
    """Prices in cents are counted one by one."""
    with db.connect() as conn:
        release = released(conn, "numeric(6,2)", "numrange(1, 1.04, '[]')", "numrange(2, 3)")
        assert counted(conn, release, "v * 2 < 2.05 AND v < 2") == (1, 4, 2.8)
        (row,) = ask(conn, release, "SELECT sum(v) s RELEASED WHERE v < 2")
        assert (float(row["s_lower"]), float(row["s_upper"])) == (5.04, 5.16)
        assert row["s"] == pytest.approx(5.1)


FLOATS = "numrange(0.1, 0.3, '[]')"


def test_floats_are_what_their_texts_are_read_as(db: Database):
    with db.connect() as conn:
        release = released(conn, "real", FLOATS)
        # In the source 0.1::real is above 0.1, and 0.3::real too.
        assert counted(conn, release, "v <= 0.1") == (0, 0, 0)
        assert counted(conn, release, "v > 0.3") == (1, 4, 1)
        release = released(conn, "double precision", FLOATS)
        assert counted(conn, release, "v <= 0.1") == (1, 4, 1)
        assert counted(conn, release, "v > 0.3") == (0, 0, 0)
        assert counted(conn, release, "v > 0.29999999999999998") == (0, 0, 0)


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [("real", 1234567.0, 7654321.0), ("double precision", 0.12345678901234568, 12345678.912345679)],
)
@pytest.mark.parametrize("form", ["exact", "set"])
def test_floats_are_added_with_all_their_digits(
    db: Database, kind: str, low: float, high: float, form: str
):
    shown = {"exact": f"(ARRAY[{low!r}, {high!r}])[g]::{kind}"}
    shown["set"] = f"ARRAY[{low!r}, {high!r}]::{kind}[]"
    exact = form == "exact"
    part = Part("v", exact, VIEW, "class_id", None)
    column = Published("v", form, kind, None, not exact, part)
    release = AskedRelease("released", 1, VIEW, part, None, {"v": column})
    with db.connect() as conn:
        conn.execute("CREATE SCHEMA lines")
        conn.execute(
            f"CREATE TABLE lines.released AS SELECT 1 AS class_id, {shown[form]} AS v"
            " FROM generate_series(1, 2) AS g".encode()
        )
        text = "SELECT min(v) least, max(v) most, sum(v) s, avg(v) a RELEASED"
        (row,) = ask(conn, release, text)
    wanted = {"least": low, "most": high, "s": low + high, "a": (low + high) / 2}
    # What the server may round of two of them, each of which is at most the highest.
    added, divided = (1.2e-7 if kind == "real" else 2.3e-16), 2 * 2.3e-16
    rooms = {"s": added * 4 * high, "a": (added + divided) * high}
    for name, value in wanted.items():
        assert row[name] == pytest.approx(value, rel=1e-16), name
        room = rooms.get(name, 0.0)
        for end, bound in (("lower", value - room), ("upper", value + room)):
            assert float(row[f"{name}_{end}"]) == pytest.approx(bound, rel=3e-16), name
        assert not room or row[f"{name}_lower"] < value < row[f"{name}_upper"]


def test_a_constant_that_is_a_float_has_all_its_digits(db: Database):
    """Where a condition changes is where its constant is, not beside it."""
    with db.connect() as conn:
        release = released(conn, "real", "numrange(0, 1, '[]')")
        assert counted(conn, release, "v = 0.1234567::real")[:2] == (0, 3)
        release = released(conn, "double precision", "numrange(0, 1, '[]')")
        assert counted(conn, release, "v = 0.12345678901234568::double precision")[:2] == (0, 3)
        assert counted(conn, release, "v = 1 / 3.0::double precision")[:2] == (0, 3)
        # As a number, 1234567.9::real is 1234567.875.
        release = released(conn, "numeric(12,2)", "numrange(0, 2000000, '[]')")
        where = "v > 1234567.9::real AND v < 1234567.89"
        assert counted(conn, release, where)[:2] == (0, 3)
        release = released(conn, "double precision", "numrange(0, 2000000, '[]')")
        assert counted(conn, release, where)[:2] == (0, 3)


TIMES = "tsrange('2020-01-01', '2020-01-11')", "tsrange('2020-02-01', '2020-02-01 00:00:00.000001')"


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ("v < '2020-01-02'", (1, 4, 1.3)),
        ("v < date '2020-01-02'", (1, 4, 1.3)),
        ("v::date = '2020-01-01'", (1, 4, 1.3)),
        ("extract(day FROM v) = 1 AND extract(month FROM v) = 1", (1, 4, 1.3)),
        ("date_trunc('day', v) = '2020-01-01' OR v = '2020-02-01'", (6, 9, 6.3)),
        ("v >= '2020-01-10 23:59:59.999999' AND v < '2020-02-01'", (1, 4, 1)),
        ("extract(year FROM v) = 2020", (10, 10, 10)),
    ],
)
def test_times(db: Database, where: str, wanted: tuple[Any, ...]):
    with db.connect() as conn:
        release = released(conn, "timestamp without time zone", *TIMES)
        assert counted(conn, release, where) == wanted


DAYS = "daterange('2020-01-01', '2020-01-11')", "daterange('2021-03-05', '2021-03-06')"
ZONED = [text.replace("tsrange", "tstzrange") for text in TIMES]


@pytest.mark.parametrize(
    ("kind", "shown", "wanted"),
    [
        ("date", DAYS, ["2020-01-01", "2020-01-10", "2021-03-05", "2020-01-10", "2020-01-10"]),
        (
            "timestamp(6) without time zone",
            TIMES,
            [
                *("2020-01-01 00:00:00", "2020-01-10 23:59:59.999999", "2020-02-01 00:00:00"),
                *("2020-01-10 00:00:00.000001", "2020-01-10 23:59:59.999999"),
            ],
        ),
        (
            "timestamp with time zone",
            ZONED,
            [
                *("2020-01-01 00:00:00+00:00", "2020-01-10 23:59:59.999999+00:00"),
                "2020-02-01 00:00:00+00:00",
                *("2020-01-10 00:00:00.000001+00:00", "2020-01-10 23:59:59.999999+00:00"),
            ],
        ),
    ],
)
def test_the_first_and_the_last_time(db: Database, kind: str, shown: Any, wanted: list[str]):
    """Ends are attained; of others the condition leaves open which are."""
    with db.connect() as conn:
        conn.execute("SET timezone = 'UTC'")
        release = released(conn, kind, *shown)
        (row,) = ask(conn, release, "SELECT min(v) a, max(v) z RELEASED")
        assert str(row["a"]) == str(row["a_lower"]) == wanted[0]
        assert str(row["z"]) == str(row["z_upper"]) == wanted[2]
        assert (row["a_error"], row["z_error"]) == (0, 0)
        where = "WHERE v > '2020-01-10 00:00:00' AND v < '2020-02-01'"
        if kind == "date":
            where = "WHERE v >= '2020-01-10' AND v < '2020-02-01'"
        (row,) = ask(conn, release, f"SELECT min(v) a, max(v) z RELEASED {where}")
        assert str(row["a_lower"]) == wanted[3]
        assert str(row["z_upper"]) == str(row["z_lower"]) == wanted[4]
        assert row["a"] == (None if kind != "date" else row["a_lower"])


def test_times_in_sets_and_in_records(db: Database):
    part, rest = (Part(name, name == "t", VIEW, "class_id", None) for name in ("v", "t"))
    days = Published("v", "set", "date", None, True, part)
    times = Published("t", "exact", "timestamp without time zone", None, False, rest)
    release = AskedRelease("released", 1, VIEW, part, None, {"v": days, "t": times})
    with db.connect() as conn:
        conn.execute("CREATE SCHEMA lines")
        conn.execute(
            "CREATE TABLE lines.released AS SELECT 1 AS class_id,"
            " '{2020-01-01,2020-01-03,2020-01-09}'::date[] AS v,"
            " timestamp '2020-02-01 12:00' + g * interval '1 hour' AS t"
            " FROM generate_series(1, 5) AS g"
        )
        text = "SELECT min(v) a, max(v) z, min(t) b, max(t) y RELEASED"
        (row,) = ask(conn, release, f"{text} WHERE v < '2020-01-09'")
        assert (str(row["a"]), str(row["z"])) == ("2020-01-01", "2020-01-03")
        # Up to four records match, of five: the last one may be any, and so may the first.
        assert (row["b"], row["y"]) == (None, None)
        found = [str(row[name])[11:16] for name in ("b_lower", "b_upper", "y_lower", "y_upper")]
        assert found == ["13:00", "16:00", "14:00", "17:00"]
        conn.execute("UPDATE lines.released SET t = 'infinity' WHERE t::time = '17:00'")
        with pytest.raises(EstimateRefused, match="beyond those of Python"):
            ask(conn, release, "SELECT max(t) RELEASED")
        with pytest.raises(Unsupported, match="aggregates of numbers"):
            ask(conn, release, "SELECT max(v) - min(v) RELEASED")


def test_seconds_have_fractions(db: Database):
    with db.connect() as conn:
        release = released(conn, "timestamp without time zone", *TIMES)
        with pytest.raises(Unsupported, match="too many values to count"):
            counted(conn, release, "extract(second FROM v) = 1")
        rows = ask(conn, release, "SELECT date_trunc('day', v) d, count(*) n RELEASED GROUP BY 1")
        assert len(rows) == 11


def test_groups_of_times(db: Database):
    with db.connect() as conn:
        zoned = [text.replace("tsrange", "tstzrange") for text in TIMES]
        release = released(conn, "timestamp with time zone", *zoned)
        rows = ask(conn, release, "SELECT date_trunc('month', v) m, count(*) n RELEASED GROUP BY 1")
        assert [(f"{row['m']:%m-%d %H}", row["n"]) for row in rows] == [
            ("01-01 00", 5),
            ("02-01 00", 5),
        ]


def test_days_of_more_years_than_are_counted(db: Database):
    """In cells, of which one has all days that are told apart nowhere."""
    with db.connect() as conn:
        release = released(
            conn, "date", "daterange('0001-01-01', '0001-01-11')", "daterange('2020-01-01', null)"
        )
        with pytest.raises(EstimateRefused, match="without an end"):
            counted(conn, release, "v < '2000-01-01'")
        conn.execute("UPDATE lines.released SET v = '[2020-01-01,2020-01-11)' WHERE class_id = 1")
        assert counted(conn, release, "v <= '2020-01-01'") == (6, 9, 6.3)
        assert counted(conn, release, "v < timestamp '2020-01-02 12:00'") == (6, 9, 6.6)


@pytest.mark.parametrize(
    ("kind", "shown", "values"),
    [
        ("integer", ("numrange(null, 10, '[]')", "numrange(11, null)"), ("10", "11", "3000000000")),
        ("numeric(3,1)", ("numrange(null, 1)", "numrange(1, null)"), ("0.9", "1", "99.9")),
        ("numeric(9,2)", ("numrange(null, 1)", "numrange(1, null)"), ("0.99", "1", "9999999.99")),
        (
            "date",
            ("daterange(null, '2020-01-01')", "daterange('2020-01-01', null)"),
            ("'2019-12-31'", "'2020-01-01'", "'5874897-12-31'"),
        ),
    ],
)
def test_ranges_without_an_end(db: Database, kind: str, shown: Any, values: tuple[str, ...]):
    """As those of a hierarchy, of which no record need have an end."""
    below, above, last = values
    with db.connect() as conn:
        release = released(conn, kind, *shown)
        with pytest.raises(EstimateRefused, match="without an end"):
            counted(conn, release, f"v <= {below}")
        column = replace(release.columns["v"], attained=False)
        release = replace(release, columns={"v": column})
        assert counted(conn, release, f"v <= {below}") == (5, 5, 5)
        assert counted(conn, release, f"v < {below}")[:2] == (0, 5)
        assert counted(conn, release, f"v >= {above}") == (5, 5, 5)
        assert counted(conn, release, f"v >= {above} AND v <= {last}")[1] == 5
        assert counted(conn, release, f"v > {last}")[0] == 0
        (row,) = ask(conn, release, f"SELECT count(v) n RELEASED WHERE v > {below}", "column")
        assert (row["n"], row["n_error"]) == (5, 0)
        with pytest.raises(EstimateRefused, match="can be counted, but not added up"):
            ask(conn, release, "SELECT max(v) RELEASED")


def test_the_spread_of_cells(db: Database):
    """All of the first class, one and a part of three of the second are in the first cell."""
    with db.connect() as conn:
        million = [f"numrange(1, {n}, '[]')" for n in (1_000_000, 2_000_000)]
        release = released(conn, "integer", *million)
        column = fitted(conn, release.columns["v"], "column")
        assert column.shares == pytest.approx([6 / 7, 1 / 7], abs=1e-5)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT count(*) RELEASED WHERE v * 2 > 5", "too many values to count"),
        ("SELECT count(*) RELEASED WHERE coalesce(v, 0) > 5", "too many values to count"),
        ("SELECT count(*) RELEASED WHERE v > v", "too many values to count"),
        ("SELECT count(*) RELEASED WHERE v IN (12, v)", "takes a constant here"),
        ("SELECT v, count(*) RELEASED GROUP BY v", "too many values for a group each"),
        ("SELECT count(*) RELEASED WHERE v > 'x'", "fails on a value"),
    ],
)
def test_uses_that_are_refused(db: Database, text: str, words: str):
    with db.connect() as conn:
        release = released(conn, "numeric", "numrange(10, 20, '[]')")
        with pytest.raises((EstimateRefused, Unsupported)) as refused:
            ask(conn, release, text)
    assert words in refused.value.message
