"""Attack: spellings that a column calls equal, counted as several values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest

import pganon
from tests.support.harness.cli import pganon as pganon_command
from tests.support.harness.driver import publish
from tests.support.sources.builders import make_table, policy

SENSITIVE = r"columns\.s: column s has the collation public\.ci, which calls different texts equal"


@pytest.fixture
def icu(db: Any) -> Any:
    try:
        db.source(
            "CREATE COLLATION public.ci"
            " (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        )
    except psycopg.errors.FeatureNotSupported:
        pytest.skip("the server was built without ICU")
    kind = "text COLLATE public.ci"
    # By the column's own equality there is one value, and six people.
    rows = [[n // 6, ("flu", "FLU")[n % 2], f"{'pP'[n % 2]}{n // 2}"] for n in range(12)]
    make_table(db.connect("source_owner"), {"q": "integer", "s": kind, "p": kind}, rows)
    return db


def test_sensitive_values(icu: Any) -> None:
    privacy = [{"model": "distinct_l_diversity", "column": "s", "l": 2}]
    with pytest.raises(pganon.PolicyError, match=SENSITIVE) as caught:
        publish(icu, policy({"q": "q", "s": "s"}, privacy))
    assert 'lower(s) COLLATE "C"' in str(caught.value)
    anatomy = [{"model": "anatomy_l_diversity", "column": "s", "l": 2}]
    with pytest.raises(pganon.PolicyError, match=SENSITIVE):
        publish(icu, policy({"q": "q", "s": "s"}, anatomy, method={"name": "anatomy"}))


def test_individuals(icu: Any) -> None:
    individual = {"p": {"role": "individual"}, "q": "q", "id": "s"}
    privacy = [{"model": "ir_k_anonymity", "k": 4}]
    method = {"name": "danonyir"}
    with pytest.raises(pganon.PolicyError, match=r"column p has the collation public\.ci"):
        publish(icu, policy(individual, privacy, method=method))
    identifying = policy({"p": "identifying", "q": "q"}, 2, individual="p")
    with pytest.raises(pganon.PolicyError, match=r"column p has the collation public\.ci"):
        publish(icu, identifying)


def test_combinations(icu: Any) -> None:
    sets = {name: {"role": "quasi_sensitive", "set": name} for name in "qs"}
    privacy = [{"model": "qs_k_anonymity", "k": 2, "count": "product"}]
    with pytest.raises(pganon.PolicyError, match=SENSITIVE):
        publish(icu, policy(sets, privacy, method={"name": "qs_greedy"}))


def test_values_that_a_rule_recognizes(icu: Any) -> None:
    declared = policy(
        {"s": "q", "q": "s"},
        [{"model": "slicing_l_diversity", "l": 2}],
        method={"name": "slamsa"},
        exclusions=[{"when": {"s": "flu"}, "never": {"q": 0}}],
    )
    with pytest.raises(pganon.PolicyError, match=r"exclusions\[0\].when.s: column s has"):
        publish(icu, declared)


def test_quasi_identifiers_and_insensitive_values_are_as_they_look(icu: Any) -> None:
    """Finer classes than the column's own are classes as large."""
    publish(icu, policy({"s": "q", "p": "i", "q": "s"}, 6))
    conn = icu.owner()
    (smallest,) = conn.execute(
        "SELECT min(n) FROM (SELECT count(*) AS n FROM published.r GROUP BY s) AS c"
    ).fetchone()
    assert smallest >= 6
    shown = conn.execute('SELECT array_agg(DISTINCT p COLLATE "C") FROM published.r').fetchone()
    assert len(shown[0]) == 12


def test_measuring_counts_by_the_column_s_own_equality(icu: Any) -> None:
    found = pganon.assess(
        "public.t", ["q"], ["s"], individual="p", require={"eir_l": 2}, dsn=icu.dsn()
    )
    measured = {item.measure: item.value for item in found.measures}
    assert measured["distinct_l_diversity"] == 1
    assert measured["alpha"] == 1
    assert measured["t_closeness"] == 0
    assert measured["ir_k_anonymity"] == 3
    assert measured["eir_l_diversity"] == 1
    conn = icu.connect()
    classes = conn.execute(
        "SELECT size FROM pganon.equivalence_classes('public.t', '{s}')"
    ).fetchall()
    assert classes == [(12,)]
    risk = conn.execute(
        "SELECT value FROM pganon.risk('public.t', '{s}', 'public.t', 'p')"
        " WHERE measure IN ('classes', 'individuals') ORDER BY 1"
    ).fetchall()
    assert [int(value) for (value,) in risk] == [1, 6]
    (first, *_) = conn.execute(
        "SELECT distinction FROM pganon.distinguishing('public.t', '{s}', 1)"
    ).fetchall()
    assert float(first[0]) == pytest.approx(1 / 12)


def test_codes_of_a_hierarchy(icu: Any, tmp_path: Path) -> None:
    """No pattern is matched with such a collation; nor are the letters those of a place."""
    icu.source(
        "CREATE COLLATION public.tr"
        " (provider = icu, locale = 'tr-u-ks-level2', deterministic = false);"
        "CREATE TABLE public.home AS SELECT n AS id,"
        " (ARRAY['li1 1aa', 'M1 1AE', 'b33 8th'])[1 + n % 3]"
        " COLLATE public.tr AS postcode FROM generate_series(1, 90) AS n;"
        "ALTER TABLE public.home ADD PRIMARY KEY (id)"
    )
    made = pganon_command("policy", "init", "public.home", "--dsn", icu.dsn())
    assert made.code == 0, made.err
    assert "{role: quasi_identifying, hierarchy: {postcode: uk}}" in made.out
    quasi = {"role": "quasi_identifying", "hierarchy": {"postcode": "uk"}}
    declared = policy({"id": "identifying", "postcode": quasi}, 5, source="public.home")
    assert publish(icu, declared).released == 90
    icu.source("UPDATE public.home SET postcode = '10' WHERE id = 1", grant=False)
    with pytest.raises(pganon.errors.PganonError, match="postcode: uk does not know"):
        publish(icu, declared)
