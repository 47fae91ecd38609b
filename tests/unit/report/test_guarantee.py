"""What every requirement says to people who do not know the field."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pganon.privacy.base import Requirement
from pganon.privacy.release import AverageRisk, RecordsAtRisk, SampleUniqueness
from pganon.report.guarantee import required
from pganon.report.promises import outcome
from pganon.report.questions import questions
from tests.support.sources.reports import collected


def _check(model: str, symbol: str) -> dict[str, Any]:
    beside = {"column": None, "against": "", "bound": "<=", "measured": 0.1}
    return {"model": model, "symbol": symbol, "required": 0.2, **beside}


def test_bounds_of_one_model_with_equal_parameters() -> None:
    models = [AverageRisk(0.2), RecordsAtRisk(0.2, 0.25), SampleUniqueness.of(0.2)]
    checks = [_check(model.name, model.symbol) for model in models]
    found = replace(
        collected(),
        requirements=[Requirement(model) for model in models],
        measures={"verified": checks},
    )
    average, above, alone = (row.sentence for row in required(found))
    assert average.endswith("with a chance of at most 20 %, on average over all people.")
    within = "others of the release in the columns age and sex."
    assert above == f"At most 20 % of the people look like fewer than 3 {within}"
    assert " look like nobody else of the release in the columns" in alone


def test_groups_whose_size_nothing_limits() -> None:
    alone = {"highest_risk": 1.0, "mean_risk": 0.25}
    found = replace(
        collected(),
        requirements=[Requirement(SampleUniqueness.of(0.2))],
        measures={"verified": [], "utility": alone},
        evidence=None,
    )
    smallest, singled_out = outcome(found)[0], questions(found)[0]
    assert (smallest.result, smallest.status) == ("no limit is required", "look")
    assert singled_out.result == "not bounded"
    assert singled_out.remains == (
        "Some are alone in their group: a guess is right with a chance of at most 100\u00a0%"
        " (certain), and of 25\u00a0% on average."
    )
