"""Parts of the guard that need no server: rules, floors and columns that are judged together."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest

from pganon.guard.floors import applied_rules, new_floors
from pganon.guard.independence import Compared, components, shown_by, unshared
from pganon.guard.model import Memory, Version
from pganon.guard.rules import Rule, judged_rules, rule_of
from pganon.identifiers import QualifiedName
from pganon.privacy import frequency, identity, knowledge, likeness, quasi_sensitive
from pganon.privacy.base import Model
from pganon.privacy.judged import HOLDS_FOR, Judged
from pganon.privacy.models import MODELS

K10, K5 = Rule(frequency.KAnonymity(10)), Rule(frequency.KAnonymity(5))
L3 = Rule(frequency.DistinctLDiversity(3), "v")
TABLE = QualifiedName("pganon_private", "t")

JUDGED = {
    frequency.KAnonymity(2): Judged.PEOPLE,
    identity.IRKAnonymity(2): Judged.PEOPLE,
    frequency.RelativeFrequency(Fraction(1, 3)): Judged.MOST,
    frequency.AnatomyLDiversity(2, "unique"): Judged.MOST,
    frequency.SlicingLDiversity(2): Judged.MOST,
    frequency.LocalBucketDiversity(2): Judged.MOST,
    identity.EIRBeta(0.5): Judged.MOST,
    likeness.BetaLikeness(1.0): Judged.MOST,
    likeness.TCloseness(0.2): Judged.MOST,
    frequency.DistinctLDiversity(2): Judged.VALUES,
    frequency.EntropyLDiversity(2): Judged.RECORDS,
    frequency.RecursiveCLDiversity(2, 2): Judged.RECORDS,
    identity.EIRLDiversity(2): Judged.RECORDS,
    identity.IRAlpha(0.5): Judged.RECORDS,
    identity.IRBeta(0.5): Judged.RECORDS,
    likeness.TCloseness(0.2, "ordered"): Judged.RECORDS,
    likeness.TCloseness(0.2, "hierarchical"): Judged.RECORDS,
    knowledge.BackgroundKnowledge(0.1, "kernel"): Judged.RECORDS,
    likeness.DeltaDisclosure(1.0): Judged.EXTREMES,
    quasi_sensitive.QSKAnonymity(3, "supported", 1): Judged.COMBINATIONS,
    frequency.BucketSize(3): Judged.NOTHING,
}


@pytest.mark.parametrize("model", JUDGED, ids=lambda model: model.label)
def test_what_is_judged_and_kept(model: Model) -> None:
    assert model.judged is JUDGED[model]
    assert HOLDS_FOR[model.judged]
    if model.judged is not Judged.NOTHING:
        rule = Rule(model, "v" if model.needs_values else None, (("v", "w"),))
        assert rule_of(json.loads(json.dumps(rule.to_json()))) == rule


def test_every_model_of_a_policy_says_what_is_judged() -> None:
    """None is passed over without somebody having decided so."""
    kinds = {type(model) for model in JUDGED}
    made = {
        frequency.BucketSize: "sizes of buckets are about one version",
    }
    for declared in MODELS:
        fields = {
            "k": 3,
            "l": 2,
            "alpha": 0.5,
            "beta": 0.5,
            "c": 2.0,
            "t": 0.5,
            "delta": 1.0,
            "j": 0.5,
            "column": "v",
            "model": declared.model_fields["model"].annotation.__args__[0],  # type: ignore[union-attr]
            "knowledge": {"kernel": {"bandwidth": 2}},
        }
        known = {name: value for name, value in fields.items() if name in declared.model_fields}
        for model in declared(**known).measures():
            assert type(model) in kinds
            assert (model.judged is Judged.NOTHING) == (type(model) in made)


def test_the_strictest_parameter_implies_the_others() -> None:
    loose, tight = (Rule(frequency.RelativeFrequency(a), "v") for a in (0.5, 0.25))
    assert judged_rules([K5, K10, loose, tight, L3]) == (K10, tight, L3)
    other = replace(loose, column="w")
    assert set(judged_rules([tight, other])) == {tight, other}
    assert judged_rules([Rule(frequency.BucketSize(3))]) == ()


def after(*rules: Rule, floors: tuple[tuple[Rule, ...], ...], strongest: bool = True) -> Version:
    memory = Memory(("v",), floors, TABLE, TABLE, TABLE)
    return Version(("v",), frozenset("v"), rules, memory, strongest=strongest)


def test_lowered_parameters_hold_for_newcomers_alone() -> None:
    lowered = after(K5, L3, floors=((K10,),))
    assert new_floors(lowered) == ((K10,), (K5, L3), (K10, L3))
    whose = {found.rule: (found.floors, found.promised) for found in applied_rules(lowered)}
    assert whose == {K5: ((0,), (1,)), K10: ((1,), (1,)), L3: ((0, 1), ())}
    declared = {found.rule: found.declared for found in applied_rules(lowered)}
    assert declared == {K5: True, K10: False, L3: True}


def test_the_policy_alone_decides_if_it_says_so() -> None:
    lowered = after(K5, floors=((K10,),), strongest=False)
    assert {found.rule: found.floors for found in applied_rules(lowered)} == {K5: (0, 1)}
    assert new_floors(lowered) == ((K10,), (K5,))  # what was promised is not forgotten


def test_raised_parameters_hold_for_all() -> None:
    raised = after(K10, floors=((K5,), (L3,)))
    assert {found.rule: found.floors for found in applied_rules(raised)} == {
        K10: (0, 1, 2),
        L3: (2,),
    }


def test_g4_waiting_tells_what_comes_last() -> None:
    """G4: {x 2, y 2, z} was released when z came. Had it been there before, there was no wait."""
    worlds = set(itertools.permutations("xxyyz"))
    assert len(worlds) == 30
    waited = [world for world in worlds if len(set(world[:4])) < 3]
    assert len(waited) == 6
    assert Counter(world[4] for world in waited) == {"z": 6}


# -- versions that tell of the same columns -------------------------------------------------------

S, W, V = (Compared(frozenset(name), frozenset("q")) for name in "swv")


def test_columns_of_a_version_by_role() -> None:
    roles = {"id": "identifying", "p": "individual", "q": "quasi_identifying", "s": "sensitive"}
    assert shown_by(roles, ["s"]) == S
    assert shown_by({**roles, "i": "insensitive"}, ["s"]).others == {"i"}


def test_versions_with_quasi_identifiers_in_common_are_apart() -> None:
    assert components([S, W, V], []) == ({0}, {1}, {2})
    assert unshared([S, W, V]) == (("s", "v"), ("s", "w"), ("v", "w"))
    assert set(components([S, W, V, S], [])) == {frozenset({0, 3}), frozenset({1}), frozenset({2})}


@pytest.mark.parametrize(
    "joining",
    [
        Compared(frozenset("sw")),
        replace(S, quasi=frozenset("w")),
        replace(W, quasi=frozenset("s")),
        replace(V, quasi=frozenset("sw")),
    ],
)
def test_a_version_that_shares_columns_joins_others(joining: Compared) -> None:
    for order in itertools.permutations([S, W, joining]):
        (one,) = components(order, [])
        assert one == {0, 1, 2}
        assert unshared(order) == ()


def test_associated_columns_join_versions() -> None:
    assert components([W, S, V], [("s", "w")]) == ({2}, {0, 1})
    assert set(components([W, S, V], [("s", "w"), ("s", "v")])) == {frozenset({0, 1, 2})}


@pytest.mark.parametrize(
    "unknown", [Compared(frozenset(), known=False), Compared(frozenset(), others=frozenset("i"))]
)
def test_what_cannot_be_compared_joins_all(unknown: Compared) -> None:
    for order in itertools.permutations([S, W, unknown]):
        assert len(components(order, [])) == 1


def test_quasi_identifiers_alone_join_nothing() -> None:
    assert len(components([S, W, Compared(frozenset(), frozenset("q"))], [])) == 3


def test_rules_of_independent_columns() -> None:
    """Judged by themselves, by the others, or all together."""
    assumed = replace(L3, independent=True)
    version = Version(("v",), frozenset("v"), (K10, L3, assumed))
    assert rule_of(json.loads(json.dumps(assumed.to_json()))) == assumed
    kept = L3.to_json()
    del kept["independent"]  # of a version that was published before there was any
    assert rule_of(kept) == L3

    def judged(independent: bool | None) -> list[Rule]:
        return [a.rule for a in applied_rules(replace(version, independent=independent))]

    assert judged(None) == [K10, L3, assumed]
    assert judged(True) == [assumed]
    assert judged(False) == [K10, L3]
