"""Estimators of population uniques against their definitions and golden figures."""

from __future__ import annotations

import csv
import gzip
import math
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from pganon.errors import PreconditionError
from pganon.risk import pitman, snb, uniques, zayatz
from pganon.risk.estimate import Estimate, Reason, estimated
from pganon.risk.sample import LARGEST, Sample
from tests.support.oracles import population as oracle

ADULT = Path(os.environ.get("PGANON_DATA") or "/nowhere") / "adult/arx/adult.csv.gz"

SKEWED = {1: 40, 2: 12, 3: 5, 4: 4, 7: 2, 30: 1, 55: 1}
FEW = {1: 9, 2: 4, 3: 2, 9: 1}
EVEN = {1: 1, 5: 10}
PROJECTED = [(SKEWED, 250), (SKEWED, 4000), (FEW, 40), (FEW, 100_000), (EVEN, 60)]


@pytest.mark.parametrize(("frequencies", "people"), PROJECTED)
def test_zayatz_is_hypergeometric(frequencies: dict[int, int], people: int) -> None:
    found = uniques.estimates(Sample.of(frequencies, people))["zayatz"]
    assert found.uniques == pytest.approx(float(oracle.zayatz(frequencies, people)), rel=1e-10)


def test_zayatz_sums_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = Sample.of(SKEWED, 4000)
    whole = zayatz.zayatz(sample).uniques
    monkeypatch.setattr(zayatz, "_BLOCK", 3)
    assert zayatz.zayatz(sample).uniques == pytest.approx(whole, rel=1e-13)


def test_zayatz_leaves_out_classes_that_the_population_cannot_have_once() -> None:
    """Of 110 people outside 107 are in the sample: a class of 9 has at least 6 records there."""
    found = uniques.estimates(Sample.of({1: 98, 9: 1}, 110))["zayatz"]
    assert found.uniques == pytest.approx(float(oracle.zayatz({1: 98, 9: 1}, 110)), rel=1e-12)


@pytest.mark.parametrize("frequencies", [SKEWED, FEW])
def test_pitman_is_most_likely(frequencies: dict[int, int]) -> None:
    found = pitman.parameters(Sample.of(frequencies, 1000))
    assert isinstance(found, pitman.Parameters)
    best = oracle.pitman_likelihood(frequencies, found.theta, found.alpha)
    for alpha in np.linspace(0.005, 0.995, 60):
        for theta in -alpha + np.exp(np.linspace(-8, 8, 60)):
            assert oracle.pitman_likelihood(frequencies, theta, alpha) <= best + 1e-12
    for step in (1e-4, -1e-4):  # a maximum, not just near one
        assert oracle.pitman_likelihood(frequencies, found.theta + step, found.alpha) < best
        assert oracle.pitman_likelihood(frequencies, found.theta, found.alpha + step) < best


@pytest.mark.parametrize("alpha", [0.0005, 0.02, 0.7])
@pytest.mark.parametrize("theta", [-0.0004, 3.0, 500.0, 1e6, 1e12])
def test_sums_of_pitman_do_not_cancel(theta: float, alpha: float) -> None:
    score = pitman.Score(Sample.of({1: 799, 2: 1}, 10_000))
    found = score.weighted(np.array([alpha]), np.array([theta + alpha]))[0]
    exact = math.fsum(i / (theta + i * alpha) for i in range(1, 800))
    assert found == pytest.approx(exact, rel=1e-11)


def test_pitman_of_even_classes_has_no_alpha() -> None:
    """Ewens's formula, of which theta solves one equation."""
    sample = Sample.of(EVEN, 1000)
    found = pitman.parameters(sample)
    assert isinstance(found, pitman.Parameters)
    assert found.alpha == 0
    assert 10 / found.theta == pytest.approx(
        sum(1 / (found.theta + i) for i in range(1, sample.records)), rel=1e-12
    )
    expected = 1000 * found.theta / (found.theta + 999)
    assert uniques.estimates(sample)["pitman"].uniques == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("frequencies", [SKEWED, FEW, EVEN])
def test_pitman_gives_the_exact_mean(frequencies: dict[int, int]) -> None:
    sample = Sample.of(frequencies, 1000)
    found = pitman.parameters(sample)
    assert isinstance(found, pitman.Parameters)
    mean = oracle.pitman_mean(found.theta, found.alpha, 1000)
    assert uniques.estimates(sample)["pitman"].uniques == pytest.approx(mean, rel=1e-11)


@pytest.mark.parametrize(
    ("frequencies", "people"), [(SKEWED, 250), (SKEWED, 4000), (FEW, 40), (FEW, 64)]
)
def test_snb_solves_its_equations(frequencies: dict[int, int], people: int) -> None:
    sample = Sample.of(frequencies, people)
    found = snb.parameters(sample)
    assert isinstance(found, snb.Parameters)
    classes = oracle.classes_of_population(frequencies, people)
    assert found.classes == pytest.approx(classes, rel=1e-9)
    one, two = oracle.snb_expected(found.a, found.b, found.classes, sample.records, people)
    assert (one, two) == pytest.approx((frequencies[1], frequencies[2]), rel=1e-8)
    expected = found.classes * found.b**found.a
    assert uniques.estimates(sample)["snb"].uniques == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("frequencies", "reasons"),
    [
        ({1: 20}, {"pitman": "all_unique", "snb": "all_unique"}),
        ({1: 5, 5: 10}, {"snb": "no_pairs"}),
        ({1: 1, 2: 42, 4: 79, 7: 170}, {"snb": "no_root"}),
    ],
)
def test_a_reason_instead_of_a_number(frequencies: dict[int, int], reasons: object) -> None:
    found = uniques.estimates(Sample.of(frequencies, 1_594))
    assert {name: one.reason for name, one in found.items() if one.reason} == reasons
    assert all((one.uniques is None) == (one.reason is not None) for one in found.values())
    assert found["dankar"].uniques


def test_all_unique_may_be_everybody() -> None:
    assert uniques.estimates(Sample.of({1: 107}, 108))["zayatz"].uniques == 108


def test_more_than_everybody_is_no_number() -> None:
    sample = Sample.of(FEW, 100)
    assert estimated("snb", 100.1, sample) == Estimate("snb", None, Reason.OVERFLOW)
    assert estimated("snb", 100.00000001, sample) == Estimate("snb", 100.0)


def test_nobody_alone_in_the_sample() -> None:
    found = uniques.estimates(Sample.of({2: 9, 5: 1}, 10_000))
    assert {one.uniques for one in found.values()} == {0.0}
    assert {one.reason for one in found.values()} == {None}


def test_dankar_chooses_by_sampling_fraction() -> None:
    at, above = (uniques.estimates(Sample.of(FEW, people)) for people in (320, 319))
    assert sum(size * n for size, n in FEW.items()) == 32
    assert at["dankar"] == at["pitman"]
    assert above["dankar"] == min(above["snb"], above["zayatz"], key=lambda one: one.uniques or 0)
    unique = uniques.estimates(Sample.of({1: 20}, 10_000))
    assert unique["dankar"] == unique["zayatz"]


@pytest.mark.parametrize("people", [0, 31, 32, LARGEST + 1])
def test_a_population_is_larger_than_its_sample(people: int) -> None:
    with pytest.raises(PreconditionError, match=f"the population size {people} must be"):
        Sample.of(FEW, people)


def test_large_populations_are_not_clipped() -> None:
    numbers = [
        uniques.estimates(Sample.of(FEW, people))["pitman"].uniques or 0
        for people in (2**31, 2**40, LARGEST)
    ]
    found = pitman.parameters(Sample.of(FEW, 2**31))
    assert isinstance(found, pitman.Parameters)
    growth = [numbers[1] / numbers[0], numbers[2] / numbers[1]]
    assert growth == pytest.approx([2 ** (9 * found.alpha), 2 ** (23 * found.alpha)], rel=1e-6)


S3 = ("age", "sex", "race")
S6 = (*S3, "marital-status", "education", "native-country")
S8 = (*S6, "workclass", "occupation")


@pytest.mark.skipif(
    not ADULT.exists(), reason="PGANON_DATA is not set, or holds no adult/arx/adult.csv.gz"
)
@pytest.mark.parametrize(
    ("columns", "people", "numbers", "by"),
    [
        (S3, 150_810, (37.570589, 92.325473, 10.333140), "snb"),
        (S6, 317_238_626, (8_421_763.31, 1_352_557.85, 3_244_456.67), "pitman"),
        (S6, 3_016_200, (103_387.869, 80_240.0731, 26_661.9180), "pitman"),
        (S6, 33_513, (5_243.37496, 5_214.52387, 5_246.88266), "zayatz"),
        (S8, 150_810, (46_949.8363, 44_182.2309, 42_282.4331), "snb"),
    ],
)
@pytest.mark.slow
def test_adult(columns: tuple[str, ...], people: int, numbers: tuple[float, ...], by: str) -> None:
    """Zayatz, and Pitman in the limit, agree with ARX 3.9 to eight digits."""
    with gzip.open(ADULT, "rt") as file:
        rows = csv.DictReader(file, delimiter=";")
        classes = Counter(tuple(row[name] for name in columns) for row in rows)
    found = uniques.estimates(Sample.of(Counter(classes.values()), people))
    three = [found[name].uniques for name in ("zayatz", "pitman", "snb")]
    assert three == pytest.approx(numbers, rel=5e-9, abs=5e-7)
    assert found["dankar"].by == by
