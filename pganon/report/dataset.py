"""The release as catalogues of data describe it: a Dataset of schema.org.

What was measured is a QualityMeasurement of DQV, the Data Quality Vocabulary (W3C, 2016).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_CONTEXT = {"@vocab": "https://schema.org/", "dqv": "http://www.w3.org/ns/dqv#"}

_DECLARED = {"Title": "name", "Purpose": "description", "Conditions": "conditionsOfAccess"}
"""Properties that have the words of the steward, by their labels in the report."""


def dataset(report: Mapping[str, Any]) -> dict[str, Any]:
    """JSON-LD, from the document of a report of either edition."""
    properties = report["properties"]
    declared = {one["label"]: one["text"] for one in report.get("about", [])}
    said = {key: declared[label] for label, key in _DECLARED.items() if declared.get(label)}
    if properties["request"] is None:  # what waits for approval is neither
        said |= {"datePublished": properties["published_at"], "version": str(properties["version"])}
    return {
        "@context": _CONTEXT,
        "@type": "Dataset",
        "name": properties["release"],
        "identifier": report["uid"],
        **said,
        "variableMeasured": [
            {"@type": "PropertyValue", "name": one["name"], **_described(one)}
            for one in report["columns"]
            if one.get("goes_out", True)
        ],
        "distribution": [
            {"@type": "DataDownload", "name": one["name"], "sha256": one["sha256"]}
            for one in report["files"]
        ],
        "dqv:hasQualityMeasurement": [
            {
                "@type": "dqv:QualityMeasurement",
                "dqv:isMeasurementOf": {"@type": "dqv:Metric", "name": metric},
                "dqv:value": value,
            }
            for metric, value in _measured(report)
        ],
    }


def _described(column: Mapping[str, Any]) -> dict[str, str]:
    text = column.get("seen") or column.get("comment")
    return {"description": text} if text else {}


def _measured(report: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for check in report["guarantee"]:
        if check.get("measured") is not None:
            about = f" of {check['published']}" if check["published"] else ""
            against = f" against the {check['against']} distribution" if check["against"] else ""
            yield f"{check['model']}{about}{against}", check["measured"]
    chance = report["risk"]["release"]
    if chance is not None:
        yield "highest re-identification risk", chance["highest"]
        yield "mean re-identification risk", chance["mean"]
    for one in report.get("attributes", []):
        if one["lost"] is None:
            continue
        yield f"information loss (NCP) of {one['column']}", one["lost"]
