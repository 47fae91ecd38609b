"""A comparison as the command hands it to the page, without a server."""

from __future__ import annotations

from typing import Any

from tests.support.sources.reports import AT

ADULT: dict[str, list[tuple[int, float, float, float, float, int, str, int | None]]] = {
    "loss": [
        (5, 0.2, 0.0659, 0.011, 0.039, 1988, "above_limit", None),
        (12, 1 / 12, 0.0396, 0.0198, 0.075, 1195, "candidate", None),
        (25, 0.04, 0.0232, 0.0338, 0.164, 700, "candidate", None),
        (50, 0.02, 0.0133, 0.0536, 0.232, 403, "candidate", None),
    ],
    "width": [
        (5, 0.2, 0.0656, 0.0125, 0.061, 1979, "beaten", 1),
        (12, 1 / 12, 0.0399, 0.0212, 0.13, 1205, "beaten", 2),
        (25, 0.04, 0.0232, 0.0366, 0.238, 700, "beaten", 3),
        (50, 0.02, 0.0132, 0.0614, 0.474, 400, "beaten", 4),
    ],
    "relaxed": [
        (5, 0.2, 0.1079, 0.038, 0.13, 3255, "beaten", 1),
        (12, 1 / 12, 0.0654, 0.0544, 0.184, 1973, "beaten", 2),
        (25, 0.04, 0.0339, 0.0863, 0.323, 1023, "beaten", 3),
        (50, 0.017, 0.017, 0.1304, 0.512, 512, "candidate", None),
    ],
}
"""k; highest and average chance; loss, error, groups; verdict: what they were on Adult once."""


def check(model: str, column: str | None, symbol: str, bound: str, measured: float) -> Any:
    return {
        "model": model,
        "column": column,
        "symbol": symbol,
        "bound": bound,
        "required": measured,
        "measured": measured,
        "against": "",
    }


def figures(form: str = "classes", **changes: Any) -> dict[str, Any]:
    return {
        "form": form,
        "highest_risk": 0.05,
        "mean_risk": 0.04,
        "loss": 0.2,
        "median_error": 0.1,
        "suppressed": 0.0,
        "groups": 100,
        "verified": [check("distinct_l_diversity", "occupation", "l", ">=", 4)],
        "seconds": 2.54,
        **changes,
    }


def candidate(number: int, method: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "number": number,
        "method": method,
        "privacy": [],
        "suppression_limit": 0.0,
        "varied": {},
        "verdict": "candidate",
        "policy_hash": "ab" * 32,
        "run_id": number,
        "figures": figures(),
        "beaten_by": None,
        "code": None,
        "reason": None,
        "exit_code": 0,
        **changes,
    }


def refused(number: int, method: dict[str, Any], code: str, reason: str) -> dict[str, Any]:
    return candidate(
        number, method, verdict="refused", figures=None, code=code, reason=reason, exit_code=1
    )


def of_adult() -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for choose, rows in ADULT.items():
        key = "variant" if choose == "relaxed" else "choose"
        for k, highest, mean, loss, error, groups, verdict, by in rows:
            found = figures(
                highest_risk=highest,
                mean_risk=mean,
                loss=loss,
                median_error=error,
                groups=groups,
            )
            made.append(
                candidate(
                    len(made) + 1,
                    {"name": "mondrian", key: choose},
                    varied={"k": k},
                    figures=found,
                    verdict=verdict,
                    beaten_by=by,
                )
            )
    return made


def comparison(*candidates: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """By default twelve candidates for a release of Adult."""
    return {
        "format": "pganon comparison 1",
        "timestamp": AT.isoformat(),
        "program": "pganon 0.1.0",
        "release": "census_income",
        "source": "census.adult",
        "comparison": 7,
        "records": 30162,
        "seed": 1,
        "workload": {
            "queries": 500,
            "predicates": 2,
            "selectivity": 0.05,
            "seed": 1,
            "sensitive": False,
        },
        "limit": 0.09,
        "candidates": list(candidates) or of_adult(),
        **changes,
    }
