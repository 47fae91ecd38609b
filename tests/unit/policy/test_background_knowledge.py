"""Background knowledge as a policy declares it."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.errors import PolicyError
from pganon.policy import loader
from pganon.privacy.knowledge import BackgroundKnowledge
from tests.support.sources.priors import KNOWN
from tests.unit.policy.examples import policy

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi_identifying"},
    "job": {"role": "quasi_identifying", "type": "categorical"},
    "zip": {"role": "quasi_identifying", "hierarchy": {"prefix": [2]}},
    "disease": {"role": "sensitive"},
}


def _policy(columns: dict[str, Any] = COLUMNS, **model: Any) -> dict[str, Any]:
    wanted = {"model": "background_knowledge", "j": 0.3, **model}
    return policy(columns=columns, privacy=[wanted], method={"name": "priors"})


def _declared(**model: Any) -> BackgroundKnowledge:
    (found,) = loader.policy_from(_policy(**model), KNOWN).privacy
    assert isinstance(found, BackgroundKnowledge)
    return found


def _problems(data: dict[str, Any]) -> dict[str, tuple[str, str | None]]:
    with pytest.raises(PolicyError) as caught:
        loader.policy_from(data, KNOWN)
    return {p.field: (p.message, p.suggestion) for p in caught.value.problems}


def test_a_kernel_of_one_width_or_of_one_by_column() -> None:
    kernel = _declared(knowledge={"kernel": {"bandwidth": 2}}).knowledge.kernel
    assert kernel is not None
    assert (kernel.bandwidth_of("age"), kernel.bandwidth_of("job")) == (2, 2)
    kernel = _declared(knowledge={"kernel": {"bandwidth": {"age": 0.2}}}).knowledge.kernel
    assert kernel is not None
    assert (kernel.bandwidth_of("age"), kernel.bandwidth_of("job")) == (0.2, 0.3)


def test_a_grid_has_defaults() -> None:
    cells = _declared(knowledge={"cells": {"intervals": {"age": 3}}}).knowledge.cells
    assert cells is not None
    assert (cells.intervals_of("age"), cells.intervals_of("other")) == (3, 5)
    assert (cells.level_of("zip"), cells.pseudo_records) == (1, 1.0)
    cells = _declared(knowledge={"cells": {"levels": {"zip": 2}}}).knowledge.cells
    assert cells is not None
    assert (cells.level_of("zip"), cells.intervals_of("age")) == (2, 5)


@pytest.mark.parametrize("source", ["kernel", "cells", "relation"])
def test_it_is_measured_on_priors_alone(source: str) -> None:
    knowledge: Any = {source: "public.prior" if source == "relation" else {}}
    (model,) = _declared(j=0.25, knowledge=knowledge).measures()
    assert model.label == f"background_knowledge j = 0.25 ({source})"
    assert (model.from_histogram, model.needs_values, model.merging_keeps) == (False, False, False)
    assert model.parameters == {
        "j": 0.25,
        "knowledge": source,
        "bounds": "divergence of priors",
        "verified": "by the owner",
        "depends_on": "quasi-identifiers" if source == "relation" else "sensitive values",
    }


@pytest.mark.parametrize(
    ("divergence", "holds"), [(0.3, True), (0.3 + 9e-10, True), (0.3 + 2e-9, False), (0, True)]
)
def test_equality_satisfies_up_to_rounding(divergence: float, holds: bool) -> None:
    assert _declared(j=0.3, knowledge={"kernel": {}}).satisfied_by(divergence) is holds


@pytest.mark.parametrize(
    ("model", "field", "part", "suggestion"),
    [
        ({"j": -0.1}, "j", "at least 0, not -0.1", ""),
        ({"j": 1.1}, "j", "at most 1, not 1.1", ""),
        ({"j": "0.3"}, "j", "must be a number", "write 0.3 without quotes"),
        ({"smoothing": 1}, "smoothing", "less than 1", ""),
        ({"smoothing": -0.1}, "smoothing", "at least 0", ""),
        ({"knowledge": None}, "knowledge", "must be a mapping, not nothing", "its keys"),
        ({"knowledge": "kernel"}, "knowledge", 'must be a mapping, not "kernel"', "its keys"),
        ({"knowledge": {}}, "knowledge", "says nothing; it takes exactly one of", ""),
        (
            {"knowledge": {"kernel": {}, "relation": "public.p"}},
            "knowledge",
            "has the keys kernel and relation; it takes exactly one of kernel, relation, cells",
            "",
        ),
        (
            {"knowledge": {"kernels": {}}},
            "knowledge.kernels",
            "is not a key that is known here",
            'did you mean "kernel"?',
        ),
        (
            {"knowledge": {"kernel": {"bandwidths": 1}}},
            "knowledge.kernel.bandwidths",
            "is not a key that is known here",
            'did you mean "bandwidth"?',
        ),
        (
            {"knowledge": {"cells": {"interval": 1}}},
            "knowledge.cells.interval",
            "is not a key that is known here",
            'did you mean "intervals"?',
        ),
        (
            {"knowledge": {"kernel": {"bandwidth": 0}}},
            "knowledge.kernel.bandwidth",
            "must be at least 1e-06, not 0",
            "",
        ),
        (
            {"knowledge": {"kernel": {"bandwidth": {"age": -1}}}},
            "knowledge.kernel.bandwidth.age",
            "must be at least 1e-06, not -1",
            "",
        ),
        (
            {"knowledge": {"kernel": {"bandwidth": 1e-7}}},
            "knowledge.kernel.bandwidth",
            "must be at least 1e-06, not 1e-07",
            "",
        ),
        (
            {"knowledge": {"kernel": {"bandwidth": "wide"}}},
            "knowledge.kernel.bandwidth",
            'must be a number, not "wide"',
            "",
        ),
        (
            {"knowledge": {"kernel": {"bandwidth": True}}},
            "knowledge.kernel.bandwidth",
            "must be a number, not true",
            "",
        ),
        (
            {"knowledge": {"kernel": {"bandwidth": {1: 0.3}}}},
            "knowledge.kernel.bandwidth[1]",
            "must be a text, not 1",
            "put it in quotes",
        ),
        (
            {"knowledge": {"kernel": {"bandwidth": {"aeg": 0.3}}}},
            "knowledge.kernel.bandwidth.aeg",
            '"aeg" is not a quasi-identifying column',
            'did you mean "age"?',
        ),
        (
            {"knowledge": {"kernel": {"bandwidth": {"disease": 0.3}}}},
            "knowledge.kernel.bandwidth.disease",
            '"disease" is not a quasi-identifying column',
            "known: age, job, zip",
        ),
        (
            {"knowledge": {"cells": {"intervals": 0}}},
            "knowledge.cells.intervals",
            "must be at least 1, not 0",
            "",
        ),
        (
            {"knowledge": {"cells": {"levels": {"zip": 1.5}}}},
            "knowledge.cells.levels.zip",
            "must be a whole number, not 1.5",
            "",
        ),
        (
            {"knowledge": {"cells": {"intervals": {"zip": 3}}}},
            "knowledge.cells.intervals.zip",
            'column "zip" has a hierarchy',
            "use levels",
        ),
        (
            {"knowledge": {"cells": {"levels": {"age": 1}}}},
            "knowledge.cells.levels.age",
            'column "age" has no hierarchy',
            "use intervals",
        ),
        (
            {"knowledge": {"cells": {"intervals": {"job": 3}}}},
            "knowledge.cells.intervals.job",
            'column "job" is categorical: its values have no order',
            "leave it out; its values are told apart, or by levels of a hierarchy",
        ),
        (
            {"knowledge": {"cells": {"levels": {"disease": 3}}}},
            "knowledge.cells.levels.disease",
            '"disease" is not a quasi-identifying column',
            "known: age, job, zip",
        ),
        (
            {"knowledge": {"cells": {"pseudo_records": -1}}},
            "knowledge.cells.pseudo_records",
            "at least 0, not -1",
            "",
        ),
        ({"knowledge": {"relation": "a.b.c"}}, "knowledge.relation", "", ""),
    ],
)
def test_refusals(model: dict[str, Any], field: str, part: str, suggestion: str) -> None:
    given = {"knowledge": {"kernel": {}}, **model}
    message, said = _problems(_policy(**given))[f"privacy[0].{field}"]
    assert part in message
    assert suggestion in (said or "")


def test_what_says_nothing_is_missing() -> None:
    found = _problems(_policy())
    assert found["privacy[0].knowledge"][0] == "is missing"


def test_a_column_with_the_name_of_the_probability() -> None:
    columns = {**COLUMNS, "probability": {"role": "quasi_identifying"}}
    found = _problems(_policy(columns, knowledge={"relation": "public.prior"}))
    message, _ = found["privacy[0].knowledge.relation"]
    assert 'its column "probability" would be both the probability and a column' in message
    columns["probability"] = {"role": "insensitive"}
    loader.policy_from(_policy(columns, knowledge={"relation": "public.prior"}), KNOWN)


def test_one_is_enough() -> None:
    data = _policy(knowledge={"kernel": {}})
    data["privacy"] *= 2
    assert "required twice" in _problems(data)["privacy[1]"][0]
