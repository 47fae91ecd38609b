"""Estimates from clusters, which list the values that occur, against all possible worlds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.estimation.boxes import fitted
from pganon.estimation.release import AskedRelease, Part, Published
from tests.integration.estimation.test_worlds import (
    ANY_WHERE,
    CONJUNCTIONS,
    TANGLES,
    VIEW,
    _adds,
    _fractions,
    _where,
    agrees,
    are_apart,
    ask,
    one_by_one,
)
from tests.support.harness.cluster import Database
from tests.support.harness.examples import examples
from tests.support.oracles import estimates as oracle


def _column(name: str, form: str, kind: str, collation: str | None = None) -> Published:
    exact = form == "multiset"
    weight = None if exact else "size"
    part = Part(name, exact, VIEW, "cluster_no", weight, array=exact)
    return Published(name, form, kind, collation, not exact, part)


_AGE = _column("age", "set", "integer")
RELEASE = AskedRelease(
    "released",
    1,
    VIEW,
    _AGE.part,
    None,
    {
        "age": _AGE,
        "sex": _column("sex", "set", "integer"),
        "flu": _column("flu", "multiset", "text", '"default"'),
        "x": _column("x", "multiset", "integer"),
    },
)
TABLE = """
    CREATE TABLE worlds.released (
        cluster_no integer, age integer[], sex integer[], flu text[], x integer[], size bigint
    )
"""


@dataclass
class Cluster:
    """Different values of two columns, values of all records of two others."""

    ages: list[int | None]
    sexes: list[int | None]
    flus: list[str | None]
    xs: list[int | None]

    @property
    def size(self) -> int:
        return len(self.xs)


def _cluster(n: int) -> st.SearchStrategy[Cluster]:
    def values(*possible: Any) -> Any:
        found = st.lists(st.sampled_from(possible), min_size=1, max_size=n, unique=True)
        return found.map(lambda v: sorted(v, key=lambda item: (item is None, item)))

    def all_of(*possible: Any) -> Any:
        return st.lists(st.sampled_from(possible), min_size=n, max_size=n)

    return st.builds(
        Cluster,
        values(1, 2, 3, 5, None),
        values(1, 2, None),
        all_of("a", "b", None),
        all_of(-2, 0, 3, 5, None),
    )


CLUSTERS = st.lists(st.integers(1, 2).flatmap(_cluster), min_size=1, max_size=2)


def fill(conn: Any, clusters: list[Cluster]) -> None:
    conn.execute("CREATE SCHEMA IF NOT EXISTS worlds")
    conn.execute("DROP TABLE IF EXISTS worlds.released")
    conn.execute(TABLE)
    for number, item in enumerate(clusters):
        conn.execute(
            "INSERT INTO worlds.released VALUES (%s, %s, %s, %s, %s, %s)",
            [number, item.ages, item.sexes, item.flus, item.xs, item.size],
        )


def buckets(conn: Any, clusters: list[Cluster], spread: Any) -> list[oracle.Bucket]:
    """The clusters as the oracle has them, with the spread that was fitted."""
    shares: dict[str, dict[Any, float]] = {}
    for name in ("age", "sex"):
        found = fitted(conn, RELEASE.columns[name], spread)
        assert found.elements is not None
        shares[name] = dict(zip(map(int, found.elements), found.shares, strict=True))
        shares[name] |= {None: found.lacking}

    def boxed(name: str, values: list[Any]) -> oracle.Boxed:
        weights = {value: shares[name][value] for value in values}
        return oracle.Boxed(name, _fractions(weights), tuple(values))

    return [
        oracle.Bucket(
            item.size,
            (
                boxed("age", item.ages),
                boxed("sex", item.sexes),
                oracle.Exact(tuple((("flu", flu),) for flu in item.flus)),
                oracle.Exact(tuple((("x", x),) for x in item.xs)),
            ),
        )
        for item in clusters
    ]


@pytest.mark.random_tables
@given(data=st.data())
@examples(3)
def test_figures_are_those_of_all_worlds(db: Database, data: st.DataObject):
    clusters, where = data.draw(CLUSTERS), data.draw(CONJUNCTIONS)
    spread = data.draw(st.sampled_from(["column", "uniform"]))
    items = "count(*) n, count(age) na, sum(age) sa, avg(age) aa, count(x) nx, sum(x) sx, avg(x) ax"
    with db.connect() as conn:
        fill(conn, clusters)
        (row,) = ask(conn, f"SELECT {items} FROM released{_where(where)}", spread, RELEASE)
        known = buckets(conn, clusters, spread)
    agrees(row, "n", oracle.total(known, _adds(where, lambda r: 1)))
    for name in ("x", "age"):
        value = _adds(where, lambda r, name=name: r[name])
        counted = _adds(where, lambda r, name=name: None if r[name] is None else 1)
        exact = name == "x"
        agrees(row, f"n{name[0]}", oracle.total(known, counted))
        agrees(row, f"s{name[0]}", oracle.total(known, value), tight=exact)
        agrees(row, f"a{name[0]}", oracle.average(known, value), tight=exact)


@pytest.mark.random_tables
@given(data=st.data())
@examples(3)
def test_alternatives_are_those_of_all_worlds(db: Database, data: st.DataObject):
    """Insensitive columns are apart: what is only in one alternative has tight bounds."""
    clusters, where = data.draw(CLUSTERS), data.draw(st.one_of(ANY_WHERE, TANGLES))
    text = f"SELECT count(*) FROM released{_where(where)}"
    with db.connect() as conn:
        fill(conn, clusters)
        (row,) = ask(conn, text, "column", RELEASE)
        known = buckets(conn, clusters, "column")
    compare = one_by_one if are_apart(text, RELEASE) else agrees
    compare(row, "count", oracle.total(known, _adds(where, lambda r: 1)))


def test_two_clusters(db: Database):
    """Of two colours of three vehicles, two are certain; the third is either or unknown."""
    with db.connect() as conn:
        fill(
            conn,
            [
                Cluster([1, 2], [1, None], ["a", "a", "b"], [3, 5, None]),
                Cluster([2], [None], ["b"], [0]),
            ],
        )
        text = "SELECT age, count(*) n, sum(x) s FROM released WHERE flu = 'a' GROUP BY age"
        rows = {row["age"]: row for row in ask(conn, text, "uniform", RELEASE)}
        (row,) = ask(conn, "SELECT count(sex) n FROM released", "uniform", RELEASE)
    assert {age: (r["n_lower"], r["n"], r["n_upper"]) for age, r in rows.items()} == {
        1: (0, 1, 2),
        2: (0, pytest.approx(1), 2),
    }
    assert (rows[1]["s_lower"], rows[1]["s_upper"]) == (0, 8)
    assert (row["n_lower"], row["n"], row["n_upper"]) == (1, 1.5, 2)


def test_the_spread_counts_records(db: Database):
    """The share s of 2 is that of 1 + s of 8 records: one of 1 and 2 is free, four have 1."""
    with db.connect() as conn:
        fill(conn, [Cluster([1, 2], [None], ["b"] * 3, [0] * 3), Cluster([1], [None], [], [0] * 5)])
        found = fitted(conn, _AGE, "column")
    assert found.elements is not None
    shares = dict(zip(found.elements, found.shares, strict=True))
    assert shares["2"] == pytest.approx(1 / 7, abs=1e-5)
