"""The edition for readers as a page: what it says, from what is seen alone."""

from __future__ import annotations

import json
from html import unescape
from typing import Any

import pytest

from pganon.privacy.base import ALL_VERSIONS, ONE_VERSION
from pganon.report.readers.document import Commonest, Seen, document
from pganon.report.readers.page import page
from pganon.report.template import KINDS, at
from tests.support.sources.reports import AT
from tests.unit.report.test_page import EMBEDDED, FIGURE, HOSTILE, shown

GUARANTEE = [
    {"model": "k_anonymity", "k": 12, "column": None, "requirement": "k_anonymity k=12"},
    {"model": "alpha_k_anonymity", "alpha": 0.5, "column": "diagnosis", "requirement": "alpha"},
    {
        "model": "background_knowledge",
        "j": 0.5,
        "column": None,
        "requirement": "background_knowledge j=0.5",
    },
    {
        "model": "average_risk",
        "share": 0.1,
        "column": None,
        "requirement": "average_risk share=0.1",
    },
    *[
        {**model, "column": None, "requirement": "", "counted_in": "the population of the owner"}
        for model in ({"model": "k_map", "k": 7}, {"model": "average_risk", "risk": 0.25})
    ],
]


def column(name: str, comment: str, form: str | None, **more: Any) -> dict[str, Any]:
    of = {"view": "published.stays", "type": "text", "bucket": "class_id", **more}
    return {"name": name, "comment": comment, "form": form, **of}


COLUMNS = [
    column("class_id", "Number of the equivalence class, random per release.", None, bucket=None),
    column("age", "Quasi-identifier, generalized.", "range"),
    column("sex", "Quasi-identifier, generalized.", "set"),
    column("diagnosis", "Sensitive, unchanged.", "exact"),
    column("days", "Insensitive, unchanged.", "exact"),
]


def seen(**changes: Any) -> Seen:
    said = {
        "adversary": "who knows the quasi-identifiers of a person",
        "over_versions": ALL_VERSIONS,
    }
    found: dict[str, Any] = {
        "release": "stays",
        "version": 4,
        "method": "mondrian",
        "published_at": AT,
        "guarantee": [{**item, **said} for item in GUARANTEE],
        "columns": COLUMNS,
        "program": "pganon 0",
        "sizes": [(8, 2), (12, 3), (24, 1)],
        "commonest": {"diagnosis": [Commonest(4, 8, 3, 2), Commonest(6, 20, 5, 3)]},
    }
    return Seen(**{**found, **changes})


def test_the_page_says_what_readers_can_count():
    report = document(seen())
    html = page(report)
    (embedded,) = EMBEDDED.findall(html)
    assert json.loads(embedded) == json.loads(json.dumps(report))
    figures = FIGURE.findall(html)
    assert len(figures) == 7
    for path, kind, text in figures:
        assert unescape(text) == KINDS[kind](at(report, path))
    text = shown(html)
    for said in (
        "Whoever knows the columns age and sex of a person finds at least 8 records that look the"
        " same, so a guess is right with a chance of at most 12.5 % (1 in 8).",
        "In no group do more than 50 % have the same value in the column diagnosis.",
        "Everybody looks like at least 11 others of the release in the columns age and sex.",
        "The release satisfies background_knowledge j=0.5.",
        "The release satisfies average_risk share=0.1.",
        "Every group looks like at least 7 people of the population of the owner in the columns",
        "of all people of the population of the owner picks the person of a record",
        "They hold against a reader who knows the quasi-identifiers of a person.",
        "alpha; holds for readers of all versions",
        "16 records have a chance above 9 %.",
        "The column days can identify a person within a group",
    ):
        assert said in text
    (chance,) = [one for one in report["outcome"] if one["name"] == "chance"]
    assert (chance["figure"], chance["status"]) == ("12.5\u00a0%", "look")


@pytest.mark.parametrize(("size", "above"), [(11, 22), (12, 0)])
def test_groups_of_twelve_are_within_the_limit(size: int, above: int):
    report = document(seen(sizes=[(size, 2), (24, 1)]))
    assert report["class_sizes"]["release"]["above"] == {"0.09": above}
    assert f"{above or 'no'} records have a chance above 9 %." in shown(page(report)).lower()
    (chance,) = [one for one in report["outcome"] if one["name"] == "chance"]
    assert chance["result"] == ("above the limit" if above else "within the limit")
    assert chance["note"] == "limit: 9\u00a0%"


def test_what_readers_cannot_know_is_in_no_key():
    report = document(seen())
    hidden = {"about", "access", "attributes", "comments", "events", "queries", "status"}
    assert hidden & report.keys() == set()
    assert {"source", "suppressed", "readers", "left_out"} & report["properties"].keys() == set()
    assert report["risk"]["source"] is None
    assert report["proof"] == {"evidence_sha256": None}


def test_catalogues_are_told_what_readers_see():
    found = document(seen(), [{"name": "stays.csv", "sha256": "ab" * 32}])["dataset"]
    assert {key for key in found if not key.startswith("@")} == {
        *("name", "identifier", "version", "datePublished", "variableMeasured", "distribution"),
        *("dqv:hasQualityMeasurement", "dpv:hasTechnicalMeasure"),
        "healthdcatap:numberOfRecords",
    }
    assert found["healthdcatap:numberOfRecords"] == 76
    assert found["variableMeasured"] == [
        {"@type": "PropertyValue", "name": one["name"], "description": one["comment"]}
        for one in COLUMNS
    ]
    assert {
        one["dqv:isMeasurementOf"]["name"]: one["dqv:value"]
        for one in found["dqv:hasQualityMeasurement"]
    } == {"highest re-identification risk": 1 / 8, "mean re-identification risk": 6 / 76}


def test_groups_are_claimed_only_where_all_look_the_same():
    display = column("age_display", "How the record shows it.", "display")
    exact = column("zip", "Quasi-identifier, exact.", "exact")
    elsewhere = column("zip", "Quasi-identifier, generalized.", "set", bucket="other_id")
    assert seen().bucket == "class_id"
    for other in (display, exact, elsewhere):
        assert seen(columns=[*COLUMNS, other]).bucket is None
    assert seen(columns=[*COLUMNS, exact]).exact
    assert not seen(columns=[*COLUMNS, exact, display]).exact
    assert seen(columns=[*COLUMNS, display]).counted() == []
    nothing = seen(columns=[*COLUMNS, exact], sizes=(), commonest={})
    text = shown(page(document(nothing)))
    assert "published exactly, so people can be found by them" in text
    assert "look the same" not in text
    nothing = seen(columns=[*COLUMNS, display], sizes=(), commonest={})
    assert "do not say how many look the same" in shown(page(document(nothing)))


def test_hostile_names_are_texts():
    columns = [column(HOSTILE, f"Sensitive, {HOSTILE}", "exact")]
    found = seen(release=HOSTILE, columns=columns, commonest={HOSTILE: [Commonest(1, 8, 3, 2)]})
    html = page(document(found))
    assert html.count("<script") == 2
    assert "alert(1)</script>" not in html
    assert not {"\u202e", "\x07"} & set(html)


def test_what_holds_for_one_version_is_said_of_one():
    """Whoever has versions that cross may find fewer people than a group has."""
    void = seen(guarantee=[{**item, "over_versions": ONE_VERSION} for item in seen().guarantee])
    for found, guess in ((seen(), "a guess"), (void, "a guess of who has no other version")):
        report = document(found)
        assert f"so {guess} is right with a chance of at most 12.5" in report["summary"]
        assert f"{guess.capitalize()} is right with a chance of" in shown(page(report))
