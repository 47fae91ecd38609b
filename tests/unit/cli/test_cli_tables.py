"""Tables of the command line at the width of a terminal."""

from __future__ import annotations

import pytest

from pganon.cli import common

ROWS = [
    ("distinct_l_diversity", "primary_diagnosis", "l >= 4", 4, "a sentence of several words"),
    ("view", None, "", 0, "x"),
]
COLUMNS = ["requirement", "column", "required", "violating individuals", "what it is about"]
LONG = "published.very_long_release_name_qit1"


def shown(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    width: int,
    **options: object,
) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    common.table(options.pop("columns", COLUMNS), options.pop("rows", ROWS), **options)
    return capsys.readouterr().out


@pytest.mark.parametrize("width", [80, 90, 120, 200])
def test_no_word_is_broken(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    text = shown(capsys, monkeypatch, width)
    assert all(len(line) <= width for line in text.splitlines())
    words = [w for row in [COLUMNS, *ROWS] for cell in row if cell for w in str(cell).split()]
    assert set(words) <= set(text.split())


def test_rows_that_do_not_fit_are_shown_one_below_the_other(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = ["model", "column", "against", "required", "measured", "holds"]
    rows = [
        ("distinct_l_diversity", "primary_diagnosis", LONG, "4", "4", "yes"),
        ("fingerprint", None, "", "", "", "NO"),
    ]
    text = shown(capsys, monkeypatch, 80, columns=columns, rows=rows, title="measured again")
    assert text.splitlines() == [
        "measured again:",
        "model     distinct_l_diversity",
        "column    primary_diagnosis",
        f"against   {LONG}",
        "required  4",
        "measured  4",
        "holds     yes",
        "",
        "model  fingerprint",
        "holds  NO",
        "",
    ]


def test_columns_that_are_to_be_whole_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [("one two three", "many words that can go on several lines " * 3)]
    text = shown(capsys, monkeypatch, 50, columns=["a", "b"], rows=rows, whole=["a"])
    assert "one two three" in text
    assert len(text.splitlines()) > 4


def test_a_table_without_rows(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "required" in shown(capsys, monkeypatch, 120, rows=[])
