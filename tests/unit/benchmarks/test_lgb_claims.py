"""How claims of the paper of local generalization and bucketization are judged."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.lgb_claims import FILL, MDP, STOP, evaluate

Row = dict[str, Any]


def row(method: str, l: int, drawn: list[float], **figures: float) -> Row:  # noqa: E741
    middle = sorted(drawn)[len(drawn) // 2]
    found = {"r_error": middle, "r_error_median": middle, "outside": 0.0, "beyond": 0.0}
    return {"method": method, "k": 5, "l": l, **found, "r_error_drawn": drawn, **figures}


def verdicts(**parts: list[Row]) -> dict[str, tuple[str, str]]:
    return {one["claim"]: (one["holds"], one["found"]) for one in evaluate(dict(parts))}


@pytest.mark.parametrize(
    ("least", "most", "holds", "figures"),
    [
        ([50, 60, 70], [95, 100, 99], "yes", "+40.0% (+30% to +50%); +1.0% (+0% to +5%)"),
        ([50, 60, 70], [70, 80, 90], "NO", "+40.0% (+30% to +50%); +20.0% (+10% to +30%)"),
        ([95, 94, 70], [95, 100, 99], "NO", "+6.0% (+5% to +30%); +1.0% (+0% to +5%)"),
        ([150, 60, 140], [95, 100, 99], "NO", "-40.0% (-50% to +40%); +1.0% (+0% to +5%)"),
    ],
    ids=["less, then equal", "never equal", "equal at once", "one seed alone says less"],
)
def test_less_for_small_l_and_equal_for_large(
    least: list[float], most: list[float], holds: str, figures: str
) -> None:
    """By medians over seeds; the queries of a seed are the same for both methods."""
    rows = [row(STOP, l, [100.0, 100.0, 100.0]) for l in (5, 20)]  # noqa: E741
    rows += [row(MDP, 5, least), row(MDP, 20, most)]
    claim = f"R_error of LGB_MDP is below {STOP} for small l, equal for large l (k = 5)"
    assert verdicts(by_l=rows)[claim] == (holds, figures)


def test_sums_outside_the_bounds() -> None:
    rows = [row(MDP, 5, [1.0]), row(FILL, 5, [1.0], outside=0.014)]
    found = verdicts(by_l=rows)
    assert found["true sums lie within the paper's bounds"] == ("NO", "1.4% not")
    assert found["true sums lie within the certain bounds"] == ("yes", "0.0% not")


def test_refused_runs_are_left_out() -> None:
    rows = [row(MDP, 5, [1.0]), {"method": MDP, "k": 10, "l": 5, "refused": "why"}]
    assert verdicts(by_l=rows)["true sums lie within the paper's bounds"][0] == "yes"
    assert verdicts(by_l=rows[1:]) == {}


def test_what_equal_records_change() -> None:
    rows = [
        {"small": "stop", "taken": taken, "k": 5, "c_dm": c_dm, "ncp": 0.2}
        for taken, c_dm in (("cells", 200.0), ("records", 150.0))
    ]
    claim = "change of stop where equal records are divided, too"
    assert verdicts(equal=rows)[claim] == ("-", "C_DM -25.0%; NCP +0.0%")


def test_a_reduction_is_none_where_errors_grow() -> None:
    """For the largest k and l least of all, but still."""
    rows = [
        {"method": MDP, "k": k, "l": l, "density": density, "r_error": error}
        for k, l, density, error in ((5, 5, 10, 1.0), (5, 5, 40, 3.0),  # noqa: E741
                                     (10, 20, 10, 1.0), (10, 20, 40, 2.0))
    ]  # fmt: skip
    claim = "the reduction is the largest for k = 10, l = 20"
    found = verdicts(by_density=rows)
    assert found[claim] == ("NO", "5, 5: -200.0% at least; 10, 20: -100.0% at least")
    rows[3]["r_error"] = 0.5
    assert verdicts(by_density=rows)[claim][0] == "yes"
