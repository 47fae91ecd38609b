"""The report of every form brings its own parts, and says nothing that is not so of it."""

from __future__ import annotations

import re
from functools import partial
from html import unescape
from typing import Any, get_args

import pytest

from pganon.cli.readers_data import see
from pganon.cli.report_data import collect
from pganon.report.authority import Name, under_headings
from pganon.report.document import document
from pganon.report.page import page
from pganon.report.readers.document import document as readers_document
from pganon.report.readers.page import page as readers_page
from pganon.report.words import percent
from tests.integration.methods.test_conformance import released
from tests.support.harness.cluster import Connection
from tests.support.harness.documents import valid
from tests.unit.report.test_page import check_figures, shown

pytestmark = pytest.mark.primary_server_only

EXACT = "published exactly"
RARE = re.compile(r"\b(d[0-5]|p\d+)\b")
"""Diseases that ten people have each, and people."""

FEWEST_PEOPLE = (
    "SELECT min(n) FROM (SELECT count(DISTINCT individual_no) AS n FROM published.visits"
    " GROUP BY class_id) AS g"
)
LARGEST_SHARE = (
    "SELECT max(s.count / g.n) FROM published.visits_st AS s JOIN (SELECT group_id,"
    " sum(count) AS n FROM published.visits_st GROUP BY group_id) AS g USING (group_id)"
)


@pytest.fixture
def reported(db_after: Any) -> Any:
    """The report of the small policy of a method, and a connection."""

    def made(method: str) -> tuple[dict[str, Any], Connection]:
        db, _ = db_after(partial(released, method=method))
        report = valid(document(collect(db.owner(), "visits")))
        html = page(report)
        assert html.startswith("<!doctype html>")
        check_figures(html, report)
        for name in get_args(Name):
            form = under_headings(report, name)
            assert form["title"] in unescape(page({**report, "authority": form}))
        assert not RARE.search(re.sub(r'"p(50|90|95|99)":', "", html))  # quantiles
        return report, db.admin

    return made


def said(report: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Figures and results that come first."""
    return {one["name"]: (one["figure"], one["result"]) for one in report["outcome"]}


def told(report: dict[str, Any], label: str) -> list[Any]:
    """Figures of what a form says of itself."""
    parts = {row["label"]: row["parts"] for row in report["form"]}[label]
    return [part["value"] for part in parts if not isinstance(part, str)]


def one(conn: Connection, text: str) -> Any:
    row = conn.execute(text.encode()).fetchone()
    assert row is not None
    return row[0]


@pytest.mark.slow
def test_exact_quasi_identifiers_are_not_called_a_protection(reported: Any):
    report, conn = reported("anatomy")
    assert report["properties"]["exact"]
    assert said(report)["smallest"] == said(report)["chance"] == ("exact", "not limited")
    share = one(conn, LARGEST_SHARE)
    assert said(report)["common"] == (percent(float(share)), "limit 50\u00a0% holds")
    singled_out = report["questions"][0]
    assert (singled_out["result"], EXACT in singled_out["remains"]) == ("not bounded", True)
    assert any(EXACT in comment for comment in report["comments"])
    html = page(report)
    assert "are less exact" not in html
    assert "Apart within a group" in html


@pytest.mark.slow
def test_individuals_are_counted_and_not_their_records(reported: Any):
    report, conn = reported("danonyir")
    people = one(conn, FEWEST_PEOPLE)
    assert said(report)["smallest"] == (f"{people} people", "holds")
    assert f"at least {people} people who look the same" in report["summary"]
    assert not any("not people" in comment for comment in report["comments"])
    everybody = one(conn, "SELECT count(DISTINCT individual_no) FROM published.visits")
    assert told(report, "records of a person")[0] == everybody
    (first, *_) = [row for row in report["guarantee"] if row["model"] == "ir_k_anonymity"]
    assert first["sentence"].startswith("Everybody looks like at least 1 others of the")


@pytest.mark.slow
def test_readers_are_told_what_each_form_shows(db_after: Any):
    """Groups where all look the same, people or records; else that others can be found."""

    def made(method: str) -> tuple[dict[str, Any], Connection]:
        db, _ = db_after(partial(released, method=method))
        report = valid(readers_document(see(db.owner(), "visits")))
        assert readers_page(report).startswith("<!doctype html>")
        return report, db.admin

    report, conn = made("danonyir")
    people = one(conn, FEWEST_PEOPLE)
    assert report["risk"]["release"]["smallest"] == people
    assert f"at least {people} people that look the same" in report["summary"]
    assert report["sensitive"] == []
    report, conn = made("anatomy")
    share = one(conn, LARGEST_SHARE)
    assert report["risk"]["release"] is None
    assert EXACT in report["summary"]
    assert [item["most"] for item in report["sensitive"]] == [pytest.approx(float(share))]
    for method in ("lgb_mdp", "qs_greedy"):
        report, _ = made(method)
        assert report["risk"]["release"] is None
        assert report["properties"]["known"] == ["age", "zip"]
        assert EXACT not in report["summary"]


def test_people_of_local_groups_look_the_same(reported: Any):
    report, conn = reported("lgb_mdp")
    smallest = one(
        conn,
        "SELECT min(n) FROM (SELECT count(*) AS n FROM published.visits GROUP BY group_id) AS g",
    )
    assert said(report)["smallest"] == (f"{smallest} records", "holds")
    assert (
        "knows the column age (and the column zip, where it is not hidden) of" in report["summary"]
    )
    assert said(report)["common"][1] == "limit 50\u00a0% holds"
    cells, buckets, fewest, most = told(report, "buckets of disease")
    assert (cells, fewest, most) == (60, 2, 0.5)
    assert buckets == one(conn, "SELECT count(DISTINCT disease_bucket) FROM published.visits")
    assert [item["of"] for item in report["sensitive"]] == ["hidden", "all"]
    assert not any("be found by it" in comment for comment in report["comments"])
    sentences = [row["sentence"] for row in report["guarantee"]]
    in_buckets = (
        "Every hidden value in the column zip is in one bucket, which has as many values as"
    )
    assert f"{in_buckets} rows." in sentences


@pytest.mark.slow
def test_clusters_leave_combinations(reported: Any):
    report, conn = reported("qs_greedy")
    exist = one(
        conn,
        "SELECT min(n) FROM (SELECT cardinality(age) AS n FROM published.visits UNION ALL"
        " SELECT cardinality(zip) FROM published.visits) AS c",
    )
    assert said(report)["smallest"] == (str(exist), "holds")
    assert (said(report)["chance"], said(report)["common"]) == (("none", "does not apply"),) * 2
    text = shown(page(report))
    assert "Not counted: no row is a person" in text
    assert "Not measured: random questions are not asked of releases of this form." in text
    assert [one["result"] for one in report["questions"]][:3] == [
        "does not apply",
        *["bounded"] * 2,
    ]
    assert not any("be found by it" in comment for comment in report["comments"])


def test_classes_with_buckets_have_the_parts_of_both(reported: Any):
    report, conn = reported("sloms")
    smallest = one(
        conn,
        "SELECT min(n) FROM (SELECT count(*) AS n FROM published.visits_qit GROUP BY class_id)"
        " AS g",
    )
    assert said(report)["smallest"] == (f"{smallest} records", "holds")
    assert "guessing disease, informed" in {row["label"] for row in report["form"]}


ONE_EACH = ("full_domain", "kinc", "slamsa", "local_generalization", "geneir")
"""Of forms that no test above has, or with other parts."""


@pytest.mark.slow
@pytest.mark.parametrize("method", ONE_EACH)
def test_every_form_has_its_evidence_in_sentences(reported: Any, method: str):
    """Every check of every method, too; no page says of a figure that nobody measured it."""
    report, _ = reported(method)
    assert report["proof"]["evidence_sha256"]
    assert not any("measured no evidence" in comment for comment in report["comments"])
    for row in report["guarantee"]:
        assert "satisfies" not in row["sentence"] or row["model"] == "background_knowledge"
    assert "no run measured" not in shown(page(report))
