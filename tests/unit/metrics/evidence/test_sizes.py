"""What sizes of groups say of few people."""

from fractions import Fraction

from pganon.metrics.evidence.sizes import Sizes
from pganon.policy.reporting import Limit
from pganon.steps.facts import Facts


def test_no_few_people_follow_from_bins_and_those_above_a_limit():
    """A group of three would be 123 above the limit, without 120 in bins."""
    people = [100, 20, 3, 0, 22, 0, 0, 0]
    values = {f"people{place}": held for place, held in enumerate(people)}
    values |= {"people": 145, "groups": 113, "smallest": 1, "largest": 11, "above0": 123}
    facts = Facts({f"sizes_{name}": value for name, value in values.items()})
    told = Sizes("sizes").document(facts, 11, [Limit(Fraction(1, 11))])
    assert told is not None
    assert (told["alone"], told["above"]) == (100, {"1/11": 123})
    assert [(one["from"], one["to"], one["people"]) for one in told["bins"]][:4] == [
        (1, 1, 100),
        (2, 5, 23),
        (6, 10, 0),
        (11, 20, 22),
    ]


def test_no_few_people_follow_from_those_who_are_alone():
    """Who is alone and who is above a limit would tell how many are in groups of two: four."""
    people = [30, 4, 0, 0, 0, 66, 0, 0]
    values = {f"people{place}": held for place, held in enumerate(people)}
    values |= {"people": 100, "groups": 34, "smallest": 1, "largest": 33, "above0": 34}
    facts = Facts({f"sizes_{name}": value for name, value in values.items()})
    told = Sizes("sizes").document(facts, 11, [Limit(Fraction(1, 11))])
    assert told is not None
    assert (told["alone"], told["above"]) == (None, {"1/11": 34})
    assert [one["people"] for one in told["bins"]] == [34, 0, 0, 0, 66, 0, 0]
    told = Sizes("sizes").document(facts, 11)
    assert told is not None
    assert told["alone"] == 30
    assert [one["people"] for one in told["bins"]] == [30, 70, 0, 0]
