"""The edition for readers as a document of JSON.

It has no time at which it was made: who may read a release gets the same bytes as its steward.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from pganon.metrics.evidence.shares import STEPS
from pganon.metrics.evidence.sizes import BINS
from pganon.policy.reporting import Reporting
from pganon.privacy import frequency, identity, likeness, population, release
from pganon.privacy.base import ALL_VERSIONS, Model
from pganon.report import figures
from pganon.report.dataset import Dataset, dataset
from pganon.report.guarantee import SameAs, same_as
from pganon.report.parts import (
    Chance,
    Count,
    Digest,
    LimitName,
    Limits,
    Members,
    Number,
    Outcome,
    Part,
    ShareBin,
    Signed,
    SizeBin,
    Text,
    Time,
)
from pganon.report.promises import NONE, chance_row, common_label, limits_of, row
from pganon.report.words import (
    count,
    exactly,
    guess,
    in_common,
    once,
    percent,
    sentence,
    the_columns,
)

FORMAT = "pganon report 1"

_ACCEPTED = Reporting().accepted
"""Limits of authorities: those of a policy are not for readers."""

_MODELS: tuple[type[Model], ...] = (
    frequency.KAnonymity,
    frequency.BucketSize,
    frequency.RelativeFrequency,
    frequency.DistinctLDiversity,
    frequency.EntropyLDiversity,
    frequency.RecursiveCLDiversity,
    frequency.AnatomyLDiversity,
    frequency.SlicingLDiversity,
    frequency.LocalBucketDiversity,
    identity.IRKAnonymity,
    identity.IRAlpha,
    identity.IRBeta,
    identity.EIRBeta,
    likeness.TCloseness,
    likeness.BetaLikeness,
    likeness.DeltaDisclosure,
    release.AverageRisk,
    population.AverageRisk,
    population.KMap,
)
"""Those of which a guarantee has all that their sentences say."""


class ReadersProperties(Part):
    """What the report is about."""

    release: str
    version: int
    request: None
    method: str
    published_at: Time
    released: Count | None
    members: Members
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
    required: Number | None
    sentence: str
    over_versions: str | None
    same_as: SameAs | None


class ReadersSensitive(Part):
    """How common the most common value of a group is."""

    column: str
    most: Number
    mean: Number
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


def document(seen: Seen, files: Sequence[Mapping[str, str]] = ()) -> dict[str, Any]:
    """Everything that the page shows.

    Args:
        files: exported ones, each with its `name` and `sha256`.
    """
    chance = _chance(seen)
    sensitive = [_sensitive(name, found) for name, found in seen.commonest.items()]
    parts: dict[str, Any] = {
        "format": FORMAT,
        "uid": f"{seen.release}/{seen.version}",
        "edition": "readers",
        "command": "pganon report",
        "program": seen.program,
        "summary": " ".join(_summary(seen, chance, sensitive)),
        "outcome": list(_outcome(seen, chance, sensitive)),
        "properties": ReadersProperties.taken_from(
            seen, request=None, released=_people(seen) if chance else None
        ),
        "views": seen.views,
        "columns": [
            ReadersColumn(**{key: one[key] for key in ReadersColumn.model_fields})
            for one in seen.first
        ],
        "risk": ReadersRisk(release=chance, source=None, limits=figures.limits(_ACCEPTED)),
        "class_sizes": OwnSizes(release=_sizes(seen) if chance else None),
        "guarantee": [_stated(seen, item) for item in seen.guarantee],
        "adversary": next((item["adversary"] for item in seen.guarantee), None),
        "sensitive": sensitive,
        "not_protected": limits_of(
            models={item["model"] for item in seen.guarantee},
            sensitive=seen.sensitive,
            insensitive=seen.insensitive,
            people=seen.individual is not None,
            grouped=chance is not None,
            exact=seen.exact,
        ),
        "files": [GivenFile(**one) for one in files],
        "proof": NoProof(evidence_sha256=None),
    }
    people = _people(seen) if chance and seen.members == "people" else None
    return ReadersReport(**parts, dataset=dataset(parts, people)).document()


def _chance(seen: Seen) -> Chance | None:
    if not seen.sizes:
        return None
    groups = sum(groups for _, groups in seen.sizes)
    return figures.chance_of(min(seen.sizes)[0], groups / _people(seen))


def _people(seen: Seen) -> int:
    return sum(size * groups for size, groups in seen.sizes)


def _sizes(seen: Seen) -> ReadersSizes:
    sizes = seen.sizes

    def people(first: int, last: int | None) -> int:
        return sum(size * n for size, n in sizes if first <= size <= (last or size))

    return ReadersSizes(
        people=_people(seen),
        groups=sum(groups for _, groups in sizes),
        smallest=min(sizes)[0],
        largest=max(sizes)[0],
        above={limit.name: people(1, limit.largest) for limit in _ACCEPTED},
        bins=[SizeBin(first=a, last=b, people=people(a, b)) for a, b in BINS],
    )


def _sensitive(column: str, found: Sequence[Commonest]) -> ReadersSensitive:
    records = sum(one.records * one.groups for one in found)
    people = [0] * STEPS
    for one in found:
        # A share on a border counts below it, as in the edition for the officer.
        people[-(-one.most * STEPS // one.records) - 1] += one.records * one.groups
    return ReadersSensitive(
        column=column,
        most=max(one.most / one.records for one in found),
        mean=sum(one.most * one.groups for one in found) / records,
        fewest_values=min(one.values for one in found),
        limit=None,
        bins=[
            ShareBin(above=place / STEPS, upto=(place + 1) / STEPS, people=held)
            for place, held in enumerate(people)
        ],
    )


def _stated(seen: Seen, item: Mapping[str, Any]) -> Guarantee:
    column, model = item["column"], _model(item)
    return Guarantee(
        model=item["model"],
        name=item["model"].replace("_", " "),
        column=column,
        published=column,
        requirement=item["requirement"],
        required=None if model is None else model.parameter,
        sentence=f"The release satisfies {item['requirement']}."
        if model is None
        else model.sentence(the_columns(seen.known), the_columns([column]) if column else ""),
        over_versions=item.get("over_versions"),
        same_as=same_as(item["model"], column),
    )


def _model(item: Mapping[str, Any]) -> Model | None:
    """None if the guarantee does not have all that the model is."""
    counted = item.get("counted_in")
    known = item if counted is None else {**item, "population": counted}
    for model in _MODELS:
        needed = model.needed()
        same = model.name == item["model"] and ("population" in needed) == (counted is not None)
        if same and all(name in known for name in needed):
            return model.of(**{name: known[name] for name in needed})
    return None


# -- words --------------------------------------------------------------------------------------


def _summary(
    seen: Seen, chance: Chance | None, sensitive: Sequence[ReadersSensitive]
) -> Iterator[str]:
    if chance is not None:
        yield (
            f"Whoever knows {the_columns(seen.known)} of a person finds at least {chance.smallest}"
            f" {seen.members} that look the same, so {guess(alone=seen.alone)} is right with a"
            f" chance of at most {once(chance.smallest)}."
        )
    elif seen.exact:
        yield sentence(f"{exactly(seen.known)}, so people can be found by them.")
    yield from in_common({item.column: item.most for item in sensitive})
    yield "All figures were counted in what you can read yourself."


def _outcome(
    seen: Seen, chance: Chance | None, sensitive: Sequence[ReadersSensitive]
) -> Iterator[Outcome]:
    if chance is not None:
        groups = sum(groups for _, groups in seen.sizes)
        least, largest = min(seen.sizes)[0], max(seen.sizes)[0]
        figure = f"{count(least)} {seen.members}"
        yield row("smallest", "Smallest group", figure, "who look the same", "counted", NONE)
        yield chance_row(least, _ACCEPTED)
        yield row("groups", "Groups", count(groups), f"of {least} to {largest}", "counted", NONE)
    for item in sorted(sensitive, key=lambda one: -one.most)[:1]:
        yield row(
            "common",
            common_label(item.column),
            percent(item.most),
            f"at most; on average {percent(item.mean)}",
            "counted",
            NONE,
        )


_BOXED = ("range", "set", "ordinal", "label", "listed", "mean", "mode")
"""Forms of which all records of a group show the same."""

_KNOWN, _SENSITIVE, _INSENSITIVE = ("Quasi-identifier", "QS set"), "Sensitive", "Insensitive"
"""How comments of columns begin."""


@dataclass(frozen=True)
class Commonest:
    """Groups that are alike: `most` of their `records` have the most common of `values` values."""

    most: int
    records: int
    values: int
    groups: int


@dataclass(frozen=True)
class Seen:
    """A release as `pganon.releases`, `guarantees`, `release_columns` and its views show it.

    Attributes:
        columns: of all views, each a dict with `view`, `name`, `type`, `comment`, `form`, `bucket`.
        sizes: how many groups of its first view have each size, as (size, groups).
        commonest: by sensitive column, where it could be counted.
    """

    release: str
    version: int
    method: str
    published_at: datetime
    guarantee: Sequence[Mapping[str, Any]]
    columns: Sequence[Mapping[str, Any]]
    program: str
    sizes: Sequence[tuple[int, int]] = ()
    commonest: Mapping[str, Sequence[Commonest]] = field(default_factory=dict)

    @property
    def first(self) -> list[Mapping[str, Any]]:
        """Columns of its first view."""
        return [one for one in self.columns if one["view"] == self.columns[0]["view"]]

    @property
    def views(self) -> list[str]:
        return list(dict.fromkeys(one["view"] for one in self.columns))

    @property
    def known(self) -> list[str]:
        """Columns that others may know of a person."""
        return [one["name"] for one in self._of(_KNOWN)]

    @property
    def sensitive(self) -> list[str]:
        return [one["name"] for one in self._of(_SENSITIVE)]

    @property
    def insensitive(self) -> list[str]:
        return [one["name"] for one in self._of(_INSENSITIVE)]

    @property
    def exact(self) -> bool:
        """Whether a column that others may know is published as it is."""
        return any(one["form"] == "exact" for one in self._of(_KNOWN)) and not self._varies

    @property
    def individual(self) -> str | None:
        """The column with the number of the individual, where several records may be of one."""
        return next((one["name"] for one in self.first if one["form"] == "individual"), None)

    @property
    def alone(self) -> bool:
        """Whether nothing is promised to hold for who has other versions, too."""
        return all(item.get("over_versions") != ALL_VERSIONS for item in self.guarantee)

    @property
    def bucket(self) -> str | None:
        """The number of the groups in which all look the same, if the first view has such."""
        known = self._of(_KNOWN)
        # A row that stands for several records, as those of clusters do, is no member of a group.
        whole = any(one["form"] == "count" for one in self.first)
        if not known or whole or self._varies or any(one["form"] not in _BOXED for one in known):
            return None
        (bucket, *others) = dict.fromkeys(one["bucket"] for one in known)
        return None if others else bucket

    @property
    def members(self) -> Members:
        """What a group has: only numbers of individuals say that these are people."""
        return "records" if self.individual is None else "people"

    def counted(self) -> list[tuple[str, str, str, str | None]]:
        """(column, view, bucket, column of weights) of sensitive columns that can be counted."""
        if self._varies or self.individual is not None:
            return []
        weights = {one["view"]: one["name"] for one in self.columns if one["form"] == "count"}
        found = {
            one["name"]: (one["name"], one["view"], one["bucket"], weights.get(one["view"]))
            for one in reversed(self.columns)
            if one["comment"].startswith(_SENSITIVE)
            and one["form"] == "exact"
            and one["bucket"] is not None
        }
        return [found[name] for name in self.sensitive if name in found]

    @property
    def _varies(self) -> bool:
        """Whether records of a group show a column in different ways."""
        return any(one["form"] == "display" for one in self.columns)

    def _of(self, beginning: str | tuple[str, ...]) -> list[Mapping[str, Any]]:
        return [one for one in self.first if one["comment"].startswith(beginning)]
