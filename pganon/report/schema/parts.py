"""What several documents have in common."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema


class Part(BaseModel):
    """An object of a document, which has these keys and no others."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True
    )


def absent(schema: dict[str, Any]) -> None:
    """A key that need not be there, and is never null."""
    del schema["default"]


Count = Annotated[int, Field(ge=0)]
Time = AwareDatetime
LimitName = Annotated[str, Field(pattern=r"^(0\.\d+|1/\d+)$")]
Limits = Annotated[
    dict[LimitName, Annotated[float, Field(gt=0, lt=1)]], Field(min_length=1, max_length=4)
]
"""Chances to find a person that are accepted, by their names."""

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$", description="SHA-256")]


class Outcome(Part):
    """A figure with its limit and the result, in words."""

    name: Literal["smallest", "chance", "groups", "common", "left_out"]
    label: str
    figure: str
    note: str
    result: str
    status: Literal["holds", "look", "none"]


class Text(Part):
    """What is not protected, with its name."""

    name: str
    text: str


class Chance(Part):
    """The chance to find a person: 1 / size of the smallest group, and on average."""

    smallest: Count
    highest: float
    mean: float


class SizeBin(Part):
    """People in groups of these sizes; the last bin has no end."""

    first: int = Field(alias="from")
    last: int | None = Field(alias="to")
    people: Count


class ShareBin(Part):
    """People in groups in which the most common value has such a share."""

    above: float = Field(alias="from")
    upto: float = Field(alias="to")
    people: Count


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
