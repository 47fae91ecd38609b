"""Codes, postcodes, countries and ages against what their sources say, on a real server."""

from __future__ import annotations

import itertools
import string
from pathlib import Path
from typing import Any, get_args

import pytest

from pganon.hierarchies import hierarchy_steps
from pganon.policy.hierarchies import (
    CodesHierarchy,
    CountryHierarchy,
    PostcodeHierarchy,
    ReadyHierarchy,
)
from pganon.policy.ready import ready
from pganon.run.executor import Executor
from pganon.steps import Load, State
from tests.integration.hierarchies.test_hierarchy import Trees, values
from tests.support.harness.driver import refused, run
from tests.support.oracles.ready import COUNTRIES, path
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.all_versions
LETTERS, DIGITS = string.ascii_uppercase, string.digits
FORMS = {"codes": CodesHierarchy, "postcode": PostcodeHierarchy, "country": CountryHierarchy}


def _all(*parts: Any) -> list[str]:
    return ["".join(chosen) for chosen in itertools.product(*parts)]


REGULAR = {
    "icd10": _all(LETTERS, DIGITS, DIGITS + "AZ", ["", ".9", ".-", "99", ".5XXA", "+"]),
    "icd9cm": [
        *_all(DIGITS, DIGITS, DIGITS, ["", ".1", "01"]),
        *_all("VE", DIGITS, DIGITS, [*DIGITS, ""]),
    ],
    "icd11": _all(DIGITS + LETTERS, "ABIOYZ", "09", "019AZIO"),
    "atc": _all(LETTERS, ["10", "1"], ["", "B", "BA", "BA02", "BA2", "02", "B02"]),
    "isco": _all(DIGITS, DIGITS, "019", "019"),
    "nace": _all(DIGITS, DIGITS, ["", "1", "10", ".1", ".10", ".", ".100"]),
    "naics": _all(DIGITS, DIGITS, ["", "1", "11", "111", "1111", "11111"]),
    "sic": _all(DIGITS, DIGITS, "019", "019"),
}
ODD = {
    "icd10": [
        "e11.9",
        " E11.9 ",
        "QA0.0",
        "E11.",
        "11.9",
        "E1",
        "E11.90000",
        "Ä11",
        "E11.9\n",
        "?",
    ],
    "icd9cm": ["v45.0", "e8888", "1.1", "25", "V1", "A01", "250.000"],
    "icd11": ["5a11.0", "2C25&XH50P3", "5A11/", "1A00/1B95&XN4", "XN4", "5A11.ABC", "E11.9"],
    "atc": ["a10ba02", "A", "A10BA023"],
    "isco": ["110", "2", "22111", "a211"],
    "nace": ["1.1", "1"],
    "naics": ["1", "31-33"],
    "sic": ["111", "01"],
    "uk": [
        "SW1A 1AA",
        "sw1a1aa",
        "M1 1AE",
        "EC1A 1BB",
        "GIR 0AA",
        "gir0aa",
        "SW1A  1AA",
        "SW1A",
        "B33 8TH",
        "B338TH",
        "CR2 6XH",
        "ABC1 1AA",
        "SW1A 1A1",
        " DN55 1PT",
    ],
    "nl": ["1012 AB", "1012ab", "0999 AA", "1012", "1012  AB", "9999ZZ", "1012 A1"],
    "ca": ["K1A 0B1", "k1a0b1", "H0H-0H0", "K1A", "11A 0B1", "K1A  0B1"],
    "us": [
        "94110",
        "94110-1234",
        "941101234",
        "03601",
        "10201",
        "00601",
        "99950",
        "20500",
        "2050",
        "94110-12",
        "9411O",
        "82190",
        "77201",
        "75301",
        "06390",
        "20001",
        "501",
    ],
    "de": ["10115", "01067", "1067", "D-10115", "101155"],
    "fr": ["75011", "97110", "98800", "20090", "7501", "2A004", "97411"],
    "es": ["28013", "01001", "52006", "53001", "00100", "8001"],
    "m49": [
        *(v for names in COUNTRIES for v in names.split()),
        *["de", "Deu", "4O", "0036", "76", "XX", "EUR", "Germany", "002", "999", "UK"],
    ],
}
ROWS = [("E11.9", 2), ("?", 1)]
NAMES = [(key, word) for key, words in ready().items() if key != "sources" for word in words]


@pytest.fixture
def trees(db: Any, tmp_path: Path) -> Trees:
    return Trees(db.owner(), tmp_path, db)


def test_policies_know_the_words_of_the_facts() -> None:
    assert {key: list(words) for key, words in ready().items() if key != "sources"} == {
        key: list(get_args(form.model_fields[key].annotation)) for key, form in FORMS.items()
    }
    assert set(FORMS.values()) == set(ReadyHierarchy.__subclasses__())


@pytest.mark.parametrize(("key", "word"), NAMES)
def test_labels_are_those_of_the_source(trees: Trees, key: str, word: str) -> None:
    values = list(dict.fromkeys([*REGULAR.get(word, ()), *ODD[word], ""]))
    expected = {v: path(key, word, v) for v in values}
    assert None in expected.values()
    height = len(next(p for p in expected.values() if p))
    trees.build({key: word, "other": True}, "text", values)
    found = trees.labels()
    wanted = {v: [v, *(p or ["other"] * height), "*"] for v, p in expected.items()}
    assert {v: p for v, p in found.items() if p != wanted[v]} == {}
    fitting = [v for v in values if expected[v]]
    trees.build({key: word}, "text", fitting)
    assert trees.labels() == {v: wanted[v] for v in fitting}
    message = trees.refuses({key: word}, "text", values, records=3)
    odd = len(values) - len(fitting)
    assert f"{odd} value" in message
    assert f"in {3 * odd} records that {key}: {word} does not know" in message
    # A label of one level that occurs on another one is the same group.
    below: dict[str, set[str]] = {}
    for v in fitting:
        for low, high in itertools.pairwise([*wanted[v][1:]]):
            if low != high:
                below.setdefault(low, set()).add(high)
    assert all(len(parents) == 1 for parents in below.values())


def test_restricted_zips_are_those_of_the_census(trees: Trees) -> None:
    every = [f"{i:03}01" for i in range(1000)]
    trees.build({"postcode": "us"}, "text", every)
    labels = trees.labels()
    kept = {v[:3] for v in every if labels[v][1] == v[:3] != "000"}
    assert len(kept) == 876
    assert all(labels[v][1:] in ([v[:3], v[0], "*"], ["000", "000", "*"]) for v in every)
    lists = (  # of 2000 and 2010, as HHS and others give them: what has grown since is kept
        "036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893",
        "036 059 102 203 205 369 556 692 821 823 878 879 884 893",
    )
    assert [sorted(kept & set(line.split())) for line in lists] == [
        ["063", "790", "830", "831", "890"],
        [],
    ]
    assert kept.isdisjoint({"008", "090", "340", "962", "969", "000"})  # islands, armed forces


def test_all_countries_have_a_region(trees: Trees) -> None:
    subregions, regions = ready()["country"]["m49"]["levels"]
    codes = [code for names in subregions["of"].values() for code in names.split()]
    assert len(codes) == len(set(codes)) == 3 * 249
    trees.build({"country": "m49"}, "text", codes)
    assert {tuple(p[2:]) for p in trees.labels().values()} == {(r, "*") for r in regions["of"]}


def test_codes_that_lost_their_zeros(trees: Trees) -> None:
    message = trees.refuses({"postcode": "us"}, "text", ["94110", "501", "2134", "x"])
    assert message.endswith("as it knows 94110; 2 with fewer digits")
    assert "codes is for text" in trees.refuses({"codes": "isco"}, "bigint", [2211])


def test_of_a_population_what_fits_is_kept(trees: Trees) -> None:
    """Values that the source lacks are below no label, where they have none."""
    given = Load("values", "values", values, [("value", "text"), ("n", "bigint")], lambda: ROWS)
    for other, kept in ((False, {"E11.9"}), (True, {"E11.9", "?"})):
        hierarchy = CodesHierarchy(codes="icd10", other=other)
        steps = hierarchy_steps("q3", hierarchy, values, "text", trees.folder, "age", partial=True)
        trees.state = Executor(trees.conn, State(9000 + other)).run([given, *steps])
        assert set(trees.labels()) == kept


@pytest.mark.parametrize("kind", ["bigint", "numeric", "double precision"])
def test_ages(trees: Trees, kind: str) -> None:
    trees.build({"age": [5, 10]}, kind, [0, 4, 5, 89, 90, 91, 129])
    assert trees.read("value::int, labels[2:3], lowers::int[], uppers::int[]") == [
        (0, ["[0,5)", "[0,10)"], [0, 0, 0], [5, 10, 130]),
        (4, ["[0,5)", "[0,10)"], [0, 0, 0], [5, 10, 130]),
        (5, ["[5,10)", "[0,10)"], [5, 0, 0], [10, 10, 130]),
        (89, ["[85,90)", "[80,90)"], [85, 80, 0], [90, 90, 130]),
        *[(n, ["[90,130)"] * 2, [90, 90, 0], [130, 130, 130]) for n in (90, 91, 129)],
    ]
    trees.build({"age": [20], "top": 80}, kind, [79, 80])
    assert trees.read("labels[2]") == [("[60,80)",), ("[80,130)",)]
    for odd in (-1, 130):
        message = trees.refuses({"age": [5]}, kind, [5, odd])
        assert message.endswith("1 value in 2 records outside the ages 0 to 129")
    if kind == "double precision":
        assert "1 value" in trees.refuses({"age": [5]}, kind, [5, float("nan")])
    assert "ages are numbers" in trees.refuses({"age": [5]}, "text", ["5"])


@pytest.mark.parametrize("kind", ["date", "timestamp", "timestamptz"])
def test_five_years(trees: Trees, kind: str) -> None:
    form = {"date": ["year", "5 years", "decade"]}
    trees.build(form, kind, ["1999-12-31", "2000-01-01", "2004-12-31", "2005-01-01"])
    assert [labels[1:4] for _, labels in trees.read()] == [
        ["1999", "1995-1999", "1990s"],
        ["2000", "2000-2004", "2000s"],
        ["2004", "2000-2004", "2000s"],
        ["2005", "2005-2009", "2000s"],
    ]


def test_a_release_with_nulls_odd_case_and_others(db: Any) -> None:
    rows = [[v] for v in ["E11.9", "e11.0", None, None, "I10", "I11.0", "secret", "?"] * 2]
    make_table(db.connect("source_owner"), {"q": "text"}, rows)
    with refused("hierarchy") as errors:
        run(db.owner(), policy({"q": {"hierarchy": {"codes": "icd10"}}}, 4))
    assert "2 values in 4 records that codes: icd10 does not know" in str(errors[0])
    assert "secret" not in f"{errors[0]}{errors[0].hint}"
    declared = policy({"q": {"hierarchy": {"codes": "icd10", "other": True}}}, 4)
    staged = run(db.owner(), declared)
    assert {row["q"] for row in staged.rows()} == {"E11", "I1", "other", None}


def test_a_release_of_ages_shows_one_range_for_the_oldest(db: Any) -> None:
    make_table(db.connect("source_owner"), {"q": "integer"}, [[31], [38], [90], [107]])
    staged = run(db.owner(), policy({"q": {"hierarchy": {"age": [5, 10]}}}, 2))
    assert {row["q"] for row in staged.rows("q::text")} == {"[30,40)", "[90,130)"}
