"""The release as catalogues of data describe it: schema.org and DQV, in JSON-LD."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from pganon.report.schema.parts import Digest, Part, Time, absent


class Vocabularies(Part):
    vocab: Literal["https://schema.org/"] = Field(alias="@vocab")
    dqv: Literal["http://www.w3.org/ns/dqv#"]


class Variable(Part):
    type: Literal["PropertyValue"] = Field(alias="@type")
    name: str
    description: str | SkipJsonSchema[None] = Field(None, json_schema_extra=absent)


class Download(Part):
    type: Literal["DataDownload"] = Field(alias="@type")
    name: str
    sha256: Digest


class Metric(Part):
    type: Literal["dqv:Metric"] = Field(alias="@type")
    name: str


class Measurement(Part):
    type: Literal["dqv:QualityMeasurement"] = Field(alias="@type")
    of: Metric = Field(alias="dqv:isMeasurementOf")
    value: float = Field(alias="dqv:value")


class Dataset(Part):
    """What the policy does not declare is absent, and version and date of what waits."""

    context: Vocabularies = Field(alias="@context")
    type: Literal["Dataset"] = Field(alias="@type")
    name: str
    identifier: str
    version: str | SkipJsonSchema[None] = Field(None, json_schema_extra=absent)
    date: Time | SkipJsonSchema[None] = Field(None, alias="datePublished", json_schema_extra=absent)
    description: str | SkipJsonSchema[None] = Field(None, json_schema_extra=absent)
    conditions: str | SkipJsonSchema[None] = Field(
        None, alias="conditionsOfAccess", json_schema_extra=absent
    )
    variables: list[Variable] = Field(alias="variableMeasured")
    distribution: list[Download]
    measurements: list[Measurement] = Field(alias="dqv:hasQualityMeasurement")
