"""Pages of three releases, without a server, which differ in nothing from one day to the next.

A version of classes with figures above limits; one of exact quasi-identifiers that waits for
approval; what readers of a version get.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pganon.forms.utility import AnatomyUtility, Degree
from pganon.report.document import document
from pganon.report.page import page
from pganon.report.readers.document import document as readers_document
from pganon.report.readers.page import page as readers_page
from tests.support.sources.reports import AT, EVIDENCE, POLICY, collected, event
from tests.unit.report.test_readers_edition import seen

_NO_GROUPS: dict[str, Any] = {"release": None, "source": None}
_BUCKETS: dict[str, Any] = {
    **POLICY,
    "privacy": [{"model": "anatomy_l_diversity", "column": "diagnosis", "l": 2}],
    "method": {"name": "anatomy"},
}

_MEASURED = [
    {
        "model": "anatomy_l_diversity",
        "column": "diagnosis",
        "symbol": "l",
        "bound": ">=",
        "required": 2,
        "measured": 2,
        "against": "",
    }
]
_EXACT = AnatomyUtility(
    gcp=0.02,
    ncp={"age": 0.04, "sex": 0.0},
    groups=400,
    smallest_group=2,
    largest_group=3,
    sensitive={"diagnosis": Degree(2, 600)},
    inferred={},
    related=(),
)


def pages() -> dict[str, str]:
    """Pages by name."""
    made = {"classes": page, "waiting": page, "readers": readers_page}
    return {name: made[name](found) for name, found in documents().items()}


def documents() -> dict[str, dict[str, Any]]:
    """What they are made from."""
    return {"classes": _classes(), "waiting": _waiting(), "readers": _readers()}


def _classes() -> dict[str, Any]:
    last = replace(collected().version, number=7)
    versions = [replace(last, number=n, released=400 + 100 * n) for n in range(1, 7)]
    events = [event(2 * n, "released", n, row_count=400 + 100 * n) for n in range(1, 7)]
    said = {"login": "dpo", "reason": "As the board decided, of <May>."}
    return document(
        collected(
            version=last,
            versions=[*versions, last],
            shown=7,
            readers=["analyst", "board"],
            events=[
                *events,
                event(13, "approved", 7, request=1, **said),
                event(14, "released", 7, row_count=1000),
            ],
        )
    )


def _waiting() -> dict[str, Any]:
    return document(
        collected(
            _BUCKETS,
            method="anatomy",
            groups="groups",
            columns=[{"name": name, "form": "exact"} for name in _BUCKETS["columns"]],
            request=7,
            shown=None,
            about={},
            events=[event(1, "awaiting_approval", None, row_count=1000, request=7)],
            evidence={**EVIDENCE, "class_sizes": _NO_GROUPS, "attributes": []},
            measures={"utility": {"ncp": {"age": 0.0}}, "verified": _MEASURED},
            utility=_EXACT,
        )
    )


def _readers() -> dict[str, Any]:
    return readers_document(seen(published_at=AT))
