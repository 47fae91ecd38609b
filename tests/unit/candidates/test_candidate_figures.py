"""Verdicts on candidates, from their figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pganon.candidates.figures import Figures, Row, judged
from pganon.publish.figures import Verified

L = Verified("distinct_l_diversity", "disease", "l", ">=", 2, 4)
T = Verified("t_closeness", "disease", "t", "<=", 0.3, 0.2)
STRUCTURE = Verified("structure", None, "violations", "<=", 0, 0)
FIGURES = Figures("classes", 0.08, 0.04, 0.2, 0.1, 0.0, 100, (STRUCTURE, L, T), 1.0)


def verdicts(
    *figures: Figures | None, closeness: Sequence[Mapping[str, Any]] = ()
) -> list[tuple[str, int | None]]:
    """Args: closeness: parameters of t-closeness, of every candidate."""
    rows = [
        Row(
            n,
            {"name": "mondrian"},
            [{"model": "t_closeness", "column": "disease", **of}],
            0.0,
            {},
            "candidate" if one else "refused",
            figures=one,
        )
        for n, (one, of) in enumerate(
            zip(figures, closeness or [{}] * len(figures), strict=True), 1
        )
    ]
    return [(row.verdict, row.beaten_by) for row in judged(rows)]


def test_each_column_counts() -> None:
    """One that is worse in it alone is beaten, and one that is better in it is not."""
    for changes in (
        {"highest_risk": 0.085},
        {"mean_risk": 0.05},
        {"loss": 0.21},
        {"median_error": 0.11},
        {"suppressed": 0.01},
        {"verified": (STRUCTURE, replace(L, measured=3.0), T)},
        {"verified": (STRUCTURE, L, replace(T, measured=0.25))},
    ):
        worse = replace(FIGURES, **changes)
        assert verdicts(None, worse, FIGURES) == [
            *(("refused", None), ("beaten", 3), ("candidate", None))
        ], changes
        mixed = replace(worse, **({"loss": 0.1} if "loss" not in changes else {"mean_risk": 0.01}))
        assert verdicts(mixed, FIGURES) == [("candidate", None)] * 2, changes


def test_more_profit_is_less_risk() -> None:
    """A strict lower bound is one, too."""
    more = Verified("profitability", None, "profit", ">", 0, 0.5)
    less = replace(more, measured=0.4)
    found = [replace(FIGURES, verified=(STRUCTURE, one)) for one in (less, more)]
    assert verdicts(*found) == [("beaten", 2), ("candidate", None)]


def test_what_is_not_compared() -> None:
    for changes in ({"groups": 5}, {"seconds": 99.0}):
        assert verdicts(replace(FIGURES, **changes), FIGURES) == [("candidate", None)] * 2


def test_a_model_that_measures_in_another_way_is_not_compared() -> None:
    """The smaller number of another distance is no smaller risk."""
    nearer = replace(FIGURES, verified=(STRUCTURE, L, replace(T, measured=0.1)))
    ways = [{"t": 0.3, "distance": "equal"}, {"t": 0.3, "distance": "ordered"}]
    assert verdicts(FIGURES, nearer, closeness=ways) == [("candidate", None)] * 2
    ways = [{"t": 0.3, "distance": "equal"}, {"t": 0.2, "distance": "equal"}]
    assert verdicts(FIGURES, nearer, closeness=ways) == [("beaten", 2), ("candidate", None)]
    ways = [{"column": "drug", "distance": "equal"}, {"column": "drug", "distance": "ordered"}]
    assert verdicts(FIGURES, nearer, closeness=ways) == [("beaten", 2), ("candidate", None)]


def test_the_limit() -> None:
    above, at = replace(FIGURES, highest_risk=0.0901), replace(FIGURES, highest_risk=0.09)
    assert verdicts(above) == [("above_limit", None)]
    assert verdicts(at) == [("candidate", None)]
    without = replace(FIGURES, highest_risk=None, mean_risk=None)
    assert verdicts(without) == [("candidate", None)]
    assert verdicts(replace(above, loss=0.5), above) == [("beaten", 2), ("above_limit", None)]


def test_forms() -> None:
    other = replace(FIGURES, form="buckets", loss=0.9)
    assert verdicts(FIGURES, other) == [("candidate", None)] * 2
    assert verdicts(FIGURES, replace(other, median_error=0.2)) == [
        *(("candidate", None), ("beaten", 1))
    ]
    assert verdicts(FIGURES, replace(other, median_error=None, suppressed=0.5)) == [
        *(("candidate", None), ("candidate", None))
    ]
