"""Every form of hierarchy through a whole release: labels or ranges, and what they cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.harness.driver import refused, run
from tests.support.sources.builders import make_table, policy

ROWS = ["ab", "ac", "bb", "bc"]
OBJECTS = """
CREATE TABLE public.levels (v text, a text, top text);
INSERT INTO public.levels VALUES
    ('ab', 'A', '*'), ('ac', 'A', '*'), ('bb', 'B', '*'), ('bc', 'B', '*');
CREATE FUNCTION public.level(value text, level integer) RETURNS text LANGUAGE sql IMMUTABLE
    RETURN CASE level WHEN 1 THEN upper(left(value, 1)) ELSE '*' END;
"""
FORMS: list[tuple[dict[str, Any], set[str]]] = [
    ({"csv": "levels.csv"}, {"A", "B"}),
    ({"table": "public.levels"}, {"A", "B"}),
    ({"inline": {"*": {"A": ["ab", "ac"], "B": ["bb", "bc"]}}}, {"A", "B"}),
    ({"function": "public.level"}, {"A", "B"}),
    ({"prefix": [1]}, {"a*", "b*"}),
    ({"order": {"values": ROWS, "fanout": [2]}}, {"ab..ac", "bb..bc"}),
]


@pytest.mark.parametrize(("form", "labels"), FORMS, ids=[next(iter(f)) for f, _ in FORMS])
def test_text_hierarchies(db: Any, tmp_path: Path, form: dict[str, Any], labels: set[str]) -> None:
    db.source(OBJECTS)
    (tmp_path / "levels.csv").write_text("ab;A;*\nac;A;*\nbb;B;*\nbc;B;*\n")
    make_table(db.connect("source_owner"), {"q": "text"}, [[value] for value in ROWS])
    declared = policy({"q": {"hierarchy": form}}, 2, trust=["source_owner"])
    staged = run(db.owner(), declared, base_dir=tmp_path)
    assert {row["q"] for row in staged.rows()} == labels
    assert staged.utility.gcp == 0.5  # 2 of 4 leaves
    declared = policy({"q": {"hierarchy": form}}, 4, trust=["source_owner"])
    staged = run(db.owner(), declared, base_dir=tmp_path)
    assert {row["q"] for row in staged.rows()} == {"*"}
    assert staged.utility.gcp == 1


@pytest.mark.parametrize(
    ("kind", "values", "form", "shown"),
    [
        ("integer", [1, 4, 11, 13], {"intervals": [5, 20]}, {"[0,5)", "[10,15)"}),
        ("numeric", ["-0.5", "-0.1", "0", "0.2"], {"intervals": [1]}, {"[-1,0)", "[0,1)"}),
        ("date", ["2020-01-01", "2020-01-31", "2020-02-01", "2020-02-29"], {"date": ["month"]},
         {"[2020-01-01,2020-02-01)", "[2020-02-01,2020-03-01)"}),
        ("timestamp", ["2020-01-01 10:00", "2020-12-31 23:59", "2021-01-01", "2021-05-05"],
         {"date": ["year"]},
         {'["2020-01-01 00:00:00","2021-01-01 00:00:00")',
          '["2021-01-01 00:00:00","2022-01-01 00:00:00")'}),
    ],
)  # fmt: skip
def test_ranged_hierarchies(
    db: Any, kind: str, values: list[Any], form: dict[str, Any], shown: set[str]
) -> None:
    make_table(db.connect("source_owner"), {"q": kind}, [[value] for value in values])
    staged = run(db.owner(), policy({"q": {"hierarchy": form}}, 2))
    assert {row["q"] for row in staged.rows("q::text")} == shown
    # A class of one value shows that value alone.
    make_table(db.connect("source_owner"), {"q": kind}, [[v] for v in values for _ in "ab"])
    staged = run(db.owner(), policy({"q": {"hierarchy": form}}, 2))
    assert len({row["q"] for row in staged.rows("q::text")}) == 4
    assert staged.utility.gcp == 0


def test_a_gap_is_counted_not_shown(db: Any) -> None:
    make_table(db.connect("source_owner"), {"q": "text"}, [["ab"], ["hidden"], ["hidden"]])
    with refused("hierarchy") as errors:
        run(db.owner(), policy({"q": {"hierarchy": {"inline": {"*": ["ab", "ac"]}}}}, 2))
    assert "1 value in 2 records" in str(errors[0])
    assert "hidden" not in f"{errors[0]}{errors[0].hint}"


def test_codes_stored_as_numbers(db: Any) -> None:
    make_table(db.connect("source_owner"), {"q": "integer"}, [[101], [102], [201], [202]])
    form = {"type": "categorical", "hierarchy": {"prefix": [1]}}
    assert {r["q"] for r in run(db.owner(), policy({"q": form}, 2)).rows()} == {"1**", "2**"}
