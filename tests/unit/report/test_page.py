"""The page of a report: its figures are those of the document, and nothing in it is loaded."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from typing import Any

import pytest

from pganon.forms.confidential import WITHHELD, told_evidence, told_finding, told_measures
from pganon.report.charts.bars import lying, sizes
from pganon.report.document import document
from pganon.report.page import page
from pganon.report.promises import outcome
from pganon.report.review import look_at
from pganon.report.template import KINDS, at
from tests.support.harness.documents import valid
from tests.support.sources.reports import (
    AT,
    ATTACKED,
    EVIDENCE,
    MEASURES,
    POLICY,
    RATE,
    collected,
    event,
)

FIGURE = re.compile(r'<span data-figure="([^"]+)" data-kind="([^"]+)">([^<]*)</span>')
EMBEDDED = re.compile(r'<script type="application/json" id="pganon-report">(.*?)</script>', re.S)
HOSTILE = "</script><script>alert(1)</script>\u202e\x07&amp;\"'{{ 7 * 7 }}"


def shown(html: str) -> str:
    """The texts of the page, without its JSON, marks and style."""
    html = EMBEDDED.sub("", html)
    html = re.sub(r"<style>.*?</style>", "", html, flags=re.S)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html))).replace("\u00a0", " ")


def check_figures(html: str, report: dict[str, Any]) -> int:
    """Figures of the page are those of the document, as it writes them; how many there are."""
    figures = FIGURE.findall(html)
    for path, kind, text in figures:
        assert unescape(text) == KINDS[kind](at(report, path))
    return len(figures)


def test_every_figure_of_the_page_is_that_of_the_document():
    report = document(collected())
    html = page(report)
    (embedded,) = EMBEDDED.findall(html)
    assert json.loads(embedded) == json.loads(json.dumps(report))
    assert check_figures(html, json.loads(embedded)) > 12
    assert at(report, "risk.release.highest") == 1 / 12
    assert at(report, "guarantee.2.measured") == 0.5


def test_the_page_says_in_words_what_was_measured():
    html = unescape(page(document(collected()))).replace("\u00a0", " ")
    for said in (
        "1,000 people go to one role, analyst.",
        "Whoever knows the columns age and sex of a person finds at least 12 people who look the"
        " same, so a guess is right with a chance of at most 8.3 % (1 in 12).",
        "In no group do more than 50 % have the same value in the column diagnosis.",
        "Everybody looks like at least 11 others of the release in the columns age and sex.",
        "In the source, 68.6 % of the people are alone in the columns age and sex.",
        "exact for 12.5 % of the records; a range spans 9.8 on average",
        "Of 1,000 random counts with 2 conditions, half were off by less than 1.2 %, the middle"
        " half by 0.4 % to 2.7 %, and one in twenty by more than 6.2 %.",
        "3 rarer values, which 4 % of the people have together, are not named in this report.",
        "under 20: 21 % (20 % in the source); 20 to 40: 43 %",
        "a quarter below 0.4 %; half below 1.2 %; three quarters below 2.7 %; 19 of 20 below 6.2 %",
    ):
        assert said in html


def test_there_is_no_praise_and_no_score():
    text = shown(page(document(collected()))).lower()
    assert not re.search(r"\bsafe\b|\banonymous\b|\bscore\b", text)


def test_what_is_to_be_looked_at_is_what_applies():
    report = document(collected())
    comments = " ".join(report["comments"])
    assert report["status"] == "review"
    assert "The column days is published exactly" in comments
    assert "over 5 times as common" in comments
    assert "off by up to 7 percentage points in the column age." in comments
    assert "Nobody approved" in comments
    assert "above 9 %" not in comments
    assert "left out" not in comments
    assert "several records" not in comments


def test_the_limits_are_those_of_the_policy():
    """1 in 12 is above 5 % and below 20 %."""
    evidence = json.loads(json.dumps(EVIDENCE))
    for counted in evidence["class_sizes"].values():
        counted["above"] = {"0.05": 900, "0.2": 0}
    policy = {**POLICY, "report": {"limits": [0.05, 0.2]}}
    report = document(collected(policy, evidence=evidence))
    text = shown(page(report))
    assert report["risk"]["limits"] == {"0.05": 0.05, "0.2": 0.2}
    assert len(report["comments"]) == 5
    for said in (
        "The highest chance to find a person is 8.3 % (1 in 12), above 5 %, which the policy"
        " declares as accepted.",
        "limits: 5 % and 20 % above 5 %",
        "900 people have a chance above 5 % and no people have a chance above 20 %",
        "The policy declares them as accepted",
    ):
        assert said in text
    assert "European Medicines Agency" not in text


@pytest.mark.parametrize(
    ("smallest", "said", "status"),
    [
        (10, "above both limits", "look"),
        (11, "above 9 %", "look"),  # the float 1 / 11 is above the fraction
        (12, "within both limits", "holds"),
    ],
)
def test_a_chance_that_is_a_limit_is_accepted(smallest: int, said: str, status: str):
    """By the rule that counts people above the limits in the evidence."""
    utility = {"highest_risk": 1 / smallest, "mean_risk": 0.02}
    measures = {"verified": [], "utility": utility}
    policy = {**POLICY, "report": {"limits": [0.09, 1 / 11]}}
    found = replace(collected(policy, evidence=None), measures=measures)
    (chance,) = [one for one in outcome(found) if one.name == "chance"]
    assert (chance.result.replace("\u00a0", " "), chance.status) == (said, status)
    above = [limit.largest >= smallest for limit in found.policy.report.accepted]
    assert any(" 1 in 11, which" in comment for comment in look_at(found)) == above[1]


@pytest.mark.parametrize(("suppressed", "looked_at"), [(50, False), (51, True)])
def test_records_left_out_are_to_be_looked_at(suppressed: int, looked_at: bool):
    version = replace(collected().version, released=1000 - suppressed, suppressed=suppressed)
    found = replace(collected(), version=version)
    (row,) = [one for one in outcome(found) if one.name == "left_out"]
    assert row.status == ("look" if looked_at else "holds")
    assert any("records are left out" in comment for comment in look_at(found)) == looked_at


def chances(
    p95: float | None,
    mean: float | None,
    people: int = 990,
    journalist: dict[str, Any] | None = None,
) -> dict[str, Any]:
    found = {"people": people, "mean": mean, "p50": 0.05, "p90": 0.05, "p95": p95, "p99": None}
    prosecutor = {**found, "above": {"0.09": 0.5}}
    told = {"prosecutor": prosecutor}
    return {**told, "journalist": {**prosecutor, **journalist}} if journalist else told


def test_no_limit_crosses_a_share():
    rows = [("everybody", 0.02, 0.08), ("few", 0.09, 0.2), ("many", 0.2, None)]
    drawn = lying(rows, "Chances", "for one in twenty", [0.09, 0.2, 0.5])
    limits = [float(x) for x in re.findall(r'<line class="lim" x1="([\d.]+)"', drawn)]
    texts = [float(x) for x in re.findall(r'<text class="t m s" x="([\d.]+)"', drawn)]
    assert (len(limits), len(texts)) == (2, 3)
    assert max(limits) < min(texts) == max(texts)
    # Where there is no limit, shares stand behind their bars.
    texts = [
        float(x) for x in re.findall(r'<text class="t m s" x="([\d.]+)"', lying(rows, "Chances"))
    ]
    assert len(set(texts)) == 2


def test_who_has_a_higher_chance_to_be_found_than_all():
    def said(*groups: dict[str, Any], every: dict[str, Any]) -> tuple[list[str], str]:
        evidence = {**EVIDENCE, "record_risk": every, "subgroups": list(groups)}
        report = document(collected(evidence=evidence))
        html = page(report)
        for path, kind, figure in FIGURE.findall(html):
            assert unescape(figure) == KINDS[kind](at(report, path))
        before = document(collected())["comments"]
        more = [one for one in report["comments"] if one not in before]
        return [one.replace("\u00a0", " ") for one in more], shown(html)

    one = {"column": "sex", "value": "F", "others": False}
    other = {"column": "sex", "value": None, "others": True}
    found, text = said(
        {**one, **chances(0.25, 0.08, 198)},
        {**other, **chances(None, 0.12, 22)},
        {**one, **chances(0.08, 0.119)},
        every=chances(0.08, 0.06),
    )
    assert found == [
        "The chance to find one of the people whose sex is “F” is 25 % or more for one in twenty,"
        " above 9 %; of all people it is not.",
        "The chance to find one of the people whose sex is a rare one is 12 % on average, that of"
        " all people 6 %.",
    ]
    assert "Of whom People On average One in twenty Above 9 %" in text
    assert "everybody 990 6 % 8 % 50 % sex: “F” 198 8 % 25 % 50 %" in text
    assert "sex: a rare one 22 12 % not told" in text
    # Few groups have so small a sum of chances that its steps tell none of it.
    found, text = said({**one, **chances(0.05, None)}, every=chances(0.05, None))
    assert found == []
    assert "sex: “F” 990 not told 5 %" in text
    # All are above it.
    found, _ = said({**one, **chances(0.25, 0.1)}, every=chances(0.25, 0.1))
    assert found == []
    # Of people of a population, too.
    found, text = said(
        {**one, **chances(0.25, 0.08, 198, {"p95": 0.1, "mean": 0.01})},
        {**other, **chances(0.25, 0.08, 22, {"p95": None, "mean": 0.02})},
        every=chances(0.25, 0.1, 990, {"p95": 0.02, "mean": 0.01}),
    )
    assert found == [
        f"The chance of who does not know who is in the data to find one of the people whose sex is"
        f" {who}"
        for who in (
            "“F” is 10 % or more for one in twenty, above 9 %; of all people it is not.",
            "a rare one is 2 % on average, that of all people 1 %.",
        )
    ]
    assert (
        "Above 9 % Journalist, on average One in twenty everybody 990 10 % 25 % 50 % 1 % 2 %"
        in text
    )
    assert "rare one 22 8 % 25 % 50 % 2 % not told" in text
    found, text = said(every=chances(0.25, 0.1))
    assert (found, "Not everybody has the same chance" in text) == ([], False)


def test_the_risk_among_people_of_a_population():
    text = shown(page(document(collected())))
    assert "does not know who is in the data (journalist) not measured not measured" in text
    among = {
        "smallest": 40,
        "highest": 1 / 40,
        "mean": 0.0125,
        "above": {"0.09": None, "1/11": 0},
    }
    report = document(collected(evidence={**EVIDENCE, "population": among}))
    text = shown(page(report))
    assert at(report, "risk.population.mean") == 0.0125
    assert "looks among the people of a population (journalist) 2.5 % 1.2 %" in text
    assert "Every group looks like at least 40 people of the population" in text
    assert "among all its people, how many people have a chance above 9 % is not told." in text
    untold = {**EVIDENCE, "population": {**among, "mean": None}}
    text_of = shown(page(document(collected(evidence=untold))))
    assert "of a population (journalist) 2.5 % not told" in text_of
    assert "has a list of the population" not in text
    for p95, often in ((0.2, ", for one in twenty with at least 20 %"), (None, "")):
        present = {**among, "presence": {"highest": 0.5, "p95": p95}}
        text = shown(page(document(collected(evidence={**EVIDENCE, "population": present}))))
        assert f"is in the data with a chance of at most 50 %{often}." in text
    nobody = {**among, "smallest": 0, "highest": 1.0}
    text = shown(page(document(collected(evidence={**EVIDENCE, "population": nobody}))))
    assert "Some groups look like nobody of the population" in text


def test_catalogues_read_what_the_page_shows():
    """As schema.org and DQV have it; every value is a figure of the report."""
    files = [{"name": "stays.csv", "sha256": "ab" * 32}]
    report = document(collected(), files)
    found = report["dataset"]
    assert found["@context"]["@vocab"] == "https://schema.org/"
    assert (found["name"], found["version"]) == ("admissions", "1")
    assert found["@type"] == ["Dataset", "dcat:Dataset"]
    assert found["description"] == "Research on asthma"
    names = [one["name"] for one in found["variableMeasured"]]
    assert names == ["age", "sex", "diagnosis", "days"]
    assert found["variableMeasured"][0]["description"] == report["columns"][0]["seen"]
    assert found["distribution"][0]["sha256"] == "ab" * 32
    measured = {
        one["dqv:isMeasurementOf"]["name"]: one["dqv:value"]
        for one in found["dqv:hasQualityMeasurement"]
    }
    assert measured == {
        "structure": 0,
        "k_anonymity": 12,
        "alpha_k_anonymity of diagnosis": 0.5,
        "highest re-identification risk": report["risk"]["release"]["highest"],
        "mean re-identification risk": report["risk"]["release"]["mean"],
        "information loss (NCP) of age": 0.104,
        "information loss (NCP) of sex": 0.0,
    }


def test_catalogues_have_what_was_declared_and_when_it_was_published():
    about = {"title": "Stays", "conditions": "None", "recipients": "", "contact": "dpo"}
    checks = [{**check, "against": "earlier"} for check in MEASURES["verified"]]
    measures = {**MEASURES, "verified": checks}
    found = document(replace(collected(measures=measures), about=about))["dataset"]
    assert (found["name"], found["conditionsOfAccess"]) == ("Stays", "None")
    assert "description" not in found
    assert found["datePublished"] == AT.isoformat()
    metrics = [one["dqv:isMeasurementOf"]["name"] for one in found["dqv:hasQualityMeasurement"]]
    assert "alpha_k_anonymity of diagnosis against the earlier distribution" in metrics
    assert not {key for key in found if key.startswith(("dpv:hasP", "dpv:hasL", "dcatap:"))}
    waits = valid(document(replace(collected(), request=3)))["dataset"]
    assert waits["identifier"] == "admissions/request 3"
    assert "datePublished" not in waits


def test_catalogues_of_europe_have_what_was_declared():
    iri, law = (
        "https://w3id.org/dpv/legal/eu/gdpr#A6-1-e",
        "http://data.europa.eu/eli/reg/2025/327/oj",
    )
    about = {"title": "Stays", "purpose": "Wages", "legal_basis_iri": iri, "legislation": [law]}
    found = document(collected(about=about))["dataset"]
    prefixes = {key.partition(":")[0] for key in found if ":" in key}
    assert prefixes | {"dcat", "@vocab"} == found["@context"].keys()
    rights = "http://publications.europa.eu/resource/authority/access-right/"
    assert {key: found[key] for key in found if key.partition(":")[0] in prefixes - {"dqv"}} == {
        "dct:title": "Stays",
        "dct:description": "Wages",
        "dct:accessRights": {"@id": f"{rights}RESTRICTED"},
        "dcatap:applicableLegislation": [{"@id": law}],
        "dpv:hasPurpose": "Wages",
        "dpv:hasLegalBasis": {"@id": iri},
        "dpv:hasTechnicalMeasure": {"@id": "dpv:Deidentification"},
        "healthdcatap:numberOfRecords": 1000,
        "healthdcatap:numberOfUniqueIndividuals": 1000,
    }
    public = document(collected(public=True))["dataset"]["dct:accessRights"]
    assert public == {"@id": f"{rights}PUBLIC"}


def test_people_are_counted_for_catalogues_only_where_they_are():
    """And of nobody who is left out."""
    columns = {name: one for name, one in POLICY["columns"].items() if name != "patient_no"}
    found = document(collected({**POLICY, "columns": columns}))["dataset"]
    assert "healthdcatap:numberOfUniqueIndividuals" not in found
    assert found["healthdcatap:numberOfRecords"] == 1000
    unmeasured = document(collected(evidence=None, evidence_intact=None))["dataset"]
    assert "healthdcatap:numberOfUniqueIndividuals" not in unmeasured


def test_checks_have_the_names_of_an_ontology():
    report = document(collected())
    terms = {one["model"]: one["same_as"] for one in report["guarantee"]}
    start = "https://www.w3id.org/statbarnsdc#"
    assert terms == {
        "structure": None,
        "k_anonymity": f"{start}MinimumThresholdCheck",
        "alpha_k_anonymity": f"{start}ClassDisclosure",
    }
    assert report["versions"]["same_as"] == f"{start}Differencing"


@pytest.mark.parametrize(
    ("operator", "said"), [(">=", "at least"), (">", "above"), ("<=", "at most"), ("<", "below")]
)
def test_bounds_in_words(operator: str, said: str):
    checks = [{**check, "bound": operator} for check in MEASURES["verified"]]
    report = document(collected(measures={**MEASURES, "verified": checks}))
    assert {check["bound"] for check in report["guarantee"]} == {said}
    assert f"{said} 12" in shown(page(report))


def test_whether_presence_is_bounded():
    def presence(*checks: dict[str, Any]) -> dict[str, str]:
        verified = [*MEASURES["verified"], *checks]
        report = document(collected(measures={**MEASURES, "verified": verified}))
        return next(one for one in report["questions"] if one["name"] == "presence")

    def remains(*checks: dict[str, Any]) -> str:
        return presence(*checks)["remains"].replace("\u00a0", " ")

    assert presence()["result"] == "not bounded"
    bound = {**MEASURES["verified"][0], "model": "delta_presence", "required": 0.5}
    most = {**bound, "symbol": "max", "bound": "<=", "measured": 0.37}
    least = {**bound, "symbol": "min", "bound": ">=", "measured": 0.05}
    assert presence(most)["result"] == "bounded"
    assert "with a chance of at most 37 %." in remains(most)
    assert "of at most 37 % and at least 5 %." in remains(most, least)
    # What was measured is not told of few who are left out: what is required holds, too.
    assert "with a chance of at most 50 %." in remains({**most, "measured": None})


def test_what_is_counted_in_a_population_is_not_told_of_few_who_are_left_out():
    names = ("k_map", "delta_presence", "average_risk", "k_anonymity", "beta_likeness")
    first = MEASURES["verified"][0]
    verified = [{**first, "model": name, "against": "", "measured": 0.4} for name in names]
    measures = {"verified": verified}
    assert told_measures(measures) == measures
    told = told_measures({**measures, WITHHELD: True})["verified"]
    assert [one["measured"] for one in told] == [None, None, None, 0.4, None]
    chance = {"journalist": {"mean": 0.1}, "prosecutor": {"mean": 0.2}}
    for by_weights in (False, True):
        population = {"by_weights": by_weights}
        evidence = {**EVIDENCE, "population": population, "record_risk": chance, "subgroups": [{}]}
        told = told_evidence(evidence)
        risk = {**chance, "journalist": chance["journalist"] if by_weights else None}
        assert told["record_risk"] == risk
        assert told["population"] == (population if by_weights else None)
        assert told["subgroups"] == []
    assert told_evidence({**EVIDENCE, "population": {"by_weights": False}})["population"] is None


def test_tables_that_others_could_write_to_are_named():
    hostile = "hospital.patient\u202e"
    report = document(collected(measures={**MEASURES, "unlocked": [hostile, "hospital.ward"]}))
    said = "Nothing kept others from writing to hospital.patient\ufffd and hospital.ward"
    assert [text for text in report["comments"] if text.startswith(said)]
    assert said in shown(page(report))


def test_what_is_not_declared_is_said():
    text = shown(page(document(collected())))
    assert "Purpose Research on asthma Legal basis not declared" in text
    report = document(collected(about={}))
    assert "No purpose is declared (about in the policy)." in report["comments"]


def test_what_waits_says_so():
    events = [event(1, "awaiting_approval", None, row_count=1000, request=7)]
    report = document(collected(request=7, shown=None, events=events))
    text = shown(page(report))
    assert "request 7" in text
    assert "It waits for approval as request 7. Nobody can read it before." in text
    assert "1,000 people would go to one role, analyst." in text
    assert not any("approved" in comment for comment in report["comments"])


def test_who_approved_other_evidence_is_seen():
    events = [
        event(2, "approved", 1, request=1, login="dpo", reason="Fine.", evidence_sha256="ab" * 32),
        event(3, "released", 1, row_count=1000, evidence_sha256="cd" * 32),
    ]
    report = document(collected(events=events))
    assert any("saw other evidence" in comment for comment in report["comments"])
    assert report["exception"] == "Fine."


def test_nothing_to_look_at_is_a_pass():
    policy = {**POLICY, "columns": {**POLICY["columns"], "days": {"role": "identifying"}}}
    evidence = json.loads(json.dumps(EVIDENCE))
    evidence["attributes"][0]["distribution"]["largest_error"] = 0.01
    evidence["sensitive"][0]["others"] = None
    events = [
        event(2, "approved", 1, request=1, login="dpo", reason="As the board decided."),
        event(3, "released", 1, row_count=1000),
    ]
    report = document(collected(policy, evidence=evidence, events=events))
    assert (report["comments"], report["status"]) == ([], "pass")
    assert "dpo approved it on 1 March 2026." in report["summary"]
    assert "As the board decided." in page(report)
    assert report["exception"] is None


def test_limits_follow_from_all_models_together():
    """At t = 0.1 a value of 36 % has at most 46 % of a group, and alpha = 0.5 limits all."""
    closeness = {"model": "t_closeness", "column": "diagnosis", "t": 0.1}
    policy = {**POLICY, "privacy": [*POLICY["privacy"], closeness]}
    (found,) = document(collected(policy))["sensitive"]
    assert [one["limit"] for one in found["values"]] == [0.5, pytest.approx(0.46)]


def test_tampered_evidence_fails():
    report = document(collected(evidence_intact=False))
    assert report["status"] == "fail"
    assert "somebody changed it" in report["comments"][0]


def test_a_form_without_evidence_says_what_was_not_measured():
    measures: dict[str, Any] = {"utility": {"ncp": {"age": 0.3}}, "verified": []}
    report = document(collected(evidence=None, evidence_intact=None, measures=measures))
    text = shown(page(report))
    assert [one["result"] for one in report["outcome"]][:3] == ["not measured"] * 3
    assert "measured no evidence" in report["comments"][0]
    assert "Not measured" in text
    assert "Age not measured 30 %" in text or "age not measured 30 %" in text


def test_a_form_of_linked_tables_has_its_values_alone():
    nothing: dict[str, Any] = {"release": None, "source": None}
    evidence = {**EVIDENCE, "class_sizes": nothing, "attributes": []}
    measures: dict[str, Any] = {"utility": {"ncp": {"age": 0.0}}, "verified": []}
    report = document(collected(evidence=evidence, evidence_intact=True, measures=measures))
    text = shown(page(report))
    assert [one["note"] for one in report["outcome"]][:2] == [
        "groups of this form do not say it"
    ] * 2
    assert report["sensitive"][0]["most"] == 0.5
    assert "In no group do more than 50 % have the same value in the column diagnosis." in text


def test_attacks_are_those_of_the_version():
    """Of its own run, the newest ones."""
    others = {**event(3, "attacked", **{**ATTACKED, "targets": 7}), "run_id": 2}
    events = [
        event(1, "released", 1, row_count=1000),
        event(2, "attacked", 1, **{**ATTACKED, "targets": 55}),
        event(4, "attacked", 1, **ATTACKED),
        others,
    ]
    report = document(collected(events=events))
    attacks = report["attacks"]
    assert (attacks["row"], attacks["targets"], attacks["times"]) == (4, 100, 2)
    assert [one["release"] for one in attacks["findings"]] == [None] * 2 + [RATE] * 3
    html = page(report)
    text = shown(html)
    for said in (
        "on 100 of its people, drawn. They were tried again on a release from which 250 people were"
        " held out: on 100 in it, and on 100 held out.",
        "Attacks were measured 2 times; these are the last ones.",
        "knows the columns age and sex of a person, and guesses the column diagnosis (inference)"
        " 25 % 17.5 % to 34.3 %",
        "50 % 17.5 % to 34.3 % \u221225 \u221237 to 0",
        "also knows who 11 other members of the group are, and what they have in the column"
        " diagnosis",
        "no guess",
        "Linkability was not measured: people are known by one column alone.",
        "Tried attacks on 55 people, and on 55 who were held out",
    ):
        assert said in text
    assert "Attacks were not tried on this version" not in text
    figures = FIGURE.findall(html)
    assert "attacks.findings.4.difference.value" in [path for path, *_ in figures]
    for path, kind, figure in figures:
        assert unescape(figure) == KINDS[kind](at(report, path))
    for events in ([], [others]):
        report = document(collected(events=events))
        assert report["attacks"] is None
        assert "Attacks were not tried on this version" in shown(page(report))


def gains(*found: tuple[str, str, str | None, float | None]) -> list[str]:
    """What is to be looked at of attacks with (attack, adversary, column, least difference)."""
    findings = [
        {
            "attack": attack,
            "adversary": adversary,
            "column": column,
            "release": RATE,
            "members": {**RATE, "share": 0.5},
            "control": {**RATE, "share": 0.1},
            "difference": least and {"value": 0.4, "low": least, "high": 0.6},
        }
        for attack, adversary, column, least in found
    ]
    nothing = collected(events=[])
    made = collected(events=[event(2, "attacked", 1, **{**ATTACKED, "findings": findings})])
    before = document(nothing)["comments"]
    after = document(made)["comments"]
    return [one.replace("\u00a0", " ") for one in after if one not in before]


def surest(low: float, difference: float, right: int = 89) -> dict[str, Any]:
    """A choice of 90 guesses; the strangers' are right of 58."""
    rate = {"successes": right, "attempts": 90, "share": right / 90, "low": 0.9, "high": 1.0}
    return {
        "value": "=Zanzibar-7319",
        "baseline": "model",
        "loss": {"value": 0.7731, "low": low, "high": 0.91},
        "attack": rate,
        "base": {"successes": 58, "attempts": 90, "share": 58 / 90, "low": 0.54, "high": 0.73},
        "difference": {"value": 0.3, "low": difference, "high": 0.4},
    }


def chosen(**changes: Any) -> dict[str, Any]:
    """A finding that today's rule calls safe."""
    return {
        "attack": "inference",
        "adversary": "quasi_identifiers",
        "column": "diagnosis",
        "release": {**RATE, "successes": 500, "attempts": 1000, "share": 0.5},
        "members": RATE,
        "control": RATE,
        "difference": {"value": 0.038, "low": 0.005, "high": 0.1},
        "certain": None,
        "choice": None,
        "value_choice": None,
        "posteriors": [],
        **changes,
    }


def reported(finding: dict[str, Any], **changes: Any) -> tuple[dict[str, Any], str, list[str]]:
    """The finding in the document, the page, and what is to be looked at of it."""
    details = {**ATTACKED, "findings": [finding], **changes}
    report = document(collected(events=[event(2, "attacked", 1, **details)]))
    html = page(report)
    for path, kind, figure in FIGURE.findall(html):
        assert unescape(figure) == KINDS[kind](at(report, path))
    before = document(collected(events=[]))["comments"]
    said = [one.replace("\u00a0", " ") for one in report["comments"] if one not in before]
    return report["attacks"]["findings"][0], shown(html), said


def test_attackers_who_choose_are_to_be_looked_at():
    """The average attack gains nothing, and the surest guesses are right."""
    found, text, said = reported(chosen(value_choice=surest(0.57, 0.05, 90)), learned=True)
    assert (found["gains"], found["may_gain"]) == (True, False)
    assert said == [
        "Who knows the columns age and sex of a person, and attacks only where he is surest,"
        " guesses one value in the column diagnosis of 90 of 90; without these people in the"
        " release, of 58 of 90. The anonymity loss coefficient is 0.77 (0.57 to 0.91): 0 is what is"
        " told of strangers, 1 the source itself."
    ]
    assert (
        "guesses the column diagnosis, of one value alone 0.773 0.57 to 0.91 90 of 90 58 of 90"
        in text
    )
    assert "no model" not in text
    assert "Zanzibar" not in json.dumps(found) + text
    found, text, said = reported(chosen(choice=surest(0.42, 0.071, 79)))
    assert (found["gains"], found["may_gain"]) == (False, True)
    assert said[0].endswith("1 the source itself. That may be chance: attack more people.")
    assert "among which there was no model" in text
    found, _, said = reported(chosen(choice=surest(0.42, 0.0901, 79)))
    assert (found["gains"], len(said)) == (True, 1)
    little = {**surest(0.1, 0.3, 79), "loss": {"value": 0.5, "low": 0.1, "high": 0.9}}
    found, _, said = reported(
        chosen(choice=little, difference={"value": 0.2, "low": 0.1, "high": 0.3})
    )
    # What a model predicts of strangers is not lost, whatever groups alone would say.
    assert (found["gains"], found["may_gain"], said) == (False, False, [])


def test_who_is_in_the_source_is_to_be_looked_at():
    def of(low: float) -> dict[str, Any]:
        return chosen(
            attack="membership",
            adversary="whole_record",
            column=None,
            members={**RATE, "share": 0.85},
            difference={"value": 0.3, "low": low, "high": 0.4},
            posteriors=[{"prior": 0.1, "chance": 0.163}],
        )

    _, text, said = reported(of(0.2))
    assert said == []
    assert "if 10 % of the list are, so are 16.3 % of whom this is said" in text
    _, _, said = reported(of(0.21))
    assert said == [
        "Who has a list with whole records of people says that they are in the source of 85 % of"
        " the people in the release, and 25 % of those who were held out. The difference, at least"
        " 21 percentage points with a confidence of 95 %, is what the release gives away of them."
    ]


def test_the_surest_guesses_count_nobody():
    """Attack: guesses that are nested, and how many of them are right, count few by differences."""

    def rate(right: int, n: int) -> dict[str, Any]:
        return {"successes": right, "attempts": n, "share": right / n, "low": 0.1, "high": 0.99}

    def told(choice: dict[str, Any], certain: dict[str, Any], **changes: Any) -> dict[str, Any]:
        finding = chosen(
            release=rate(500, 1000),
            choice={**surest(0.8, 0.2), "attack": choice},
            certain=certain,
            **changes,
        )
        first = told_finding(finding, 11)
        assert first == told_finding(first, 11)
        assert first["gains"] is True
        return first

    # One of 90 has another value.
    found = told(rate(89, 90), rate(60, 60))
    assert found["choice"]["attack"] == {
        "attempts": 90,
        **dict.fromkeys(("successes", "share", "low", "high")),
    }
    assert (found["choice"]["loss"], found["choice"]["difference"]) == (None, None)
    assert found["certain"] == rate(60, 60)
    # Few are guessed beside those who are certain; or of those beside them few have another value.
    assert told(rate(70, 90), rate(60, 80))["certain"]["share"] is None
    assert told(rate(70, 90), rate(60, 79))["certain"]["share"] is None
    assert told(rate(70, 90), rate(60, 60))["certain"] == rate(60, 60)
    # The same guesses.
    assert told(rate(90, 90), rate(90, 90))["certain"] == rate(90, 90)
    # Nearly all of all guesses, of which half are right.
    assert told(rate(495, 995), rate(60, 60))["choice"]["loss"] is None
    half = {**surest(0.8, 0.2), "attack": rate(495, 995)}
    little = {**surest(0.1, 0.2), "loss": {"value": 0.4, "low": 0.1, "high": 0.6}}
    for more in ({}, {"value_choice": {**little, "attack": rate(50, 90)}}):
        _, text, said = reported(chosen(release=rate(500, 1000), choice=half, **more))
        assert said == [
            "Who knows the columns age and sex of a person, and attacks only where he is surest,"
            " guesses the column diagnosis better than without these people in the release. By how"
            " much is not told, as it would count few people."
        ]
        assert "guesses the column diagnosis \u2013 not told 58 of 90" in text
    value = {**surest(0.8, 0.2), "attack": rate(70, 85)}
    assert told(rate(70, 90), rate(60, 60), value_choice=value)["value_choice"]["loss"] is None


def test_the_surest_guesses_of_strangers_count_nobody():
    """Attack: the same of those who are held out, of whom the loss would tell it, too."""

    def rate(right: int, n: int) -> dict[str, Any]:
        return {"successes": right, "attempts": n, "share": right / n, "low": 0.1, "high": 0.99}

    def told(base: dict[str, Any], baseline: str) -> dict[str, Any]:
        choice = {**surest(0.8, 0.2), "base": base, "baseline": baseline}
        first = told_finding(chosen(control=rate(700, 1000), choice=choice), 11)
        assert first == told_finding(first, 11)
        return first["choice"]

    assert told(rate(300, 500), "groups")["base"] == rate(300, 500)
    # One of 90 has another value; five of all who are guessed less surely.
    for base, baseline in ((rate(89, 90), "model"), (rate(205, 500), "groups")):
        found = told(base, baseline)
        assert (found["base"]["share"], found["loss"], found["difference"]) == (None, None, None)
    # Those are guessed by somebody else.
    assert told(rate(205, 500), "model")["base"] == rate(205, 500)


def test_an_attack_that_is_right_of_all_but_few_counts_nobody():
    """Attack: 34 of 35 guesses that are right count the one who has another value."""
    right = {"successes": 34, "attempts": 35, "share": 34 / 35, "low": 0.85, "high": 0.99}
    finding: dict[str, Any] = {
        "attack": "inference",
        "adversary": "quasi_identifiers",
        "column": "diagnosis",
        "release": right,
        "members": right,
        "control": RATE,
        "difference": {"value": 34 / 35 - 0.25, "low": 0.55, "high": 0.8},
        "posteriors": [{"prior": 0.5, "chance": 0.795}],
    }
    told = told_finding(finding, 11)
    assert told == told_finding(told, 11)
    assert told["posteriors"] == []
    for one in (finding, told):
        details = {**ATTACKED, "findings": [one]}
        report = document(collected(events=[event(2, "attacked", 1, **details)]))
        (found,) = report["attacks"]["findings"]
        assert found["release"] == found["members"]
        assert (found["members"]["attempts"], found["members"]["share"]) == (35, None)
        assert (found["control"], found["difference"], found["gains"]) == (RATE, None, True)
        text = shown(page(report))
        assert "all but few all but few 25 %" in text
        assert "guesses the column diagnosis of all but fewer than 11 of the people in" in text
        for digits in ("97", "85 %", "55 %", "34 of", '": 34,'):
            assert digits not in json.dumps(report["attacks"]["findings"]) + text.split("tried")[1]
    alone = {**finding, "members": RATE}
    assert told_finding(alone, 11)["difference"] == finding["difference"]
    many = {**right, "successes": 24, "share": 24 / 35}
    assert told_finding({**finding, "members": many}, 11)["members"] == many


def test_attacks_that_surely_gain_are_to_be_looked_at():
    """More than nine points by the lower end of the interval; of several attackers the best."""
    found = gains(
        ("inference", "quasi_identifiers", "diagnosis", 0.0901),
        ("inference", "others_known", "diagnosis", 0.31),
        ("inference", "correlations", "diagnosis", 0.2),
        ("inference", "correlations", "days", 0.25),
        ("linkability", "two_sources", None, 0.1),
        ("singling_out", "published_row", None, 0.123),
    )
    shares = "50 % of the people in the release, and 10 % of those who were held out."
    gained = "with a confidence of 95 %, is what the release gives away of them."
    assert found == [
        "Who knows the columns age and sex of a person, and 11 other members of the group with what"
        f" they have in the column diagnosis, guesses the column diagnosis of {shares} The"
        f" difference, at least 31 percentage points {gained}",
        "Who knows the columns age and sex of a person, and how each of them goes with the column"
        f" days, guesses the column days of {shares} The difference, at least 25 percentage points"
        f" {gained}",
        f"Who has two lists of people, each with half of the columns age and sex, connects {shares}"
        f" The difference, at least 10 percentage points {gained}",
        "What a row shows is true of exactly one person in the release for 50 % of the rows that"
        " were tried, and of one who was held out for 10 %. The difference, at least 12.3"
        f" percentage points {gained}",
    ]
    (said,) = gains(("inference", "quasi_identifiers", "diagnosis", 0.0901))
    assert said.startswith(
        "Who knows the columns age and sex of a person guesses the column diagnosis of 50 %"
    )
    assert (
        gains(
            ("inference", "quasi_identifiers", "diagnosis", 0.09),
            ("inference", "others_known", "diagnosis", -0.2),
            ("linkability", "two_sources", None, None),
        )
        == []
    )


def test_old_events_are_folded():
    events = [event(n, "released", n, row_count=n) for n in range(1, 9)]
    html = page(document(collected(events=events)))
    assert "3 earlier events" in html
    before, folded = html.split("3 earlier events")
    assert "Published version 8" in before
    assert "Published version 3:" in folded


def test_hostile_names_values_and_reasons_are_texts():
    name = HOSTILE.replace("\x07", "").replace("\u202e", "")
    columns = {name if n == "days" else n: c for n, c in POLICY["columns"].items()}
    evidence = json.loads(json.dumps(EVIDENCE))
    evidence["sensitive"][0]["values"][0]["value"] = HOSTILE
    evidence["attributes"][1]["distribution"]["bins"][0]["value"] = "x" * 10_000
    events = [
        event(2, "approved", 1, login=HOSTILE, reason=HOSTILE),
        event(3, "released", 1, row_count=1000),
    ]
    report = document(
        collected(
            {**POLICY, "columns": columns},
            release=HOSTILE,
            source=HOSTILE,
            readers=[HOSTILE],
            evidence=evidence,
            events=events,
            about={"purpose": HOSTILE, "contact": HOSTILE * 40},
        )
    )
    html = page(report)
    assert html.count("<script") == 2
    assert "alert(1)</script>" not in html
    assert "\u202e" not in html
    assert "\x07" not in html
    assert "{{ 7 * 7 }}" in unescape(html)
    assert "x" * 100 not in EMBEDDED.sub("", html)
    (embedded,) = EMBEDDED.findall(html)
    assert json.loads(embedded)["properties"]["release"] == HOSTILE


def test_nothing_is_loaded():
    html = page(document(collected()))
    assert "default-src 'none'" in html
    assert not re.search(r"\b(src|srcset|action|data|poster)=", EMBEDDED.sub("", html))
    assert set(re.findall(r'href="([^"]*)"', html)) == {
        f"#{name}"
        for name in ("out", "wrong", "likely", "measured", "lost", "time", "not", "proof")
    }
    fonts = html.count("src:url(data:font/woff2;base64,")
    assert (fonts, html.count("url("), html.count("font-src data:;")) == (2, 2, 1)


def test_columns_are_in_the_order_of_the_source():
    columns = dict(sorted(POLICY["columns"].items(), key=lambda item: len(item[0])))
    found = collected({**POLICY, "columns": columns})
    assert list(found.declared) == [*POLICY["columns"]]
    names = [row["source"] for row in document(found)["columns"]]
    out = [name for name in POLICY["columns"] if name != "patient_no"]
    assert names[: len(out) + 1] == [*out, "patient_no"]


def test_sizes_that_no_group_has_are_not_in_a_range():
    """Where bins were put together up to the last."""
    found = {"people": 40, "largest": 2, "bins": [{"from": 1, "to": None, "people": 40}]}
    drawn = sizes({**found, "largest": 140}, found, "people")
    assert [name in drawn for name in (">1-2<", ">1+<")] == [True, True]


def test_one_person_is_one():
    evidence = json.loads(json.dumps(EVIDENCE))
    evidence["class_sizes"]["release"]["smallest"] = 1
    assert document(collected(evidence=evidence))["outcome"][0]["figure"] == "1 person"
