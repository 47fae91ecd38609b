"""What reports are asked for: limits of the chance to find a person."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.errors import PolicyError
from pganon.loading import policy_from
from pganon.policy.reporting import Limit, Reporting
from tests.support.sources.reports import POLICY


def test_the_limits_of_authorities():
    (ema,) = Reporting().accepted
    assert (ema.name, ema.words, ema.largest) == ("0.09", "9\u00a0%", 11)
    (cms,) = Reporting(limits=(1 / 11,)).accepted
    assert (cms.name, cms.words, cms.largest) == ("1/11", "1 in 11", 10)


@pytest.mark.parametrize(
    ("limit", "name", "words", "largest"),
    [
        (0.05, "0.05", "5 %", 19),
        (0.2, "0.2", "20 %", 4),
        (0.333333, "0.333333", "33.3333 %", 3),
        (1 / 3, "1/3", "1 in 3", 2),
        (0.0909, "0.0909", "9.09 %", 11),
        (0.001, "0.001", "0.1 %", 999),
        (0.00003, "0.00003", "0.003 %", 33333),
    ],
)
def test_limits_in_words(limit: float, name: str, words: str, largest: int):
    (found,) = Reporting(limits=(limit,)).accepted
    assert (found.name, found.largest) == (name, largest)
    assert found.words.replace("\u00a0", " ") == words
    assert Fraction(name) == found.share


@given(st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(999, 1000)))
def test_the_largest_group_above_a_limit(share: Fraction):
    largest = Limit(share).largest
    assert Fraction(1, largest + 1) <= share
    assert largest == 0 or Fraction(1, largest) > share
    assert largest == math.ceil(1 / share) - 1


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ([], "must not be empty"),
        ([0.0], "at least"),
        ([1.0], "less than 1"),
        ([0.09, 0.2, 0.09], "stands in the list twice"),
        ([0.1234561, 0.1234562], r"0\.123456.* stands in the list twice"),
        ([0.1, 0.2, 0.3, 0.4, 0.5], "at most 4"),
    ],
)
def test_limits_that_are_none(limits: list[float], said: str):
    given: dict[str, Any] = {**POLICY, "report": {"limits": limits}}
    with pytest.raises(PolicyError, match=said):
        policy_from(given)


@pytest.mark.parametrize("smallest", [2, 1001])
def test_fewest_people_that_are_counted(smallest: int):
    given: dict[str, Any] = {**POLICY, "report": {"smallest": smallest}}
    with pytest.raises(PolicyError, match=r"report\.smallest"):
        policy_from(given)


@pytest.mark.parametrize(
    ("about", "problem"),
    [
        ({"review_on": "2027-02-30"}, 'about.review_on: "2027-02-30" is not a day'),
        ({"expert": {"valid_until": "soon"}}, 'about.expert.valid_until: "soon" is not a day'),
        ({"intruder_test": {"on": "1.2.2027"}}, "about.intruder_test.on: "),
        ({"expert": {"title": "Dr."}}, "about.expert.title: "),
        ({"controls": ""}, "about.controls: "),
        ({"legislation": []}, "about.legislation: "),
        ({"legislation": ["https://a.example"] * 21}, "about.legislation: "),
        *(
            ({"legal_basis_iri": iri}, "is not the address of a term")
            for iri in (
                "dpv:A6",
                "javascript:alert(1)",
                "https://",
                "https://a b",
                "https://a\n",
                'https://a"b',
                "https://a<b",
                "https://a\x85",
            )
        ),
        ({"legislation": ["https://a.example", "law"]}, "is not the address of a term"),
    ],
)
def test_what_is_declared_wrongly_is_named(about: dict[str, Any], problem: str) -> None:
    with pytest.raises(PolicyError) as caught:
        policy_from({**POLICY, "about": about})
    assert problem in str(caught.value)


def test_what_is_declared_is_kept_as_it_was_written() -> None:
    about = {
        "purpose": "Research",
        "legislation": ["http://data.europa.eu/eli/reg/2025/327/oj"],
        "expert": {"name": "A", "valid_until": "2030-06-30"},
        "review_on": "2027-06-30",
    }
    assert policy_from({**POLICY, "about": about}).document()["about"] == about
