"""Estimates from local groups and buckets, against all possible worlds."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.estimation.parse import parse_query
from pganon.estimation.refusals import Unsupported
from pganon.estimation.release import AskedRelease, Part, Published, hidden_name
from pganon.estimation.resolve import resolve
from pganon.identifiers import QualifiedName
from tests.integration.estimation.test_worlds import (
    Condition,
    _adds,
    _both,
    _compared,
    _either,
    _not,
    _where,
    ask,
)
from tests.support.harness.cluster import Database
from tests.support.harness.examples import examples
from tests.support.oracles import estimates as oracle

VIEW, ZIPS, ILLS = (QualifiedName("local", name) for name in ("released", "zips", "ills"))
_AGE, _ZIP = (Part(name, False, VIEW, "group_id", None) for name in ("age", "zip"))
_ROWS = Part("records", True, VIEW, "group_id", None)
_ZIPS = Part("zips", True, ZIPS, "zip_bucket", "count")
_ILLS = Part("ills", True, ILLS, "ill_bucket", "count")
_TEXT = '"default"'
RELEASE = AskedRelease(
    "released",
    1,
    VIEW,
    _AGE,
    None,
    {
        "age": Published("age", "set", "integer", None, True, _AGE),
        "zip": Published("zip", "set", "integer", None, True, _ZIP, display="zip_form"),
        "zip_form": Published("zip_form", "exact", "text", _TEXT, False, _ROWS),
        "x": Published("x", "exact", "integer", None, False, _ROWS),
        hidden_name("zip"): Published("zip", "exact", "integer", None, False, _ZIPS),
        "ill": Published("ill", "exact", "text", _TEXT, False, _ILLS),
    },
    {"zips": "zip_bucket", "ills": "ill_bucket"},
)


@dataclass
class Record:
    """A record of the source; the group decides how zip is shown."""

    group: int
    zip_bucket: int
    ill_bucket: int
    age: int
    zip: int | None
    x: int | None
    ill: str

    @property
    def form(self) -> str:
        return "gbw"[self.group]


RECORDS = st.lists(
    st.builds(
        Record,
        st.sampled_from([0, 0, 1, 1, 2]),
        st.integers(1, 2),
        st.integers(1, 2),
        st.sampled_from([1, 2]),
        st.sampled_from([1, 2, None]),
        st.sampled_from([-2, 1, 3, None]),
        st.sampled_from(["a", "b"]),
    ),
    min_size=1,
    max_size=4,
)


def fill(conn: Any, records: Sequence[Record]) -> None:
    conn.execute("CREATE SCHEMA IF NOT EXISTS local")
    conn.execute("DROP TABLE IF EXISTS local.released, local.zips, local.ills")
    conn.execute(
        "CREATE TABLE local.released (group_id int, age int[], zip int[], zip_form text,"
        " zip_bucket int, ill_bucket int, x int)"
    )
    conn.execute("CREATE TABLE local.zips (zip_bucket int, zip int, count bigint)")
    conn.execute("CREATE TABLE local.ills (ill_bucket int, ill text, count bigint)")
    for r in records:
        ages, zips = (sorted(set(own), key=str) for own in _shown(records, r.group))
        bucket = r.zip_bucket if r.form == "b" else None
        row = [r.group, ages, zips if r.form == "g" else None, r.form, bucket, r.ill_bucket, r.x]
        conn.execute("INSERT INTO local.released VALUES (%s, %s, %s, %s, %s, %s, %s)", row)
        conn.execute("INSERT INTO local.ills VALUES (%s, %s, 1)", [r.ill_bucket, r.ill])
        if r.form == "b":
            conn.execute("INSERT INTO local.zips VALUES (%s, %s, 1)", [bucket, r.zip])


def _shown(records: Sequence[Record], group: int) -> tuple[list[Any], list[Any]]:
    inside = [r for r in records if r.group == group]
    return [r.age for r in inside], [r.zip for r in inside]


def possible(records: Sequence[Record]) -> oracle.Partitioned:
    """What is published of them; of who withholds the zip it is missing from the records."""

    def boxed(name: str, values: list[Any]) -> oracle.Boxed:
        shown = tuple(sorted(set(values), key=str))
        return oracle.Boxed(name, tuple((v, Fraction(1)) for v in shown), shown)

    found: dict[str, dict[int, Any]] = {"group": {}, "zip": {}, "ill": {}}
    for group in {r.group for r in records}:
        ages, zips = _shown(records, group)
        parts = [boxed("age", ages), *([boxed("zip", zips)] if group == 0 else [])]
        own = tuple(i for i, r in enumerate(records) if r.group == group)
        found["group"][group] = (own, tuple(parts))
    for name in ("zip", "ill"):
        for bucket in {getattr(r, f"{name}_bucket") for r in records}:
            own = tuple(
                i
                for i, r in enumerate(records)
                if getattr(r, f"{name}_bucket") == bucket and (name == "ill" or r.form == "b")
            )
            rows = tuple(((name, getattr(records[i], name)),) for i in own)
            if own:
                found[name][bucket] = (own, (oracle.Exact(rows),))
    return oracle.Partitioned(tuple({"x": r.x, "zip_form": r.form} for r in records), found)


def completed(worlds: Any) -> list[list[dict[str, Any]]]:
    """Worlds with any zip of those who withhold it."""
    found = []
    for _, records in worlds:
        lacking = [i for i, r in enumerate(records) if "zip" not in r]
        for zips in itertools.product((1, 2, 3, None), repeat=len(lacking)):
            known = [dict(r) for r in records]
            for i, value in zip(lacking, zips, strict=True):
                known[i]["zip"] = value
            found.append(known)
    return found


def _conditions(name: str, value: Any) -> st.SearchStrategy[Condition]:
    found = st.sampled_from(_compared(name, value))
    return st.builds(lambda c, no: _not(c) if no else c, found, st.booleans())


_Z, _I, _A, _X = (
    _conditions(name, value) for name, value in (("zip", 1), ("ill", "a"), ("age", 1), ("x", 1))
)
WHERE = st.one_of(
    _Z,
    *[st.builds(_both, _Z, other) for other in (_I, _A, _X)],
    st.builds(_either, _Z, _conditions("zip", 2)),
    st.builds(lambda a, b, c: _both(_both(a, b), c), _Z, _I, _A),
    st.builds(lambda a, b: _not(_both(a, b)), _Z, _conditions("zip", 2)),
)


@pytest.mark.random_tables
@given(data=st.data())
@examples(2)
def test_figures_are_those_of_all_worlds(db: Database, data: st.DataObject):
    records, where = data.draw(RECORDS), data.draw(WHERE)
    key = data.draw(st.sampled_from([None, None, "ill", "x"]))
    text = "SELECT count(*) n, sum(x) s, avg(x) a, max(x) t" + (f", {key} k" if key else "")
    text += f" FROM released{_where(where)}" + (f" GROUP BY {key}" if key else "")
    with db.connect() as conn:
        fill(conn, records)
        rows = ask(conn, text, "uniform", RELEASE)
        known = possible(records)
    worlds = completed(known.worlds())
    for world in worlds:
        reached = {r[key] if key else None for r in world if where.holds(r) is True}
        assert reached <= {row.get("k") for row in rows}
    for row in rows:

        def inside(record: Any, row: Any = row) -> Any:
            return where.holds(record) is True and (key is None or record[key] == row["k"])

        found = [[r for r in world if inside(r)] for world in worlds]
        counts = [len(own) for own in found]
        assert row["n_lower"] <= min(counts) <= max(counts) <= row["n_upper"]
        assert row["n_lower"] <= row["n_low"] <= row["n"] <= row["n_high"] <= row["n_upper"]
        assert row["maybe_empty"] >= (row["n_lower"] == 0)
        values = [[r["x"] for r in own if r["x"] is not None] for own in found]
        _bounded(row, "s", [sum(own) for own in values])
        _bounded(row, "a", [Fraction(sum(own), len(own)) for own in values if own])
        _bounded(row, "t", [max(own) for own in values if own])
        if all(r.form != "w" for r in records):
            own = Condition("", inside)
            assert row["n"] == pytest.approx(
                float(known.total(_adds(own, lambda r: 1))[0].estimate)  # pyright: ignore[reportArgumentType]
            )
            added = known.total(_adds(own, lambda r: r["x"]))[0].estimate
            assert row["s"] == pytest.approx(float(added or 0), abs=1e-9)


def _bounded(row: dict[str, Any], name: str, values: Sequence[Any]) -> None:
    for value in values:
        low, high = row[f"{name}_lower"], row[f"{name}_upper"]
        assert low is None or float(low) <= float(value) + 1e-9
        assert high is None or float(value) <= float(high) + 1e-9


def test_who_withholds_a_value(db: Database):
    """Two show 1 or 2, two hide one each, and two say nothing: as many of these as of the rest."""
    records = [Record(i // 2, 1, 1, 1, 1 + i % 2, i, "a") for i in range(6)]
    with db.connect() as conn:
        fill(conn, records)
        (row,) = ask(
            conn, "SELECT count(*) n, sum(x) s FROM released WHERE zip = 1", "uniform", RELEASE
        )
        (rest,) = ask(
            conn,
            "SELECT count(*) n, sum(x) s FROM released WHERE zip = 1 AND zip_form <> 'w'",
            "uniform",
            RELEASE,
        )
    assert (row["n_lower"], row["n"], row["n_upper"]) == (2, 3, 4)
    assert (row["s"], row["s_lower"], row["s_upper"]) == (None, None, None)
    assert (rest["n_lower"], rest["n"], rest["n_upper"]) == (2, 2, 2)
    assert (rest["s_lower"], rest["s"], rest["s_upper"]) == (2, 3, 4)


def test_alternatives_on_what_some_withhold(db: Database):
    """All of the six above who show the zip, or hide it, have one that is not 1 or not 2."""
    records = [Record(i // 2, 1, 1, 1, 1 + i % 2, i, "a") for i in range(6)]
    text = "SELECT count(*) n FROM released WHERE zip <> 1 OR zip <> 2"
    with db.connect() as conn:
        fill(conn, records)
        (row,) = ask(conn, text, "uniform", RELEASE)
    assert (row["n_lower"], row["n"], row["n_upper"]) == (4, pytest.approx(6), 6)
    assert (row["n_low"], row["n_high"]) == (4, 6)


@pytest.mark.parametrize(
    "where", ["x = 9 OR zip = 1", "NOT (zip = 1 AND age = 1)", "zip = 1 AND (ill = 'a' OR zip = 2)"]
)
def test_alternatives_of_what_some_withhold_with_others(where: str):
    with pytest.raises(Unsupported, match="buckets of their own") as refused:
        resolve(parse_query(f"SELECT count(*) FROM released WHERE {where}"), RELEASE)
    assert "one query per alternative" in (refused.value.hint or "")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT sum(zip) FROM released",
        "SELECT zip, count(*) FROM released GROUP BY zip",
        "SELECT count(zip) FROM released",
    ],
)
def test_what_some_do_not_show_is_only_in_conditions(text: str):
    with pytest.raises(Unsupported, match="not shown of all records"):
        resolve(parse_query(text), RELEASE)
