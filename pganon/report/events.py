"""What was done with the release, from its ledger: newest last, an event per version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pganon.forms.confidential import DIGEST
from pganon.report.export_check import Exported, File
from pganon.report.parts import Part, Time
from pganon.report.sources import Collected
from pganon.report.words import count, number, plain, several

REASON = 600
"""Characters of a reason that somebody wrote."""

_SKIPPED = {"started", "unchanged", "dry_run", "failed", "unchecked", "superseded"}
_DECIDED = {"approved", "rejected", "expired", "superseded"}


class Note(Part):
    what: Literal["approved", "rejected"]
    by: str
    reason: str


class Event(Part):
    """A row of the ledger, in words; approvals are notes of what they let out."""

    at: Time
    what: str
    by: str
    event: str
    version: int | None
    notes: list[Note]


def events(found: Collected) -> list[Event]:
    rows: list[Event] = []
    decided = {e["run_id"]: e["id"] for e in found.events if e["event"] in _DECIDED}
    approvals: dict[int, list[Note]] = {}
    again: set[tuple[str, str]] = set()
    for event in found.events:
        if event["event"] in _SKIPPED or _seen(event, again):
            continue
        if event["event"] == "approved":
            approvals.setdefault(event["run_id"], []).append(note(event))
            continue
        if event["event"] == "awaiting_approval" and event["id"] < decided.get(event["run_id"], 0):
            continue
        notes = [note(event)] if event["event"] == "rejected" else []
        rows.append(
            Event(
                at=event["at"],
                what=_what(found, event),
                by=event["by_role"],
                event=event["event"],
                version=event["version"],
                notes=[*approvals.pop(event["run_id"], []), *notes],
            )
        )
    return rows


def exports(found: Collected) -> list[File]:
    """Files of the version that the ledger has, each content once."""
    files: dict[str, File] = {}
    for event in found.events:
        if event["event"] == "exported" and event["run_id"] == found.version.run_id:
            details = event["details"]
            exported = Exported(
                at=event["at"], by=event["by_role"], view=details["view"], rows=details["rows"]
            )
            file = File(name=details["file"], sha256=details["sha256"], exported=exported)
            files.setdefault(file.sha256, file)
    return list(files.values())


def _seen(event: Mapping[str, Any], again: set[tuple[str, str]]) -> bool:
    """Whether the same role exported the same content before: files of equal rows are equal."""
    if event["event"] != "exported":
        return False
    key = (event["by_role"], event["details"]["sha256"])
    return key in again or bool(again.add(key))


def approval(found: Collected) -> Mapping[str, Any] | None:
    """The row with which somebody approved the version; None if nobody did."""
    for event in reversed(found.events):
        if event["run_id"] != found.version.run_id:
            continue
        if event["event"] == "awaiting_approval":
            return None  # whoever approved it before approved something else
        if event["event"] == "approved":
            return event
    return None


def recorded(found: Collected) -> str | None:
    """The digest of its evidence in the ledger."""
    row = published(found)
    return row["details"].get(DIGEST) if row else None


def tried(found: Collected) -> int:
    """Candidates that comparisons measured for the release."""
    started = (event for event in found.events if event["event"] == "started")
    return sum("comparison" in event["details"] for event in started)


def published(found: Collected) -> Mapping[str, Any] | None:
    """The row of the ledger that published the version, or that holds it for approval."""
    ended = "released" if found.request is None else "awaiting_approval"
    for event in reversed(found.events):
        if event["event"] == ended and event["run_id"] == found.version.run_id:
            return event
    return None


def note(event: Mapping[str, Any]) -> Note:
    """Of an approval or a rejection."""
    details = event["details"]
    return Note(
        what=event["event"],
        by=str(details.get("login") or event["by_role"]),
        reason=plain(str(details.get("reason") or ""), REASON),
    )


def _what(found: Collected, event: Mapping[str, Any]) -> str:
    details, version = event["details"], event["version"]
    match event["event"]:
        case "released":
            return f"Published version {version}: {count(details['row_count'])} {found.rows}"
        case "awaiting_approval":
            return f"Measured, and held for approval: {count(details['row_count'])} {found.rows}"
        case "refused":
            return f"Refused: {_refusal(details, told=not found.withheld)}"
        case "rejected":
            return "Rejected a release that had been measured"
        case "rolled_back":
            return f"Readers see version {version} again"
        case "dropped" | "withdrawn":
            return "The release was withdrawn from its readers"
        case "readers":
            return f"Readers changed: {_readers(details)}"
        case "exported":
            rows = several(details["rows"], "row")
            return f"Exported {rows} of version {version} as {plain(details['file'])}"
        case "attacked":
            people = count(details["targets"])
            return f"Tried attacks on {people} people, and on {people} who were held out"
        case "forgotten":
            return f"People were forgotten: {_counts(details)}"
        case "expired":
            return "Nobody decided on a release in time"
        case other:
            return plain(str(other).replace("_", " "))


def _refusal(details: Mapping[str, Any], *, told: bool) -> str:
    model = details.get("model")
    if model is None:
        return plain(str(details.get("reason") or details.get("code") or "")).replace("_", " ")
    text = f"{str(model).replace('_', ' ')} of {number(details['required'])} cannot be reached"
    observed = details.get("observed") if told else None
    return text if observed is None else f"{text}; {number(observed)} can"


def _readers(details: Mapping[str, Any]) -> str:
    parts = [
        f"{word} {', '.join(map(plain, names))}"
        for word, names in details.items()
        if isinstance(names, Sequence) and not isinstance(names, str) and names
    ]
    return "; ".join(parts) or "none"


def _counts(details: Mapping[str, Any]) -> str:
    people = details.get("people")
    return several(int(people), "person", "people") if isinstance(people, int) else "see the ledger"
