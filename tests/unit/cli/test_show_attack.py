"""Attacks on the terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pganon.attacks.findings import Attacked, Attempt, Counted, NotMeasured, findings
from pganon.cli.attack import _show

ATTEMPTS = {
    Attempt("singling_out", "published_row"): Counted(0, 0, 0, 0),
    Attempt("inference", "others_known", "disease"): Counted(56, 70, 48, 80),
}
FOUND = Attacked(
    release="stays",
    source="hospital.patient",
    run_id=7,
    seed=1,
    records=900,
    people=800,
    control_people=80,
    targets=70,
    known_others=4,
    findings=findings(ATTEMPTS.items(), ATTEMPTS.items()),
    not_measured=(NotMeasured("linkability", "people are known by one column alone"),),
)


def test_what_is_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "150")
    _show(FOUND)
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[:2] == [
        "attacks on stays, dry runs over 900 records of hospital.patient: nothing was published",
        "70 people of the release, and 70 of 80 who were held out of another one (control)",
    ]
    rows = [line.split("  ") for line in lines if line.startswith(("singling", "inference"))]
    assert [[cell.strip() for cell in row if cell.strip()] for row in rows] == [
        ["singling out", "states a row", "no guess", "no guess", "no guess"],
        [
            *("inference of disease", "others known"),
            *("80.0% (69.2 to 87.7)", "80.0% (69.2 to 87.7)", "60.0% (49.0 to 70.0)"),
            "+20.0% (+5.2 to +33.4)",
        ],
    ]
    assert lines[-2:] == [
        "others known: 4 other people of the group",
        "linkability was not measured: people are known by one column alone",
    ]


def test_others_are_explained_only_where_they_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    _show(replace(FOUND, findings=FOUND.findings[:1]))
    assert "others known" not in capsys.readouterr().out
