"""A signed report is exactly what was signed."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from pganon.report.document import document
from pganon.report.page import page
from pganon.report.signature import Unsigned, new_key, sign, verify
from tests.support.harness.cli import pganon
from tests.support.sources.reports import AT, collected

PRIVATE, PUBLIC = new_key()
HTML = page(document(collected()))
JSON = json.dumps(document(collected()), indent=2, sort_keys=True)


@pytest.mark.parametrize("text", [HTML, JSON], ids=["html", "json"])
def test_what_was_signed_is_verified(text: str):
    said = verify(sign(text, PRIVATE, AT), PUBLIC)
    assert (said["purpose"], said["release"], said["version"]) == (
        "pganon report 1",
        "admissions",
        1,
    )
    assert said["evidence_sha256"] == document(collected())["proof"]["evidence_sha256"]
    assert said["signed_at"] == AT.isoformat()


@pytest.mark.parametrize("text", [HTML, JSON], ids=["html", "json"])
@pytest.mark.parametrize(
    ("before", "after"), [("50", "40"), ("analyst", "anybody"), ("hold", "hole")]
)
def test_what_was_changed_is_not(text: str, before: str, after: str):
    """Also where the page alone, or its document alone, says something else."""
    signed = sign(text, PRIVATE, AT)
    at = [place for place in range(len(signed)) if signed.startswith(before, place)]
    for place in (at[0], at[-1]):
        changed = signed[:place] + after + signed[place + len(before) :]
        with pytest.raises(Unsigned):
            verify(changed, PUBLIC)


def test_other_keys_statements_and_files_are_refused():
    signed = sign(HTML, PRIVATE, AT)
    with pytest.raises(Unsigned, match="not signed with this key"):
        verify(signed, new_key()[1])
    with pytest.raises(Unsigned, match="is not signed"):
        verify(HTML, PUBLIC)
    for other in ("", "{}", "[]", "<html></html>", signed + signed, '{"properties": 1}'):
        with pytest.raises(Unsigned, match="no report"):
            verify(other, PUBLIC)
    twin = json.loads(sign(JSON, PRIVATE, AT))
    other = document(collected(release="other"))
    with pytest.raises(Unsigned, match=r"changed after it was signed: release, report_sha256"):
        verify(json.dumps({**other, "signature": twin["signature"]}), PUBLIC)
    twin["signature"]["statement"]["release"] = "other"
    with pytest.raises(Unsigned, match="not signed with this key"):
        verify(json.dumps(twin), PUBLIC)


def test_nothing_is_hidden_in_the_signature():
    """Attack: the digest of the page leaves it out."""
    signed = sign(HTML, PRIVATE, AT)
    for hidden in ('{"signature": "<!--<script>", "signature"', '{ "signature"'):
        with pytest.raises(Unsigned, match="signature was changed"):
            verify(signed.replace('{"signature"', hidden, 1), PUBLIC)
    twin = json.loads(sign(JSON, PRIVATE, AT))
    twin["signature"]["note"] = "approved by everybody"
    with pytest.raises(Unsigned, match="signature was changed"):
        verify(json.dumps(twin), PUBLIC)


def test_a_page_is_signed_again():
    again = sign(sign(HTML, PRIVATE, AT), PRIVATE, AT)
    assert again == sign(HTML, PRIVATE, AT)


def test_by_commands(tmp_path: Path):
    key, public = tmp_path / "key", tmp_path / "key.pub"
    assert pganon("report", "key", str(key)).code == 0
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert "a key is never replaced" in pganon("report", "key", str(key)).err
    file = tmp_path / "report.html"
    file.write_text(sign(HTML, key.read_bytes(), AT))
    ran = pganon("report", "verify", str(file), "--key", str(public))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"{file}: admissions, version 1; signed at 2026-03-01")
    file.write_text(file.read_text().replace("50 %", "5 %", 1).replace("50\u00a0%", "5\u00a0%", 1))
    ran = pganon("report", "verify", str(file), "--key", str(public), "--json")
    assert ran.code == 1
    assert ran.json["why"].startswith("it was changed after it was signed: page_sha256")
    assert "no public key" in pganon("report", "verify", str(file), "--key", str(key)).err
