"""The JSON Schema of what reports and comparisons are made from.

Documents are built from its models.
"""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from pganon.report.comparison.document import Comparison
from pganon.report.document import Report
from pganon.report.readers.document import ReadersReport


def report_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a report of either edition, or of a comparison."""
    schema = TypeAdapter(Report | ReadersReport | Comparison).json_schema(by_alias=True)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "pganon report",
    }
