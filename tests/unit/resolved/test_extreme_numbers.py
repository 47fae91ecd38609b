"""Attack: numbers of a policy that no calculation is made for. They are refused, or they work."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pganon.catalog.model import Kind
from pganon.errors import PolicyError
from pganon.loading import load_policy
from pganon.plan.build import build_plan
from pganon.plan.explain import explain
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.resolve import resolve
from tests.unit.resolved import registry

TYPES: dict[str, tuple[Kind, str]] = {
    "age": ("integer", "integer"),
    "pay": ("float", "double precision"),
    "zip": ("text", "text"),
    "size": ("text", "text"),
    "disease": ("text", "text"),
    "drug": ("text", "text"),
    "person": ("text", "text"),
}
RELATION = registry.relation("people", TYPES)
MODELS = [
    {"model": "k_anonymity", "k": 5},
    {"model": "alpha_k_anonymity", "column": "disease", "alpha": 0.5, "k": 5},
    {"model": "distinct_l_diversity", "column": "disease", "l": 2},
    {"model": "entropy_l_diversity", "column": "disease", "l": 2.0},
    {"model": "recursive_cl_diversity", "column": "disease", "c": 3.0, "l": 2},
    {"model": "t_closeness", "column": "disease", "t": 0.5},
    {"model": "beta_likeness", "column": "disease", "beta": 2.0},
    {"model": "delta_disclosure", "column": "disease", "delta": 2.0},
]
TREE = {"order": {"values": ["s", "m", "l"], "fanout": [2]}}
GENERALIZED = {
    "age": {
        "role": "quasi_identifying",
        "weight": 2.0,
        "hierarchy": {"intervals": [5, 10, 20], "origin": 0},
    },
    "pay": {"role": "quasi_identifying", "domain": [0, 100]},
    "zip": {"role": "quasi_identifying", "hierarchy": {"prefix": [3, 1]}},
    "size": {"role": "quasi_identifying", "hierarchy": TREE},
}
EXACT = {name: {"role": "quasi_identifying"} for name in ("age", "pay")}
SENSITIVE = {"disease": {"role": "sensitive"}, "drug": {"role": "sensitive"}}
SETS = {
    "age": {"role": "quasi_sensitive", "set": "one"},
    "zip": {"role": "quasi_sensitive", "set": "two"},
}


def _document(
    columns: dict[str, Any], privacy: list[dict[str, Any]], method: dict[str, Any], **more: Any
) -> dict[str, Any]:
    return {
        "release": "people",
        "source": "public.people",
        "columns": columns,
        "privacy": privacy,
        "method": method,
        **more,
    }


def _identity(model: str, **parameters: float) -> dict[str, Any]:
    person = {"person": {"role": "individual"}}
    return _document(
        {**EXACT, "disease": SENSITIVE["disease"], **person},
        [{"model": model, "column": "disease", **parameters}],
        {"name": "danonyir", "block_size": 100},
    )


POLICIES = [
    _document(
        {**GENERALIZED, "disease": SENSITIVE["disease"]},
        MODELS,
        {"name": "mondrian"},
        suppression_limit=0.1,
        publish={"keep": 3},
    ),
    _document(
        {**EXACT, "disease": SENSITIVE["disease"]},
        [{"model": "anatomy_l_diversity", "column": "disease", "l": 3}],
        {"name": "anatomy", "block_size": 100},
    ),
    _document(
        {**EXACT, **SENSITIVE},
        [{"model": "slicing_l_diversity", "l": 3, "min_size": 2}],
        {
            "name": "slamsa",
            "block_size": 100,
            "sensitive_tables": 2,
            "link_threshold": 0.5,
            "profile": "independent",
            "optimizer": "firefly",
            "norm": 2.0,
        },
        exclusions=[{"when": {"age": {"max": 17}}, "never": {"disease": ["gout"]}}],
    ),
    _document(
        SETS,
        [{"model": "qs_k_anonymity", "k": 4, "count": "product", "min_values": 2}],
        {"name": "qs_greedy", "block_size": 100},
    ),
    _identity("ir_kl_anonymity", k=2, l=2),
    _identity("ir_alpha_beta_anonymity", alpha=0.5, beta=0.5),
    _identity("eir_l_diversity", l=2),
]

EXTREMES = [
    *(0, -1, 1, 2, 0.1, -0.0, 1e-300, 1e-320, 5e-324, 1e300, 1.7e308, -1e308, 1e-30, 1e30),
    *(2**31 - 1, 2**31, 2**63 - 1, 2**63, 2**64, -(2**63), 10**400, -(10**400), 10**30),
    *(float("nan"), float("inf"), float("-inf"), True, None, "1e-300", "NaN", [], {}),
]


def _numbers(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the numbers of a document are."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _numbers(value, (*path, key))
    elif isinstance(data, list):
        for place, value in enumerate(data):
            yield from _numbers(value, (*path, place))
    elif isinstance(data, int | float):
        yield path


PLACES = [(number, path) for number, data in enumerate(POLICIES) for path in _numbers(data)]


def _with(number: int, path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    data = copy.deepcopy(POLICIES[number])
    _at(data, path[:-1])[path[-1]] = value
    return data


def _at(data: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        data = data[key]
    return data


def _resolved(data: dict[str, Any]) -> ReleaseSpec | None:
    """What a good policy is resolved to. Nothing but PolicyError may come up, with a field."""
    try:
        policy = load_policy(json.dumps(data)).policy
        return resolve(policy, RELATION, base_dir=Path())
    except PolicyError as refused:
        error = refused
    assert error.problems
    assert all(problem.field for problem in error.problems)
    return None


def _planned(data: dict[str, Any]) -> bool:
    spec = _resolved(data)
    return spec is not None and bool(explain(build_plan(spec)))


@pytest.mark.parametrize("number", range(len(POLICIES)))
@pytest.mark.slow
def test_the_policies_themselves_can_be_planned(number: int) -> None:
    assert _planned(POLICIES[number])


@pytest.mark.slow
def test_extremes() -> None:
    """Every extreme in every place."""
    for number, path in PLACES:
        for value in EXTREMES:
            _resolved(_with(number, path, value))


@pytest.mark.parametrize("path", [path for _, path in PLACES if path[0] == "columns"])
@pytest.mark.slow
def test_extremes_of_columns_can_be_planned(path: tuple[Any, ...]) -> None:
    """The least and the most that is accepted."""
    values = [value for value in EXTREMES if isinstance(value, int | float)]
    every = [_with(0, path, value) | {"privacy": MODELS[:1]} for value in values]
    accepted = {_at(data, path): data for data in every if _resolved(data)}
    for value in {min(accepted, default=None), max(accepted, default=None)} - {None}:
        assert _planned(accepted[value])


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(PLACES),
    st.integers() | st.floats(width=64) | st.floats(min_value=0, max_value=1),
)
def test_any_number(place: tuple[int, tuple[Any, ...]], value: float) -> None:
    _resolved(_with(*place, value))


@pytest.mark.parametrize(
    ("intervals", "field"),
    [
        ([1e-300, 1e300], "columns.age.hierarchy.intervals[0]"),
        ([1, 1e300], "columns.age.hierarchy.intervals[1]"),
        ([1e-320], "columns.age.hierarchy.intervals[0]"),
        ([1, 1.7e308], "columns.age.hierarchy.intervals[1]"),
        ([1, 10**400], "columns.age.hierarchy.intervals[1]"),
        ([-0.0], "columns.age.hierarchy.intervals[0]"),
        ([-5], "columns.age.hierarchy.intervals[0]"),
        ([float("nan")], "columns.age.hierarchy.intervals[0]"),
        ([5, float("inf")], "columns.age.hierarchy.intervals[1]"),
        ([1e-30, 1e-30], "columns.age.hierarchy.intervals[1]"),
        ([3, 1e30], "columns.age.hierarchy.intervals[1]"),
    ],
)
def test_widths_that_nobody_can_draw(intervals: list[float], field: str) -> None:
    data = _with(0, ("columns", "age", "hierarchy", "intervals"), intervals)
    with pytest.raises(PolicyError) as caught:
        load_policy(json.dumps(data))
    assert field in [problem.field for problem in caught.value.problems]
    assert all(problem.suggestion for problem in caught.value.problems)


def test_widths_far_apart() -> None:
    assert _planned(_with(0, ("columns", "age", "hierarchy", "intervals"), [1e-30, 1e30]))
