"""Models trained on what is published, and on values of the source."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numpy as np
import pytest

from pganon.metrics import learning, predictions
from pganon.metrics.learning import Line, Row, Values, scored

TOWNS = Values(["0100", "0011", "1110"])
"""Numbers 1 to 3: a town, two others, NULL or one of two."""


def figures(rows: Sequence[Row], columns: learning.Columns, how: str = "bayes") -> dict[str, float]:
    return dict(scored(rows, columns, how, 7).figures)


def test_features_of_lines_are_places_and_of_others_shares() -> None:
    codes, shown = np.array([1, 2, 0]), np.array([2, 1, 0])
    source, published = Line([0.0, 0.5], [0.25, None]).features(codes, shown)
    np.testing.assert_array_equal(source[:, 0], [0, 0.5, math.nan])
    np.testing.assert_array_equal(published[:, 0], [math.nan, 0.25, math.nan])
    source, published = TOWNS.features(np.array([1, 0, 3]), np.array([1, 2, 3]))
    assert source.tolist() == [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]]
    third = 1 / 3
    assert published.tolist() == [[0, 1, 0, 0], [0, 0, 0.5, 0.5], [third, third, third, 0]]


def test_null_is_at_the_mean_of_the_training_records() -> None:
    training = np.array([[1.0, 5], [3, 6], [math.nan, 7]])
    scale = learning._scale(training, np.array([True, False]))
    assert scale(np.array([[2.0, 5], [3, 5], [math.nan, 5]])).tolist() == [[0, 5], [1, 5], [0, 5]]


FOREST = pytest.param("forest", marks=pytest.mark.slow)


@pytest.mark.parametrize("how", ["logistic", FOREST, "bayes"])
def test_what_is_merged_cannot_be_learnt(how: str) -> None:
    """Label 2 has town 3, which is published as one of two; label 1 towns 1 and 2."""
    rows: list[Row] = [(1, 1, 1)] * 40 + [(1, 2, 2)] * 20 + [(2, 2, 3)] * 30
    found = figures(rows, [TOWNS], how)
    assert (found["original"], found["original_deviation"]) == (1, 0)
    assert found["baseline"] == pytest.approx(6 / 9)
    assert found["published"] == pytest.approx(7 / 9), "of two towns the more frequent label"
    assert found["problem"] == 0


def test_suppressed_records_are_answered_as_the_baseline_and_not_trained_on() -> None:
    rows: list[Row] = [(1, 1, 1)] * 40 + [(2, 2, 2)] * 20 + [(2, 0, 3)] * 10
    found = figures(rows, [TOWNS])
    assert found["published"] == pytest.approx(6 / 7)
    assert found["original"] == 1
    nothing: list[Row] = [(label, 0, code) for label, _, code in rows]
    assert figures(nothing, [TOWNS])["published"] == figures(nothing, [TOWNS])["baseline"]


@pytest.mark.slow
def test_lines_are_learnt_from_middles() -> None:
    places = [n / 9 for n in range(10)]
    rows: list[Row] = [(int(n > 4), 1 + n // 5, n + 1) for n in range(10)] * 10
    found = figures(rows, [Line(places, [2 / 9, 7 / 9])], "logistic")
    assert (found["published"], found["transfer"], found["original"]) == (1, 1, 1)
    # A place at the end of a wide range is nearer to the middle of the next one.
    rows = [(int(n > 6), 1 + (n > 6), n + 1) for n in range(10)] * 10
    found = figures(rows, [Line(places, [3 / 9, 8 / 9])], "logistic")
    assert (found["published"], found["original"]) == (1, 1)
    assert found["transfer"] == pytest.approx(0.9)


def test_naive_bayes_is_that_of_both_kinds_of_columns() -> None:
    """Against probabilities by hand: of a label, of a place given it, of a town given it."""
    draw = random.Random(3)
    places = [n / 9 for n in range(10)]
    columns = [Line(places, places), Values(["100", "010", "001"])]
    rows = [
        (draw.randrange(2), n, t, n, t - 1)
        for _ in range(200)
        for n, t in [(draw.randrange(1, 11), draw.randrange(1, 4))]
    ]
    found = np.array(rows)
    features = np.hstack(
        [c.features(found[:, 3 + i], found[:, 1 + i])[0] for i, c in enumerate(columns)]
    )
    model = learning._Bayes(np.array([True, False, False, False]))
    model.fit(features, found[:, 0])

    def likely(row: Sequence[int], label: int) -> float:
        same = found[found[:, 0] == label]
        at = np.array([places[n - 1] for n in same[:, 3]])
        towns = ((same[:, 4] == row[4]).sum() + 1) / (len(same) + 3)
        normal = math.exp(-((places[row[3] - 1] - at.mean()) ** 2) / (2 * at.var())) / at.std()
        return len(same) * towns * normal

    wanted = [int(likely(row, 1) > likely(row, 0)) for row in rows]
    assert model.predict(features).tolist() == wanted


def test_the_order_of_the_records_does_not_matter() -> None:
    draw = random.Random(5)
    rows: list[Row] = [(draw.randrange(2), draw.randrange(4), draw.randrange(4)) for _ in range(90)]
    found = figures(rows, [TOWNS])
    draw.shuffle(rows)
    assert figures(rows, [TOWNS]) == found
    assert scored(rows, [TOWNS], "bayes", 8).figures != found, "the seed divides them"


@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        ([1, 2] * 9, predictions.TOO_FEW),
        (list(range(30)), predictions.TOO_FEW),
        ([1] * 40, predictions.ONE_VALUE),
        ([*range(101)] * 2, predictions.MANY_VALUES),
    ],
)
def test_no_figure_without_a_model(labels: Sequence[int], problem: int) -> None:
    found = figures([(label, 1, 1) for label in labels], [TOWNS])
    assert found.pop("problem") == problem
    assert all(map(math.isnan, found.values()))


def test_a_model_that_does_not_converge_has_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.linear_model import LogisticRegression

    monkeypatch.setattr(learning, "_model", lambda *_: LogisticRegression(max_iter=1))
    rows: list[Row] = [(n % 2, 1 + n % 3, n % 4) for n in range(60)]
    found = figures(rows, [TOWNS])
    assert found["problem"] == predictions.NO_CONVERGENCE
    assert math.isnan(found["original"])
    assert found["baseline"] == pytest.approx(0.5)
