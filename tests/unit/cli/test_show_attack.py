"""Attacks on the terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pganon.attacks.curve import Guesses
from pganon.attacks.findings import Attacked, Attempt, Counted, NotMeasured, findings
from pganon.cli.attack import _show

ATTEMPTS = {
    Attempt("singling_out", "published_row"): Counted(0, 0, 0, 0),
    Attempt("membership", "list"): Counted(80, 100, 20, 100),
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
    learned=False,
    findings=findings(ATTEMPTS.items(), list(ATTEMPTS.items()), {}, (0.1,)),
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
    assert lines[-4:] == [
        "surest guesses were not measured: of 400 people at least",
        "others known: 4 other people of the group",
        "has a list: if 10.0% of a list are in the source, so are 30.8% of whom the attacker says"
        " so",
        "linkability was not measured: people are known by one column alone",
    ]


def test_the_surest_guesses(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "150")
    attempt = Attempt("inference", "quasi_identifiers", "pay")
    shadow = Counted(0, 9, 120, 500, (Guesses("=high", 0.5, 500, 120),))
    sure = (Guesses("=high", 1, 100, 100), Guesses("", 0.4, 400, 4))
    found = findings([(attempt, Counted(104, 500, 0, 0, sure))], [(attempt, shadow)], {}, ())
    _show(replace(FOUND, findings=found, targets=500))
    out = capsys.readouterr().out
    rows = [" ".join(line.split()) for line in out.splitlines()]
    assert "pay quasi-identifiers 0.97 (0.94 to 0.99) 100 of 100 24 of 100 100 of 100" in rows
    assert any(row.startswith("pay: high quasi-identifiers 0.9") for row in rows)
    assert "pip install 'pganon[learn]'" in out
    _show(replace(FOUND, findings=found, targets=500, learned=True))
    assert "pip install" not in capsys.readouterr().out
    usual = replace(found[0], choice=None, value_choice=None)
    _show(replace(FOUND, findings=(usual,), targets=500))
    assert "surest guesses were not measured: anybody guesses most" in capsys.readouterr().out


def test_others_are_explained_only_where_they_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    _show(replace(FOUND, findings=FOUND.findings[:2]))
    assert "others known" not in capsys.readouterr().out
