"""Models held to a stricter parameter hold for who can rule NULL out; by enumeration."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest

from pganon.errors import PolicyError
from pganon.loading import policy_from
from pganon.privacy.frequency import RelativeFrequency
from pganon.privacy.requirements import given_value, requirements_of
from tests.support.oracles import definitions as oracle
from tests.unit.policy.examples import policy

Counts = tuple[int, ...]


def values(counts: Counts) -> list[int]:
    return [value for value, n in enumerate(counts) for _ in range(n)]


def share(counts: Counts) -> Fraction:
    return Fraction(max(counts), sum(counts))


def recursive(counts: Counts, c: Fraction, l: int) -> bool:  # noqa: E741 (the field's letter)
    falling = sorted(filter(None, counts), reverse=True)
    return falling[0] < c * sum(falling[l - 1 :])


HOLDS: dict[str, Any] = {
    "distinct_l_diversity": lambda p, n: oracle.distinct_l(values(n)) >= p["l"],
    "entropy_l_diversity": lambda p, n: oracle.entropy_at_least(values(n), Fraction(p["l"])),
    "recursive_cl_diversity": lambda p, n: recursive(n, Fraction(p["c"]), p["l"]),
    "alpha_k_anonymity": lambda p, n: share(n) <= Fraction(str(p["alpha"])),
    "anatomy_l_diversity": lambda p, n: share(n) * p["l"] <= 1,
    "slicing_l_diversity": lambda p, n: share(n) * p["l"] <= 1,
}
ASKED: list[dict[str, Any]] = [
    {"model": "distinct_l_diversity", "column": "job", "l": 2},
    {"model": "entropy_l_diversity", "column": "job", "l": 2},
    {"model": "recursive_cl_diversity", "column": "job", "c": 1.5, "l": 2},
    {"model": "recursive_cl_diversity", "column": "job", "c": 0.75, "l": 2},
    {"model": "recursive_cl_diversity", "column": "job", "c": 2, "l": 3},
    {"model": "alpha_k_anonymity", "column": "job", "alpha": 0.5, "k": 2},
    {"model": "alpha_k_anonymity", "column": "job", "alpha": 0.6, "k": 2},
]


def declared(model: dict[str, Any], nulls: str = "conditional") -> dict[str, Any]:
    found = policy(privacy=[model])
    found["columns"]["job"]["nulls"] = nulls
    return found


@pytest.mark.parametrize("asked", ASKED)
def test_every_group_that_holds_it_holds_the_model_without_one_of_its_values(
    asked: dict[str, Any],
) -> None:
    """The last value stands for NULL."""
    (given,) = policy_from(declared(asked)).privacy
    strict, plain = dict(given_value(given)), dict(given)
    holds, seen = HOLDS[asked["model"]], 0
    for counts in itertools.product(range(5), repeat=4):
        if sum(counts[:3]) and counts[3] and holds(strict, counts):
            assert holds(plain, counts[:3]), counts
            seen += 1
    assert seen > 5


@pytest.mark.parametrize("asked", ASKED)
def test_the_parameter_itself_would_not_do(asked: dict[str, Any]) -> None:
    holds = HOLDS[asked["model"]]
    assert any(
        holds(asked, counts) and not holds(asked, counts[:3])
        for counts in itertools.product(range(5), repeat=4)
        if sum(counts[:3])
    )


@pytest.mark.parametrize("alpha", ["0.2", "0.3", "0.4", "0.5", "0.6", "0.75", "0.9", "1"])
def test_no_stricter_share_than_needed_is_asked_for(alpha: str) -> None:
    """Of a group at the bound, the values but NULL have exactly the share alpha."""
    found = policy_from(declared({**ASKED[5], "alpha": float(alpha)}))
    _, frequency = requirements_of(found, {"job": 0})
    assert isinstance(frequency.model, RelativeFrequency)
    part, rest = Fraction(alpha).as_integer_ratio()
    assert frequency.model.limit == Fraction(part, part + rest)


def test_what_is_required_and_what_follows() -> None:
    loaded = policy_from(declared(ASKED[5]))
    size, frequency = requirements_of(loaded, {"job": 0})
    assert (size.model.parameter, size.given) == (2, None)
    assert frequency.model.parameter == pytest.approx(1 / 3)
    assert frequency.given is not None
    assert frequency.given.parameter == 0.5
    assert frequency.label == (
        "alpha_k_anonymity alpha = 0.333333 on job (alpha = 0.5 if it is not NULL)"
    )
    assert frequency.declarable(1 / 3) == pytest.approx(0.5)


@pytest.mark.parametrize(
    "model",
    [
        {"model": "t_closeness", "column": "job", "t": 0.2},
        {"model": "beta_likeness", "column": "job", "beta": 1},
        {"model": "delta_disclosure", "column": "job", "delta": 1},
    ],
)
def test_models_that_compare_with_the_table_cannot_hold_it(model: dict[str, Any]) -> None:
    with pytest.raises(PolicyError, match="cannot hold as well for who knows"):
        policy_from(declared(model))


def test_a_class_may_have_a_single_individual_with_a_value() -> None:
    """Three individuals and three values with NULL: two of them have none."""
    found = policy(
        columns={
            "person": {"role": "individual"},
            "age": {"role": "quasi_identifying"},
            "job": {"role": "sensitive", "nulls": "conditional"},
        },
        privacy=[{"model": "ir_kl_anonymity", "column": "job", "k": 3, "l": 2}],
        method={"name": "danonyir"},
    )
    with pytest.raises(PolicyError, match="ir_kl_anonymity cannot hold as well for who knows"):
        policy_from(found)


@pytest.mark.parametrize("alpha", [Fraction(1, 2), Fraction(3, 5), Fraction(1)])
def test_how_many_records_with_a_value_are_left(alpha: Fraction) -> None:
    """By enumeration; the last value stands for NULL."""
    bound = alpha / (1 + alpha)
    for k in (2, 4, 5):
        left = [
            sum(counts[:3])
            for counts in itertools.product(range(6), repeat=4)
            if sum(counts) >= k and share(counts) <= bound
        ]
        assert min(left) >= max(k / (1 + alpha), 1 / alpha)


def test_it_is_for_sensitive_columns() -> None:
    found = policy()
    found["columns"]["age"]["nulls"] = "conditional"
    with pytest.raises(PolicyError, match="nulls of a quasi_identifying column are as_value"):
        policy_from(found)
