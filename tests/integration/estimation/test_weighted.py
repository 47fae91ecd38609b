"""Estimates of weighted sums: bounds against all weights that the classes allow, golden figures."""

from __future__ import annotations

import gzip
import itertools
import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.estimation.ask import ask as estimate
from pganon.estimation.refusals import EstimateRefused
from pganon.estimation.release import AskedRelease, Part, Published
from pganon.identifiers import QualifiedName
from tests.integration.estimation import test_worlds as worlds
from tests.integration.estimation.test_in_sql import in_sql, same
from tests.integration.estimation.test_worlds import ANY_WHERE, CLASSES, Class, ask
from tests.integration.methods.classes.test_shown_weights import WEIGHTS, declared, source
from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.harness.examples import examples
from tests.support.oracles import estimates as oracle

ROUNDED = Fraction(5, 10_000_000)
SHOWN = ("weight", "weight_range")


def vertices(n: int, total: Fraction, low: Fraction, high: Fraction) -> list[tuple[Fraction, ...]]:
    """Weights in [low, high] with this sum, all but one of them ends: of every linear function
    the least and the greatest value are at one of these."""
    found = []
    for place, ends in itertools.product(range(n), itertools.product((low, high), repeat=n - 1)):
        rest = total - sum(ends)
        if low <= rest <= high:
            found.append((*ends[:place], rest, *ends[place:]))
    return found


def span(n: int, total: Fraction, ends: tuple[Fraction, Fraction], counts: range) -> Any:
    """Least and greatest sum of the weights of so many records."""
    sums = [
        sum(weights[:count], Fraction(0))
        for t in (total - n * ROUNDED, total, total + n * ROUNDED)
        for weights in vertices(n, t, *ends)
        for count in counts
    ]
    return min(sums), max(sums)


def weigh(conn: Any, weights: list[tuple[Fraction, tuple[int, int] | None]]) -> None:
    conn.execute("ALTER TABLE worlds.released ADD weight numeric, ADD weight_range numrange")
    for number, (mean, ends) in enumerate(weights):
        around = None if ends is None else f"[{ends[0]},{ends[1]}]"
        conn.execute(
            "UPDATE worlds.released SET weight = %s::text::numeric, weight_range = %s"
            " WHERE class_id = %s",
            [f"{float(mean):.6f}", around, number],
        )


@st.composite
def weights(draw: st.DrawFn, n: int) -> tuple[Fraction, tuple[int, int]]:
    """The mean to six decimals, and a range, of n weights."""
    own = draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
    mean = Fraction((Fraction(sum(own), n) * 2_000_000 + 1) // 2, 1_000_000)
    return mean, (draw(st.integers(0, min(own))), draw(st.integers(max(own), 12)))


@pytest.mark.random_tables
@given(data=st.data())
@examples(8)
def test_a_sum_of_weights_is_that_of_all_worlds(db: Database, data: st.DataObject) -> None:
    classes: list[Class] = data.draw(CLASSES)
    where = data.draw(ANY_WHERE)
    shown = [data.draw(weights(len(item.rows))) for item in classes]
    ranged = data.draw(st.booleans())
    release = replace(worlds.RELEASE, weights=SHOWN if ranged else ("weight", None))
    with db.connect() as conn:
        worlds.fill(conn, classes)
        weigh(conn, [(mean, ends if ranged else None) for mean, ends in shown])
        text = f"SELECT sum(weight) AS s, count(*) FROM released{worlds._where(where)}"
        (row,) = ask(conn, text, "column", release)
        known = worlds.buckets(conn, classes, "column", release)
        apart = worlds.are_apart(text, release)
    lower = upper = Fraction(0)
    estimate = variance = 0.0
    for bucket, item, (mean, (low, high)) in zip(known, classes, shown, strict=True):
        n = len(item.rows)
        counted = oracle.total([bucket], worlds._adds(where, lambda r: 1))
        counts = range(int(counted.lower), int(counted.upper) + 1)
        ends = (Fraction(low), Fraction(high)) if ranged else (Fraction(0), n * mean + n * ROUNDED)
        least, most = span(n, n * mean, ends, counts)
        lower, upper = lower + least, upper + most
        t, v, m = float(counted.estimate or 0), float(counted.variance or 0), float(mean)
        spread = max(0, high - m) * max(0, m - low)
        variance += m**2 * v + max(0, t * (n - t) - v) / max(n - 1, 1) * spread
        estimate += float(mean) * float(counted.estimate or 0)
    assert row["s"] == pytest.approx(estimate, abs=1e-5)
    if apart:  # answered one by one: bounds hold, and are not tight
        assert float(row["s_lower"]) <= float(lower) + 1e-9
        assert float(row["s_upper"]) >= float(upper) - 1e-9
    else:
        assert float(row["s_lower"]) == pytest.approx(float(lower), abs=1e-6)
        assert float(row["s_upper"]) == pytest.approx(float(upper), abs=1e-6)
        if ranged:
            assert row["s_error"] == pytest.approx(variance**0.5, abs=1e-5)
    figures = [row[f"s{end}"] for end in ("_lower", "_low", "", "_high", "_upper")]
    assert [float(f) for f in figures] == sorted(float(f) for f in figures)
    if not ranged and lower != upper:
        assert row["s_error"] is None or row["count_lower"] == row["count_upper"] == 0


@pytest.mark.random_tables
@given(data=st.data())
@examples(8)
@pytest.mark.slow
def test_products_with_weights_are_within_bounds(db: Database, data: st.DataObject) -> None:
    """Of every world: who matches, and the weights that they have."""
    classes: list[Class] = data.draw(CLASSES)
    where = data.draw(worlds.CONJUNCTIONS)
    shown = [data.draw(weights(len(item.rows))) for item in classes]
    release = replace(worlds.RELEASE, weights=SHOWN)
    with db.connect() as conn:
        worlds.fill(conn, classes)
        weigh(conn, list(shown))
        text = "SELECT sum(weight * x) AS s, sum(x * weight) / sum(weight) AS m"
        (row,) = ask(conn, f"{text} FROM released{worlds._where(where)}", "column", release)
        known = worlds.buckets(conn, classes, "column", release)
    estimate = 0.0
    for bucket, (mean, _) in zip(known, shown, strict=True):
        added = oracle.total([bucket], worlds._adds(where, lambda r: r["x"]))
        estimate += float(mean) * float(added.estimate or 0)
    assert row["s"] == pytest.approx(estimate, abs=1e-5)
    own = "flu" not in where.text and "age" not in where.text and "sex" not in where.text
    if not own:
        return
    # Conditions on x alone: who matches is known, and all weights are tried.
    least = most = Fraction(0)
    for item, (mean, (low, high)) in zip(classes, shown, strict=True):
        n = len(item.rows)
        match = [
            (x or 0) if where.holds({"x": x, "flu": flu}) is True else 0 for flu, x in item.rows
        ]
        sums = [
            sum((w * v for w, v in zip(own_weights, match, strict=True)), Fraction(0))
            for own_weights in vertices(n, n * mean, Fraction(low), Fraction(high))
        ]
        if sums:
            least, most = least + min(sums), most + max(sums)
    assert float(row["s_lower"]) <= float(least) + 1e-5
    assert float(most) - 1e-5 <= float(row["s_upper"])


VIEW = QualifiedName("worlds", "weighed")
REST = Part("records", True, VIEW, "class_id", None)


def release(weights: tuple[str | None, str | None], *columns: str) -> AskedRelease:
    found = {n: Published(n, "exact", "text", '"default"', False, REST) for n in columns}
    return AskedRelease("weighed", 1, VIEW, REST, None, found, weights=weights)


@pytest.mark.primary_server_only
def test_by_hand(db: Database) -> None:
    """Weights (10 20 30 40) and (5 5 7), of which two and one match."""
    with db.connect() as conn:
        conn.execute("CREATE SCHEMA worlds")
        conn.execute(
            "CREATE TABLE worlds.weighed AS SELECT class_id, d, weight, weight_range FROM (VALUES"
            " (1, '{x,x,y,y}'::text[], 25.0, numrange(10, 40, '[]')),"
            " (2, '{x,y,y}', 5.666667, numrange(5, 7, '[]')))"
            " AS v(class_id, ds, weight, weight_range), unnest(ds) AS d"
        )
        text = "SELECT sum(weight) AS s FROM weighed WHERE d = 'x'"
        (ranged,) = ask(conn, text, "column", release(SHOWN, "d"))
        (plain,) = ask(conn, text, "column", release(("weight", None), "d"))
        (whole,) = ask(conn, "SELECT sum(weight) AS s FROM weighed", "column", release(SHOWN, "d"))
    assert ranged["s"] == pytest.approx(55.666667)
    assert (ranged["s_lower"], ranged["s_upper"]) == (25, 87)
    assert (float(plain["s_lower"]), float(plain["s_upper"])) == (0, pytest.approx(117, abs=5e-6))
    assert float(whole["s_upper"]) - float(whole["s_lower"]) == pytest.approx(7 * 1e-6)
    # Two of four, and one of three, by the variance that means with ends can have.
    variance = 2 * 2 / 3 * 15 * 15 + 1 * 2 / 2 * (7 - 5.666667) * 0.666667
    assert ranged["s_error"] == pytest.approx(variance**0.5, rel=1e-5)
    assert plain["s_error"] is None
    assert whole["s_error"] == 0
    deviations = (2 * 2 / 3 * 225) ** 0.5 + ((7 - 5.666667) * 0.666667) ** 0.5
    assert ranged["s_high"] == pytest.approx(min(87, 55.666667 + 2 * deviations), rel=1e-5)


CASES: list[tuple[list[dict[str, Any]], str, list[str]]] = [
    ([], "", []),
    ([{"column": "q", "le": 2}], " WHERE q <= 2", []),
    ([{"column": "d", "eq": "x"}], " WHERE d = 'x'", []),
    ([{"column": "d", "eq": "x"}, {"column": "q", "gt": 1}], " WHERE d = 'x' AND q > 1", ["r"]),
    ([{"column": "q", "gt": 99}], " WHERE q > 99", []),
    ([], "", ["d"]),
]


@pytest.mark.primary_server_only
@pytest.mark.parametrize("shown", ["mean", "range"])
def test_the_function_answers_as_the_program(db: Database, shown: str) -> None:
    source(db, *WEIGHTS)
    driver.publish(db, declared(shown))
    with db.connect("steward") as conn:
        for given, where, by in CASES:
            keys = ", ".join(by)
            text = f"SELECT {keys}{', ' if by else ''}sum(weight) AS v FROM r{where}"
            text = text.replace("weight", "w") + (f" GROUP BY {keys}" if by else "")
            same(conn, {"measure": "weighted", "where": given, "by": by}, text, "r")


@pytest.mark.primary_server_only
@pytest.mark.slow
def test_bounds_hold_for_the_weights_of_the_source(db: Database) -> None:
    source(db, *WEIGHTS)
    driver.publish(db, declared("range"))
    with db.connect("steward") as conn:
        for _, where, by in CASES:
            if by:
                continue
            (row,) = estimate(
                conn, "r", f"SELECT sum(w) AS w, sum(w * n) AS wn FROM r{where}"
            ).as_dicts()
            source_text = (
                f"SELECT coalesce(sum(w), 0), coalesce(sum(w * n), 0) FROM public.t{where}"
            )
            true = conn.execute(source_text.encode()).fetchone()
            assert true is not None
            for name, value in zip(("w", "wn"), true, strict=True):
                assert row[f"{name}_lower"] <= (value or 0) <= row[f"{name}_upper"], where


@pytest.mark.primary_server_only
@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("avg(w)", "of weights only sums are estimated"),
        ("min(w)", "of weights only sums are estimated"),
        ("count(w)", "of weights only sums are estimated"),
        ("sum(w * w)", "only sums"),
        ("sum(w * q)", "no whole number or numeric that is published unchanged"),
        ("sum(w * (n + 1))", "multiplied by one column"),
        ("sum(n * n)", "takes one column of the release"),
        ("sum(2 * w)", "multiplied by one column"),
        ("count(*) FILTER (WHERE w > 3)", "weights of classes, not of records"),
        ("count(*) FILTER (WHERE w_range > 3)", "weights of classes, not of records"),
    ],
)
def test_what_weights_do_not_answer(db: Database, text: str, part: str) -> None:
    source(db, *WEIGHTS)
    driver.publish(db, declared("range"))
    with db.connect("steward") as conn, pytest.raises(EstimateRefused, match=part):
        estimate(conn, "r", f"SELECT {text} FROM r")


@pytest.mark.primary_server_only
def test_releases_without_weights_say_so(db: Database) -> None:
    source(db, *WEIGHTS)
    driver.publish(db, declared("none"))
    with db.connect("steward") as conn:
        with pytest.raises(psycopg.Error, match="the release r shows no weights"):
            in_sql(conn, {"measure": "weighted"}, "r")
        for wrong in ({"weighted": "w"}, {"weighted": None}, "sum", {"count": "w"}):
            with pytest.raises(psycopg.Error, match='"measure" is "count", "weighted"'):
                in_sql(conn, {"measure": wrong}, "r")
        with pytest.raises(EstimateRefused, match="has no column"):
            estimate(conn, "r", "SELECT sum(w) FROM r")


FILE = Path(os.environ.get("PGANON_DATA") or "/nowhere") / "adult/adult.data.gz"


def one_digit(value: int, *, up: bool) -> int:
    unit = 10 ** (len(str(value)) - 1)
    return -(-value // unit) * unit if up else value // unit * unit


@pytest.mark.primary_server_only
@pytest.mark.skipif(not FILE.exists(), reason="PGANON_DATA holds no adult/adult.data.gz")
def test_golden_figures_of_adult(db: Database) -> None:
    """Classes of age, sex, race; weights 100 + (37 i mod 1901)."""
    with gzip.open(FILE, "rt") as file:
        rows = [line.strip().split(", ") for line in file]
    rows = [row for row in rows if len(row) == 15 and "?" not in row]
    people: dict[tuple[str, ...], list[tuple[int, str, str]]] = {}
    for i, row in enumerate(rows):
        weight = 100 + 37 * i % 1901
        people.setdefault((row[0], row[9], row[8]), []).append((weight, row[14], row[6]))
    with db.connect() as conn:
        conn.execute("CREATE SCHEMA worlds")
        conn.execute(
            "CREATE TABLE worlds.weighed (class_id integer, weight numeric, weight_range numrange,"
            " income text, job text)"
        )
        with conn.cursor().copy("COPY worlds.weighed FROM STDIN") as copy:
            for number, members in enumerate(people.values()):
                own = [weight for weight, *_ in members]
                mean = (2_000_000 * sum(own) + len(own)) // (2 * len(own)) / 10**6
                around = f"[{one_digit(min(own), up=False)},{one_digit(max(own), up=True)}]"
                for _, income, job in members:
                    copy.write_row([number, f"{mean:.6f}", around, income, job])
        found = {}
        for name, where in {
            "rich": "income = '>50K'",
            "job": "job = 'Tech-support'",
            "both": "income = '>50K' AND job = 'Tech-support'",
        }.items():
            text = f"SELECT sum(weight) AS s FROM weighed WHERE {where}"
            for shown in (("weight", None), SHOWN):
                (row,) = ask(conn, text, "column", release(shown, "income", "job"))
                found[name, shown[1]] = (row["s"], row["s_lower"], row["s_upper"])
    assert len(people) == 528
    golden = {
        "rich": (7_896_048.256, (12_609, 28_601_236), (1_011_574, 14_794_342)),
        "job": (956_912.375, (0, 28_417_165), (101_836, 1_821_209)),
        "both": (292_874.227, (0, 20_502_341), (29_400, 556_000)),
    }
    for name, (middle, wide, narrow) in golden.items():
        for shown, ends in ((None, wide), ("weight_range", narrow)):
            figures = found[name, shown]
            assert figures[0] == pytest.approx(middle, abs=5e-4)
            assert tuple(map(float, figures[1:])) == pytest.approx(ends, abs=0.6)
