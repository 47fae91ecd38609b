"""Forms of authorities: pointers into the report, and what nobody has written yet."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any, get_args

import pytest

from pganon.cli.report import AuthorityForm
from pganon.forms.confidential import WITHHELD
from pganon.report.authority import Name, Told, at, label, shown
from pganon.report.document import document
from pganon.report.page import page
from pganon.report.review import look_at
from pganon.report.signature import Unsigned, new_key, sign, verify
from pganon.report.template import as_json
from tests.support.harness.cli import pganon
from tests.support.harness.documents import valid
from tests.support.sources.pages import documents
from tests.support.sources.reports import AT, ATTACKED, MEASURES, collected, event
from tests.unit.report.test_page import HOSTILE
from tests.unit.report.test_page import shown as texts

FORMS: dict[Name, Any] = tomllib.loads(
    files("pganon.report").joinpath("forms.toml").read_text("utf-8")
)  # pyright: ignore[reportAssignmentType]
TEXTS = (
    *("title", "purpose", "legal_basis", "recipients", "conditions", "contact", "controls"),
    *("motives", "harms", "mitigation", "roles", "rationale", "other_columns", "threshold"),
    "utility",
)
ABOUT: dict[str, Any] = {
    **{key: f"the {key} in words" for key in TEXTS},
    "review_on": "2027-01-01",
    "legal_basis_iri": "https://w3id.org/dpv/legal/eu/gdpr#A6-1-e",
    "legislation": ["http://data.europa.eu/eli/reg/2025/327/oj"],
    "expert": {
        **{key: f"the {key} of the expert" for key in ("name", "credentials", "relation")},
        "determined_on": "2026-03-01",
        "valid_until": "2028-03-01",
        "conclusion": "The risk is very small.",
    },
    "intruder_test": {"by": "two students", "on": "2026-03-01", "sources": "web", "result": "none"},
}
EVERY = pytest.mark.parametrize("name", get_args(Name))


def attacked(**changes: Any) -> Any:
    events = [event(4, "released", 1, row_count=1000), event(5, "attacked", 1, **ATTACKED)]
    return collected(events=events, **changes)


def made(name: Name) -> Iterator[dict[str, Any]]:
    """Reports with and without evidence and attacks, of exact columns and with few left out."""
    for found in (
        attacked(),
        attacked(about=ABOUT),
        attacked(measures={**MEASURES, WITHHELD: True}),
        collected(evidence=None, evidence_intact=None, measures={}, about={}),
        collected(request=7, shown=None, events=[event(1, "awaiting_approval", row_count=9)]),
    ):
        yield document(found, (), name)


def test_the_same_forms_are_everywhere():
    assert [*FORMS] == [*get_args(Name)] == [form.value for form in AuthorityForm]


@EVERY
def test_all_pointers_resolve(name: Name):
    for report in made(name):
        valid(report)
        for section in report["authority"]["sections"]:
            for pointer in (*section["facts"], *section["open"]):
                at(report, pointer)


@EVERY
def test_a_form_has_pointers_only(name: Name):
    """No text but that of the form itself, and the rest is the report without it."""
    for found in (attacked(), attacked(about=ABOUT)):
        report = document(found, (), name)
        form = report.pop("authority")
        assert report == document(found)
        wanted = FORMS[name]
        assert (form["form"], form["title"], form["note"]) == (
            name,
            wanted["title"],
            wanted["note"],
        )
        assert form.keys() == {"form", "title", "note", "sections", "open"}
        headings = [one["heading"] for one in form["sections"]]
        assert headings == [heading for heading, _, _ in wanted["headings"]]
        for section in form["sections"]:
            assert section.keys() == {"heading", "facts", "open"}
            for pointer in (*section["facts"], *section["open"]):
                assert re.fullmatch(r"(/[a-z_0-9]+)+", pointer)


@EVERY
def test_every_open_item_is_counted_and_none_is_invented(name: Name):
    form = document(attacked(about=ABOUT), (), name)["authority"]
    told = {pointer for one in form["sections"] for pointer in one["facts"]}
    assert form["open"] == 0
    nothing = document(attacked(about={}), (), name)["authority"]
    keys = [key for _, _, steward in FORMS[name]["headings"] for key in steward.split()]
    asked = {f"/about/{key}" for key in keys if key not in ("expert", "intruder_test")}
    asked |= {f"/about/{k}/{below}" for k in keys if k in ABOUT for below in _below(ABOUT[k])}
    assert {pointer for one in nothing["sections"] for pointer in one["open"]} == asked
    assert nothing["open"] == len(asked)
    assert {pointer for pointer in told if pointer.startswith("/about")} == asked
    for pointer in asked:  # each alone, also where somebody wrote a blank
        for value in (None, " \n"):
            about = json.loads(json.dumps(ABOUT))
            *above, last = pointer.removeprefix("/about/").split("/")
            (about[above[0]] if above else about)[last] = value
            form = document(attacked(about=about), (), name)["authority"]
            left = [one["open"] for one in form["sections"] if one["open"]]
            assert ({*map(tuple, left)}, form["open"]) == ({(pointer,)}, 1)


def _below(found: Any) -> list[str]:
    return [*found] if isinstance(found, dict) else []


@EVERY
@pytest.mark.slow
def test_the_page_shows_what_is_behind_every_pointer(name: Name):
    for report in made(name):
        html = texts(page(report))
        missing = (
            "not told, as few are left out"
            if report["properties"]["withheld"]
            else ("not measured")
        )
        sections = report["authority"]["sections"]
        assert html.count("To be written by the steward") == sum(len(s["open"]) for s in sections)
        assert f"{report['authority']['open']} item" in html or not report["authority"]["open"]
        for section, (heading, facts, left) in zip(sections, shown(report, missing), strict=True):
            assert section["heading"] == heading
            assert f" {heading} " in html
            assert [fact.label for fact in facts] == [label(p) for p in section["facts"]]
            assert left == [label(pointer) for pointer in section["open"]]
            for pointer, fact in zip(section["facts"], facts, strict=True):
                cells = [text for _, rows in fact.tables for row in rows for text in row]
                said = [*fact.lines, *cells]
                for text in said:
                    assert text.replace("\u00a0", " ") in html
                found = at(report, pointer)
                # Of lists tables have some columns.
                if isinstance(found, dict) and pointer.split("/")[1] not in (
                    "questions",
                    "attacks",
                ):
                    for leaf in _leaves(found):
                        assert leaf in " ".join(said)


def _leaves(found: Any) -> Iterator[str]:
    """Texts and small whole numbers."""
    if isinstance(found, dict | list):
        for one in found.values() if isinstance(found, dict) else found:
            yield from _leaves(one)
    elif isinstance(found, str) or (type(found) is int and found < 1000):
        yield " ".join(str(found).split())


def test_what_is_not_measured_and_what_is_not_told():
    unmeasured, *_ = [r for r in made("ema") if r["class_sizes"]["release"] is None]
    (texts_of,) = [f for h, f, _ in shown(unmeasured, "missing") if h.startswith("Initial")]
    assert texts_of == [Told("Risk, source", ["missing"]), Told("Class sizes, source", ["missing"])]
    (limits,) = [f for h, f, _ in shown(unmeasured, "missing") if h.startswith("Threshold")]
    assert limits[0] == Told("Risk, limits", tables=[([], [("0.09", "0.09")])])
    (withheld,) = [r for r in made("ema") if r["properties"]["withheld"]]
    assert "Attacks not told, as few are left out" in texts(page(withheld))
    assert "Attacks not measured" in texts(page(unmeasured))


def test_facts_are_small_tables():
    """Of lists with what says most; what is nowhere is no column."""
    told = {
        name: {
            fact.label: fact
            for _, facts, _ in shown(document(attacked(), (), name), "")
            for fact in facts
        }
        for name in get_args(Name)
    }
    [(head, rows)] = told["ema"]["Columns"].tables
    assert head == ["Name", "Role", "Seen", "Goes out"]
    assert rows[0] == [
        "age", "others may know it", "a range, the same for the whole group", "yes"
    ]  # fmt: skip
    [(head, rows)] = told["ema"]["Guarantee"].tables
    assert head == ["Name", "Published", "Sentence", "Required", "Measured"]
    assert (rows[1][0], rows[1][3:]) == ("k-anonymity", ["12", "12"])
    [(none, sizes), (head, bins)] = told["ema"]["Class sizes, source"].tables
    assert (none, head) == ([], ["From", "To", "People"])
    assert sizes[0] == ("People", "1,020")
    assert sizes[-2:] == [("Above, 0.09", "1,020"), ("Above, 1/11", "1,020")]
    assert bins == [["1", "1", "700"], ["2", "10", "320"]]
    assert told["iso27559"]["Subgroups"].lines == ["none"]
    [(head, rows)] = told["iso27559"]["Access"].tables
    assert (head, rows[0]) == (["Role", "Because"], ["analyst", "reader"])
    [(_, rows), (head, found), (_, missing)] = told["ema"]["Attacks"].tables
    assert rows[1] == ("By", "clinic_steward")
    assert head[:3] == ["Attack", "Column", "Somebody"]
    assert head[3:] == ["Release, share", "Control, share", "Difference, value", "Gains"]
    assert [row[0] for row in found][:2] == ["singling out", "linkability"]
    assert missing == [["linkability", "people are known by one column alone"]]
    [(_, answer)] = told["ico"]["Questions"].tables
    assert [name for name, _ in answer] == ["Somebody", "Remains", "Result"]
    assert label("/about/legal_basis_iri") == "Legal basis"
    assert label("/questions/2") == "Questions"


def test_files_are_told_with_who_exported_them():
    report = document(attacked(), (), "hipaa")
    exported = {"at": "2026-03-01", "by": "clerk", "view": "pganon.stays", "rows": 9}
    for known, wanted in (
        (exported, ["stays.csv", "ab", "2026-03-01", "clerk", "pganon.stays", "9"]),
        (None, ["stays.csv", "ab"]),
    ):
        report["files"] = [{"name": "stays.csv", "sha256": "ab", "exported": known}]
        [fact] = [f for _, facts, _ in shown(report, "") for f in facts if f.label == "Files"]
        [(head, rows)] = fact.tables
        assert head[:2] == ["Name", "Sha256"]
        assert rows == [wanted]


def test_a_table_within_a_table_is_a_text():
    report = document(attacked(), (), "hipaa")
    report["not_protected"] = [{"name": "a", "text": {"said": "b", "by": ["c", "d"]}}]
    facts = [fact for _, facts, _ in shown(report, "") for fact in facts]
    [(_, rows)] = next(f for f in facts if f.label == "Not protected").tables
    assert rows == [["a", "said b, by c; d"]]


def test_parts_are_found_by_their_name():
    report = document(attacked(), (), "ico")
    for name in ("singling out", "linkability", "inference"):
        (section,) = [
            one
            for one in report["authority"]["sections"]
            if one["heading"].lower().startswith(name[:-1])
        ]
        found = [at(report, pointer) for pointer in section["facts"]]
        questions = [one for one in found if isinstance(one, dict) and "remains" in one]
        attacks = [one for one in found if isinstance(one, dict) and "adversary" in one]
        assert questions == [one for one in report["questions"] if one["name"] == name]
        wanted = [o for o in report["attacks"]["findings"] if o["attack"] == name.replace(" ", "_")]
        assert attacks == wanted
        assert questions
        assert attacks


@EVERY
def test_hostile_texts_are_shown_as_texts(name: Name):
    about = dict.fromkeys(TEXTS, HOSTILE) | {"expert": dict.fromkeys(ABOUT["expert"], HOSTILE)}
    html = page(document(attacked(about=about), (), name))
    bare = re.sub(r"<script type=\"application/json\".*?</script>", "", html, flags=re.DOTALL)
    assert "<script" not in bare
    assert "\u202e" not in bare
    assert bare.count("&lt;script&gt;alert(1)") >= sum(
        len([p for p in one["facts"] if p.startswith("/about")])
        for one in document(attacked(about=about), (), name)["authority"]["sections"]
    )
    assert "{{ 7 * 7 }}" in bare


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({"review_on": "2026-02-28"}, "The assessment was to be reviewed on 2026-02-28."),
        (
            {"expert": {"valid_until": "2026-02-28"}},
            "The determination of the expert was valid until 2026-02-28.",
        ),
        (
            {"expert": {"determined_on": "2026-02-28"}},
            "The determination of the expert is of 2026-02-28, before this version was measured.",
        ),
        (
            {"intruder_test": {"on": "2026-02-28"}},
            "The intruder test is of 2026-02-28, before this version was measured.",
        ),
    ],
)
def test_days_that_are_over_are_looked_at(about: dict[str, Any], said: str):
    assert said in look_at(collected(about=about))
    same_day = json.loads(json.dumps(about).replace("2026-02-28", "2026-03-01"))
    before = look_at(collected(about={}))
    assert look_at(collected(about=same_day)) == before
    later = datetime(2026, 3, 2, tzinfo=UTC)
    over = look_at(collected(about=same_day, made_at=later))
    until = {*about, *about.get("expert", {})} & {"review_on", "valid_until"}
    assert (over == before) is not bool(until)


@EVERY
def test_the_form_is_signed_with_the_report(name: Name):
    private, public = new_key()
    report = document(attacked(), (), name)
    for file, text in (("r.json", as_json(report)), ("r.html", page(report))):
        signed = sign(file, text, private, AT)
        assert verify(file, signed.encode(), public)["release"] == "admissions"
        for before, after in ((f'"form": "{name}"', '"form": "other"'), ("/risk/", "/rank/")):
            if before in signed:
                with pytest.raises(Unsigned):
                    verify(file, signed.replace(before, after).encode(), public)


def test_readers_have_no_form(tmp_path: Any):
    file = tmp_path / "r.json"
    ran = pganon("report", "stays", "--for", "readers", "--form", "ema", "-o", str(file))
    assert (ran.code, file.exists()) == (2, False)
    assert "forms of authorities are for the officer" in ran.err


@pytest.mark.slow
def test_forms_of_several_releases_resolve():
    """Classes, exact columns, clusters; see the report of every method, too."""
    from pganon.report.authority import under_headings

    for kept, report in documents().items():
        for name in get_args(Name) if kept != "readers" else ():
            form = under_headings(report, name)
            assert page({**report, "authority": form}).count(form["title"]) == 2
            for section in form["sections"]:
                for pointer in (*section["facts"], *section["open"]):
                    at(report, pointer)
