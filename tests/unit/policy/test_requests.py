"""Keys about requests, schedules and approval, and what parameters make of a policy."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.errors import PolicyError
from pganon.loading import load_policy, policy_from
from pganon.policy.loader import fits, with_parameters
from pganon.policy.requests import duration
from tests.unit.policy.examples import policy

K = {"min": 5, "max": 20}


def _asked(**parameters: Any) -> dict[str, Any]:
    return {"roles": ["analyst"], "parameters": parameters}


def _problems(**changes: Any) -> str:
    with pytest.raises(PolicyError) as caught:
        policy_from(policy(**changes))
    return str(caught.value)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"schedule": "0 3 * *"}, "schedule: a schedule has 5 fields, not 4"),
        ({"schedule": "61 3 * * 1"}, "schedule: Bad minute"),
        ({"time_zone": "Mars/Olympus"}, 'time_zone: "Mars/Olympus" is not a time zone'),
        ({"requests": {"roles": []}}, "requests.roles: must not be empty"),
        ({"requests": {}}, "requests.roles: is missing"),
        ({"requests": {"roles": ["a"], "max_per_day": 0}}, "requests.max_per_day: "),
        ({"requests": {"roles": ["a"], "min_interval": "1"}}, '"1" is not a duration'),
        ({"requests": _asked(k={"min": 3, "max": 2})}, "min 3 is above max 2"),
        ({"requests": _asked(k={"min": "x", "max": 2})}, '"x" is not a day'),
        ({"requests": _asked(k={"min": "2026-01-01", "max": 2})}, "both be numbers, or both days"),
        ({"requests": _asked(k={**K, "default": 21})}, "default: is outside of min and max"),
        ({"requests": _asked(z=K)}, "parameters.z: is neither a key of the privacy models nor"),
        ({"publish": {"approval": {"by": []}}}, "publish.approval.by: must not be empty"),
        ({"publish": {"approval": {"by": ["x"], "expires": "0d"}}}, '"0d" is not a duration'),
        ({"publish": {"review_by": "2027-02-30"}}, '"2027-02-30" is not a day'),
        ({"where": "age > :z"}, "where: a parameter is not allowed"),
    ],
)
def test_what_is_wrong(changes: dict[str, Any], problem: str) -> None:
    assert problem in _problems(**changes)


@pytest.mark.parametrize(
    ("text", "seconds"), [("30s", 30), ("15min", 900), ("12h", 43_200), ("30d", 2_592_000)]
)
def test_durations(text: str, seconds: int) -> None:
    assert duration(text).total_seconds() == seconds


def test_parameters_take_the_place_of_keys_and_names() -> None:
    data = policy(
        where="age > :low and city <> ':low' /* :low */ and day >= :since",
        requests=_asked(
            k=K, low={"min": 1, "max": 9}, since={"min": "2026-01-01", "max": "2026-12-31"}
        ),
    )
    filled = with_parameters(data, {"k": 7, "low": 2, "since": "2026-05-01"})
    assert filled["where"] == (
        "age > (2) and city <> ':low' /* :low */ and day >= DATE '2026-05-01'"
    )
    assert filled["privacy"][0]["k"] == 7
    standing = with_parameters(data, {})
    assert "age > (1)" in standing["where"]
    assert standing["privacy"] == data["privacy"]
    assert policy_from(data).where == standing["where"]


def test_a_default_stands_where_nothing_is_given() -> None:
    data = policy(where="age > :low", requests=_asked(low={"min": 1, "max": 9, "default": 4}))
    assert policy_from(data).where == "age > (4)"


def test_what_fits() -> None:
    data = policy(requests=_asked(k=K))
    assert fits(data, {"k": 5})
    assert fits(data, {})
    for given in ({"k": 4}, {"k": 21}, {"k": "5"}, {"k": True}, {"l": 2}):
        assert not fits(data, given)


def test_what_was_written_is_kept() -> None:
    text = "release: r\nsource: t\nwhere: a > :x\ncolumns: {a: {role: quasi_identifying}}\n"
    text += "privacy: [{model: k_anonymity, k: 5}]\nmethod: {name: mondrian}\n"
    text += "requests: {roles: [x], parameters: {x: {min: 1, max: 2}}}\n"
    loaded = load_policy(text)
    assert loaded.written is not None
    assert loaded.written["where"] == "a > :x"
    assert loaded.policy.where == "a > (1)"
