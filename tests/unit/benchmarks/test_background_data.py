"""Generated people of the benchmarks, and what the searches make of them: regression values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from benchmarks.background_data import (
    EXAMS,
    OCCUPATIONS,
    Patient,
    exam_prior,
    occupation_prior,
    patients,
    uniform,
    workers,
)
from pganon.methods.background.search.buckets import beta_partition, beta_split, bucket_limits
from pganon.methods.background.search.dropping import kept, trim
from pganon.methods.background.search.limits import Likeness, smallest_classes
from pganon.methods.background.search.linkage import Dendrogram, dendrogram
from pganon.methods.background.search.points import Nominal, Ordered, Points
from pganon.methods.background.search.primacy import Block, Groups, k_primacy


@dataclass(frozen=True, eq=False)
class Priors:
    """Vectors of people's priors, and whose is which."""

    tree: Dendrogram
    of: np.ndarray

    def sizes(self, j: float) -> list[int]:
        return sorted(np.bincount(self.tree.labels(j)[self.of]).tolist())


def priors_of(people: Sequence[Any], prior: Callable[[Any], Sequence[float]]) -> Priors:
    """Vectors in the order of their smallest quasi-identifiers."""
    vectors: dict[tuple[float, ...], int] = {}
    numbers = {
        cell: vectors.setdefault(tuple(np.round(prior(cell), 12).tolist()), len(vectors))
        for cell in sorted({person[:3] for person in people})
    }
    of = np.array([numbers[person[:3]] for person in people])
    return Priors(dendrogram(np.array(list(vectors))), of)


@cache
def clinic() -> tuple[list[Patient], Priors, np.ndarray]:
    people = patients(1000)
    exams = np.array([EXAMS.index(person.exam) for person in people])
    return people, priors_of(people, lambda cell: exam_prior(*cell)), exams


def test_patients() -> None:
    people = patients(4000)
    assert people[:5] == [
        ("M", 51, 77, "blood_pos"),
        ("F", 72, 79, "ecg_neg"),
        ("M", 60, 87, "blood_neg"),
        ("F", 49, 72, "blood_neg"),
        ("M", 36, 77, "chest_neg"),
    ]
    assert uniform(1, 1, "q") == pytest.approx([0.878814, 0.736747, 0.193166, 0.139866], abs=5e-7)
    counts = Counter(person.exam for person in people)
    assert [counts[exam] for exam in EXAMS] == [
        1276, 211, 616, 108, 544, 133, 461, 158, 261, 16, 187, 29,
    ]  # fmt: skip
    assert sum(person.sex == "F" for person in people) == 1994
    assert len({person[:3] for person in people}) == 2772
    assert sum(person.age for person in people) / 4000 == 53.83675
    assert sum(person.weight for person in people) / 4000 == 73.06925


@pytest.mark.slow
def test_clusters_of_patients() -> None:
    priors = priors_of(patients(4000), lambda cell: exam_prior(*cell))
    assert priors.tree.levels.max() == pytest.approx(0.229574, abs=5e-7)
    assert len(priors.sizes(0.05)) == 8
    assert priors.sizes(0.1) == [202, 670, 1324, 1804]
    for j in (0.15, 0.2):
        assert priors.sizes(j) == [1994, 2006]
    assert priors.sizes(0.25) == [4000]


def test_priors_of_patients() -> None:
    middle = exam_prior("F", 30, 60, 0.0)
    assert middle == exam_prior("M", 80, 90, 0.0)
    own, half = exam_prior("F", 30, 60), exam_prior("F", 30, 60, 0.5)
    for prior in (middle, own, half):
        assert sum(prior) == pytest.approx(1)
    mixed = [(one + other) / 2 for one, other in zip(middle, own, strict=True)]
    assert half == pytest.approx(mixed)
    assert own[EXAMS.index("psa_neg")] == 0


def test_workers() -> None:
    people = workers(4000)
    assert people[:5] == [
        (51, "Female", "Some-college", "Machine-op-inspct"),
        (32, "Male", "Bachelors", "Prof-specialty"),
        (53, "Male", "HS-grad", "Adm-clerical"),
        (25, "Female", "HS-grad", "Prof-specialty"),
        (35, "Female", "Some-college", "Exec-managerial"),
    ]
    assert sum(person.gender == "Male" for person in people) == 2726
    assert len({person[:3] for person in people}) == 1002
    counts = Counter(person.occupation for person in people)
    assert counts["Armed-Forces"] == 1
    source = np.array([counts[name] for name in OCCUPATIONS])
    limits = Likeness(3).limits(source / 4000)
    assert smallest_classes(limits)[-1] == 1000

    priors = priors_of(people, lambda cell: occupation_prior(*cell[1:]))
    assert priors.tree.levels.max() == pytest.approx(0.525, abs=5e-4)
    assert priors.sizes(0.1) == [167, 353, 812, 965, 1703]
    for j in (0.2, 0.3):
        assert priors.sizes(j) == [965, 979, 2056]
    assert priors.sizes(0.4) == [965, 3035]
    assert priors.sizes(0.8) == [4000]

    # Private household service: 13 where 10 are allowed.
    labels = priors.tree.labels(0.1)[priors.of]
    occupations = np.array([list(OCCUPATIONS).index(person.occupation) for person in people])
    histograms = np.array([np.bincount(occupations[labels == c], minlength=14) for c in range(5)])
    found = kept(histograms, source, 5, Likeness(3))
    assert histograms.sum(axis=1)[~found.clusters].tolist() == [167]
    (dropped,) = histograms[~found.clusters]
    lost = dropped - trim(dropped, limits)
    assert lost.nonzero()[0].tolist() == [list(OCCUPATIONS).index("Priv-house-serv")]
    assert (int(dropped[12]), int(lost[12])) == (13, 3)


@pytest.mark.parametrize(
    ("beta", "j", "k", "classes"),
    [
        (3, 0.05, 5, 25), (3, 0.1, 5, 17), (3, 0.2, 5, 26), (3, 0.3, 5, 22),
        (1, 0.3, 5, 16), (2, 0.3, 5, 20), (4, 0.3, 5, 28), (6, 0.3, 5, 50),
        (3, 0.3, 3, 22), (3, 0.3, 10, 22), (3, 0.3, 20, 18),
    ],
)  # fmt: skip
def test_classes_of_beta_primacy(beta: float, j: float, k: int, classes: int) -> None:
    people, priors, exams = clinic()
    limits = Likeness(beta).limits(np.bincount(exams) / len(people))
    labels = priors.tree.labels(j)[priors.of]
    found = 0
    for cluster in range(labels.max() + 1):
        counts = np.bincount(exams[labels == cluster], minlength=len(EXAMS))
        buckets = beta_partition(counts, limits)
        assert buckets is not None
        sizes = np.array([counts[bucket].sum() for bucket in buckets])
        found += len(beta_split(sizes, bucket_limits(buckets, limits), k))
    assert found == classes


@pytest.mark.parametrize(
    ("options", "classes", "suppressed", "loss"),
    [
        ({"post": "agg", "residual": "suppress"}, 102, 0, 0.4584),
        ({"post": "inc", "pick": "nearest", "residual": "suppress"}, 103, 183, 0.1952),
        ({"post": "inc", "pick": "nearest"}, 103, 0, 0.3612),
        ({"post": "inc"}, 118, 0, 0.1776),
    ],
    ids=["agg", "inc", "inc-absorb", "inc-aware-absorb"],
)
def test_classes_of_k_primacy(
    options: dict[str, Any], classes: int, suppressed: int, loss: float
) -> None:
    people, _, exams = clinic()
    points = Points(
        [
            Nominal(np.array([1 + (person.sex == "M") for person in people]), 2),
            Ordered(scaled([person.age for person in people])),
            Ordered(scaled([person.weight for person in people])),
        ]
    )
    limits = Likeness(3).limits(np.bincount(exams) / len(people))
    found = k_primacy(points, exams, 5, limits, **options)
    assert (len(found.classes), len(found.suppressed)) == (classes, suppressed)
    losses = Groups(Block(points, exams, limits), found.classes).losses()
    assert losses.sum() / (3 * len(people)) == pytest.approx(loss, abs=5e-5)


def scaled(numbers: Sequence[float]) -> np.ndarray:
    found = np.array(numbers, dtype=float)
    return (found - found.min()) / (found.max() - found.min())
