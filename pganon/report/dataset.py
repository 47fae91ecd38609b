"""The release as catalogues of data describe it: a Dataset of schema.org and DCAT-AP, in JSON-LD.

What was measured is a QualityMeasurement of DQV, the Data Quality Vocabulary (W3C, 2016); purpose
and legal basis are those of DPV, the Data Privacy Vocabulary; counts those of HealthDCAT-AP.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from pganon.report.parts import Count, Digest, Number, Part, Time, absent, key


class Vocabularies(Part):
    vocab: Literal["https://schema.org/"] = key("@vocab")
    dqv: Literal["http://www.w3.org/ns/dqv#"]
    dcat: Literal["http://www.w3.org/ns/dcat#"]
    dct: Literal["http://purl.org/dc/terms/"]
    dcatap: Literal["http://data.europa.eu/r5r/"]
    dpv: Literal["https://w3id.org/dpv#"]
    healthdcatap: Literal["http://healthdataportal.eu/ns/health#"]


_CONTEXT = {name: get_args(one.annotation)[0] for name, one in Vocabularies.model_fields.items()}
_ACCESS = "http://publications.europa.eu/resource/authority/access-right/"


def _unless_absent(name: str) -> Any:
    return Field(None, alias=name, json_schema_extra=absent)


class Link(Part):
    iri: str = key("@id")


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
    type: list[Literal["Dataset", "dcat:Dataset"]] = key("@type")
    name: str
    identifier: str
    version: str | SkipJsonSchema[None] = Field(None, json_schema_extra=absent)
    date: Time | SkipJsonSchema[None] = _unless_absent("datePublished")
    description: str | SkipJsonSchema[None] = Field(None, json_schema_extra=absent)
    conditions: str | SkipJsonSchema[None] = _unless_absent("conditionsOfAccess")
    title: str | SkipJsonSchema[None] = _unless_absent("dct:title")
    summary: str | SkipJsonSchema[None] = _unless_absent("dct:description")
    purpose: str | SkipJsonSchema[None] = _unless_absent("dpv:hasPurpose")
    legal_basis: Link | SkipJsonSchema[None] = _unless_absent("dpv:hasLegalBasis")
    measure: Link = key("dpv:hasTechnicalMeasure")
    access: Link | SkipJsonSchema[None] = _unless_absent("dct:accessRights")
    legislation: list[Link] | SkipJsonSchema[None] = _unless_absent("dcatap:applicableLegislation")
    records: Count | SkipJsonSchema[None] = _unless_absent("healthdcatap:numberOfRecords")
    people: Count | SkipJsonSchema[None] = _unless_absent("healthdcatap:numberOfUniqueIndividuals")
    variables: list[Variable] = key("variableMeasured")
    distribution: list[Download]
    measurements: list[Measurement] = key("dqv:hasQualityMeasurement")


def dataset(
    report: Mapping[str, Any], people: int | None, *, public: bool | None = None
) -> Dataset:
    """Of the parts of a report of either edition.

    Args:
        people: who are in the release, where people are counted.
        public: whether whoever can connect can read it; None in an edition that does not say.
    """
    properties = report["properties"]
    said = {key: found for key, found in _said(report, public) if found is not None}
    if people is not None:
        said["people"] = people
    if properties.request is None:  # what waits for approval is neither
        said |= {"date": properties.published_at, "version": str(properties.version)}
    return Dataset(
        context=Vocabularies(**_CONTEXT),
        type=["Dataset", "dcat:Dataset"],
        measure=Link(iri="dpv:Deidentification"),
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


def _said(report: Mapping[str, Any], public: bool | None) -> Iterator[tuple[str, Any]]:
    """What the policy declares, who may read, and counts that readers see."""
    about = report.get("about")
    if about is not None:
        for name in ("name", "title"):
            yield name, about.title
        for name in ("description", "summary", "purpose"):
            yield name, about.purpose
        yield "conditions", about.conditions
        yield "legal_basis", about.legal_basis_iri and Link(iri=about.legal_basis_iri)
        yield "legislation", about.legislation and [Link(iri=iri) for iri in about.legislation]
    if public is not None:
        yield "access", Link(iri=f"{_ACCESS}{'PUBLIC' if public else 'RESTRICTED'}")
    yield "records", report["properties"].released


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
