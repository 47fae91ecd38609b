"""A version as a report collects it, without a server."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pganon.forms.confidential import DIGEST, sha256
from pganon.loading import policy_from
from pganon.privacy.requirements import requirements_of
from pganon.report.sources import Access, Collected, VersionFacts

AT = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)

POLICY: dict[str, Any] = {
    "release": "admissions",
    "source": "hospital.patient",
    "columns": {
        "patient_no": {"role": "individual"},
        "age": {"role": "quasi_identifying"},
        "sex": {"role": "quasi_identifying"},
        "diagnosis": {"role": "sensitive"},
        "days": {"role": "insensitive"},
    },
    "privacy": [{"model": "alpha_k_anonymity", "column": "diagnosis", "alpha": 0.5, "k": 12}],
    "method": {"name": "mondrian"},
}
EVIDENCE: dict[str, Any] = {
    "format": 1,
    "smallest": 11,
    "class_sizes": {
        "release": {
            "people": 1000,
            "groups": 50,
            "smallest": 12,
            "largest": 40,
            "alone": 0,
            "above": {"0.09": 0, "1/11": 0},
            "bins": [
                {"from": 1, "to": 1, "people": 0},
                {"from": 2, "to": 10, "people": 0},
                {"from": 11, "to": 20, "people": 600},
                {"from": 21, "to": 50, "people": 400},
            ],
        },
        "source": {
            "people": 1020,
            "groups": 800,
            "smallest": 1,
            "largest": 9,
            "alone": 700,
            "above": {"0.09": 1020, "1/11": 1020},
            "bins": [
                {"from": 1, "to": 1, "people": 700},
                {"from": 2, "to": 10, "people": 320},
            ],
        },
    },
    "sensitive": [
        {
            "column": "diagnosis",
            "of": "all",
            "most": 0.5,
            "mean": 0.31,
            "bins": [
                {"from": 0.2, "to": 0.25, "people": 250},
                {"from": 0.25, "to": 0.3, "people": 0},
                {"from": 0.3, "to": 0.5, "people": 750},
            ],
            "values": [
                {"value": "flu", "share": 0.6, "highest": 0.5},
                {"value": "cold", "share": 0.36, "highest": 0.42},
            ],
            "others": {"values": 3, "share": 0.04, "times_over": 5},
        }
    ],
    "attributes": [
        {
            "column": "age",
            "form": "range",
            "of": "all",
            "exact": 0.125,
            "width": 9.76,
            "unit": "numbers",
            "distribution": {
                "kind": "steps",
                "unit": "",
                "bins": [
                    {"from": None, "below": 20, "source": 0.2, "release": 0.21},
                    {"from": 20, "below": 40, "source": 0.5, "release": 0.43},
                    {"from": 40, "below": None, "source": 0.3, "release": 0.36},
                ],
                "largest_error": 0.07,
            },
        },
        {
            "column": "sex",
            "form": "set",
            "of": "all",
            "exact": 1.0,
            "width": 1.0,
            "unit": "values",
            "distribution": {
                "kind": "values",
                "bins": [
                    {"value": "f", "source": 0.55, "release": 0.55},
                    {"value": "m", "source": 0.43, "release": 0.43},
                ],
                "others": {"values": 2, "source": 0.02, "release": 0.02},
                "largest_error": 0.0,
            },
        },
    ],
}

MEASURES: dict[str, Any] = {
    "utility": {
        "ncp": {"age": 0.104, "sex": 0.0},
        "highest_risk": 1 / 12,
        "mean_risk": 0.05,
    },
    "verified": [
        {
            "model": "structure",
            "column": None,
            "symbol": "violations",
            "bound": "<=",
            "required": 0,
            "measured": 0,
            "against": "",
        },
        {
            "model": "k_anonymity",
            "column": None,
            "symbol": "k",
            "bound": ">=",
            "required": 12,
            "measured": 12,
            "against": "",
        },
        {
            "model": "alpha_k_anonymity",
            "column": "diagnosis",
            "symbol": "alpha",
            "bound": "<=",
            "required": 0.5,
            "measured": 0.5,
            "against": "",
        },
    ],
    "metrics": {
        "workload": {
            "workload": {
                "queries": 1000,
                "predicates": 2,
                "selectivity": 0.05,
                "seed": 1,
                "sensitive": None,
            },
            "count": {
                "median": 0.0123,
                "mean": 0.018,
                "empty": 3,
                "quarter": 0.004,
                "three_quarters": 0.027,
                "most": 0.0619,
            },
        }
    },
}


RATE = {"successes": 25, "attempts": 100, "share": 0.25, "low": 0.175, "high": 0.343}
ATTACKED: dict[str, Any] = {
    "attack": 7,
    "seed": 1,
    "records": 1020,
    "people": 1020,
    "control_people": 250,
    "targets": 100,
    "known_others": 11,
    "findings": [
        {
            "attack": attack,
            "adversary": adversary,
            "column": column,
            "release": RATE if column else None,
            "members": RATE if column else None,
            "control": {**RATE, "share": 0.5} if column else None,
            "difference": {"value": -0.25, "low": -0.37, "high": 0.0004} if column else None,
        }
        for attack, adversary, column in (
            ("singling_out", "published_row", None),
            ("linkability", "two_sources", None),
            ("inference", "quasi_identifiers", "diagnosis"),
            ("inference", "others_known", "diagnosis"),
            ("inference", "correlations", "diagnosis"),
        )
    ],
    "not_measured": [
        {"attack": "linkability", "reason": "people are known by one column alone"},
    ],
}
"""Details of an event: attacks on the version."""


def event(number: int, kind: str, version: int | None = None, **details: Any) -> dict[str, Any]:
    """A row of the ledger, of the run of its version."""
    return {
        "id": number,
        "run_id": version or number,
        "version": version,
        "event": kind,
        "at": AT,
        "by_role": "clinic_steward",
        "details": details,
    }


def collected(policy: dict[str, Any] | None = None, **changes: Any) -> Collected:
    """A version of 1,000 people of whom 20 are left out, with evidence."""
    written = policy_from(policy or POLICY)
    waits = changes.get("request") is not None
    number = VersionFacts(None if waits else 1, 1, 1000, 20, AT, "holds", True)
    sensitive = {name: n for n, name in enumerate(written.with_role("sensitive"))}
    evidence = changes.get("evidence", EVIDENCE)
    digest = {} if evidence is None else {DIGEST: sha256(evidence)}
    found = Collected(
        release="admissions",
        source="hospital.patient",
        method="mondrian",
        groups="classes",
        version=number,
        versions=[number],
        shown=1,
        policy=written,
        policy_hash="ab" * 32,
        requirements=requirements_of(written, sensitive),
        guarantee=[{"adversary": "who knows the quasi-identifiers of a person"}],
        columns=[
            {"name": "age", "form": "range"},
            {"name": "sex", "form": "set"},
            {"name": "diagnosis", "form": "exact"},
            {"name": "days", "form": "exact"},
        ],
        source_columns=["patient_no", "age", "sex", "diagnosis", "days", "ward"],
        measures=MEASURES,
        readers=["analyst"],
        access=[
            Access(role="analyst", because="reader"),
            Access(role="postgres", because="superuser"),
        ],
        crossings=[],
        events=[event(1, "released", 1, row_count=1000, **digest)],
        evidence=EVIDENCE,
        evidence_intact=True,
        made_at=AT,
        program="pganon 0.1.0",
        about={"purpose": "Research on asthma", "contact": "dpo@hospital.example"},
    )
    return replace(found, **changes)
