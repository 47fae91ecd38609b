"""Pages of four releases, without a server, which differ in nothing from one day to the next.

A version of classes with figures above limits; one of exact quasi-identifiers that waits for
approval; one of clusters; what readers of a version get.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pganon.forms.inference import Inferred, Related
from pganon.forms.utility import (
    AnatomyUtility,
    ClusterUtility,
    Combinations,
    Degree,
    Posterior,
)
from pganon.methods.buckets import form as of_buckets
from pganon.methods.clusters.form import CLUSTERS
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
_COMBINED = [
    {
        **_MEASURED[0],
        "model": "qs_k_anonymity",
        "column": None,
        "symbol": symbol,
        "required": 4,
        "measured": 4,
    }
    for symbol in ("k", "size")
]
_EXACT = AnatomyUtility(
    gcp=0.02,
    ncp={"age": 0.04, "sex": 0.0},
    groups=400,
    smallest_group=2,
    largest_group=3,
    sensitive={"diagnosis": Degree(2, 600, 0.62)},
    inferred={"diagnosis": Inferred(1000, 0.75, 0.5, 0.56, 0.1, 0.6, 0.03, 0.5, 0.1)},
    related=(Related("age", "diagnosis", 0.31),),
)
_LEFT: dict[str, Any] = {
    "people": 1000,
    "groups": 400,
    "smallest": 2,
    "largest": 3,
    "bins": [
        {"from": 1, "to": 1, "people": 0},
        {"from": 2, "to": 2, "people": 700},
        {"from": 3, "to": 5, "people": 300},
    ],
}
_SETS: dict[str, Any] = {
    **POLICY,
    "columns": {
        "patient_no": {"role": "individual"},
        "age": {"role": "quasi_sensitive", "set": "person"},
        "sex": {"role": "quasi_sensitive", "set": "person"},
        "days": {"role": "quasi_sensitive", "set": "stay"},
    },
    "privacy": [{"model": "qs_k_anonymity", "k": 4, "count": "supported"}],
    "method": {"name": "qs_greedy"},
}
_CLUSTERS = ClusterUtility(
    gcp=0.1,
    ncp={"age": 0.2, "sex": 0.0, "days": 0.1},
    ncp_total=300.0,
    clusters=200,
    smallest_cluster=4,
    mean_cluster=5.0,
    largest_cluster=9,
    constants=3,
    product={"person": Combinations(6, 8, 8.5, 12), "stay": Combinations(4, 5, 5.5, 9)},
    supported={"person": Combinations(5, 7, 7.5, 12), "stay": Combinations(4, 5, 5.5, 9)},
    posterior={"person": Posterior(0.5, 190), "stay": Posterior(None, 0)},
)


def pages() -> dict[str, str]:
    """Pages by name."""
    shows = {"readers": readers_page}
    return {name: shows.get(name, page)(found) for name, found in documents().items()}


def documents() -> dict[str, dict[str, Any]]:
    """What they are made from."""
    return {
        "classes": _classes(),
        "waiting": _waiting(),
        "clusters": _clusters(),
        "readers": _readers(),
    }


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
            evidence={
                **EVIDENCE,
                "class_sizes": _NO_GROUPS,
                "candidates": [
                    {"of": "diagnosis", "columns": ["diagnosis"], "kind": "values", **_LEFT}
                ],
                "attributes": [],
            },
            measures={"utility": {"ncp": {"age": 0.0}}, "verified": _MEASURED},
            utility=_EXACT,
            tells=of_buckets.tell,
        )
    )


def _clusters() -> dict[str, Any]:
    found = [
        {"of": of, "columns": columns, "kind": "combinations", **_LEFT, "smallest": 4}
        for of, columns in (("person", ["age", "sex"]), ("stay", ["days"]))
    ]
    values = {"form": "values", "of": "all", "exact": 0.2, "width": 2.8, "unit": "values"}
    attributes = [
        {**item, **(values if item["column"] == "age" else {})} for item in EVIDENCE["attributes"]
    ]
    return document(
        collected(
            _SETS,
            method="qs_greedy",
            groups="clusters",
            columns=[{"name": name, "form": "set"} for name in ("age", "sex", "days")],
            evidence={
                **EVIDENCE,
                "class_sizes": _NO_GROUPS,
                "sensitive": [],
                "candidates": found,
                "attributes": attributes,
            },
            measures={"utility": {"ncp": _CLUSTERS.ncp}, "verified": _COMBINED},
            utility=_CLUSTERS,
            tells=CLUSTERS.statistics.tells,
            apart=CLUSTERS.statistics.apart,
            said=CLUSTERS.verification.said,
            asked=False,
        )
    )


def _readers() -> dict[str, Any]:
    return readers_document(seen(published_at=AT))
