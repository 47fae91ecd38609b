"""The edition for readers."""

from __future__ import annotations

from typing import Literal

from pganon.report.schema.dataset import Dataset
from pganon.report.schema.parts import (
    Chance,
    Count,
    Digest,
    LimitName,
    Limits,
    Outcome,
    Part,
    ShareBin,
    Signed,
    SizeBin,
    Text,
    Time,
)


class ReadersProperties(Part):
    """What the report is about."""

    release: str
    version: int
    request: None
    method: str
    published_at: Time
    released: Count | None
    members: Literal["people", "records"]
    known: list[str]
    sensitive: list[str]
    exact: bool
    alone: bool


class ReadersColumn(Part):
    """A column of the first view."""

    name: str
    type: str
    comment: str
    form: str | None


class ReadersSizes(Part):
    people: Count
    groups: Count
    smallest: int
    largest: int
    above: dict[LimitName, Count]
    bins: list[SizeBin]


class OwnSizes(Part):
    release: ReadersSizes | None


class ReadersRisk(Part):
    release: Chance | None
    source: None
    limits: Limits


class Guarantee(Part):
    """A requirement, as `pganon.guarantees` has it."""

    model: str
    name: str
    column: str | None
    published: str | None
    requirement: str
    required: float | None
    sentence: str
    over_versions: str | None


class ReadersSensitive(Part):
    """How common the most common value of a group is."""

    column: str
    most: float
    mean: float
    fewest_values: Count
    limit: None
    bins: list[ShareBin]


class NoProof(Part):
    evidence_sha256: None


class GivenFile(Part):
    name: str
    sha256: Digest


class ReadersReport(Signed):
    """The report for readers, of what they see."""

    format: Literal["pganon report 1"]
    uid: str
    edition: Literal["readers"]
    command: Literal["pganon report"]
    program: str
    summary: str
    outcome: list[Outcome]
    properties: ReadersProperties
    views: list[str]
    columns: list[ReadersColumn]
    risk: ReadersRisk
    class_sizes: OwnSizes
    guarantee: list[Guarantee]
    adversary: str | None
    sensitive: list[ReadersSensitive]
    not_protected: list[Text]
    files: list[GivenFile]
    proof: NoProof
    dataset: Dataset
