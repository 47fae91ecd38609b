"""The report as a document of JSON, from what was stored of a version.

Names of the results of ACRO are used where there are any: `uid`, `type`, `status`, `command`,
`summary`, `outcome`, `properties`, `files`, `timestamp`, `comments`, `exception`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field, TypeAdapter
from pydantic.json_schema import SkipJsonSchema

from pganon.forms.confidential import DIGEST, sha256
from pganon.privacy.base import HOLDS
from pganon.report import events, figures, guarantee
from pganon.report.attacks import Attacks, attacks
from pganon.report.authority import Authority, Name, under_headings
from pganon.report.columns import About, Column, about, columns
from pganon.report.comparison.document import Comparison
from pganon.report.dataset import Dataset, dataset
from pganon.report.export_check import File, files_of
from pganon.report.figures import OfForm
from pganon.report.parts import (
    Asked,
    Attribute,
    Candidates,
    Chance,
    Count,
    Digest,
    InPopulation,
    Limits,
    Members,
    Number,
    Outcome,
    OverVersions,
    Part,
    Sensitive,
    Signed,
    Sizes,
    Text,
    Time,
    absent,
)
from pganon.report.promises import not_protected, outcome
from pganon.report.questions import Question, over_versions, questions
from pganon.report.readers.document import ReadersReport
from pganon.report.review import look_at
from pganon.report.sources import Access, Collected, Crossing
from pganon.report.subgroups import RecordRisk, Subgroup, record_risk, subgroups
from pganon.report.words import (
    count,
    day,
    guess,
    in_common,
    listed,
    once,
    percent,
    plain,
    several,
    the_columns,
)

FORMAT = "pganon report 1"


class Properties(Part):
    """What the report is about. `measured`: whether there is evidence; `withheld`: whether so few
    are left out that no figure of the source is told."""

    release: str
    version: int | None
    shown: int | None
    request: int | None
    source: str
    method: str
    groups: str
    rows: Members
    members: Members
    exact: bool
    apart: str
    asked: bool
    published_at: Time
    released: Count
    suppressed: Count
    left_out: Number
    known: list[str]
    knowing: str
    sensitive: list[str]
    readers: list[str]
    adversary: str | None
    measured: bool
    withheld: bool
    smallest: int | None


class SourceChance(Chance):
    """`alone`: people; null if fewer than `smallest` of the policy would be counted by it."""

    alone: Count | None


class BothSizes(Part):
    release: Sizes | None
    source: Sizes | None


class Risk(Part):
    release: Chance | None
    source: SourceChance | None
    population: InPopulation | None
    limits: Limits


class Queries(Part):
    """Relative errors of counts; those whose answer is 0 are `empty`."""

    median: Number | None
    mean: Number | None
    empty: Count
    quarter: Number | None
    three_quarters: Number | None
    most: Number | None
    asked: Asked


class Guard(Part):
    """People who were in groups before, by those with the same groups in all versions."""

    guard_shared: Count
    guard_smallest: Count
    guard_below_k: Count


class NoGuard(Part):
    """There was nothing to be compared with."""


class Version(Part):
    version: int | None
    released: Count
    suppressed: Count
    published_at: Time
    over_versions: OverVersions | None
    stored: bool


class Versions(Part):
    over_versions: OverVersions | None
    sentence: str
    holds_for: str | None
    guard: Guard | NoGuard
    crossings: list[Crossing]
    versions: list[Version]
    candidates: Count
    same_as: Literal["https://www.w3id.org/statbarnsdc#Differencing"]


class Proof(Part):
    policy_sha256: Digest
    run: int
    ledger_first: int | None
    ledger_last: int | None
    ledger_row: int | None
    evidence_sha256: Digest | None
    recorded_sha256: Digest | None
    approved_sha256: Digest | None
    intact: bool | None
    measured: str


class Report(Signed):
    """The report for the officer, of a version or of what waits for approval."""

    format: Literal["pganon report 1"]
    uid: str
    type: str
    edition: Literal["officer"]
    status: Literal["pass", "review", "fail"]
    command: Literal["pganon report"]
    timestamp: Time
    program: str
    summary: str
    outcome: list[Outcome] = Field(min_length=4, max_length=4)
    comments: list[str]
    exception: str | None
    properties: Properties
    about: About
    columns: list[Column]
    access: list[Access]
    questions: list[Question]
    attacks: Attacks | None
    risk: Risk
    record_risk: RecordRisk | None
    subgroups: list[Subgroup]
    class_sizes: BothSizes
    form: list[OfForm]
    guarantee: list[guarantee.Check]
    sensitive: list[Sensitive]
    candidates: list[Candidates]
    attributes: list[Attribute]
    queries: Queries | None
    versions: Versions
    events: list[events.Event]
    not_protected: list[Text]
    proof: Proof
    files: list[File]
    dataset: Dataset
    authority: Authority | SkipJsonSchema[None] = Field(None, json_schema_extra=absent)


def document(
    found: Collected, files: Sequence[Mapping[str, str]] = (), form: Name | None = None
) -> dict[str, Any]:
    """Everything that the page shows, and nothing else is needed for it.

    Args:
        files: exported ones beside those of the ledger, each with its `name` and `sha256`.
        form: of an authority, under whose headings it points to its facts, too.
    """
    comments, approved = look_at(found), events.approval(found)
    which = found.version.number if found.request is None else f"request {found.request}"
    parts: dict[str, Any] = {
        "format": FORMAT,
        "uid": f"{found.release}/{which}",
        "type": found.groups,
        "edition": "officer",
        "status": "fail" if found.evidence_intact is False else "review" if comments else "pass",
        "command": "pganon report",
        "timestamp": found.made_at,
        "program": found.program,
        "summary": " ".join(_summary(found)),
        "outcome": outcome(found),
        "comments": comments,
        "exception": events.note(approved).reason if approved and comments else None,
        "properties": _properties(found),
        "about": about(found),
        "columns": columns(found),
        "access": list(found.access),
        "questions": questions(found),
        "attacks": attacks(found),
        "risk": Risk(
            release=figures.chance(found),
            source=_source_chance(found),
            population=_journalist(found),
            limits=figures.limits(found.policy.report.accepted),
        ),
        "record_risk": record_risk(found),
        "subgroups": subgroups(found),
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
    sizes = figures.sizes(found, "release")
    people = sizes["people"] if sizes and found.members == "people" else None
    made = Report(**parts, dataset=dataset(parts, people, public=found.public)).document()
    return made if form is None else {**made, "authority": under_headings(made, form)}


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
    weights = found.measures.get("weights")
    if weights:
        yield (
            f"By their weights they stand for {count(weights['weighted'])} people; of those of a"
            f" class at most {percent(weights['presence'])} are among them."
        )
    chance = figures.chance(found)
    if chance is not None:
        yield (
            f"Whoever knows {found.knowing} of a person finds at least {chance.smallest}"
            f" {found.members} {'who' if found.counts_people else 'that'} look the same, so"
            f" {guess(alone=found.version.over_versions != HOLDS)} is right with a chance of at"
            f" most {once(chance.smallest)}."
        )
    for one in figures.combinations(found):
        yield (
            f"Whoever knows the other columns of a person is left with at least {one['smallest']}"
            f" combinations in {the_columns(one['columns'])}."
        )
    yield from in_common({item["column"]: item["most"] for item in figures.sensitive(found)})
    missing = [item["column"] for item in figures.sensitive(found) if item.get("missing")]
    if missing:
        yield f"In this, what the policy declares as missing in {the_columns(missing)} is no value."
    yield "All requirements were measured on the finished tables, and hold."
    approved = events.approval(found)
    if found.request is not None:
        yield f"It waits for approval as request {found.request}. Nobody can read it before."
    elif approved is None:
        yield "Nobody approved it."
    else:
        yield f"{plain(events.note(approved).by)} approved it on {day(approved['at'])}."


def _properties(found: Collected) -> Properties:
    version = found.version
    return Properties.taken_from(
        found,
        version=version.number,
        exact=figures.exact(found),
        published_at=version.published_at,
        released=version.released,
        suppressed=version.suppressed,
        left_out=figures.left_out(found),
        sensitive=found.of_role("sensitive", "semi_sensitive"),
        readers=list(found.readers),
        adversary=(found.guarantee[0].get("adversary") if found.guarantee else None),
        smallest=(found.evidence or {}).get("smallest"),
    )


def _journalist(found: Collected) -> InPopulation | None:
    among = (found.evidence or {}).get("population")
    return (
        None if among is None else InPopulation(**{"by_weights": False, "presence": None, **among})
    )


def _source_chance(found: Collected) -> SourceChance | None:
    sizes = figures.sizes(found, "source")
    if sizes is None:
        return None
    chance = figures.chance_of(sizes["smallest"], sizes["groups"] / sizes["people"])
    return SourceChance(**dict(chance), alone=sizes["alone"])


def _sensitive(found: Collected) -> list[dict[str, Any]]:
    """Evidence with the limits that follow from the requirements."""
    return [
        {
            "missing": [],
            **item,
            "values": [
                {**one, "limit": guarantee.most_of(found, item["column"], one["share"])}
                for one in item["values"]
            ],
            "limit": guarantee.most_of(found, item["column"], figures.largest(item)),
        }
        for item in figures.sensitive(found)
    ]


def _attributes(found: Collected) -> list[Attribute]:
    """Loss of every quasi-identifier, with the evidence."""
    lost = found.measures.get("utility", {}).get("ncp", {})
    by_name = {item["column"]: item for item in (found.evidence or {}).get("attributes", [])}
    unmeasured: dict[str, Any] = dict.fromkeys(Attribute.model_fields)
    return [
        Attribute(**{**unmeasured, **by_name.get(name, {}), "column": name, "lost": loss})
        for name, loss in lost.items()
    ]


def _queries(found: Collected) -> dict[str, Any] | None:
    workload = (found.measures.get("metrics") or {}).get("workload")
    if not workload:
        return None
    quarters: dict[str, Any] = dict.fromkeys(("quarter", "three_quarters", "most"))
    return {**quarters, **workload["count"], "asked": workload["workload"]}


def _versions(found: Collected) -> Versions:
    said = next((i["over_versions"] for i in found.guarantee if "over_versions" in i), None)
    guard = (events.published(found) or {}).get("details", {}).get("guard") or {}
    counted = {name: guard[name] for name in guard if name.startswith("guard_")}
    return Versions(
        over_versions=found.version.over_versions,
        sentence=over_versions(found),
        holds_for=said,
        guard=Guard(**counted) if counted else NoGuard(),
        crossings=list(found.crossings),
        versions=[Version.taken_from(one, version=one.number) for one in found.versions],
        candidates=events.tried(found),
        same_as="https://www.w3id.org/statbarnsdc#Differencing",
    )


def _proof(found: Collected) -> Proof:
    row, approved = events.published(found), events.approval(found)
    return Proof(
        policy_sha256=found.policy_hash,
        run=found.version.run_id,
        ledger_first=found.events[0]["id"] if found.events else None,
        ledger_last=found.events[-1]["id"] if found.events else None,
        ledger_row=row["id"] if row else None,
        evidence_sha256=None if found.evidence is None else sha256(found.evidence),
        recorded_sha256=events.recorded(found),
        approved_sha256=approved["details"].get(DIGEST) if approved else None,
        intact=found.evidence_intact,
        measured=several(len(found.measures.get("verified", [])), "check"),
    )


# The JSON Schema of what reports and comparisons are made from.
#
# Documents are built from its models.


def report_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a report of either edition, or of a comparison."""
    schema = TypeAdapter(Report | ReadersReport | Comparison).json_schema(by_alias=True)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "pganon report",
    }
