"""The key `inference`: its forms, and the methods that it is for."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.errors import PolicyError
from pganon.loading import known, policy_from
from pganon.policy.model import Inference, policy_hash
from pganon.policy.policy_class import policy_schema
from tests.unit.policy.examples import (
    anatomy_policy,
    msb_policy,
    policy,
    qs_policy,
    slamsa_policy,
    slicing_policy,
)


@pytest.mark.parametrize(
    "made", [anatomy_policy(), slicing_policy(), slamsa_policy(), msb_policy()]
)
def test_methods_that_unlink(made: dict[str, Any]) -> None:
    assert policy_from(made).inference is None
    assert policy_from({**made, "inference": {}}).inference == Inference(limit=0.5, share=0.01)
    asked = policy_from({**made, "inference": {"limit": 0.9, "share": 0}}).inference
    assert asked == Inference(limit=0.9, share=0)


def test_which_methods_unlink() -> None:
    unlink = {name for name, options in known().methods.items() if options.unlinks}
    local = {"lgb_mdp", "lgb_ncp", "local_bucketization"}
    assert unlink == {"anatomy", "slicing", "slamsa", "msb", "sloms", *local}


@pytest.mark.parametrize("made", [policy(), qs_policy()])
@pytest.mark.parametrize("asked", [{}, {"share": 1}, {"limit": 7}])
def test_other_methods_refuse_it(made: dict[str, Any], asked: dict[str, Any]) -> None:
    with pytest.raises(PolicyError) as caught:
        policy_from({**made, "inference": asked})
    problem = next(p for p in caught.value.problems if p.field == "inference")
    assert "nothing to measure" in problem.message
    assert "anatomy" in str(problem.suggestion)


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"limit": 0}, "inference.limit"),
        ({"limit": 1}, "inference.limit"),
        ({"limit": "0.5"}, "inference.limit"),
        ({"share": -0.1}, "inference.share"),
        ({"share": 1.5}, "inference.share"),
        ({"shar": 0.5}, "inference.shar"),
        ("refuse", "inference"),
    ],
)
def test_forms_that_are_wrong(asked: object, field: str) -> None:
    with pytest.raises(PolicyError) as caught:
        policy_from(anatomy_policy(inference=asked))
    assert [problem.field for problem in caught.value.problems] == [field]


def test_the_schema_knows_it() -> None:
    schema = policy_schema(known())
    assert "inference" in schema["properties"]
    assert set(schema["$defs"]["Inference"]["properties"]) == {"limit", "share"}


def test_a_policy_without_it_is_the_one_it_was() -> None:
    assert "inference" not in policy_from(anatomy_policy()).document()
    asked = policy_from(anatomy_policy(inference={"limit": 0.5, "share": 0.02}))
    assert asked.document()["inference"] == {"share": 0.02}
    assert policy_hash(asked) != policy_hash(policy_from(anatomy_policy()))
