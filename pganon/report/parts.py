"""What several documents have in common: builders construct these, and the schema is theirs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, PlainSerializer, WrapValidator
from pydantic.json_schema import SkipJsonSchema


class Part(BaseModel):
    """An object of a document, which has these keys and no others."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        defer_build=True,
        populate_by_name=True,
    )

    @classmethod
    def taken_from(cls, found: object, **others: Any) -> Self:
        """With what something has under the names of its fields, and others."""
        names = cls.model_fields.keys() - others.keys()
        return cls(**{name: getattr(found, name) for name in names}, **others)

    def document(self) -> dict[str, Any]:
        """As JSON. What is not given is absent."""
        return self.model_dump(by_alias=True, exclude_unset=True)


def absent(schema: dict[str, Any]) -> None:
    """A key that need not be there, and is never null."""
    del schema["default"]


def key(name: str) -> Any:
    """A field whose key in JSON is no name of Python."""
    return Field(validation_alias=name, serialization_alias=name)


def _as_given(number: Any, check: Callable[[Any], float]) -> Any:
    check(number)
    return number


Count = Annotated[int, Field(ge=0)]
Time = Annotated[AwareDatetime, PlainSerializer(datetime.isoformat, return_type=str)]
Number = Annotated[float, WrapValidator(_as_given)]
"""Whole ones stay so: documents of the same figures are equal byte for byte."""

LimitName = Annotated[str, Field(pattern=r"^(0\.\d+|1/\d+)$")]
Limits = Annotated[
    dict[LimitName, Annotated[float, Field(gt=0, lt=1)]], Field(min_length=1, max_length=4)
]
"""Chances to find a person that are accepted, by their names."""

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$", description="SHA-256")]


Members = Literal["people", "records"]
OverVersions = Literal["holds", "finer", "void"]
Named = Literal["smallest", "chance", "groups", "common", "left_out"]
Status = Literal["holds", "look", "none"]


class Outcome(Part):
    """A figure with its limit and the result, in words."""

    name: Named
    label: str
    figure: str
    note: str
    result: str
    status: Status


class Text(Part):
    """What is not protected, with its name."""

    name: str
    text: str


class Chance(Part):
    """The chance to find a person: 1 / size of the smallest group, and on average."""

    smallest: Count
    highest: Number
    mean: Number


class SizeBin(Part):
    """People in groups of these sizes; the last bin has no end."""

    first: int = key("from")
    last: int | None = key("to")
    people: Count


class ShareBin(Part):
    """People in groups in which the most common value has such a share."""

    above: Number = key("from")
    upto: Number = key("to")
    people: Count


class Asked(Part):
    """Random queries."""

    queries: int
    predicates: int
    selectivity: Number
    seed: int
    sensitive: bool | None


class Statement(Part):
    """What is signed, as canonical JSON."""

    purpose: Literal["pganon report 1"]
    release: str
    version: int | None
    request: int | None
    edition: Literal["officer", "readers"]
    report_sha256: Digest
    page_sha256: Digest
    evidence_sha256: Digest | None
    signed_at: Time
    key: Digest


class Signature(Part):
    statement: Statement
    signature: str


class Signed(Part):
    """A document that may be signed."""

    signature: Signature | SkipJsonSchema[None] = Field(None, json_schema_extra=absent)


# -- figures that a run stored for reports --------------------------------------------------------


Above = dict[LimitName, Count | None]
"""People with a chance above each limit; null if few would be counted by it."""


class Sizes(Part):
    """Groups by their sizes. Bins are of as many people as the policy says, or of nobody."""

    people: Count
    groups: Count
    smallest: int
    largest: int
    alone: Count | None
    above: Above
    bins: list[SizeBin]


class InRelease(Part):
    """The chance of people of the population to be in the release: the highest, and that of one in
    twenty at least."""

    highest: Number
    p95: Number | None


class InPopulation(Part):
    """People of the population whom classes cover, or for whom their records stand by their
    weights, and chances to pick the one of a record."""

    smallest: Count
    highest: Number
    mean: Number | None
    above: Above
    by_weights: bool
    presence: InRelease | None


class Candidates(Part):
    """Values or combinations that groups leave possible, by their people."""

    of: str
    columns: list[str]
    kind: Literal["values", "combinations"]
    people: Count
    groups: Count
    smallest: int
    largest: int
    bins: list[SizeBin]


class Value(Part):
    """A value that is not rare: its share of all, the highest one in a group, and the limit."""

    value: str | None
    share: Number
    highest: Number
    limit: Number | None


class OtherValues(Part):
    """Values that are not named, and a multiple of its share that one of them is above."""

    values: Count
    share: Number
    times_over: int | None


class Sensitive(Part):
    """How common values of a column are in groups: the most common one, and each of them. Those
    that are `missing`, as the policy declares, are not taken for the most common one."""

    column: str
    of: Literal["all", "hidden"]
    missing: list[str | None]
    most: Number
    mean: Number | None
    bins: list[ShareBin]
    values: list[Value]
    others: OtherValues | None
    limit: Number | None


class StepBin(Part):
    """Shares of values from an edge on and below another; the first and the last have no end."""

    first: Number | None = key("from")
    below: Number | None
    source: Number
    release: Number


class Steps(Part):
    """A distribution of numbers, or of times in a unit (years, months since 0, days since 2000)."""

    kind: Literal["steps"]
    unit: Literal["", "year", "month", "day"]
    bins: list[StepBin]
    largest_error: Number | None


class ValueBin(Part):
    value: str | None
    source: Number
    release: Number


class OtherBins(Part):
    values: Count
    source: Number
    release: Number


class Values(Part):
    """A distribution by value."""

    kind: Literal["values"]
    bins: list[ValueBin]
    others: OtherBins | None
    largest_error: Number | None


class Attribute(Part):
    """A quasi-identifier: the information that is lost, from 0 to 1, and what is null of releases
    without evidence. `exact`: share of the records with one value; `width` of the others. `of`: all
    records, or those that show it.
    """

    column: str
    lost: Number | None
    form: Literal["range", "set", "values", "label", "mean", "mode", "exact"] | None
    of: Literal["all", "shown"] | None
    exact: Number | None
    width: Number | None
    unit: Literal["levels", "days", "numbers", "values"] | None
    distribution: Steps | Values | None
