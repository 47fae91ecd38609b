"""The page of a report: one file that loads and runs nothing, made from the document alone."""

from __future__ import annotations

from typing import Any

from pganon.report.charts import bars, errors, risk, values
from pganon.report.sentences import sentences
from pganon.report.subgroups import chance_bars
from pganon.report.template import Document, render


def page(report: Document) -> str:
    """The page.

    Raises:
        PreconditionError: no_jinja2.
    """
    return render("page.html.j2", report, _drawings(report), words=sentences(report))


def _drawings(report: Document) -> dict[str, Any]:
    sizes, counted = report["class_sizes"], report["properties"]["members"]
    return {
        "risk": risk.risk(report["risk"]),
        "sizes": bars.sizes(sizes["release"], sizes["source"], counted)
        if sizes["release"]
        else None,
        "chances": chance_bars(report),
        "candidates": [
            bars.sizes(one, None, counted, f"{one['kind']} that remain")
            for one in report["candidates"]
        ],
        "by_value": [values.values(item) for item in report["sensitive"]],
        "commonest": [bars.commonest(item, counted) for item in report["sensitive"]],
        "distributions": [
            bars.distribution(item["distribution"]) if item["distribution"] else None
            for item in report["attributes"]
        ],
        "queries": errors.errors(report["queries"]),
        "versions": bars.versions(report["versions"]["versions"], report["properties"]["rows"]),
    }
