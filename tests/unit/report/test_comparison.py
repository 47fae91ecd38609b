"""The page of a comparison: its figures are those of the document, and nothing is mixed up."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest

from pganon.report.charts.maps import Box, placed
from pganon.report.comparison.page import page
from pganon.report.comparison.series import heads_of, rows, series_of
from pganon.report.template import KINDS, at
from tests.support.sources.comparisons import candidate, check, comparison, figures, refused
from tests.unit.report.test_page import FIGURE, HOSTILE

EMBEDDED = re.compile(
    r'<script type="application/json" id="pganon-comparison">(.*?)</script>', re.S
)
MAP = re.compile(r'aria-label="(Average chance[^"]*)"')


def texts(found: dict[str, Any]) -> str:
    html = re.sub(r"<style>.*?</style>", "", EMBEDDED.sub("", page(found)), flags=re.S)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html))).replace("\u00a0", " ")


def maps(found: dict[str, Any]) -> list[str]:
    return [unescape(one).replace("\u00a0", " ") for one in MAP.findall(page(found))]


def test_every_figure_is_that_of_the_document():
    found = comparison()
    html = page(found)
    (embedded,) = EMBEDDED.findall(html)
    assert json.loads(embedded) == found
    shown = FIGURE.findall(html)
    for path, kind, text in shown:
        assert unescape(text) == KINDS[kind](at(found, path))
    paths = {path for path, _, _ in shown}
    for name in ("highest_risk", "mean_risk", "loss", "median_error", "suppressed", "groups"):
        assert {f"candidates.{n}.figures.{name}" for n in range(12)} <= paths


def test_what_it_says():
    text = texts(comparison())
    assert (
        "4 of 12 candidates remain: their highest chance to find a person is at most 9 %, and no"
        " other beats them. Number 2 (mondrian, choose: loss, k = 12) answers best of these: half"
        " of the counts are off by less than 7.5 %."
    ) in text
    assert "Half of 500 random counts with 2 conditions are off by less." in text
    assert [one["verdict"] for one in rows(comparison()["candidates"], 0.09)][:5] == [
        "above 9\u00a0%",
        *["candidate"] * 3,
        "beaten by 1",
    ]
    assert not re.search(r"\bsafe\b|\banonymous\b|\bscore\b", text.lower())


@pytest.mark.parametrize(
    ("bound", "worst"), [(">=", "0.4"), (">", "0.4"), ("<=", "0.5"), ("<", "0.5")]
)
def test_the_worst_measure_is_that_on_the_side_of_the_bound(bound: str, worst: str):
    verified = [check("m", None, "x", bound, measured) for measured in (0.4, 0.5, 0.4)]
    (row,) = rows([candidate(1, {"name": "mondrian"}, figures=figures(verified=verified))], 0.09)
    assert [text.split("\u00a0")[-1] for text in row["measured"]] == [worst]


def test_a_map_has_a_mark_for_every_candidate():
    loss, error = maps(comparison())
    assert loss.startswith("Average chance to find a person against information lost. ")
    assert "mondrian, choose: loss, candidate 2, k = 12: 4 % and 2 %" in loss
    assert "mondrian, variant: relaxed, candidate 12, k = 50: 1.7 % and 51.2 %" in error
    assert loss.count("candidate ") == error.count("candidate ") == 12
    html = page(comparison())
    full = len(re.findall(r'class="mk c\d full"', html))
    assert full == 2 * 4 + 3  # in both maps, and in the key


def test_losses_of_different_forms_are_in_different_maps():
    """Errors are in one, and what has no chance is in none."""
    method = {"name": "mondrian"}
    made = [
        candidate(1, method, figures=figures("classes", loss=0.11)),
        candidate(2, method, figures=figures("classes", loss=0.12)),
        candidate(3, {"name": "lgb_mdp"}, figures=figures("local groups", loss=0.71)),
        candidate(4, {"name": "lgb_ncp"}, figures=figures("local groups", loss=0.72)),
        candidate(5, {"name": "lone"}, figures=figures("lonely groups", loss=0.91)),
        candidate(
            6,
            {"name": "anatomy"},
            figures=figures("groups", loss=0.01, highest_risk=None, mean_risk=None),
        ),
    ]
    found = comparison(*made)
    classes, local, error = maps(found)
    assert "11 %" in classes
    assert "71 %" not in classes
    assert "71 %" in local
    assert "11 %" not in local
    assert error.count("candidate ") == 5
    text = texts(found)
    assert "Information lost of classes" in text
    assert "6 is on no map: of this form no chance to find a person is measured." in text
    assert "Of 6 no chance to find a person is measured." in text


def test_lines_follow_the_numbers_that_are_varied():
    made = [
        candidate(n, {"name": "mondrian"}, varied={"k": k, "l": level})
        for n, (level, k) in enumerate([(2, 50), (2, 5), (3, 5), (3, 50), (3, 12)], 1)
    ]
    found = series_of(made)
    assert [(one.name, one.joined) for one in found] == [
        ("mondrian, l\u00a0=\u00a02", True),
        ("mondrian, l\u00a0=\u00a03", True),
    ]
    assert [m.text.replace("\u00a0", " ") for m in found[1].marks] == ["k = 5", "k = 12", "k = 50"]


def test_many_methods_are_told_apart_by_their_numbers():
    made = [candidate(n, {"name": "mondrian", "seed": n}, varied={"k": 5}) for n in range(1, 14)]
    found = series_of(made)
    assert [m.text for one in found for m in one.marks] == [str(n) for n in range(1, 14)]
    assert len({one.style for one in series_of(made[:12])}) == 12


def test_labels_hide_nothing():
    points = [(100.0 + n, 100.0) for n in range(0, 60, 4)]
    boxes = placed([(p, "k = 5") for p in points], points, [], Box(40, 20, 340, 260))
    found = [box for box in boxes if box is not None]
    assert 3 <= len(found) < len(points)
    for n, one in enumerate(found):
        assert not any(one.meets(other) for other in found[:n])
        assert not any(one.left < x < one.right and one.top < y < one.bottom for x, y in points)


def test_refusals_have_reasons():
    made = [
        refused(1, {"name": "anatomy"}, "policy", "anatomy cannot guarantee it"),
        refused(2, {"name": "slicing"}, "policy", "anatomy cannot guarantee it"),
    ]
    text = texts(comparison(*made, comparison=None, records=None))
    assert "No candidate can be released: all were refused." in text
    assert "1, 2 anatomy cannot guarantee it (policy)" in text
    assert "Nothing was read from census.adult" in text
    assert "No map:" in text


def test_nothing_remains():
    made = candidate(1, {"name": "mondrian"}, verdict="above_limit")
    assert "None of 1 candidate remains" in texts(comparison(made))


def test_the_worst_of_several_distributions_is_shown():
    verified = [
        check("t_closeness", "job", "t", "<=", 0.2),
        {**check("t_closeness", "job", "t", "<=", 0.3), "against": "released"},
        check("structure", None, "violations", "<=", 0),
        check("k_anonymity", None, "k", ">=", 12),
    ]
    (row,) = rows([candidate(1, {"name": "m"}, figures=figures(verified=verified))], 0.09)
    assert row["measured"] == ["t\u00a0=\u00a00.3"]


def test_heads_say_which_requirement_is_measured():
    plain = [("distinct", "job", "l"), ("closeness", "job", "t")]
    assert list(heads_of(plain, ["l"]).values()) == ["measured l", "t"]
    columns = [("distinct", "job", "l"), ("distinct", "pay", "l"), ("k_anonymity", None, "k")]
    assert list(heads_of(columns).values()) == ["l of job", "l of pay", "k"]
    models = [("distinct", "job", "l"), ("entropy", "job", "l")]
    assert list(heads_of(models).values()) == ["distinct l", "entropy l"]


def test_hostile_names_and_values_are_texts():
    method = {"name": "mondrian", "option": HOSTILE, "other": "x" * 10_000}
    verified = [check(HOSTILE, HOSTILE, HOSTILE, ">=", 4)]
    made = [
        candidate(1, method, varied={HOSTILE: HOSTILE}, figures=figures(verified=verified)),
        candidate(2, method, varied={HOSTILE: "y" * 10_000}),
        refused(3, method, "policy", HOSTILE),
    ]
    html = page(comparison(*made, release=HOSTILE, source=HOSTILE))
    assert html.count("<script") == 1
    assert "alert(1)</script>" not in html
    visible = EMBEDDED.sub("", html)
    assert "\u202e" not in visible
    assert "x" * 200 not in visible
    assert "y" * 200 not in visible


def test_nothing_is_loaded():
    html = EMBEDDED.sub("", page(comparison()))
    assert "default-src 'none'" in html
    assert not re.search(r"\b(src|srcset|action|data|poster|href)=", html)
    fonts = html.count("src:url(data:font/woff2;base64,")
    assert (fonts, html.count("url("), html.count("font-src data:;")) == (2, 2, 1)
