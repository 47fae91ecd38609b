"""Alternatives that are answered one by one, against all possible worlds.

They are about what is grouped or measured.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pganon.estimation.parse import parse_query
from pganon.estimation.question import FIGURES
from pganon.estimation.refusals import Unsupported
from pganon.estimation.release import AskedRelease
from pganon.estimation.resolve import resolve
from tests.integration.estimation import test_partitions, test_worlds
from tests.integration.estimation.test_worlds import (
    CLASSES,
    Condition,
    _adds,
    _both,
    _either,
    _joined,
    _key,
    _perhaps_not,
    _where,
    are_apart,
    ask,
    buckets,
    one_by_one,
)
from tests.support.harness.cluster import Database
from tests.support.harness.examples import examples
from tests.support.oracles import estimates as oracle

NAMED = {
    "n": "count(*)",
    "sx": "sum(x)",
    "ax": "avg(x)",
    "lx": "min(x)",
    "tx": "max(x)",
    "ca": "count(age)",
    "sa": "sum(age)",
    "aa": "avg(age)",
    "sy": "sum(y)",
    "ay": "avg(y)",
}


def items(data: st.DataObject, names: str) -> dict[str, str]:
    """Three aggregates with their names, and the number of records."""
    drawn = data.draw(st.lists(st.sampled_from(names.split()), min_size=3, max_size=3, unique=True))
    return {name: NAMED[name] for name in ("n", *drawn)}


def select(listed: dict[str, str], where: Condition, key: str | None) -> str:
    found = [f"{item} AS {name}" for name, item in listed.items()] + [f"{key} AS k"] * bool(key)
    tail = f" GROUP BY {key}" if key else ""
    return f"SELECT {', '.join(found)} FROM released{_where(where)}{tail}"


EXTREMES = {"lx": min, "tx": max}
VALUES = {
    **{
        name: lambda r, column={"x": "x", "y": "y", "a": "age"}[name[1]]: r[column]
        for name in NAMED
        if name not in ("n", "ca")
    },
    "n": lambda r: 1,
    "ca": lambda r: None if r["age"] is None else 1,
}
"""What a record adds, by the name of an aggregate."""


def extremes(row: dict[str, Any], name: str, wanted: tuple[Any, Any]) -> None:
    low, high = row[f"{name}_lower"], row[f"{name}_upper"]
    assert low is None or (wanted[0] is not None and low <= wanted[0])
    assert high is None or (wanted[1] is not None and high >= wanted[1])
    assert row[name] == (low if low == high else None)


_RESTS, _BOXES = test_worlds._PARTS[2], st.one_of(*test_worlds._PARTS[:2])
USED = st.one_of(
    st.builds(_either, _BOXES, _RESTS),
    _joined(_joined(_BOXES, _RESTS), _perhaps_not(_joined(_RESTS, _BOXES))),
    st.builds(_both, test_worlds._PARTS[0], st.builds(_either, test_worlds._PARTS[1], _RESTS)),
)


@pytest.mark.random_tables
@given(data=st.data())
@examples(2)
@pytest.mark.slow
def test_what_is_grouped_or_measured_may_be_in_alternatives(db: Database, data: st.DataObject):
    classes, where = data.draw(CLASSES), data.draw(USED)
    key = data.draw(st.sampled_from(["flu", "age / 2", None]))
    listed = items(data, "sx ax lx tx ca sa aa")
    text = select(listed, where, key)
    assume(are_apart(text, test_worlds.RELEASE))
    with db.connect() as conn:
        test_worlds.fill(conn, classes)
        rows = ask(conn, text, "column")
        known = buckets(conn, classes, "column")
    groups = {
        _key(record, key) if key else None
        for bucket in known
        for _, records in oracle.worlds(bucket)
        for record in records
        if where.holds(record) is True
    }
    assert groups <= {row.get("k") for row in rows}
    for row in rows:

        def inside(record: Any, row: Any = row) -> Any:
            own = key is None or _key(record, key) == row["k"]
            return where.holds(record) is True and own

        own = Condition("", inside)
        assert row["maybe_empty"] >= (row["n_lower"] == 0)
        for name in listed:
            value = _adds(own, VALUES[name])
            if name in EXTREMES:
                extremes(row, name, oracle.extreme(known, value, EXTREMES[name]))
            else:
                figure = oracle.average if name[0] == "a" else oracle.total
                one_by_one(row, name, figure(known, value))


@pytest.mark.parametrize(
    "where",
    [
        "flu = 'a' OR cold = 'a'",
        "NOT (sex = 1 AND flu = 'a')",
        "(flu = 'a' AND cold = 'a') OR age = 1",
        "cold = 'a' AND (age = 1 OR flu = 'a')",
        "(flu = 'a' OR cold = 'a') AND (cold = 'b' OR flu = 'b')",
    ],
)
def test_alternatives_in_several_tables_are_refused(where: str):
    for text in (f"SELECT count(*) FROM released WHERE {where}", _filtered(where)):
        with pytest.raises(Unsupported, match="buckets of their own") as refused:
            resolve(parse_query(text), test_partitions.RELEASE)
        assert "one query per alternative" in (refused.value.hint or "")
        assert refused.value.in_text(text).message.startswith("line 1, column ")


def _filtered(where: str) -> str:
    return f"SELECT count(*) FILTER (WHERE {where}) FROM released"


def test_alternatives_in_one_of_several_tables(db: Database):
    """Those who have flu a or 5 are among the first three, of whom two have a cold."""
    row = test_partitions._row
    records = [row((1, 1), "aabc"[i], (1, 1, 5, 0)[i], "aabb"[i]) for i in range(4)]
    text = "SELECT count(*) n, avg(y) a FROM released WHERE cold = 'a' AND (flu = 'a' OR y = 5)"
    with db.connect() as conn:
        test_partitions.fill(conn, records)
        (found,) = ask(conn, text, "column", test_partitions.RELEASE)
    assert _figures(found, "na") == [(1, 1.5, 2), (1, pytest.approx(7 / 3), 5)]


@pytest.mark.slow
def test_groups_in_which_alternatives_can_be_true(db: Database):
    """One has flu a, two b and one c; of the four at least one is 1 and one is 2 years old."""
    rows: list[tuple[str | None, int | None]] = [("a", 5), ("b", 3), ("b", 0), ("c", 9)]
    listed = "count(*) n, sum(x) s, avg(x) m, max(x) t, min(x) l"
    text = f"SELECT {listed} FROM released WHERE flu = 'a' OR (age <= 1 AND flu <> 'c')"
    with db.connect() as conn:
        test_worlds.fill(conn, [test_worlds.Class((1, 2), False, (1,), rows)])
        (whole,) = ask(conn, text, "uniform")
        groups = ask(conn, text.replace("count", "flu, count", 1) + " GROUP BY flu", "uniform")
        nobody = text.replace(
            "flu = 'a' OR (age <= 1 AND flu <> 'c')", "(age = 1 AND flu = 'z') OR x = 7"
        )
        (none,) = ask(conn, nobody, "uniform")
    # Who has which age is open, but nobody has flu z.
    assert (none["n_upper"], none["classes"], none["maybe_empty"]) == (0, 0, True)
    assert _figures(whole, "nsm") == [(1, 2, 3), (5, 6.5, 8), (pytest.approx(5 / 3), 3.25, 5)]
    assert (whole["t"], whole["classes"], whole["maybe_empty"]) == (5, 1, False)
    assert (whole["l_lower"], whole["l"], whole["l_upper"]) == (0, None, 5)
    first, second = sorted(groups, key=lambda row: row["flu"])
    assert (first["flu"], _figures(first, "nsm")) == ("a", [(1, 1, 1), (5, 5, 5), (5, 5, 5)])
    assert (second["flu"], _figures(second, "nsm")) == ("b", [(0, 1, 2), (0, 1.5, 3), (0, 1.5, 3)])
    errors = [tuple(row[f"{name}_error"] for name in "nsmt") for row in (first, second)]
    assert errors == [(0, 0, 0, 0), (None, None, None, None)]
    assert [row["maybe_empty"] for row in (first, second)] == [False, True]


@pytest.mark.slow
def test_a_sum_that_is_not_known_in_one_way(db: Database):
    """The first alternative has a sum; the second may have the record with NaN."""
    x = replace(test_worlds.RELEASE.columns["x"], kind="double precision")
    asked = replace(test_worlds.RELEASE, columns={**test_worlds.RELEASE.columns, "x": x})
    rows: list[tuple[str | None, int | None]] = [("a", 5), ("b", 3), ("b", 7), ("c", 9)]
    text = "SELECT count(*) n, sum(x) s FROM released WHERE flu = 'a' OR (age <= 1 AND flu = '{}')"
    with db.connect() as conn:
        test_worlds.fill(conn, [test_worlds.Class((1, 2), False, (1,), rows)])
        conn.execute("ALTER TABLE worlds.released ALTER COLUMN x TYPE double precision")
        conn.execute("UPDATE worlds.released SET x = 'NaN' WHERE flu = 'c'")
        (some,) = ask(conn, text.format("b"), "uniform", asked)
        (unknown,) = ask(conn, text.format("c"), "uniform", asked)
    assert _figures(some, "ns") == [(1, 2, 3), pytest.approx((5, 10, 15))]
    assert [unknown[f"s{end}"] for end in FIGURES] == [None] * len(FIGURES)
    assert unknown["n_upper"] == 2


def _figures(row: dict[str, Any], names: str) -> list[tuple[Any, ...]]:
    return [tuple(float(row[f"{name}{end}"]) for end in ("_lower", "", "_upper")) for name in names]


def test_grouped_columns_are_in_alternatives_answered_one_by_one():
    text = "SELECT flu, count(*) FROM released WHERE flu = 'a' OR age <= 1 GROUP BY flu"
    assert resolve(parse_query(text), test_worlds.RELEASE).questions[0].alternatives is not None


def refusal(where: str, asked: AskedRelease) -> str:
    with pytest.raises(Unsupported) as refused:
        resolve(parse_query(f"SELECT sum(x) FROM released WHERE {where}"), asked)
    return refused.value.message


def test_too_many_ways():
    """Of the first there are 23, of two alternatives with two pairs each 25."""
    pair = "(x = 2 OR sex = 2) AND (x = 3 OR age = 3)"
    most = f"sex = 9 OR (x = 1 AND sex = 1 AND age = 1) OR ({pair})"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pganon.estimation.alternatives.MAX_WAYS", 23)
        resolve(parse_query(f"SELECT sum(x) FROM released WHERE {most}"), test_worlds.RELEASE)
    pairs = " OR ".join(f"((x = {i} OR sex = {i}) AND (x = 1{i} OR age = {i}))" for i in (1, 2))
    assert "more than 24 ways" in refusal(pairs, test_worlds.RELEASE)
