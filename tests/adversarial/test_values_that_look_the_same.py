"""Attack: one value in several spellings is as many values as l asks for."""

from __future__ import annotations

import pytest

import pganon
from pganon import database, install
from tests.support.harness.cli import pganon as command
from tests.support.harness.cluster import Database, Server
from tests.support.harness.driver import publish
from tests.support.sources.builders import make_table, policy

ALIKE = [
    ("flu", "Flu", "FLU "),
    ("é t", "e\u0301 t", "É T"),
    ("a b", "a  b", "a\u00a0b", "a\tb", " a b", "\u3000a b", "a\u2028b", "a\u0085b"),
    ("gout", "go\u200but", "gout\ufeff", "go\u00adut", "gou\u2060t", "gout\u200e"),
    ("fit", "\ufb01t", "\uff46it"),
    ("", " ", "\u200b", None),
]
DIFFERENT = ["a", "b", "ab", "a b", "\u00e9", "e", "1", "1.0", "0", "", "-a", "a.", "\u0430"]


def test_what_looks_the_same(db: Database) -> None:
    conn = db.connect("analyst")

    def looks(values: list[str | None]) -> int:
        text = "SELECT count(DISTINCT pganon.looks(v)) FROM unnest(%s::text[]) AS u(v)"
        return conn.execute(text, [values]).fetchone()[0]

    for values in ALIKE:
        assert looks(list(values)) == 1, values
    assert looks([value for values in ALIKE for value in values]) == len(ALIKE)
    assert looks(list(DIFFERENT)) == len(DIFFERENT)


def _spelled(db: Database, kind: str = "text") -> None:
    """Two groups of one disease each, in two spellings; one of which is missing in the second."""
    values = ["flu", "Flu ", "", None, "gout", "gout"]
    rows = [[n // 2, value] for n, value in enumerate(values)]
    make_table(db.connect("source_owner"), {"q": "integer", "s": kind}, rows)


SEEN = "2 values of the sensitive column s are there in several spellings"
L = [
    {"model": "k_anonymity", "k": 2},
    {"model": "distinct_l_diversity", "column": "s", "l": 2},
]


def test_a_run_warns(db: Database) -> None:
    _spelled(db)
    found = [text for text in publish(db, policy({"q": "q", "s": "s"}, L)).warnings if "s " in text]
    assert len(found) == 1
    assert SEEN in found[0]
    assert "flu" not in found[0].lower()
    assert "gout" not in found[0]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["anatomy", "slicing"])
def test_a_run_with_buckets_warns(db: Database, method: str) -> None:
    _spelled(db)
    if method == "anatomy":
        models = [{"model": "anatomy_l_diversity", "column": "s", "l": 2}]
    else:
        models = [{"model": "slicing_l_diversity", "l": 2}]
    declared = policy({"q": "q", "s": "s"}, models, method={"name": method})
    assert any(SEEN in text for text in publish(db, declared).warnings)


@pytest.mark.slow
def test_values_that_nobody_counts_and_other_types(db: Database) -> None:
    _spelled(db)
    counted = policy({"q": "q", "s": "s"}, 2)
    assert not any("several spellings" in text for text in publish(db, counted).warnings)
    make_table(
        db.connect("source_owner"),
        {"q": "integer", "s": "integer"},
        [[n // 2, n] for n in range(6)],
    )
    different = policy({"q": "q", "s": "s"}, L)
    assert not any("several spellings" in text for text in publish(db, different).warnings)


def test_assess_warns(db: Database) -> None:
    _spelled(db)
    db.source("GRANT SELECT ON public.t TO analyst", grant=False)
    for role in ("steward", "analyst"):
        found = pganon.assess("public.t", ["q"], ["s"], trust=["source_owner"], dsn=db.dsn(role))
        (warning,) = found.warnings
        assert SEEN in warning
    ran = command("assess", "public.t", "--qi", "q", "--sensitive", "s", "--dsn", db.dsn())
    assert (ran.code, SEEN in ran.err) == (0, True)
    assert pganon.assess("public.t", ["q"], ["id"], dsn=db.dsn()).warnings == ()


@pytest.mark.slow
def test_in_an_encoding_without_unicode(server: Server) -> None:
    old = Database(server, server.new_name())
    server.create_encoded(old.name, "LATIN1")
    try:
        with database.connect(old.dsn()) as conn:
            install.init(conn)
            row = conn.execute(
                "SELECT count(DISTINCT pganon.looks(v)) FROM unnest(%s::text[]) AS u(v)",
                [["flu", "FLU ", "f\u00adlu", "\u00a0flu", "", None, "\u00e9"]],
            ).fetchone()
            assert row == (3,)
    finally:
        old.close()
