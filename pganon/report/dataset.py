"""The release as catalogues of data describe it: a Dataset of schema.org, in JSON-LD.

What was measured is a QualityMeasurement of DQV, the Data Quality Vocabulary (W3C, 2016).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from pganon.report.parts import Digest, Number, Part, Time, absent, key


class Vocabularies(Part):
    vocab: Literal["https://schema.org/"] = key("@vocab")
    dqv: Literal["http://www.w3.org/ns/dqv#"]


class Variable(Part):
    type: Literal["PropertyValue"] = key("@type")
    name: str
    description: str | SkipJsonSchema[None] = Field(None, json_schema_extra=absent)


class Download(Part):
    type: Literal["DataDownload"] = key("@type")
    name: str
    sha256: Digest


class Metric(Part):
    type: Literal["dqv:Metric"] = key("@type")
    name: str


class Measurement(Part):
    type: Literal["dqv:QualityMeasurement"] = key("@type")
    of: Metric = key("dqv:isMeasurementOf")
    value: Number = key("dqv:value")


class Dataset(Part):
    """What the policy does not declare is absent, and version and date of what waits."""

    context: Vocabularies = key("@context")
    type: Literal["Dataset"] = key("@type")
    name: str
    identifier: str
    version: str | SkipJsonSchema[None] = Field(None, json_schema_extra=absent)
    date: Time | SkipJsonSchema[None] = Field(None, alias="datePublished", json_schema_extra=absent)
    description: str | SkipJsonSchema[None] = Field(None, json_schema_extra=absent)
    conditions: str | SkipJsonSchema[None] = Field(
        None, alias="conditionsOfAccess", json_schema_extra=absent
    )
    variables: list[Variable] = key("variableMeasured")
    distribution: list[Download]
    measurements: list[Measurement] = key("dqv:hasQualityMeasurement")


_DECLARED = {"title": "name", "purpose": "description", "conditions": "conditions"}
"""Properties that have the words of the steward, by their keys in the policy."""


def dataset(report: Mapping[str, Any]) -> Dataset:
    """Of the parts of a report of either edition."""
    properties = report["properties"]
    about = report.get("about")
    said = {key: text for name, key in _DECLARED.items() if (text := getattr(about, name, None))}
    if properties.request is None:  # what waits for approval is neither
        said |= {"date": properties.published_at, "version": str(properties.version)}
    return Dataset(
        context=Vocabularies(vocab="https://schema.org/", dqv="http://www.w3.org/ns/dqv#"),
        type="Dataset",
        identifier=report["uid"],
        **{"name": properties.release, **said},
        variables=list(_variables(report["columns"])),
        distribution=[
            Download(type="DataDownload", name=one.name, sha256=one.sha256)
            for one in report["files"]
        ],
        measurements=[
            Measurement(
                type="dqv:QualityMeasurement",
                of=Metric(type="dqv:Metric", name=metric),
                value=value,
            )
            for metric, value in _measured(report)
        ],
    )


def _variables(columns: Sequence[Any]) -> Iterator[Variable]:
    """Those that go out, as either edition describes them."""
    for one in columns:
        if getattr(one, "goes_out", True):
            text = one.seen if hasattr(one, "seen") else one.comment
            described = {"description": text} if text else {}
            yield Variable(type="PropertyValue", name=one.name, **described)


def _measured(report: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for check in report["guarantee"]:
        if getattr(check, "measured", None) is not None:
            about = f" of {check.published}" if check.published else ""
            against = f" against the {check.against} distribution" if check.against else ""
            yield f"{check.model}{about}{against}", check.measured
    chance = report["risk"].release
    if chance is not None:
        yield "highest re-identification risk", chance.highest
        yield "mean re-identification risk", chance.mean
    for one in report.get("attributes", ()):
        if one.lost is not None:
            yield f"information loss (NCP) of {one.column}", one.lost
