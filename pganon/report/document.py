"""The report as a document of JSON, from what was stored of a version.

Names of the results of ACRO are used where there are any: `uid`, `type`, `status`, `command`,
`summary`, `outcome`, `properties`, `files`, `timestamp`, `comments`, `exception`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from pganon.forms.evidence import DIGEST, sha256
from pganon.privacy.judged import HOLDS
from pganon.report import events, figures, guarantee
from pganon.report.attacks import attacks
from pganon.report.collected import Collected
from pganon.report.columns import about, columns
from pganon.report.dataset import dataset
from pganon.report.exported import files_of
from pganon.report.look import look_at
from pganon.report.outcome import outcome
from pganon.report.promises import not_protected
from pganon.report.questions import over_versions, questions
from pganon.report.words import count, day, guess, listed, percent, plain, several

FORMAT = "pganon report 1"

_OF_EVIDENCE = ("form", "of", "exact", "width", "unit", "distribution")
"""Keys of a quasi-identifier that are null where nothing was measured."""


def document(found: Collected, files: Sequence[Mapping[str, str]] = ()) -> dict[str, Any]:
    """Everything that the page shows, and nothing else is needed for it.

    Args:
        files: exported ones beside those of the ledger, each with its `name` and `sha256`.
    """
    comments = look_at(found)
    report = {
        "format": FORMAT,
        "uid": f"{found.release}/{_which(found)}",
        "type": found.groups,
        "edition": "officer",
        "status": _status(found, comments),
        "command": "pganon report",
        "timestamp": found.made_at.isoformat(),
        "program": found.program,
        "summary": " ".join(_summary(found)),
        "outcome": outcome(found),
        "comments": comments,
        "exception": _exception(found, comments),
        "properties": _properties(found),
        "about": about(found),
        "columns": columns(found),
        "access": [{"role": one.role, "because": one.because} for one in found.access],
        "questions": questions(found),
        "attacks": attacks(found),
        "risk": _risk(found),
        "class_sizes": {of: figures.sizes(found, of) for of in ("release", "source")},
        "form": figures.of_form(found),
        "guarantee": guarantee.required(found),
        "sensitive": _sensitive(found),
        "candidates": figures.candidates(found),
        "attributes": _attributes(found),
        "queries": _queries(found),
        "versions": _versions(found),
        "events": events.events(found),
        "not_protected": not_protected(found),
        "proof": _proof(found),
        "files": files_of(events.exports(found), files),
    }
    return {**report, "dataset": dataset(report)}


def _which(found: Collected) -> str:
    held = found.request is not None
    return f"request {found.request}" if held else str(found.version.number)


def _status(found: Collected, comments: list[str]) -> str:
    if found.evidence_intact is False:
        return "fail"
    return "review" if comments else "pass"


def _exception(found: Collected, comments: list[str]) -> str | None:
    """Why it was approved in spite of what is to be looked at."""
    approved = events.approval(found)
    return approved["reason"] if approved is not None and comments else None


def _summary(found: Collected) -> Iterator[str]:
    readers = list(found.readers)
    held = found.request is not None
    if readers:
        roles = "one role" if len(readers) == 1 else f"{len(readers)} roles"
        to = f"{'would go' if held else 'go'} to {roles}, {listed(readers)}"
    else:
        to = f"{'would be' if held else 'are'} published; no role was named as a reader"
    goes, sizes = f"{count(found.version.released)} {found.rows}", figures.sizes(found, "release")
    if found.rows != found.members and sizes:
        goes += f" of {count(sizes['people'])} {found.members}"
    yield f"{goes} {to}."
    chance = figures.chance(found)
    if chance is not None:
        yield (
            f"Whoever knows {found.knowing} of a person finds at least {chance.smallest}"
            f" {found.members} {'who' if found.counts_people else 'that'} look the same, so"
            f" {guess(alone=found.version.over_versions != HOLDS)} is right at most once in"
            f" {chance.smallest} times."
        )
    for one in figures.combinations(found):
        yield (
            f"Whoever knows the other columns of a person is left with at least {one['smallest']}"
            f" combinations of {listed(one['columns'])}."
        )
    for item in figures.sensitive(found)[:2]:
        if item["most"] < 1:
            yield (
                f"In no group do more than {percent(item['most'])} have the same"
                f" {plain(item['column'])}."
            )
        else:
            yield f"In some groups all have the same {plain(item['column'])}."
    yield "All requirements were measured on the finished tables, and hold."
    approved = events.approval(found)
    if found.request is not None:
        yield f"It waits for approval as request {found.request}. Nobody can read it before."
    elif approved is None:
        yield "Nobody approved it."
    else:
        at = datetime.fromisoformat(approved["at"])
        yield f"{plain(approved['by'])} approved it on {day(at)}."


def _properties(found: Collected) -> dict[str, Any]:
    version = found.version
    return {
        "release": found.release,
        "version": version.number,
        "shown": found.shown,
        "request": found.request,
        "source": found.source,
        "method": found.method,
        "groups": found.groups,
        "rows": found.rows,
        "members": found.members,
        "exact": figures.exact(found),
        "apart": found.apart,
        "asked": found.asked,
        "published_at": version.published_at.isoformat(),
        "released": version.released,
        "suppressed": version.suppressed,
        "left_out": figures.left_out(found),
        "known": found.known,
        "knowing": found.knowing,
        "sensitive": found.of_role("sensitive", "semi_sensitive"),
        "readers": list(found.readers),
        "adversary": (found.guarantee[0].get("adversary") if found.guarantee else None),
        "measured": found.measured,
        "withheld": found.withheld,
        "smallest": (found.evidence or {}).get("smallest"),
    }


def _risk(found: Collected) -> dict[str, Any]:
    chance = figures.chance(found)
    return {
        "release": None
        if chance is None
        else {"smallest": chance.smallest, "highest": chance.highest, "mean": chance.mean},
        "source": _source_chance(found),
        "population": figures.in_population(found),
        "limits": figures.limits(found.policy.report.accepted),
    }


def _source_chance(found: Collected) -> dict[str, Any] | None:
    sizes = figures.sizes(found, "source")
    if sizes is None:
        return None
    return {
        "smallest": sizes["smallest"],
        "highest": 1 / sizes["smallest"],
        "mean": sizes["groups"] / sizes["people"],
        "alone": sizes["alone"],
    }


def _sensitive(found: Collected) -> list[dict[str, Any]]:
    """Evidence with the limits that follow from the requirements."""
    return [
        {
            **item,
            "values": [
                {**one, "limit": guarantee.most_of(found, item["column"], one["share"])}
                for one in item["values"]
            ],
            "limit": guarantee.most_of(
                found, item["column"], max((v["share"] for v in item["values"]), default=1.0)
            ),
        }
        for item in figures.sensitive(found)
    ]


def _attributes(found: Collected) -> list[dict[str, Any]]:
    """Loss of every quasi-identifier, with the evidence."""
    lost = found.measures.get("utility", {}).get("ncp", {})
    by_name = {item["column"]: item for item in (found.evidence or {}).get("attributes", [])}
    unmeasured: dict[str, Any] = dict.fromkeys(_OF_EVIDENCE)
    return [
        {"column": name, "lost": loss, **unmeasured, **by_name.get(name, {})}
        for name, loss in lost.items()
    ]


def _queries(found: Collected) -> dict[str, Any] | None:
    workload = (found.measures.get("metrics") or {}).get("workload")
    if not workload:
        return None
    quarters: dict[str, Any] = dict.fromkeys(("quarter", "three_quarters", "most"))
    return {**quarters, **workload["count"], "asked": workload["workload"]}


def _versions(found: Collected) -> dict[str, Any]:
    said = next((i["over_versions"] for i in found.guarantee if "over_versions" in i), None)
    guard = (events.published(found) or {}).get("details", {}).get("guard") or {}
    return {
        "over_versions": found.version.over_versions,
        "sentence": over_versions(found),
        "holds_for": said,
        "guard": {name: guard[name] for name in guard if name.startswith("guard_")},
        "crossings": [
            {"version": c.version, "other": c.other, "reason": c.reason, "people": c.people}
            for c in found.crossings
        ],
        "versions": [
            {
                "version": one.number,
                "released": one.released,
                "suppressed": one.suppressed,
                "published_at": one.published_at.isoformat(),
                "over_versions": one.over_versions,
                "stored": one.stored,
            }
            for one in found.versions
        ],
        "candidates": events.tried(found),
    }


def _proof(found: Collected) -> dict[str, Any]:
    row, approved = events.published(found), events.approval(found)
    return {
        "policy_sha256": found.policy_hash,
        "run": found.version.run_id,
        "ledger_first": found.events[0]["id"] if found.events else None,
        "ledger_last": found.events[-1]["id"] if found.events else None,
        "ledger_row": row["id"] if row else None,
        "evidence_sha256": None if found.evidence is None else sha256(found.evidence),
        "recorded_sha256": events.recorded(found),
        "approved_sha256": approved and approved[DIGEST],
        "intact": found.evidence_intact,
        "measured": several(len(found.measures.get("verified", [])), "check"),
    }
