"""The functions by which analysts read generalized values, against going through all values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import psycopg
import pytest

from tests.support.harness.cluster import Connection, Database
from tests.support.oracles.shares import Range, limits, share_of
from tests.support.sources.staging import release

BOUNDS = ("[]", "[)", "(]", "()")


@pytest.fixture
def conn(db: Database) -> Connection:
    return db.connect("analyst")


def value(conn: Connection, call: str) -> Any:
    row = conn.execute(f"SELECT {call}".encode()).fetchone()
    assert row is not None
    return row[0]


def ranges(ends: Sequence[Fraction]) -> Iterator[Range]:
    """All ranges with these ends or none, but for the empty one, which is written otherwise."""
    for lower, upper, bounds in product([None, *ends], [None, *ends], BOUNDS):
        ordered = lower is None or upper is None or lower < upper
        if ordered or (lower == upper and bounds == "[]"):
            yield Range(lower, upper, bounds)


def shares(
    conn: Connection, call: str, cases: Sequence[tuple[Range, float, float]]
) -> list[Decimal | None]:
    """What a call gives for `range`, `low` and `high`, whose texts are columns of these names."""
    texts = [[str(case[n]) for case in cases] for n in range(3)]
    query = (
        f"SELECT {call} FROM unnest(%s::text[], %s::text[], %s::text[])"
        " WITH ORDINALITY AS t(range, low, high, place) ORDER BY place"
    )
    return [row[0] for row in conn.execute(query.encode(), texts)]


def compare(
    conn: Connection, call: str, cases: list[tuple[Range, float, float]], whole: bool | None
) -> None:
    # Limits of which both are the same infinity are none.
    cases = [case for case in cases if not case[1] == case[2] in (math.inf, -math.inf)]
    for case, found in zip(cases, shares(conn, call, cases), strict=True):
        expected = share_of(*case, whole=whole)
        if expected is None or found is None:
            assert found is expected, case
        else:
            assert abs(Fraction(found) - expected) < Fraction(1, 10**12), (case, found)


@pytest.mark.parametrize("whole", [None, True, False])
def test_share_of_numbers(conn: Connection, whole: bool | None) -> None:
    ends = [Fraction(-2), Fraction(-1, 2), Fraction(1), Fraction(9, 4), Fraction(3)]
    about = limits([-3, -2, -0.5, 0.5, 1, 2, 3, 4])
    cases = list(product(ranges(ends), about, about))
    given = "" if whole is None else f", whole => {whole}"
    call = f"pganon.share(range::numrange, low::numeric, high::numeric{given})"
    compare(conn, call, cases, whole)


def test_share_of_days(conn: Connection) -> None:
    """Days are numbered from the first of March."""
    cases = list(
        product(
            ranges([Fraction(n) for n in (-2, 0, 1, 5)]),
            limits([-3, -2, 0, 1, 4, 6]),
            limits([-3, -2, 0, 1, 4, 6]),
        )
    )
    day = (
        "CASE WHEN {0} IN ('inf', '-inf') THEN replace({0}, 'inf', 'infinity')::date"
        " ELSE date '2024-03-01' + {0}::int END"
    )
    span = (
        "daterange(date '2024-03-01' + lower(range::numrange)::int,"
        " date '2024-03-01' + upper(range::numrange)::int, left(range, 1) || right(range, 1))"
    )
    # Between two neighbours there may be no day, and PostgreSQL calls such a range empty.
    compare(conn, f"pganon.share({span}, {day.format('low')}, {day.format('high')})", cases, True)


@pytest.mark.parametrize(
    ("type_", "range_"), [("timestamp", "tsrange"), ("timestamptz", "tstzrange")]
)
def test_share_of_moments(conn: Connection, type_: str, range_: str) -> None:
    """Moments are numbered by microseconds; ranges are half-open, as releases have them."""
    ends = [Fraction(n) for n in (-2, 0, 1, 5)]
    published = [
        found
        for found in ranges(ends)
        if (found.bounds[0] == "[") == (found.lower is not None) and found.bounds[1] == ")"
    ]
    about = limits([-3, -2, 0, 1, 4, 6])
    cases = [
        (found, low, high)
        for found, low, high in product(published, about, about)
        # That all before an end is within limits takes the end itself, not the moment before.
        if found.bounded or found.upper is None or high != found.upper - 1
    ]
    conn.execute("SET TimeZone = 'Europe/Berlin'")
    noon = f"{type_} '2024-03-31 00:59:59.999999'"
    moment = (
        "CASE WHEN {0} IN ('inf', '-inf') THEN replace({0}, 'inf', 'infinity')::"
        + type_
        + f" ELSE {noon} + {{0}}::int * interval '1 microsecond' END"
    )
    span = (
        f"{range_}({noon} + lower(range::numrange)::int * interval '1 microsecond',"
        f" {noon} + upper(range::numrange)::int * interval '1 microsecond',"
        " left(range, 1) || right(range, 1))"
    )
    call = f"pganon.share({span}, {moment.format('low')}, {moment.format('high')})"
    compare(conn, call, cases, True)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("pganon.share(numrange '[34,41]', 30, 37)", "0.5"),
        ("pganon.share(numrange '[34,41]', 30, 37, whole => false)", "0.4285714"),
        ("pganon.share(numrange '[34,34]', 34, 34, whole => false)", "1"),
        ("pganon.share(numrange '(3,4)', 3, 4)", None),
        ("pganon.share(numrange 'empty', 3, 4)", None),
        ("pganon.share(NULL::numrange, 3, 4)", None),
        ("pganon.share(numrange '[3,4]', NULL, 4)", None),
        ("pganon.share(numrange '[3,4]', 3, NULL)", None),
        ("pganon.share(numrange '[3,4]', 4, 'infinity')", "0.5"),
        ("pganon.share(numrange '[3,infinity]', 4, 5)", None),
        ("pganon.share(numrange '[3,infinity]', 4, 5, false)", None),
        ("pganon.share(numrange '[-infinity,4]', 4, 5, false)", None),
        ("pganon.share(numrange '[3,NaN]', 4, 5)", None),
        ("pganon.share(numrange '[3,4.5]', 'NaN', 5)", "0"),
        (
            "pganon.share(numrange '[9007199254740993,9007199254740994]', 0, 9007199254740993)",
            "0.5",
        ),
        ("pganon.share(daterange '[2025-02-01,2025-03-01)', '2025-02-15', '2025-04-30')", "0.5"),
        ("pganon.share(daterange '[2025-02-01,infinity)', '2025-02-15', '2025-04-30')", None),
        ("pganon.share(daterange '[2025-02-01,infinity)', '2025-02-01', 'infinity')", "1"),
        ("pganon.share(daterange 'empty', '2025-02-15', '2025-04-30')", None),
        (
            "pganon.share(daterange '[2025-02-01,2025-03-01)', '4714-11-24 BC', '5874897-12-31')",
            "1",
        ),
        ("pganon.share(daterange '[2025-02-01,)', '2025-02-01', '5874897-12-31')", None),
        (
            "pganon.share(tsrange '[4714-11-24 00:00 BC,294276-12-31 23:59:59.999999]',"
            " '4714-11-24 00:00 BC', '144781-12-12 12:00')",
            "0.4999983",
        ),
        ("pganon.share(tsrange '[2025-02-01,infinity]', '2025-02-15', '2025-04-30')", None),
        ("pganon.share(tsrange '(2025-02-01,2025-02-03]', '2025-01-01', '2025-02-01')", "0"),
        ("pganon.share(tsrange '[2025-02-01,2025-02-01]', '2025-01-01', '2025-02-01')", "1"),
        ("pganon.share(tstzrange '[2025-02-01,2025-02-03)', '2025-02-02', 'infinity')", "0.5"),
        ("pganon.share(tstzrange '[2025-02-01,infinity]', '2025-02-15', '2025-04-30')", None),
        ("pganon.share(tstzrange '[-infinity,2025-02-03)', '2025-02-01', '2025-02-02')", None),
        ("pganon.share('{a,b}'::text[], 'a')", "0.5"),
        ("pganon.share('{a,b,a,NULL}'::varchar[], 'a')", "0.5"),
        ("pganon.share('{1,2,3,4}'::smallint[], 3)", "0.25"),
        ("pganon.share('{1,2}'::int[], 3.5)", "0"),
        ("pganon.share('{t,f}'::bool[], true)", "0.5"),
        ("pganon.share('{}'::text[], 'a')", None),
        ("pganon.share(NULL::text[], 'a')", None),
        ("pganon.share('{a,NULL}'::text[], NULL)", None),
    ],
)
def test_share_at_the_edges(conn: Connection, call: str, expected: str | None) -> None:
    found = value(conn, call)
    if expected is None:
        assert found is None
    else:
        assert math.isclose(found, Decimal(expected), abs_tol=1e-7)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("numrange '[34,41]', 34", True),
        ("numrange '[34,41]', 42::bigint", False),
        ("numrange '[34,41)', 41", False),
        ("numrange '(,41]', 7.5", True),
        ("numrange '[34,41]', '35'", True),
        ("int4range '[34,41]', 41::smallint", True),
        ("numrange 'empty', 34", False),
        ("NULL::numrange, 34", None),
        ("numrange '[34,41]', NULL::int", None),
        ("daterange '[2025-02-01,2025-03-01)', '2025-02-28'", True),
        ("daterange '[2025-02-01,2025-03-01)', '2025-03-01'", False),
        ("tsrange '[2025-02-01,2025-03-01)', date '2025-02-01'", True),
        ("tstzrange '[2025-02-01,2025-03-01)', '2025-03-01'", False),
        ("tstzrange '[2025-02-01,2025-03-01)', timestamp '2025-02-02'", True),
        ("'{female,male}'::text[], 'female'", True),
        ("'{female,male}'::varchar(9)[], 'other'", False),
        ("'{1,2}'::int[], 2::bigint", True),
        ("'{female,NULL}'::text[], 'male'", False),
        ("NULL::text[], 'male'", None),
        ("'{female,NULL}'::text[], NULL", None),
        ("34, 34.0", True),
        ("34::smallint, 35::bigint", False),
        ("9007199254740993, 9007199254740992", False),
        ("date '2025-02-01', '2025-02-01'", True),
        ("timestamp '2025-02-01', date '2025-02-02'", False),
        ("timestamptz '2025-02-01', '2025-02-01'", True),
        ("NULL::numeric, 3", None),
    ],
)
def test_overlaps(conn: Connection, call: str, expected: bool | None) -> None:
    assert value(conn, f"pganon.overlaps({call})") is expected


@pytest.mark.parametrize("call", ["numrange '[1,2]', numrange '[1,2]'", "'7613*'::text, '76133'"])
def test_overlaps_takes_values_of_forms_that_it_knows(conn: Connection, call: str) -> None:
    with pytest.raises(psycopg.errors.UndefinedFunction):
        value(conn, f"pganon.overlaps({call})")


CALLS = [
    "share(n, 1, 3)",
    "share(n, 1, 3, true)",
    "share(n * numrange(1, 5), 1, 3)",
    "share(d, '2025-01-01', '2025-02-01')",
    "share(t, '2025-01-01', '2025-02-01')",
    "share(z, '2025-01-01', '2025-02-01')",
    "share(s, 'a')",
    "overlaps(n, 34)",
    "overlaps(d, '2025-01-01')",
    "overlaps(t, '2025-01-01')",
    "overlaps(z, '2025-01-01')",
    "overlaps(s, 'a')",
    "overlaps(lower(n), 34)",
    "overlaps(lower(d), '2025-01-01')",
    "overlaps(lower(t), '2025-01-01')",
    "overlaps(lower(z), '2025-01-01')",
    "first_whole(n)",
    "last_whole(n)",
]
TABLE = "CREATE TEMP TABLE r (n numrange, d daterange, t tsrange, z tstzrange, s text[])"


@pytest.mark.parametrize("column", ["n", "d", "t", "z"])
def test_limits_without_end_of_columns(conn: Connection, column: str) -> None:
    """Constant limits are computed before any row is read."""
    conn.execute(TABLE)
    conn.execute(
        "INSERT INTO pg_temp.r VALUES ('[1,5)', '[2025-02-01,2025-02-05)',"
        " '[2025-02-01,2025-02-05)', '[2025-02-01,2025-02-05)')"
    )
    low = "3" if column == "n" else "'2025-02-03'"
    pairs = [(low, "'infinity'"), ("'-infinity'", "'infinity'"), ("'-infinity'", "'-infinity'")]
    pairs += [("'infinity'", "'infinity'")]
    calls = ", ".join(f"pganon.share({column}, {low}, {high})" for low, high in pairs)
    assert conn.execute(f"SELECT {calls} FROM pg_temp.r".encode()).fetchone() == (0.5, 1, 0, 0)


def explained(conn: Connection, query: str) -> str:
    rows = conn.execute(f"EXPLAIN (VERBOSE, COSTS OFF) {query}".encode())
    return "\n".join(row[0] for row in rows)


@pytest.mark.parametrize("call", CALLS)
def test_queries_contain_the_expression_instead_of_a_call(conn: Connection, call: str) -> None:
    conn.execute(TABLE)
    plan = explained(conn, f"SELECT pganon.{call} FROM pg_temp.r")
    assert "pganon." not in plan
    assert "Output: " in plan


@pytest.mark.parametrize(
    ("index", "call"),
    [
        ("gist (n)", "overlaps(n, 34)"),
        ("gist (d)", "overlaps(d, '2025-01-01')"),
        ("gist (t)", "overlaps(t, '2025-01-01')"),
        ("gist (z)", "overlaps(z, '2025-01-01')"),
        ("gin (s)", "overlaps(s, 'a')"),
    ],
)
def test_an_index_is_used(conn: Connection, index: str, call: str) -> None:
    conn.execute(TABLE)
    conn.execute(f"CREATE INDEX ON pg_temp.r USING {index}".encode())
    conn.execute("SET enable_seqscan = off")
    assert "Index Cond: " in explained(conn, f"SELECT 1 FROM pg_temp.r WHERE pganon.{call}")


def test_of_a_release(db: Database) -> None:
    """A reader without other rights asks a release, of which classes are filtered, not records."""
    release(db.owner())
    analyst = db.connect("analyst")
    row = analyst.execute(
        "SELECT sum(pganon.share(age, 20, 24)), count(*) FILTER (WHERE pganon.overlaps(age, 31))"
        " FROM published.adult"
    ).fetchone()
    assert row is not None
    assert (round(row[0], 9), row[1]) == (round(Decimal(10) / 11, 9), 1)
    query = "SELECT sum(pganon.share(age, 20, 24)) FROM published.adult WHERE {}"
    plan = explained(analyst, query.format("pganon.overlaps(age, 31)"))
    assert "pganon.share" not in plan
    assert plan.count("@> '31'::numeric)") == 1
    with pytest.raises(psycopg.errors.UndefinedFunction, match="numrange @> integer"):
        analyst.execute(query.format("age @> 31").encode())


def test_they_may_be_in_an_index_and_in_parallel_workers(db: Database) -> None:
    rows = db.admin.execute(
        "SELECT provolatile::text, proparallel::text FROM pg_proc"
        " WHERE pronamespace = 'pganon'::regnamespace"
        " AND proname IN ('share', 'overlaps', 'first_whole', 'last_whole')"
    )
    assert set(rows) == {("i", "s")}
