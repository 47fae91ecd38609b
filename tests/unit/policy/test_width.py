"""How many columns a policy may release."""

from __future__ import annotations

import json

import pytest

from pganon.errors import PolicyError
from pganon.loading import load_policy
from pganon.policy.rules import MOST_GROUPED, MOST_IN_ARRAYS, MOST_RELEASED, MOST_UNLINKED

MODELS: dict[str, dict[str, object]] = {
    "k_anonymity": {"model": "k_anonymity", "k": 2},
    "anatomy": {"model": "anatomy_l_diversity", "column": "sensitive_0", "l": 2},
    "qs": {"model": "qs_k_anonymity", "k": 2},
}


def policy(method: str = "mondrian", model: str = "k_anonymity", /, **numbers: int) -> str:
    columns = {
        f"{role}_{number}": {"role": role}
        for role, count in numbers.items()
        for number in range(count)
    }
    for number in range(numbers.get("quasi_sensitive", 0)):
        columns[f"quasi_sensitive_{number}"]["set"] = f"set{number}"
    return json.dumps(
        {
            "release": "wide",
            "source": "public.wide",
            "columns": columns,
            "privacy": [MODELS[model]],
            "method": {"name": method},
        },
        indent=1,
    )


def test_as_many_columns_as_there_is_room_for() -> None:
    rest = MOST_RELEASED - MOST_GROUPED
    load_policy(policy(quasi_identifying=MOST_GROUPED, insensitive=rest, identifying=2000))


@pytest.mark.parametrize(
    ("method", "model", "grouped", "most"),
    [
        ("anatomy", "anatomy", {"quasi_identifying": 1, "sensitive": 1}, MOST_UNLINKED),
        ("qs_greedy", "qs", {"quasi_sensitive": 2}, MOST_IN_ARRAYS),
    ],
)
def test_methods_with_less_room(
    method: str, model: str, grouped: dict[str, int], most: int
) -> None:
    rest = most - sum(grouped.values())
    load_policy(policy(method, model, insensitive=rest, **grouped))
    with pytest.raises(PolicyError) as caught:
        load_policy(policy(method, model, insensitive=rest + 1, **grouped))
    (problem,) = caught.value.problems
    assert f"{most + 1} columns are released" in problem.message
    assert f"by this method has room for {most}" in problem.message
    assert f"room for {MOST_RELEASED}" in (problem.suggestion or "")


@pytest.mark.parametrize(
    ("numbers", "wrong", "works"),
    [
        ({"quasi_identifying": MOST_GROUPED + 1}, MOST_GROUPED + 1, MOST_GROUPED),
        ({"quasi_identifying": 1, "insensitive": MOST_RELEASED}, MOST_RELEASED + 1, MOST_RELEASED),
    ],
)
def test_more_are_refused_with_the_number_that_works(
    numbers: dict[str, int], wrong: int, works: int
) -> None:
    with pytest.raises(PolicyError) as caught:
        load_policy(policy(**numbers))
    (problem,) = caught.value.problems
    assert (problem.field, problem.line) == ("columns", 4)
    assert f"{wrong} columns are" in problem.message
    assert f"has room for {works}" in problem.message
