"""An exported file is held against the signed report of its version."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from pganon.report.document import document
from pganon.report.export_check import file_entry, held_against
from pganon.report.signature import Unsigned, new_key, sign
from pganon.report.template import as_json
from tests.support.harness.cli import pganon
from tests.support.sources.reports import AT, MEASURES, collected

CHECKS: dict[str, dict[str, Any]] = {
    "k_anonymity": {"bound": ">=", "required": 2, "column": None, "symbol": "k"},
    "distinct_l_diversity": {"bound": ">=", "required": 2, "column": "diagnosis", "symbol": "l"},
    "alpha_k_anonymity": {"bound": "<=", "required": 2 / 3, "column": "diagnosis", "symbol": "a"},
    "t_closeness": {"bound": "<=", "required": 0.1, "column": "diagnosis", "symbol": "t"},
}
CSV = (
    "class_id,age,diagnosis\n"
    '1,"[20,30]",flu\n1,"[20,30]",flu\n1,"[20,30]","a ""cold"", or\nso"\n'
    '2,"[31,40]",\n2,"[31,40]",""\n'
)
"""In the second class no value and an empty one: two different values."""


def report(*contents: bytes, rows: int = 5, checks: Any = CHECKS) -> dict[str, Any]:
    verified = [{"model": m, "against": "", "measured": 0, **c} for m, c in checks.items()]
    made = document(
        collected(measures={**MEASURES, "verified": verified}),
        [file_entry("stays.csv", content) for content in contents],
    )
    made["properties"]["released"] = rows
    return made


@pytest.mark.parametrize("packed", [False, True])
def test_what_holds_is_counted_again(packed: bool):
    content = gzip.compress(CSV.encode()) if packed else CSV.encode()
    found = held_against(report(content), content)
    assert {one["model"]: one["counted"] for one in found} == {
        "k_anonymity": 2,
        "distinct_l_diversity": 2,
        "alpha_k_anonymity": pytest.approx(2 / 3),
    }


@pytest.mark.parametrize(
    ("model", "required"),
    [("k_anonymity", 3), ("distinct_l_diversity", 3), ("alpha_k_anonymity", 0.6)],
)
def test_what_does_not_hold_is_refused(model: str, required: float):
    """Even if the steward signed that it does."""
    made = report(CSV.encode(), checks={model: {**CHECKS[model], "required": required}})
    with pytest.raises(Unsigned, match="does not satisfy"):
        held_against(made, CSV.encode())


def test_other_files_are_refused():
    other = CSV.replace("[20,30]", "[20,29]").encode()
    with pytest.raises(Unsigned, match="none of those"):
        held_against(report(CSV.encode()), other)
    with pytest.raises(Unsigned, match="none of those"):
        held_against(report(), CSV.encode())
    with pytest.raises(Unsigned, match="has 5 rows, the report says 6"):
        held_against(report(CSV.encode(), rows=6), CSV.encode())
    broken = b'class_id\n1,"2'
    with pytest.raises(Unsigned, match="cannot be read"):
        held_against(report(broken), broken)


@pytest.mark.parametrize(
    "content",
    [b"PAR1\x00\xff", b"", b"group_id,count\n1,2\n", b"class_id,individual_no\n1,1\n"],
)
def test_what_cannot_be_counted_is_not(content: bytes):
    """Other forms, and classes in which people have several records."""
    assert held_against(report(content, rows=1), content) == []


def test_by_the_command(tmp_path: Path):
    private, public = new_key()
    page, key, file = tmp_path / "report.json", tmp_path / "key.pub", tmp_path / "stays.csv"
    page.write_text(sign(page.name, as_json(report(CSV.encode())), private, AT))
    key.write_bytes(public)
    file.write_text(CSV)
    command = ("report", "verify", str(page), "--key", str(key), "--export", str(file))
    ran = pganon(*command)
    assert (ran.code, ran.err) == (0, "")
    assert "is the file that was signed; counted again: k_anonymity 2, " in ran.out
    file.write_text(CSV.replace("flu", "flue"))
    ran = pganon(*command, "--json")
    assert (ran.code, ran.json["signed"]) == (1, False)
    assert "none of those" in ran.json["why"]
