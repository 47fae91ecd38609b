"""The schema of reports: documents satisfy it, and none that lacks a key or has another one."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from pganon.report.document import document, report_schema
from pganon.report.readers.document import document as readers_document
from pganon.report.signature import new_key, sign
from pganon.report.template import as_json
from tests.support.harness.documents import valid
from tests.support.sources.comparisons import comparison, of_adult, refused
from tests.support.sources.pages import documents
from tests.support.sources.reports import AT, ATTACKED, collected, event
from tests.unit.report.test_readers_edition import seen

DIGEST = "ab" * 32
NOTHING = {"release": None, "source": None}


def officers() -> dict[str, Any]:
    """All parts that a report can have are in one."""
    reason = {"login": "dpo", "reason": "as the board decided"}
    file = {"file": "a.csv", "view": "published.a", "rows": 9, "sha256": DIGEST}
    events = [
        event(1, "refused", 9, model="k_anonymity", required=5, observed=3),
        event(2, "rejected", 8, **reason),
        event(3, "approved", 1, request=1, **reason),
        event(4, "released", 1, row_count=1000, guard=GUARD),
        event(5, "attacked", 1, **ATTACKED),
        event(6, "exported", 1, **file),
    ]
    given = {"name": "b.csv", "sha256": "cd" * 32}
    return document(collected(events=events), [given], "hipaa")


GUARD = {"guard_shared": 9, "guard_smallest": 3, "guard_below_k": 0}


def compared() -> dict[str, Any]:
    return comparison(*of_adult(), refused(13, {"name": "mondrian"}, "no_guarantee", "too few"))


def made() -> dict[str, dict[str, Any]]:
    attacked = officers()
    return {
        "officer": attacked,
        "readers": readers_document(seen(), [{"name": "b.csv", "sha256": DIGEST}]),
        "comparison": compared(),
        **{f"kept_{name}": one for name, one in documents().items()},
        "unmeasured": document(collected(evidence=None, evidence_intact=None, measures={})),
    }


@pytest.mark.parametrize("name", made())
def test_documents_satisfy_it(name: str) -> None:
    valid(made()[name])


def test_whole_numbers_stay_so() -> None:
    """Reports of the same version are equal byte for byte, whoever made them."""
    report = document(collected())
    _, people, _ = (check["required"] for check in report["guarantee"])
    edges = [one["below"] for one in report["attributes"][0]["distribution"]["bins"]]
    assert json.dumps([people, edges]) == "[12, [20, 40, null]]"
    assert report["timestamp"] == AT.isoformat()


def paths(found: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Of all keys; of lists those of the first element."""
    if isinstance(found, list):
        if found:
            yield from paths(found[0], (*path, 0))
    elif isinstance(found, dict):
        for key, below in found.items():
            yield (*path, key)
            yield from paths(below, (*path, key))


LEFT_OUT = {
    *("description", "conditionsOfAccess", "datePublished", "authority"),
    *("dct:title", "dct:description", "dct:accessRights", "dcatap:applicableLegislation"),
    *("dpv:hasPurpose", "dpv:hasLegalBasis"),
    *("healthdcatap:numberOfRecords", "healthdcatap:numberOfUniqueIndividuals"),
}
"""Keys that need not be there; nor needs each limit."""

FREE = {"method", "varied", "privacy"}
"""Options of methods and models, which the schema of policies describes."""


@pytest.mark.parametrize("name", ["officer", "readers", "comparison"])
def test_a_key_that_is_missing_or_renamed_is_none(name: str) -> None:
    report = made()[name]
    valid(report)
    for *above, key in paths(report):
        if (above and above[-1] in FREE) or (above[-2:-1] and above[-2] in FREE):
            continue
        absent = key in LEFT_OUT or (above and above[-1] in ("limits", "above"))
        absent = absent or (*above, key) == ("dataset", "version")
        for other in ({f"{key}_": None}, *([] if absent else [{}])):
            changed = copy.deepcopy(report)
            inside = changed
            for part in above:
                inside = inside[part]
            held = inside.pop(key)
            inside.update(dict.fromkeys(other, held))
            with pytest.raises(ValidationError):
                valid(changed)


@pytest.mark.parametrize("name", ["officer", "readers"])
def test_signed_reports_satisfy_it(name: str) -> None:
    private, _ = new_key()
    report = json.loads(sign("r.json", as_json(made()[name]), private, AT))
    valid(report)
    report["signature"]["statement"]["key"] = "other"
    with pytest.raises(ValidationError):
        valid(report)


def test_the_printed_schema_says_the_same() -> None:
    validator = pytest.importorskip("jsonschema").Draft202012Validator
    schema = json.loads(json.dumps(report_schema()))
    validator.check_schema(schema)
    by_schema = validator(schema, format_checker=validator.FORMAT_CHECKER)
    private, _ = new_key()
    signed = json.loads(sign("r.json", as_json(officers()), private, AT))
    for report in (signed, made()["readers"], compared()):
        read = json.loads(json.dumps(report))
        assert by_schema.is_valid(read)
        for path in ("timestamp", "program", "limit", "edition"):
            if path in read:
                assert not by_schema.is_valid({k: v for k, v in read.items() if k != path})
        assert not by_schema.is_valid({**read, "other": None})
    assert not by_schema.is_valid({**signed, "signature": None})
    del signed["attributes"][0]["distribution"]["bins"][0]["below"]
    assert not by_schema.is_valid(signed)
