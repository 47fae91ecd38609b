"""Keys about releases of the same people over time."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.errors import PolicyError
from pganon.loading import policy_from
from tests.unit.policy.examples import policy


def problems(**changes: Any) -> list[tuple[str, str]]:
    with pytest.raises(PolicyError) as caught:
        policy_from(policy(**changes))
    return [(problem.field, problem.message) for problem in caught.value.problems]


def test_defaults() -> None:
    found = policy_from(policy())
    assert (found.republication, found.refresh) == ("refuse", "recompute")
    assert (found.audiences, found.population) == ("everybody", None)
    assert (found.regions, found.ranges, found.leavers) == ("none", "tight", "keep")
    assert (found.increment_size, found.aliases, found.exclude) == (None, None, None)


def test_populations() -> None:
    given = policy_from(policy(population={"name": "patients", "key": "patient_no"})).population
    assert given is not None
    assert (given.name, given.key) == ("patients", ("patient_no",))
    given = policy_from(policy(population={"key": ["hospital", "no"]})).population
    assert given is not None
    assert (given.name, given.key) == (None, ("hospital", "no"))


def test_populations_that_say_nothing() -> None:
    assert problems(population={}) == [("population", "needs name, key or renewed")]
    assert [field for field, _ in problems(population={"key": ["a", "a"]})] == ["population.key[1]"]


@pytest.mark.parametrize("key", ["republication", "refresh", "audiences"])
def test_words(key: str) -> None:
    assert problems(**{key: "x"}) == [(key, f'"x" is not a word for {key}')]


def test_ranges_of_regions() -> None:
    grows = {"refresh": "increments", "ranges": "region"}
    assert problems(**grows) == [
        (
            "ranges",
            "ranges: region shows the regions that the cuts of a first version make; this policy"
            " has regions: none",
        )
    ]
    assert policy_from(policy(**grows, regions="leaves")).ranges == "region"
    assert [field for field, _ in problems(ranges="region", regions="leaves")] == [
        "regions",
        "ranges",
    ]


def test_keys_of_populations() -> None:
    told = ("population.key", 'is "person", but individuals are told apart by "other"')
    assert told in problems(population={"key": "person"}, individual="other")
    assert problems(population={"key": "age"}) == [
        ("population.key", 'column "age" has the role quasi_identifying; a key is never published')
    ]
    assert policy_from(policy(population={"key": "no"})).individual_key == ("no",)


def test_keys_of_increments_alone() -> None:
    said = "{0} is for refresh: increments; this policy has refresh: {1}"
    told = problems(regions="leaves", increment_size=9)
    assert told == [(key, said.format(key, '"recompute"')) for key in ("increment_size", "regions")]


def _kept(**changes: Any) -> dict[str, Any]:
    given = {
        "refresh": "invariant",
        "columns": {"age": {"role": "quasi_identifying"}, "job": {"role": "sensitive"}},
        "privacy": [{"model": "anatomy_l_diversity", "column": "job", "l": 2}],
        "method": {"name": "anatomy"},
    }
    return {**given, **changes}


def test_value_sets_are_kept_by_anatomy() -> None:
    assert policy_from(policy(**_kept())).refresh == "invariant"
    assert problems(refresh="invariant") == [
        ("refresh", "the method mondrian cannot keep the values of its groups")
    ]


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        (
            {"records_per_individual": "many_accepted"},
            "records_per_individual",
            "refresh: invariant keeps the value of a person, who can have only one record",
        ),
        (
            {"release": "r" * 51},
            "release",
            'the name of its view "..._counterfeits" has 64 bytes, PostgreSQL allows 63',
        ),
    ],
)
def test_what_value_sets_do_not_go_with(changes: Any, field: str, message: str) -> None:
    assert (field, message) in problems(**_kept(**changes))


def _kept_vectors(model: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    columns = {
        "age": {"role": "quasi_identifying"},
        "job": {"role": "sensitive"},
        "pay": {"role": "sensitive"},
    }
    models = [{"model": "slicing_l_diversity", "l": 2, **(model or {})}]
    return _kept(**{"columns": columns, "privacy": models, "method": {"name": "slamsa"}, **changes})


def test_sets_of_vectors_are_kept_by_slamsa() -> None:
    assert policy_from(policy(**_kept_vectors())).refresh == "invariant"
    public = {"name": "slamsa", "division": "public", "quasi_tables": 1, "optimizer": "firefly"}
    assert policy_from(policy(**_kept_vectors(method=public))).refresh == "invariant"
    unique = _kept_vectors({"level": "unique"})
    assert policy_from(policy(**unique)).refresh == "invariant"
    assert problems(**{**unique, "refresh": "recompute"}) == [
        ("privacy[0].level", "the method slamsa cannot guarantee level: unique")
    ]


@pytest.mark.parametrize("privacy", [3, "x", {"a": 1}, [None, 3, "x", {"level": ["tuple"]}]])
def test_a_policy_that_is_wrong_elsewhere(privacy: Any) -> None:
    assert all(place != "refresh" for place, _ in problems(**_kept_vectors(privacy=privacy)))


@pytest.mark.parametrize(
    ("given", "field", "message"),
    [
        (
            _kept_vectors(method={"name": "slamsa", "profile": "independent"}),
            "method.profile",
            "refresh: invariant keeps the values of one bucket of a person, and with profile:"
            " independent there are several",
        ),
        (
            _kept_vectors(exclusions=[{"when": {"age": 3}, "never": {"job": "x"}}]),
            "exclusions",
            "refresh: invariant takes every value of a group for as likely; an exclusion rules"
            " some out",
        ),
        (
            _kept_vectors({"level": "tuple"}),
            "privacy[0].level",
            "refresh: invariant keeps the values of every column different, which level: tuple does"
            " not promise of any",
        ),
        (
            _kept_vectors({"min_size": 9}),
            "privacy[0].min_size",
            "groups become smaller when people leave; refresh: invariant keeps their values, not"
            " their records",
        ),
        (
            _kept_vectors({"level": "unique"}, method={"name": "msb"}),
            "refresh",
            "the method msb cannot keep the values of its groups",
        ),
    ],
)
def test_what_sets_of_vectors_do_not_go_with(given: Any, field: str, message: str) -> None:
    assert (field, message) in problems(**given)
    assert policy_from(policy(**{**given, "refresh": "recompute"}))


def test_a_method_without_signatures_has_no_hint_about_a_profile() -> None:
    told = problems(**_kept_vectors(method={"name": "sloms"}))
    fields = [field for field, _ in told]
    assert fields.count("refresh") == 1
    assert "method.profile" not in fields
    slamsa = problems(**_kept_vectors(method={"name": "slamsa", "profile": "independent"}))
    assert [field for field, _ in slamsa] == ["method.profile"]


def test_the_longest_name_with_counterfeits() -> None:
    assert policy_from(policy(**_kept(release="r" * 50))).release == "r" * 50
