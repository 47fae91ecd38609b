"""How many columns a policy may release."""

from __future__ import annotations

import json

import pytest

from pganon.errors import PolicyError
from pganon.loading import load_policy
from pganon.policy.width import MOST_GROUPED, MOST_RELEASED


def policy(**numbers: int) -> str:
    columns = {
        f"{role}_{number}": {"role": role}
        for role, count in numbers.items()
        for number in range(count)
    }
    return json.dumps(
        {
            "release": "wide",
            "source": "public.wide",
            "columns": columns,
            "privacy": [{"model": "k_anonymity", "k": 2}],
            "method": {"name": "mondrian"},
        },
        indent=1,
    )


def test_as_many_columns_as_there_is_room_for() -> None:
    rest = MOST_RELEASED - MOST_GROUPED
    load_policy(policy(quasi_identifying=MOST_GROUPED, insensitive=rest, identifying=2000))


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
