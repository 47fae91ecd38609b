"""What is asked to be predicted, and what is told of it."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pganon.errors import UsageError
from pganon.forms.request import Classify, Request
from pganon.metrics import predictions
from pganon.metrics.classification import _FIGURES, _PROBLEM, Classification, classification
from pganon.plan.build import build_plan
from pganon.steps.facts import Facts
from tests.unit.policy.examples import policy
from tests.unit.resolved.registry import resolved


def told(problem: int = 0, **figures: float) -> Classification:
    values: dict[Any, float] = {fact: figures.get(fact.column, math.nan) for fact in _FIGURES}
    return classification(Classify("t"), Facts().observing({**values, _PROBLEM: problem}))


def test_what_is_kept_of_what_the_source_gains() -> None:
    found = told(baseline=0.5, original=0.9, published=0.7, transfer=0.4)
    assert found.kept == {"published": pytest.approx(0.5), "transfer": pytest.approx(-0.25)}
    assert found.reason is None


def test_where_the_source_gains_nothing_there_is_no_share() -> None:
    found = told(baseline=0.5, original=0.505, published=0.5, transfer=0.5)
    assert found.kept == {"published": None, "transfer": None}
    assert found.reason == "the source gains nothing"
    assert told(baseline=0.5, original=0.3, published=0.4, transfer=0.4).kept["published"] is None


def test_no_figure_without_a_model() -> None:
    found = told(predictions.NO_CONVERGENCE, baseline=0.5, original=0.9)
    assert (found.published, found.kept["published"]) == (None, None)
    assert found.reason == "a model did not converge"


def test_a_target_is_checked_before_anything_is_read() -> None:
    columns = {"age": {"role": "quasi_identifying"}, "clinic": {"role": "insensitive"}}
    spec = resolved(policy(columns=columns))
    assert build_plan(spec, request=Request(classify=Classify("clinic")))
    with pytest.raises(UsageError, match="age is no column that is published unchanged"):
        build_plan(spec, request=Request(classify=Classify("age")))
