"""What is told of several draws of a method."""

from __future__ import annotations

from benchmarks.support import means, spread


def test_range_of_several_draws() -> None:
    rows = [{"nloss": 0.3, "error": 1.0}, {"nloss": 0.1, "error": 0.5}, {"nloss": 0.2}]
    assert spread(rows, ("nloss", "error")) == {
        "nloss_drawn": [0.3, 0.1, 0.2],
        "nloss_least": 0.1,
        "nloss_most": 0.3,
        "error_drawn": [1.0, 0.5],
        "error_least": 0.5,
        "error_most": 1.0,
    }


def test_one_draw_has_no_range() -> None:
    assert spread([{"nloss": 0.3}], ("nloss", "error")) == {"nloss_drawn": [0.3], "error_drawn": []}


def test_seconds_are_the_fewest_and_others_the_mean() -> None:
    rows = [{"gcp": 0.1, "seconds": 3.0, "k": 5, "v": None}, {"gcp": 0.3, "seconds": 2.0, "v": 1}]
    assert means(rows, ("gcp", "seconds", "v")) == {"gcp": 0.2, "seconds": 2.0, "k": 5, "v": None}
