"""Several alternatives on the same columns of a group, which are answered one by one."""

from __future__ import annotations

from collections.abc import Sequence
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
from tests.integration.estimation.test_worlds import agrees, one_by_one
from tests.support.harness.cluster import Database
from tests.support.harness.examples import examples
from tests.support.oracles import estimates as oracle

QIT, ST = QualifiedName("alternatives", "qit"), QualifiedName("alternatives", "st")
_QIT = Part("qit", True, QIT, "group_id", None)
_ST = Part("st", True, ST, "group_id", "count")
RELEASE = AskedRelease(
    "released",
    1,
    QIT,
    _QIT,
    None,
    {
        "age": Published("age", "exact", "text", '"default"', False, _QIT),
        "ill": Published("ill", "exact", "text", '"default"', False, _ST),
    },
)


def ask(conn: Any, groups: Sequence[tuple[str, str]], where: str) -> dict[str, Any]:
    """The answer from groups, of each of which the ages and the illnesses are letters."""
    conn.execute("CREATE SCHEMA IF NOT EXISTS alternatives")
    conn.execute("DROP TABLE IF EXISTS alternatives.qit, alternatives.st")
    conn.execute("CREATE TABLE alternatives.qit (group_id int, age text)")
    conn.execute("CREATE TABLE alternatives.st (group_id int, ill text, count int)")
    for number, (ages, ills) in enumerate(groups):
        for age in ages:
            conn.execute("INSERT INTO alternatives.qit VALUES (%s, %s)", [number, age])
        for ill in sorted(set(ills)):
            row = [number, ill, ills.count(ill)]
            conn.execute("INSERT INTO alternatives.st VALUES (%s, %s, %s)", row)
    text = f"SELECT count(*) AS n FROM released WHERE {where}"
    return answer(conn, resolve(parse_query(text), RELEASE), "uniform").as_dicts()[0]


def test_young_with_one_illness_and_old_with_another(db: Database):
    """Of six three are young and two old; three have one illness, two the other."""
    where = "(age = 'y' AND ill = 'f') OR (age = 'o' AND ill = 'c')"
    with db.connect() as conn:
        row = ask(conn, [("yyyoo-", "fffcc-")], where)
    assert (row["n_lower"], row["n_upper"]) == (0, 5)
    assert row["n"] == pytest.approx(13 / 6)
    assert row["n_error"] is None


def test_bounds_are_those_of_all_ways_together(db: Database):
    """The one with another age may be the one with another illness: then none matches."""
    where = "(age = 'y' OR ill = 'f') AND (age <> 'y' OR ill <> 'f')"
    with db.connect() as conn:
        row = ask(conn, [("yyo", "ffc")], where)
    assert (row["n_lower"], row["n_upper"]) == (0, 2)


def test_a_record_by_itself(db: Database):
    """There are no two records of which both could match."""
    with db.connect() as conn:
        row = ask(conn, [("y", "f")], "(age = 'y' AND ill = 'f') OR (age = 'o' AND ill = 'c')")
    assert (row["n_lower"], row["n_upper"], row["n"], row["n_error"]) == (1, 1, 1, 0)


LETTERS = "ab-"
_COMPARED = [
    f"{name} {sign} '{value}'" for name in ("age", "ill") for sign in ("=", "<>") for value in "ab"
]


def true(text: str, record: Any) -> bool:
    """As the server has it; no value is missing."""
    names = {"age": record["age"], "ill": record["ill"]}
    python = text.replace("<>", "!=").replace(" = ", " == ").replace("AND", "and")
    return eval(python.replace("OR", "or").replace("NOT", "not"), {}, names)


@st.composite
def conditions(draw: st.DrawFn) -> str:
    def joined() -> str:
        one, other = (draw(st.sampled_from(_COMPARED)) for _ in range(2))
        negated, operator = (draw(st.sampled_from(x)) for x in (("", "NOT "), ("AND", "OR")))
        return f"{negated}({one} {operator} {other})"

    return f"{joined()} {draw(st.sampled_from(['AND', 'OR']))} {joined()}"


@st.composite
def groups(draw: st.DrawFn) -> list[tuple[str, str]]:
    found = []
    for _ in range(draw(st.integers(1, 2))):
        n = draw(st.integers(1, 4))
        found.append(tuple(draw(st.text(LETTERS, min_size=n, max_size=n)) for _ in range(2)))
    return found


@pytest.mark.random_tables
@given(known=groups(), where=conditions())
@examples(10)
@pytest.mark.slow
def test_bounds_are_sure(db: Database, known: list[tuple[str, str]], where: str):
    with db.connect() as conn:
        row = ask(conn, known, where)
    buckets = [
        oracle.Bucket(
            len(ages),
            (
                oracle.Exact(tuple((("age", age),) for age in ages)),
                oracle.Exact(tuple((("ill", ill),) for ill in ills)),
            ),
        )
        for ages, ills in known
    ]
    wanted = oracle.total(buckets, lambda record: 1 if true(where, record) else None)
    apart = resolve(parse_query(f"SELECT count(*) FROM released WHERE {where}"), RELEASE)
    compare = one_by_one if apart.questions[0].alternatives is not None else agrees
    compare(row, "n", wanted)


def test_more_alternatives_than_are_tried():
    where = " OR ".join(f"(age = '{i}' AND ill = '{i}')" for i in range(5))
    text = f"SELECT count(*) FROM released WHERE {where}"
    with pytest.raises(Unsupported, match="more than 24 ways"):
        resolve(parse_query(text), RELEASE)
