"""Environment variables in policies, and policies from standard input."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from pganon.cli.common import read_policy
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


def test_a_value_stays_in_the_quotes_of_where(monkeypatch: pytest.MonkeyPatch) -> None:
    def where(condition: str, value: str) -> str | None:
        monkeypatch.setenv("V", value)
        found: str | None = load(variables=["V"], where=condition).where
        return found

    assert where("job <> '${V}'", "O'Brien") == "job <> 'O''Brien'"
    assert where("job <> '${V}'", "x' OR job <> '") == "job <> 'x'' OR job <> '''"
    assert where("job <> 'it''s ${V}' and sex = '${V}'", "'") == "job <> 'it''s ''' and sex = ''''"
    assert where("age > ${V}", "-18.5") == "age > -18.5"
    assert where("job <> '$${V}' and age > 1", "x") == "job <> '${V}' and age > 1"


@pytest.mark.parametrize(
    "condition",
    [
        "age > ${V}",
        "job <> 'a' and age > ${V}",
        '"${V}" > 18',
        "age > 1 /* ' */ and age > ${V}",
        "age > 1 -- '\n and age > ${V}",
        """age > 1 and "a'b" > ${V} """,
    ],
)
def test_outside_of_quotes_only_a_number_is_filled_in(
    monkeypatch: pytest.MonkeyPatch, condition: str
) -> None:
    monkeypatch.setenv("V", "18 OR true")
    with pytest.raises(PolicyError) as caught:
        load(variables=["V"], where=condition)
    messages = [problem.message for problem in caught.value.problems]
    assert "the variable V stands outside of quotes, where it can only be a number" in messages
    assert "true" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"privacy": [{"model": "k_anonymity", "k": "${N}"}]}, "privacy[0].k"),
        ({"suppression_limit": "${N}"}, "suppression_limit"),
        ({"publish": {"keep": "${N}"}}, "publish.keep"),
    ],
)
def test_a_number_does_not_come_from_a_variable(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], place: str
) -> None:
    monkeypatch.setenv("N", "5")
    with pytest.raises(PolicyError) as caught:
        load(variables=["N"], **changes)
    (problem,) = caught.value.problems
    assert problem.field == place
    assert problem.suggestion == "what comes from a variable is a text: write the value itself"
    with pytest.raises(PolicyError, match="write 5 without quotes"):
        load(suppression_limit="5")


def test_a_value_is_utf_8(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environb, b"READER", b"a\xff")
    with pytest.raises(PolicyError) as caught:
        load(variables=["READER"], publish={"readers": ["${READER}"]})
    (problem,) = caught.value.problems
    assert problem.message == "the environment variable READER is not a text in UTF-8"
    assert problem.field == "publish.readers[0]"


def test_only_the_text_itself_is_standard_input(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-").write_text(json.dumps(policy(release="of_a_file")))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(policy()).encode())))
    for file in ("./-", Path("-")):
        assert load_policy(file).policy.release == "of_a_file"
    assert read_policy("./-").policy.release == "of_a_file"
    assert read_policy("-").policy == policy_from(policy())


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
