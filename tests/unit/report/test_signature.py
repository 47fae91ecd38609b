"""A signed report is exactly what was signed."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from pganon.errors import UsageError
from pganon.report.document import document
from pganon.report.export_check import file_entry
from pganon.report.page import page
from pganon.report.signature import Unsigned, new_key, sign, verify
from pganon.report.template import as_json
from tests.support.harness.cli import pganon
from tests.support.harness.documents import valid
from tests.support.sources.reports import AT, collected

PRIVATE, PUBLIC = new_key()
FILES = {"r.html": page(document(collected())), "r.json": as_json(document(collected()))}
SIGNED = {name: sign(name, text, PRIVATE, AT) for name, text in FILES.items()}
both = pytest.mark.parametrize("name", FILES)


def refused(name: str, text: str | bytes, why: str = ".") -> None:
    content = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(Unsigned, match=why):
        verify(name, content, PUBLIC)


@both
def test_what_was_signed_is_verified(name: str):
    said = verify(name, SIGNED[name].encode(), PUBLIC)
    assert (said["purpose"], said["release"], said["version"], said["edition"]) == (
        "pganon report 1",
        "admissions",
        1,
        "officer",
    )
    assert said["evidence_sha256"] == document(collected())["proof"]["evidence_sha256"]
    assert said["signed_at"] == AT.isoformat()


@both
@pytest.mark.parametrize(
    ("before", "after"), [("50", "40"), ("analyst", "anybody"), ("hold", "hole")]
)
def test_what_was_changed_is_not(name: str, before: str, after: str):
    """Also where the page alone, or its document alone, says something else."""
    signed = SIGNED[name]
    at = [place for place in range(len(signed)) if signed.startswith(before, place)]
    for place in (at[0], at[-1]):
        refused(name, signed[:place] + after + signed[place + len(before) :])


def test_other_keys_statements_and_files_are_refused():
    with pytest.raises(Unsigned, match="not signed with this key"):
        verify("r.html", SIGNED["r.html"].encode(), new_key()[1])
    refused("r.html", FILES["r.html"], "is not signed")
    for name, signed in SIGNED.items():
        for other in ("", "{}", "[]", "<html></html>", signed + signed, '{"properties": 1}'):
            refused(name, other, "no report")
    twin = json.loads(SIGNED["r.json"])
    other = document(collected(release="other"))
    changed = as_json({**other, "signature": twin["signature"]})
    refused("r.json", changed, r"changed after it was signed: release, report_sha256")
    twin["signature"]["statement"]["release"] = "other"
    refused("r.json", as_json(twin), "not signed with this key")


def test_nothing_is_hidden_in_the_signature():
    """Attack: the digest of the page leaves it out."""
    for hidden in ('{"signature": "<!--<script>", "signature"', '{ "signature"'):
        refused("r.html", SIGNED["r.html"].replace('{"signature"', hidden, 1), "changed it")
    twin = json.loads(SIGNED["r.json"])
    twin["signature"]["note"] = "approved by everybody"
    refused("r.json", as_json(twin), "signature was changed")
    twin = json.loads(SIGNED["r.json"])
    given = twin["signature"]["signature"]
    assert given.endswith("==")
    twin["signature"]["signature"] = f"{given[:-3]}{chr(ord(given[-3]) + 1)}=="
    refused("r.json", as_json(twin), "signature was changed")


TWICE = (
    ('"edition": "officer"', '"edition": "readers", "edition": "officer"'),
    ('"smallest": 12', '"smallest": 50, "smallest": 12'),
    ('"purpose": ', '"purpose": "another", "purpose": '),
)


@both
@pytest.mark.parametrize(("before", "after"), TWICE)
def test_a_key_that_is_there_twice_is_refused(name: str, before: str, after: str):
    """Attack: one program reads the first, another one the last; anywhere in the document."""
    assert before in SIGNED[name]
    refused(name, SIGNED[name].replace(before, after, 1), "twice")


def test_a_page_in_front_of_the_signed_json_is_refused():
    """Attack: what a browser shows is the text of a key that the last one replaces."""
    forged = '{"edition": "<!doctype html><h1>k = 50</h1><!--",' + SIGNED["r.json"][1:]
    for name in FILES:
        refused(name, forged)


@pytest.mark.parametrize(("signed", "name"), [("r.html", "r.json"), ("r.json", "r.html")])
def test_the_name_decides_what_a_file_is(signed: str, name: str):
    refused(name, SIGNED[signed], "no report")
    with pytest.raises(UsageError, match=r"ends in .html or .json"):
        verify("r.txt", SIGNED[signed].encode(), PUBLIC)


def test_a_file_is_what_pganon_writes_byte_for_byte():
    """Nothing that another program may read in another way."""
    signed = SIGNED["r.json"]
    reordered = json.dumps(dict(reversed(json.loads(signed).items())), indent=2) + "\n"
    for other in (
        signed.replace("0.31", "0.310", 1),
        signed.replace("admissions", "\\u0061dmissions", 1),
        reordered,
        signed[:-1],
        signed.replace("\n", "\r\n"),
    ):
        refused("r.json", other, "not as pganon writes it")
    refused("r.json", "\ufeff" + signed, "no report")
    page = SIGNED["r.html"]
    for before, after in (('{"about"', '{ "about"'), ('{"signature"', '{ "signature"')):
        assert page.count(before) == 1
        refused("r.html", page.replace(before, after), "not as pganon writes it")
    replaced = collected(release="a\ufffdb")
    signed = sign("r.json", as_json(document(replaced)), PRIVATE, AT)
    verify("r.json", signed.encode(), PUBLIC)
    odd = sign("r.html", page_of("a\ufffdb"), PRIVATE, AT).encode()
    verify("r.html", odd, PUBLIC)
    refused("r.html", odd.replace("\ufffd".encode(), b"\xff", 1), "no report")


def page_of(release: str) -> str:
    return page(document(collected(release=release)))


HOSTILE = {
    "deep": "[" * 100_000 + "]" * 100_000,
    "deep, but parsed": "[" * 900 + "]" * 900,
    "surrogate": '"\\ud800"',
    "not a number": "NaN",
    "infinite": "1e999",
    "long": "9" * 10_000,
}


@both
@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
def test_hostile_documents_are_refused(name: str, hostile: str):
    """Not as internal errors."""
    refused(name, SIGNED[name].replace('"program": "pganon 0.1.0"', f'"program": {hostile}', 1))
    refused("r.json", hostile, "no report")


def test_many_opening_tags_take_no_longer_than_they_are_long():
    """Attack: every one of them was searched for its end. 8 MB took hours."""
    for tag in ("report", "signature"):
        tags = f'<script type="application/json" id="pganon-{tag}">' * 150_000
        refused("r.html", tags, "no report")
        refused("r.html", tags + SIGNED["r.html"], "no report")


@both
def test_a_report_is_signed_again(name: str):
    assert sign(name, SIGNED[name], PRIVATE, AT) == SIGNED[name]


@both
def test_what_waits_is_signed_as_no_version(name: str):
    """It may be rejected: then another one gets the number that comes next."""
    waits = collected(request=7, shown=None, events=[])
    made = valid(document(waits))
    assert (made["properties"]["version"], made["uid"]) == (None, "admissions/request 7")
    assert "version" not in made["dataset"]
    signed = sign(name, page(made) if name == "r.html" else as_json(made), PRIVATE, AT)
    said = verify(name, signed.encode(), PUBLIC)
    assert (said["version"], said["request"]) == (None, 7)
    assert "version 1" not in signed


def test_by_commands(tmp_path: Path):
    key, public = tmp_path / "key", tmp_path / "key.pub"
    assert pganon("report", "key", str(key)).code == 0
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert "a key is never replaced" in pganon("report", "key", str(key)).err
    file = tmp_path / "report.html"
    file.write_text(sign(file.name, FILES["r.html"], key.read_bytes(), AT))
    ran = pganon("report", "verify", str(file), "--key", str(public))
    assert (ran.code, ran.err) == (0, "")
    said = f"{file}: admissions, for the officer, version 1; signed at 2026-03-01"
    assert ran.out.startswith(said)
    file.write_text(file.read_text().replace("50 %", "5 %", 1).replace("50\u00a0%", "5\u00a0%", 1))
    ran = pganon("report", "verify", str(file), "--key", str(public), "--json")
    assert ran.code == 1
    assert ran.json["why"].startswith("it was changed after it was signed: page_sha256")
    assert "no public key" in pganon("report", "verify", str(file), "--key", str(key)).err
    waits = document(collected(request=7))
    file.write_text(sign(file.name, page(waits), key.read_bytes(), AT))
    ran = pganon("report", "verify", str(file), "--key", str(public))
    said = "admissions, for the officer, request 7, which waited for approval then: no version;"
    assert ran.out.startswith(f"{file}: {said}")


def test_names_of_files_can_be_signed():
    """The name of an exported file may be no text."""
    made = document(collected(), [file_entry("\udcff.csv", b"")])
    signed = sign("r.json", as_json(made), PRIVATE, AT)
    assert verify("r.json", signed.encode(), PUBLIC)["release"] == "admissions"
