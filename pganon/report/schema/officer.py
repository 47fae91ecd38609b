"""The report for the officer."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pganon.report.schema.dataset import Dataset
from pganon.report.schema.evidence import Attribute, Candidates, InPopulation, Sensitive, Sizes
from pganon.report.schema.parts import (
    Chance,
    Count,
    Digest,
    Limits,
    Outcome,
    Part,
    Signed,
    Text,
    Time,
)


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
    rows: Literal["people", "records"]
    members: Literal["people", "records"]
    exact: bool
    apart: str
    asked: bool
    published_at: Time
    released: Count
    suppressed: Count
    left_out: float
    known: list[str]
    knowing: str
    sensitive: list[str]
    readers: list[str]
    adversary: str | None
    measured: bool
    withheld: bool
    smallest: int | None


class About(Part):
    """What the policy declares; null where it does not."""

    label: str
    text: str | None


class Column(Part):
    """A column of the source, and what readers see of it."""

    name: str
    source: str
    role: str
    seen: str
    goes_out: bool


class Access(Part):
    """A role that can read the release, and why."""

    role: str
    because: str


class Question(Part):
    """What somebody could do, and what remains of it."""

    name: Literal["singling out", "inference", "linkability", "other members", "presence"]
    somebody: str
    remains: str
    result: Literal["bounded", "not bounded", "not measured", "does not apply"]


class Rate(Part):
    """Successes among attempts, with an interval that holds with a confidence of 95 %; null but for
    `attempts`, if they are all but few."""

    successes: Count | None
    attempts: Count
    share: float | None
    low: float | None
    high: float | None


class Difference(Part):
    """Of two shares, with its interval."""

    value: float
    low: float
    high: float


Attack = Literal["singling_out", "linkability", "inference"]
Adversary = Literal[
    "published_row",
    "two_sources",
    "quasi_identifiers",
    "others_known",
    "correlations",
]


class Finding(Part):
    """How often an attack succeeded: on the release, on members and others of a shadow release."""

    attack: Attack
    adversary: Adversary
    column: str | None
    somebody: str
    release: Rate | None
    members: Rate | None
    control: Rate | None
    difference: Difference | None
    gains: bool


class NotMeasured(Part):
    """An attack that was not tried."""

    attack: Attack
    reason: str


class Attacks(Part):
    """The newest attacks, their row of the ledger, and how many times some were measured."""

    at: Time
    by: str
    row: int
    times: int
    seed: int
    people: Count
    control_people: Count
    targets: Count
    known_others: Count
    findings: list[Finding]
    not_measured: list[NotMeasured]


class SourceChance(Chance):
    """`alone`: people; null if they are some, and fewer than `smallest` of the policy."""

    alone: Count | None


class BothSizes(Part):
    release: Sizes | None
    source: Sizes | None


class Risk(Part):
    release: Chance | None
    source: SourceChance | None
    population: InPopulation | None
    limits: Limits


class Figure(Part):
    """A figure inside of a sentence, and how it is written."""

    kind: Literal["count", "number", "percent", "points"]
    value: float | None


class OfForm(Part):
    """What the form measures of itself: texts and figures, which together are sentences."""

    label: str
    parts: list[str | Figure]


class Check(Part):
    """A requirement, and what was measured of the worst group."""

    model: str
    name: str
    column: str | None
    published: str | None
    against: str | None
    sentence: str
    bound: Literal["at least", "above", "at most", "below"]
    required: float
    measured: float | None


class Asked(Part):
    """Random queries."""

    queries: int
    predicates: int
    selectivity: float
    seed: int
    sensitive: bool | None


class Queries(Part):
    """Relative errors of counts; those whose answer is 0 are `empty`."""

    median: float | None
    mean: float | None
    empty: Count
    quarter: float | None
    three_quarters: float | None
    most: float | None
    asked: Asked


class Guard(Part):
    """People who were in groups before, by those with the same groups in all versions."""

    guard_shared: Count
    guard_smallest: Count
    guard_below_k: Count


class NoGuard(Part):
    """There was nothing to be compared with."""


class Crossing(Part):
    version: str
    other: str
    reason: str
    people: Count


class Version(Part):
    version: int | None
    released: Count
    suppressed: Count
    published_at: Time
    over_versions: Literal["holds", "finer", "void"] | None
    stored: bool


class Versions(Part):
    over_versions: Literal["holds", "finer", "void"] | None
    sentence: str
    holds_for: str | None
    guard: Guard | NoGuard
    crossings: list[Crossing]
    versions: list[Version]
    candidates: Count


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


class Exported(Part):
    at: Time
    by: str
    view: str
    rows: Count


class File(Part):
    """An exported file, and what the ledger has of it."""

    name: str
    sha256: Digest
    exported: Exported | None


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
    about: list[About]
    columns: list[Column]
    access: list[Access]
    questions: list[Question]
    attacks: Attacks | None
    risk: Risk
    class_sizes: BothSizes
    form: list[OfForm]
    guarantee: list[Check]
    sensitive: list[Sensitive]
    candidates: list[Candidates]
    attributes: list[Attribute]
    queries: Queries | None
    versions: Versions
    events: list[Event]
    not_protected: list[Text]
    proof: Proof
    files: list[File]
    dataset: Dataset
