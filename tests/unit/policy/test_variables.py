"""Environment variables in policies, and policies from standard input."""

from __future__ import annotations

import io
import json
import sys
from typing import Any

import pytest

from pganon.errors import PolicyError
from pganon.loading import load_policy, policy_from
from tests.unit.policy.examples import policy


def load(**changes: Any) -> Any:
    return load_policy(json.dumps(policy(**changes))).policy


def test_they_stand_for_their_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("READER", "analyst")
    monkeypatch.setenv("STAGE", "test")
    found = load(
        variables=["READER", "STAGE"],
        release="adult_${STAGE}",
        publish={"readers": ["${READER}", "x_${READER}_${STAGE}"]},
    )
    assert found.release == "adult_test"
    assert found.publish.readers == ("analyst", "x_analyst_test")


def test_a_value_is_a_text_and_no_yaml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("READER", "a]}, trust: [evil]")
    found = load(variables=["READER"], publish={"readers": ["${READER}"]})
    assert found.publish.readers == ("a]}, trust: [evil]",)
    assert found.trust == ()
    monkeypatch.setenv("READER", "${HOME}")
    found = load(variables=["READER"], publish={"readers": ["${READER}"]})
    assert found.publish.readers == ("${HOME}",)


def test_what_is_not_declared_or_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "geheim")
    monkeypatch.delenv("READER", raising=False)
    with pytest.raises(PolicyError) as caught:
        load(variables=["READER"], publish={"readers": ["${READER}", "${SECRET}"]})
    messages = {problem.field: problem.message for problem in caught.value.problems}
    assert messages["publish.readers[0]"] == "the environment variable READER is not set"
    assert messages["publish.readers[1]"] == "the variable SECRET is not declared"
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize("wrong", [["1X"], ["A-B"], "A", ["A", "A"], [3]])
def test_names_of_variables(wrong: object) -> None:
    with pytest.raises(PolicyError) as caught:
        load(variables=wrong)
    assert all(problem.field.startswith("variables") for problem in caught.value.problems)


def test_the_text_itself() -> None:
    found = load(where="job <> '$${READER} $5'")
    assert found.where == "job <> '${READER} $5'"
    # What was loaded once is not filled again.
    assert policy_from(found.document()) == found


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def given(raw: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))

    given(json.dumps(policy()).encode())
    assert load_policy("-").policy == policy_from(policy())
    given(b"release: [")
    with pytest.raises(PolicyError) as caught:
        load_policy("-")
    assert caught.value.file == "-"
    for raw in (b"\xff", b"a\x00", b"a" * (1 << 20) + b"a"):
        given(raw)
        with pytest.raises(PolicyError):
            load_policy("-")
