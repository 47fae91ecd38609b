"""Estimates from tables with buckets of their own, against all possible worlds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.estimation.boxes import fitted
from pganon.estimation.release import AskedRelease, Part, Published
from pganon.identifiers import QualifiedName
from tests.integration.estimation.test_worlds import (
    _TRUE,
    Condition,
    _adds,
    _both,
    _compared,
    _either,
    _fractions,
    _not,
    _where,
    ask,
)
from tests.support.harness.cluster import Database
from tests.support.harness.examples import examples
from tests.support.oracles import estimates as oracle

QIT, ST1, ST2 = (QualifiedName("worlds", name) for name in ("qit", "st1", "st2"))
_SEX = Part("sex", False, QIT, "class_id", None)
_ROWS = Part("qit", True, QIT, "class_id", None)
_PARTS = {"st1": Part("st1", True, ST1, "group_id", "count")}
_PARTS["st2"] = Part("st2", True, ST2, "group_id", "count")
RELEASE = AskedRelease(
    "released",
    1,
    QIT,
    _SEX,
    None,
    {
        "sex": Published("sex", "set", "integer", None, True, _SEX),
        "age": Published("age", "exact", "integer", None, False, _ROWS),
        "x": Published("x", "exact", "integer", None, False, _ROWS),
        "flu": Published("flu", "exact", "text", '"default"', False, _PARTS["st1"]),
        "y": Published("y", "exact", "integer", None, False, _PARTS["st1"]),
        "cold": Published("cold", "exact", "text", '"default"', False, _PARTS["st2"]),
    },
    {"st1": "st1_group_id", "st2": "st2_group_id"},
)
LINKS = ("class_id", "st1_group_id", "st2_group_id")


@dataclass
class Record:
    buckets: tuple[int, int, int]
    age: int | None
    x: int | None
    sex: int | None
    flu: str | None
    y: int | None
    cold: str | None


RECORDS = st.lists(
    st.builds(
        Record,
        st.tuples(*[st.integers(1, 2)] * 3),
        st.sampled_from([1, 2, None]),
        st.sampled_from([-2, 1, 3, None]),
        st.sampled_from([1, 2]),
        st.sampled_from(["a", "b", None]),
        st.sampled_from([-3, 0, 2, None]),
        st.sampled_from(["a", "b"]),
    ),
    min_size=1,
    max_size=4,
)


def fill(conn: Any, records: Sequence[Record]) -> None:
    conn.execute("CREATE SCHEMA IF NOT EXISTS worlds")
    conn.execute("DROP TABLE IF EXISTS worlds.qit, worlds.st1, worlds.st2")
    conn.execute(
        "CREATE TABLE worlds.qit (class_id int, st1_group_id int, st2_group_id int, sex int[],"
        " age int, x int)"
    )
    conn.execute("CREATE TABLE worlds.st1 (group_id int, flu text, y int, count bigint)")
    conn.execute("CREATE TABLE worlds.st2 (group_id int, cold text, count bigint)")
    for r in records:
        sexes = sorted({o.sex for o in records if o.buckets[0] == r.buckets[0]})
        conn.execute(
            "INSERT INTO worlds.qit VALUES (%s, %s, %s, %s, %s, %s)",
            [*r.buckets, sexes, r.age, r.x],
        )
        conn.execute("INSERT INTO worlds.st1 VALUES (%s, %s, %s, 1)", [r.buckets[1], r.flu, r.y])
        conn.execute("INSERT INTO worlds.st2 VALUES (%s, %s, 1)", [r.buckets[2], r.cold])


def possible(conn: Any, records: Sequence[Record], names: set[str]) -> oracle.Partitioned:
    """What is published of them as the oracle has it, but for partitions that are not asked of."""
    sex = fitted(conn, RELEASE.columns["sex"], "column")
    assert sex.elements is not None
    shares = dict(zip(map(int, sex.elements), sex.shares, strict=True))
    found: dict[str, Any] = {}
    for place, name in enumerate(LINKS):
        if name not in names:
            continue
        found[name] = {}
        for bucket in {r.buckets[place] for r in records}:
            own = [i for i, r in enumerate(records) if r.buckets[place] == bucket]
            inside = [records[i] for i in own]
            sexes = sorted({r.sex for r in inside})
            part = (
                oracle.Boxed("sex", _fractions({v: shares[v] for v in sexes}), tuple(sexes)),
                oracle.Exact(tuple((("flu", r.flu), ("y", r.y)) for r in inside)),
                oracle.Exact(tuple((("cold", r.cold),) for r in inside)),
            )[place]
            found[name][bucket] = (tuple(own), (part,))
    return oracle.Partitioned(tuple({"age": r.age, "x": r.x} for r in records), found)


_OF = {"sex": LINKS[0], "flu": LINKS[1], "y": LINKS[1], "cold": LINKS[2]}


def _conditions(*names: str) -> st.SearchStrategy[Condition]:
    values = {"sex": 1, "age": 1, "x": 1, "flu": "a", "y": 0, "cold": "a"}
    found = [c for name in names for c in _compared(name, values[name])]
    return st.builds(lambda c, no: _not(c) if no else c, st.sampled_from(found), st.booleans())


CONJUNCTIONS = st.one_of(
    st.builds(_both, _conditions("flu", "y"), _conditions("cold")),
    st.builds(_both, _conditions("sex"), _conditions("flu", "y")),
    st.builds(
        _both,
        _conditions("age", "x"),
        st.builds(_both, _conditions("cold"), _conditions("flu", "y")),
    ),
    st.builds(_both, _conditions("cold"), st.builds(_both, _conditions("sex"), _conditions("y"))),
)


def agrees(row: dict[str, Any], name: str, found: tuple[oracle.Answer, dict[str, float]]) -> None:
    """Estimate and error are those of all worlds, bounds no tighter."""
    wanted, deviations = found
    lower, upper, estimate = (float(row[f"{name}{end}"]) for end in ("_lower", "_upper", ""))
    assert lower <= float(wanted.lower) + 1e-9
    assert float(wanted.upper) <= upper + 1e-9
    assert estimate == pytest.approx(float(wanted.estimate or 0), abs=1e-9)
    if lower < upper:
        assert row[f"{name}_error"] == pytest.approx(float(wanted.variance or 0) ** 0.5, abs=1e-6)
    lows = [max(lower, estimate - 2 * d) for d in deviations.values()]
    assert any(row[f"{name}_low"] == pytest.approx(low, abs=1e-5) for low in lows)


def _names(text: str) -> set[str]:
    """Partitions that a condition is about."""
    return {link for name, link in _OF.items() if f"({name} " in text.replace("NOT ", "")}


@pytest.mark.random_tables
@given(data=st.data())
@examples(8)
@pytest.mark.slow
def test_figures_are_those_of_all_worlds(db: Database, data: st.DataObject):
    records, where = data.draw(RECORDS), data.draw(CONJUNCTIONS)
    text = "SELECT count(*) n, count(x) cx, sum(x) sx, count(y) cy, sum(y) sy, avg(x) ax, avg(y) ay"
    with db.connect() as conn:
        fill(conn, records)
        (row,) = ask(conn, f"{text} FROM released{_where(where)}", "column", RELEASE)
        known = possible(conn, records, _names(where.text) | {LINKS[1]})
    agrees(row, "n", known.total(_adds(where, lambda r: 1)))
    assert row["maybe_empty"] == (0 in [row[f"{name}_lower"] for name in ("n", "cx", "cy")])
    for name in "xy":
        value = _adds(where, lambda r, name=name: r[name])
        one = _adds(where, lambda r, name=name: None if r[name] is None else 1)
        agrees(row, f"c{name}", known.total(one))
        agrees(row, f"s{name}", known.total(value))
        mean(row, f"a{name}", known, value, one)


def mean(row: Any, name: str, known: oracle.Partitioned, value: Any, one: Any) -> None:
    count = known.total(one)[0].estimate
    if not count:
        assert row[name] is None
        return
    ratio = (known.total(value)[0].estimate or 0) / count
    about, _ = known.total(lambda r: None if value(r) is None else Fraction(value(r)) - ratio)
    means = [
        Fraction(sum(values), len(values))
        for _, records in known.worlds()
        for values in [[v for v in map(value, records) if v is not None]]
        if values
    ]
    lower, upper = float(row[f"{name}_lower"]), float(row[f"{name}_upper"])
    assert lower - 1e-9 <= min(means) <= max(means) <= upper + 1e-9
    assert row[name] == pytest.approx(min(upper, max(lower, float(ratio))), abs=1e-9)
    if lower < upper:
        error = float(about.variance or 0) ** 0.5 / float(count)
        assert row[f"{name}_error"] == pytest.approx(error, abs=1e-6)


@pytest.mark.random_tables
@given(data=st.data())
@examples(5)
@pytest.mark.slow
def test_groups_are_those_of_all_worlds(db: Database, data: st.DataObject):
    records = data.draw(RECORDS)
    keys = data.draw(st.sampled_from([["cold"], ["flu", "cold"], ["age", "cold"], ["sex", "y"]]))
    where = data.draw(st.one_of(st.just(_TRUE), _conditions("flu")))
    kept = data.draw(_conditions("flu", "y"))
    listed = ", ".join(keys)
    text = f"SELECT {listed}, count(*) n, max(y) t, min(x) l,"
    text += f" count(*) FILTER (WHERE {kept.text}) f FROM released"
    with db.connect() as conn:
        fill(conn, records)
        rows = ask(conn, f"{text}{_where(where)} GROUP BY {listed}", "column", RELEASE)
        links = {_OF[key] for key in keys if key in _OF} | {LINKS[1]}
        known = possible(conn, records, links)
    worlds = known.worlds()
    groups = {
        tuple(r[key] for key in keys)
        for _, found in worlds
        for r in found
        if where.holds(r) is True
    }
    assert {tuple(row[key] for key in keys) for row in rows} == groups
    for row in rows:

        def inside(record: Any, row: Any = row) -> Any:
            return where.holds(record) is True and all(record[key] == row[key] for key in keys)

        own = Condition("", inside)
        agrees(row, "n", known.total(_adds(own, lambda r: 1)))
        agrees(row, "f", known.total(_adds(_both(own, kept), lambda r: 1)))
        for name, column, best in (("t", "y", max), ("l", "x", min)):
            reached = {
                best(
                    (r[column] for r in found if inside(r) and r[column] is not None), default=None
                )
                for _, found in worlds
            }
            low, high = row[f"{name}_lower"], row[f"{name}_upper"]
            known_values = [value for value in reached if value is not None]
            assert low is None or all(low <= value for value in known_values)
            assert high is None or all(value <= high for value in known_values)
            sure = low if best is max else high
            assert sure is None or None not in reached


def test_bounds_are_the_best_that_a_table_gives(db: Database):
    """Two of three have a cold, so one of the two with flu has; each is of one or two records."""
    with db.connect() as conn:
        fill(
            conn,
            [
                Record((1, 1, 1), 1, 10, 1, "a", 1, "a"),
                Record((1, 1, 1), 1, 20, 1, "a", 5, "a"),
                Record((1, 2, 1), 1, 40, 1, "b", 9, "b"),
            ],
        )
        items = "count(*) n, sum(x) sx, avg(x) ax, min(x) lx, max(x) tx, sum(y) sy, avg(y) ay"
        text = f"SELECT {items}, count(x) cx, count(y) cy FROM released"
        (row,) = ask(conn, f"{text} WHERE flu = 'a' AND cold = 'a'", "column", RELEASE)
        (none,) = ask(conn, f"{text} WHERE flu = 'a' AND cold = 'c'", "column", RELEASE)
        (inner,) = ask(conn, f"{text} WHERE flu = 'a' AND cold = 'a' AND x < 15", "column", RELEASE)
    found = {
        name: (float(row[f"{name}_lower"]), pytest.approx(row[name]), float(row[f"{name}_upper"]))
        for name in ("n", "sx", "ax", "sy", "ay", "cx", "cy")
    }
    assert found == {
        "n": (1, 4 / 3, 2),
        "cx": (1, 4 / 3, 2),
        "cy": (1, 4 / 3, 2),
        "sx": (10, 20, 30),
        "ax": (10, 15, 20),
        "sy": (1, 4, 6),
        "ay": (1, 3, 5),
    }
    assert (row["lx_lower"], row["lx_upper"], row["lx"]) == (10, 20, None)
    assert (row["tx_lower"], row["tx_upper"], row["tx"]) == (10, 20, None)
    assert (row["classes"], row["few"], row["maybe_empty"]) == (1, True, False)
    assert (none["n"], none["n_upper"], none["n_error"], none["sx"], none["ax"]) == (
        0,
        0,
        0,
        0,
        None,
    )
    assert (none["classes"], none["few"], none["maybe_empty"]) == (0, False, True)
    assert (inner["n_lower"], inner["n_upper"]) == (0, 1)


def _row(buckets: tuple[int, int], flu: str, y: int, cold: str) -> Record:
    return Record((1, *buckets), 1, 1, 1, flu, y, cold)


def test_bounds_take_other_tables_into_account(db: Database):
    """Of two pairs one each has a cold, all have flu; in a third pair it is the other way round."""
    records = [
        *(_row((1, 1), "a", 5, "a"), _row((1, 1), "b", 7, "a")),
        *(_row((2, 2), "a", 1, "a"), _row((2, 2), "a", 2, "b")),
        *(_row((2, 3), "a", 3, "a"), _row((2, 3), "a", 4, "b")),
    ]
    text = "SELECT count(*) n, sum(y) s FROM released WHERE flu = 'a' AND cold = 'a'"
    with db.connect() as conn:
        fill(conn, records)
        (row,) = ask(conn, text, "column", RELEASE)
    assert (row["n_lower"], row["n"], row["n_upper"], row["n_error"]) == (3, 3, 3, 0)
    assert (row["s_lower"], row["s"], row["s_upper"]) == (5 + 1 + 2, 10, 5 + 3 + 4)
    # Half of the sum over the second bucket is taken, of two of its four values.
    assert row["s_error"] ** 2 == pytest.approx(2 * 1.25 * 2 / 3)
    with db.connect() as conn:
        fill(conn, [_row((1, 1), "a", 0, "ab"[number % 3 > 0]) for number in range(7)])
        (row,) = ask(conn, text, "column", RELEASE)
    assert (row["n_lower"], row["n_upper"], row["n_error"], row["n_low"]) == (3, 3, 0, 3)


@pytest.mark.parametrize("where", ["flu = 'a' AND cold = 'a'", "cold = 'a' AND flu = 'a'"])
def test_the_likely_range_is_of_the_buckets_of_one_table(db: Database, where: str):
    """Four that have flu are among eight of which four have a cold: hypergeometric."""
    records = [
        _row((1 + (number >= 4), 1), "ab"[number >= 4], 0, "ab"[number % 2]) for number in range(8)
    ]
    with db.connect() as conn:
        fill(conn, records)
        (row,) = ask(conn, f"SELECT count(*) n FROM released WHERE {where}", "column", RELEASE)
    assert (row["n_lower"], row["n"], row["n_upper"]) == (0, pytest.approx(2), 4)
    deviation = (4 * 0.25 * 4 / 7) ** 0.5
    assert row["n_error"] == pytest.approx(deviation)
    assert (row["n_low"], row["n_high"]) == pytest.approx((2 - 2 * deviation, 2 + 2 * deviation))


def test_what_is_not_a_number_has_no_sum(db: Database):
    columns = {**RELEASE.columns, "x": replace(RELEASE.columns["x"], kind="double precision")}
    text = "SELECT count(x) n, sum(x) s FROM released WHERE flu = 'a' AND cold = 'a'"
    with db.connect() as conn:
        fill(conn, [_row((1, 1), "a", 1, "a")])
        conn.execute("ALTER TABLE worlds.qit ALTER x TYPE double precision USING 'NaN'")
        (row,) = ask(conn, text, "column", replace(RELEASE, columns=columns))
    assert (row["n"], row["s"], row["s_lower"], row["s_error"]) == (1, None, None, None)


@pytest.mark.random_tables
@given(data=st.data())
@examples(4)
def test_one_table_and_exact_columns_are_one_partition(db: Database, data: st.DataObject):
    """So that alternatives are estimated, with tight bounds."""
    records = data.draw(RECORDS)
    ill = data.draw(_conditions("flu", "y"))
    where = _either(data.draw(_conditions("age", "x")), ill)
    with db.connect() as conn:
        fill(conn, records)
        (row,) = ask(conn, f"SELECT count(*) n FROM released{_where(where)}", "column", RELEASE)
        (own,) = ask(conn, f"SELECT sum(x) n FROM released{_where(ill)}", "column", RELEASE)
        known = possible(conn, records, {LINKS[1]})
    counted, added = _adds(where, lambda r: 1), _adds(ill, lambda r: r["x"])
    for answer, found in ((row, known.total(counted)), (own, known.total(added))):
        agrees(answer, "n", found)
        assert (answer["n_lower"], answer["n_upper"]) == (found[0].lower, found[0].upper)
