"""Documents of reports and comparisons, held against their schema."""

from __future__ import annotations

import json
import re
from typing import Any

from pganon.report.comparison.document import Comparison
from pganon.report.document import Report
from pganon.report.readers.document import ReadersReport

_MODELS = {"officer": Report, "readers": ReadersReport}


def valid(document: dict[str, Any]) -> dict[str, Any]:
    """The document, if it satisfies the schema as JSON.

    Raises:
        ValidationError: it does not.
    """
    model = _MODELS.get(document.get("edition", ""), Comparison)
    model.model_validate_json(json.dumps(document))
    return document


_EMBEDDED = re.compile(
    r'<script type="application/json" id="pganon-(?:report|comparison)">(.*?)</script>', re.DOTALL
)


def embedded(html: str) -> dict[str, Any]:
    """The document that a page has."""
    (found,) = _EMBEDDED.findall(html)
    return json.loads(found)
