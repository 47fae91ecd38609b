"""Releases with several records per individual: numbers of individuals and of records."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.estimation.ask import answer
from pganon.estimation.parse import parse_query
from pganon.estimation.refusals import Unsupported
from pganon.estimation.release import AskedRelease, Part, Published
from pganon.estimation.resolve import resolve
from pganon.identifiers import QualifiedName
from tests.support.harness.cluster import Database
from tests.support.harness.examples import examples
from tests.support.oracles import estimates as oracle

VIEW = QualifiedName("individuals", "released")
_AGE = Part("age", False, VIEW, "class_id", None)
_CITY = Part("city", False, VIEW, "class_id", None)
_REST = Part("records", True, VIEW, "class_id", None)
PERSON = Published("individual_no", "individual", "integer", None, False, _REST)
RELEASE = AskedRelease(
    "released",
    1,
    VIEW,
    _AGE,
    PERSON,
    {
        "age": Published("age", "range", "integer", None, True, _AGE),
        "city": Published("city", "set", "integer", None, True, _CITY),
        "ill": Published("ill", "exact", "text", '"default"', False, _REST),
    },
)
Class = tuple[tuple[int, int], tuple[str, ...]]
"""A range of ages, and of every individual the illnesses of its records, a letter each."""


def ask(conn: Any, classes: Sequence[Class], tail: str) -> list[dict[str, Any]]:
    conn.execute("CREATE SCHEMA IF NOT EXISTS individuals")
    conn.execute("DROP TABLE IF EXISTS individuals.released")
    conn.execute(
        "CREATE TABLE individuals.released"
        " (class_id int, age numrange, individual_no int, ill text,"
        " city int[] DEFAULT '{1,2,3,4,5,6,7}')"
    )
    number = 0
    for class_id, ((low, high), persons) in enumerate(classes):
        for ills in persons:
            number += 1
            for ill in ills:
                conn.execute(
                    "INSERT INTO individuals.released VALUES (%s, %s, %s, %s)",
                    [class_id, f"[{low},{high}]", number, ill],
                )
    text = "SELECT count(*) n, count(DISTINCT individual_no) people{} FROM released {}"
    key = ", ill" if "GROUP BY" in tail else ""
    question = resolve(parse_query(text.format(key, tail)), RELEASE)
    return answer(conn, question, "uniform").as_dicts()


def test_the_fewest_individuals(db: Database):
    """Of eight records five match: of one individual three, and one each of two others."""
    persons = ("fff", "f", "fc", "cc")
    with db.connect() as conn:
        # Five or six of the eight records are of these cities, so two or more match.
        (row,) = ask(conn, [((1, 2), persons)], "WHERE city <= 5 AND ill = 'f'")
        assert (row["people_lower"], row["people_upper"]) == (1, 3)
        (row,) = ask(conn, [((1, 2), persons)], "WHERE age = 1 AND ill = 'f'")
        assert (row["people_lower"], row["people_upper"]) == (0, 3)
        (row,) = ask(conn, [((1, 2), persons)], "WHERE ill = 'f'")
        assert (row["people_lower"], row["people_upper"], row["people"]) == (3, 3, 3)
        rows = ask(conn, [((1, 2), persons)], "WHERE age = 1 GROUP BY ill")
    assert {row["ill"]: (row["people_upper"], row["n_upper"]) for row in rows} == {
        "f": (3, 5),
        "c": (2, 3),
    }


@st.composite
def classes(draw: st.DrawFn) -> list[Class]:
    found: list[Class] = []
    for _ in range(draw(st.integers(1, 2))):
        persons = draw(st.lists(st.text("fc", min_size=1, max_size=2), min_size=2, max_size=3))
        low = draw(st.integers(1, 2))
        found.append(((low, low + draw(st.integers(0, 2))), tuple(persons)))
    return found


def people(found: Sequence[Class], young: Any, ill: Any) -> list[tuple[int, int]]:
    """By class, the bounds of the number of individuals, from all worlds of its records."""
    bounds = []
    for (low, high), persons in found:
        records = [(i, x) for i, ills in enumerate(persons) for x in ills]
        ages = tuple((v, Fraction(1)) for v in range(low, high + 1))
        parts = (
            oracle.Boxed("age", ages, tuple(sorted({low, high}))),
            oracle.Exact(tuple((("who", i), ("ill", x)) for i, x in records)),
        )
        numbers = [
            len({r["who"] for r in world if young(r) and ill(r["ill"])})
            for _, world in oracle.worlds(oracle.Bucket(len(records), parts))
        ]
        bounds.append((min(numbers), max(numbers)))
    return bounds


@pytest.mark.random_tables
@given(found=classes(), age=st.integers(1, 3), some=st.booleans(), data=st.data())
@examples(10)
def test_individuals_are_those_of_all_worlds(
    db: Database, found: list[Class], age: int, some: bool, data: st.DataObject
):
    sign = data.draw(st.sampled_from(["<=", "<>"]))
    where = f"WHERE age {sign} {age}" + (" AND ill = 'f'" if some else "")
    with db.connect() as conn:
        (row,) = ask(conn, found, where)

    def young(record: Any) -> bool:
        return record["age"] <= age if sign == "<=" else record["age"] != age

    def ill(letter: str) -> bool:
        return letter == "f" or not some

    bounds = people(found, young, ill)
    wanted = tuple(sum(ends) for ends in zip(*bounds, strict=True))
    assert (row["people_lower"], row["people_upper"]) == wanted
    # By mean and deviation all records of an individual have one age.
    buckets = [
        oracle.Bucket(
            len(persons),
            (
                oracle.Boxed(
                    "age",
                    tuple((v, Fraction(1)) for v in range(low, high + 1)),
                    tuple(sorted({low, high})),
                ),
                oracle.Exact(tuple((("ills", sum(map(ill, ills))),) for ills in persons)),
            ),
        )
        for (low, high), persons in found
    ]
    for name, added in (
        ("n", lambda r: r["ills"] if young(r) else None),
        ("people", lambda r: 1 if young(r) and r["ills"] else None),
    ):
        expected = oracle.total(buckets, added)
        low, high = float(row[f"{name}_lower"]), float(row[f"{name}_upper"])
        assert row[name] == pytest.approx(min(high, max(low, float(expected.estimate or 0))))
        if low < high:
            error = float(expected.variance or 0) ** 0.5
            assert row[f"{name}_error"] == pytest.approx(error, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT count(DISTINCT ill) FROM released", "distinct values"),
        ("SELECT sum(age) FROM released", "only count"),
        ("SELECT count(*) FROM released WHERE individual_no = 1", "no column"),
        (
            "SELECT count(DISTINCT individual_no) FROM released WHERE age < 2 OR ill = 'f'",
            "in an alternative",
        ),
        (
            "SELECT count(*) FROM released WHERE (age < 2 AND ill = 'f') OR age > 2",
            "several alternatives",
        ),
    ],
)
def test_what_is_refused(text: str, words: str):
    with pytest.raises(Unsupported, match=words):
        resolve(parse_query(text), RELEASE)


def test_records_of_alternatives(db: Database):
    """Numbers of records need no individuals."""
    with db.connect() as conn:
        ask(conn, [((1, 2), ("ff", "c"))], "")
        text = "SELECT count(*) n FROM released WHERE age = 1 OR ill = 'f'"
        (row,) = answer(conn, resolve(parse_query(text), RELEASE), "uniform").as_dicts()
    assert (row["n_lower"], row["n_upper"], row["n"]) == (2, 3, pytest.approx(2.5))
    assert row["n_error"] == pytest.approx(0.5)
