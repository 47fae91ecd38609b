"""How well a column is predicted from quasi-identifiers, exact or as a release shows them.

Pure: it gets codes, places on a line and what published values cover. It needs scikit-learn.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pganon.metrics.predictions import (
    ANSWERS,
    MANY_VALUES,
    MOST_LABELS,
    NO_CONVERGENCE,
    ONE_VALUE,
    TOO_FEW,
)
from pganon.steps.tasks import TaskResult

FOLDS = 10

Row = tuple[int, ...]
"""Label of the target; for each quasi-identifier the number of its published value (0: suppressed),
then for each its code (0: NULL)."""


@dataclass(frozen=True)
class Line:
    """A quasi-identifier whose values lie on a line.

    Attributes:
        places: of the values, by code from 1.
        middles: of the published values, by number from 1; None where there is NULL alone.
    """

    places: Sequence[float | None]
    middles: Sequence[float | None]

    def features(self, codes: Any, shown: Any) -> tuple[Any, Any]:
        """One column each, of source and published values; NaN for NULL."""
        by_code, by_number = (
            np.array([np.nan, *some], dtype=float) for some in (self.places, self.middles)
        )
        return by_code[codes][:, None], by_number[shown][:, None]


@dataclass(frozen=True)
class Values:
    """A quasi-identifier without order.

    Attributes:
        covers: of the published values, by number from 1, a text with a bit per code from 0.
    """

    covers: Sequence[str]

    def features(self, codes: Any, shown: Any) -> tuple[Any, Any]:
        """A column per value: its share of what is shown."""
        size = max([len(bits) for bits in self.covers], default=int(codes.max(initial=0)) + 1)
        bits = np.zeros((len(self.covers) + 1, size))
        for number, text in enumerate(self.covers, start=1):
            bits[number] = np.frombuffer(text.encode(), np.uint8) == ord("1")
        return np.eye(size)[codes], (bits / np.maximum(bits.sum(1, keepdims=True), 1))[shown]


Columns = Sequence[Line | Values]


def scored(rows: Sequence[Row], columns: Columns, how: str, seed: int) -> TaskResult:
    """Means and deviations of the accuracy over the folds, as figures; NaN where there is none.

    Args:
        how: logistic, forest or bayes.
    """
    figures = {name: float("nan") for answer in ANSWERS for name in (answer, f"{answer}_deviation")}
    found = np.array(sorted(rows), dtype=int).reshape(-1, 1 + 2 * len(columns))
    problem = _problem(found[:, 0])
    if not problem:
        folds, problem = _folds(found, columns, how, seed)
        for answer in ANSWERS:
            accuracy = np.array([fold[answer] for fold in folds])
            figures[answer] = float(accuracy.mean())
            figures[f"{answer}_deviation"] = float(accuracy.std(ddof=1))
    return TaskResult((), {**figures, "problem": problem})


def _problem(labels: Any) -> int:
    counts = np.unique(labels, return_counts=True)[1]
    if len(counts) > MOST_LABELS:
        return MANY_VALUES
    if len(labels) < 2 * FOLDS or counts.max() < FOLDS:
        return TOO_FEW
    return ONE_VALUE if len(counts) < 2 else 0


def _folds(
    rows: Any, columns: Columns, how: str, seed: int
) -> tuple[list[Mapping[str, float]], int]:
    from sklearn.model_selection import StratifiedKFold

    labels, shown, codes = np.split(rows, [1, 1 + len(columns)], axis=1)
    pairs = [column.features(codes[:, i], shown[:, i]) for i, column in enumerate(columns)]
    source, published = (np.hstack([pair[side] for pair in pairs]) for side in (0, 1))
    lines = [
        isinstance(column, Line)
        for column, (wide, _) in zip(columns, pairs, strict=True)
        for _ in range(wide.shape[1])
    ]
    released = shown.all(axis=1)  # a suppressed record shows nothing
    split = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    found: list[Mapping[str, float]] = []
    problem = 0
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        parts = list(split.split(source, labels[:, 0]))
    for train, test in parts:
        fold = _Fold(labels[:, 0], train, test, np.array(lines), how, seed)
        scores = fold.scores(source, published, released)
        problem = NO_CONVERGENCE if any(np.isnan(list(scores.values()))) else problem
        found.append(scores)
    return found, problem


@dataclass(frozen=True)
class _Fold:
    """Records to train on and to test."""

    labels: Any
    train: Any
    test: Any
    lines: Any
    how: str
    seed: int

    def scores(self, source: Any, published: Any, released: Any) -> Mapping[str, float]:
        """Accuracy by answer; NaN where a model did not converge."""
        most = np.bincount(self.labels[self.train]).argmax()
        wanted, test = self.labels[self.test], self.test
        original = self._trained(source, self.train)
        release = self._trained(published, self.train[released[self.train]])
        shown = released[test]
        answers = np.full(len(test), most)
        if release is not None and shown.any():
            answers[shown] = release(published[test[shown]])
        failed = float("nan")
        return {
            "baseline": float((wanted == most).mean()),
            "original": float((original(source[test]) == wanted).mean()) if original else failed,
            "published": float((answers == wanted).mean()) if release else failed,
            "transfer": float((release(source[test]) == wanted).mean()) if release else failed,
        }

    def _trained(self, features: Any, chosen: Any) -> Any:
        """What predicts labels from features; None if training did not converge."""
        from sklearn.exceptions import ConvergenceWarning

        known = self.labels[chosen]
        if len(np.unique(known)) < 2:
            only = known[0] if len(known) else -1
            return lambda some: np.full(len(some), only)
        scale = _scale(features[chosen], self.lines)
        model = _model(self.how, self.seed, self.lines)
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            try:
                model.fit(scale(features[chosen]), known)
            except ConvergenceWarning:
                return None
        return lambda some: model.predict(scale(some))


def _scale(training: Any, lines: Any) -> Any:
    """Columns on a line with mean 0 and deviation 1 in the training records, NULL at the mean."""
    mean, deviation = np.zeros(training.shape[1]), np.ones(training.shape[1])
    for place in np.flatnonzero(lines):
        known = training[:, place][~np.isnan(training[:, place])]
        if len(known):
            mean[place], deviation[place] = known.mean(), known.std() or 1
    return lambda some: np.nan_to_num((some - mean) / deviation, nan=0.0)


def _model(how: str, seed: int, lines: Any) -> Any:
    if how == "forest":
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(100, min_samples_leaf=5, random_state=seed)
    if how == "bayes":
        return _Bayes(lines)
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


class _Bayes:
    """Naive Bayes: normal distributions on lines, shares of values elsewhere."""

    def __init__(self, lines: Any) -> None:
        self.lines = lines
        self.parts: list[tuple[Any, Any]] = []

    def fit(self, features: Any, labels: Any) -> None:
        from sklearn.naive_bayes import GaussianNB, MultinomialNB

        both = ((self.lines, GaussianNB()), (~self.lines, MultinomialNB()))
        self.parts = [
            (chosen, model.fit(features[:, chosen], labels))
            for chosen, model in both
            if chosen.any()
        ]
        self.labels, counts = np.unique(labels, return_counts=True)
        self.prior = np.log(counts / counts.sum())

    def predict(self, features: Any) -> Any:
        joint = sum(
            model.predict_joint_log_proba(features[:, chosen]) for chosen, model in self.parts
        )
        # Each part counts the prior.
        return self.labels[np.argmax(joint - (len(self.parts) - 1) * self.prior, axis=1)]
