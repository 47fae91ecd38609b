"""Generated people whose sensitive value depends on their quasi-identifiers in a known way.

`exams` are modelled after BKseq, `jobs` after Adult. Random numbers come from md5, so both are the
same everywhere. The prior of a person, which an adversary may hold, is what the value was drawn
from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import md5
from itertools import accumulate
from math import floor, sqrt
from typing import NamedTuple

TYPES = ("blood", "chest", "ecg", "gluc", "mammo", "psa")
EXAMS = tuple(f"{kind}_{result}" for kind in TYPES for result in ("neg", "pos"))

OCCUPATIONS = {
    "Prof-specialty": 6008,
    "Craft-repair": 6020,
    "Exec-managerial": 5984,
    "Adm-clerical": 5540,
    "Sales": 5408,
    "Other-service": 4808,
    "Machine-op-inspct": 2970,
    "Transport-moving": 2316,
    "Handlers-cleaners": 2046,
    "Farming-fishing": 1480,
    "Tech-support": 1420,
    "Protective-serv": 976,
    "Priv-house-serv": 232,
    "Armed-Forces": 14,
}
"""Records of Adult by occupation."""

EDUCATIONS = {
    "HS-grad": 14783,
    "Some-college": 9899,
    "Bachelors": 7570,
    "Masters": 2514,
    "Assoc-voc": 1959,
    "11th": 1619,
    "Assoc-acdm": 1507,
    "10th": 1223,
    "7th-8th": 823,
    "Prof-school": 785,
    "9th": 676,
    "12th": 577,
    "Doctorate": 544,
    "5th-6th": 449,
    "1st-4th": 222,
    "Preschool": 72,
}
"""Records of Adult by education."""

WOMEN = 14695 / 45222

_GRADUATES = {"Bachelors", "Masters", "Prof-school", "Doctorate"}
_MIDDLE = {"HS-grad", "Some-college", "Assoc-voc", "Assoc-acdm"}
_OF_GRADUATES = {
    "Prof-specialty": 3.5,
    "Exec-managerial": 1.6,
    "Tech-support": 1.0,
    "Sales": 0.9,
    "Adm-clerical": 0.7,
}
_OF_OTHERS = {
    "Prof-specialty": 0.1,
    "Exec-managerial": 0.3,
    "Tech-support": 0.2,
    "Sales": 0.7,
    "Adm-clerical": 0.5,
}
_OF_WOMEN = {
    "Craft-repair": 0.12,
    "Transport-moving": 0.12,
    "Handlers-cleaners": 0.25,
    "Farming-fishing": 0.15,
    "Armed-Forces": 0.0,
    "Protective-serv": 0.3,
    "Adm-clerical": 3.0,
    "Other-service": 2.0,
    "Priv-house-serv": 10.0,
}


class Patient(NamedTuple):
    sex: str
    age: int
    weight: int
    exam: str


class Worker(NamedTuple):
    age: int
    gender: str
    education: str
    occupation: str


def patients(n: int, seed: int = 1, strength: float = 1.0) -> list[Patient]:
    """BKseq-like people; the weaker the prior, the less quasi-identifiers tell of the exam."""
    found = []
    for number in range(1, n + 1):
        u = uniform(seed, number, "q")
        sex = "F" if u[0] < 0.5 else "M"
        age = min(90, 18 + floor(73 * (u[1] + u[2]) / 2))
        # Nearly normal: the sum of four uniform numbers.
        z = (sum(uniform(seed, number, "w")) - 2) / sqrt(1 / 3)
        weight = min(130, max(40, floor((66 if sex == "F" else 80) + 12 * z + 0.5)))
        prior = exam_prior(sex, age, weight, strength)
        exam = EXAMS[_drawn(prior, uniform(seed, number, "s")[0])]
        found.append(Patient(sex, age, weight, exam))
    return found


@cache
def exam_prior(sex: str, age: int, weight: int, strength: float = 1.0) -> tuple[float, ...]:
    """Probability of every one of EXAMS for people with these quasi-identifiers."""
    own = _exam_prior(sex, age, weight)
    middle = zip(_exam_prior("F", 50, 70), _exam_prior("M", 50, 80), strict=True)
    return tuple(
        (1 - strength) * (one + two) / 2 + strength * probability
        for (one, two), probability in zip(middle, own, strict=True)
    )


def _exam_prior(sex: str, age: int, weight: int) -> list[float]:
    a, g = (age - 18) / 72, (weight - 40) / 90
    woman = sex == "F"
    of_type = [
        (3.0, 0.10 + 0.10 * a),
        (1 + a, 0.05 + 0.20 * a),
        (0.5 + 2 * a, 0.05 + 0.25 * a * a + 0.15 * g),
        (0.5 + 2 * g, 0.05 + 0.15 * a + 0.30 * g),
        (0.3 + 1.7 * a, 0.02 + 0.10 * a) if woman else (0.02, 0.01),
        (0.0 if woman else 0.2 + 1.7 * a, 0.03 + 0.15 * a),
    ]
    total = sum(often for often, _ in of_type)
    return [
        often * share / total for often, positive in of_type for share in (1 - positive, positive)
    ]


def workers(n: int, seed: int = 1) -> list[Worker]:
    """Adult-like people."""
    found = []
    for number in range(1, n + 1):
        u = uniform(seed, number, "q")
        age = 17 + floor(74 * (min(u[:2]) + min(u[:3])) / 2)
        gender = "Female" if u[3] < WOMEN else "Male"
        v = uniform(seed, number, "s")
        education = list(EDUCATIONS)[_drawn(_shares(EDUCATIONS), v[0])]
        prior = occupation_prior(gender, education)
        found.append(Worker(age, gender, education, list(OCCUPATIONS)[_drawn(prior, v[1])]))
    return found


@cache
def occupation_prior(gender: str, education: str) -> tuple[float, ...]:
    """Probability of every one of OCCUPATIONS for people with these quasi-identifiers."""
    if education in _MIDDLE:
        by_education, others = {}, 1.0
    elif education in _GRADUATES:
        by_education, others = _OF_GRADUATES, 0.25
    else:
        by_education, others = _OF_OTHERS, 1.8
    by_gender = _OF_WOMEN if gender == "Female" else {}
    return _shares(
        {
            name: records * by_education.get(name, others) * by_gender.get(name, 1.0)
            for name, records in OCCUPATIONS.items()
        }
    )


def uniform(seed: int, number: int, tag: str) -> list[float]:
    """Four numbers from 0 to below 1."""
    digits = md5(f"{seed}:{number}:{tag}".encode(), usedforsecurity=False).hexdigest()
    return [int(digits[at : at + 8], 16) / 2**32 for at in range(0, 32, 8)]


def _shares(weights: Mapping[str, float]) -> tuple[float, ...]:
    total = sum(weights.values())
    return tuple(weight / total for weight in weights.values())


def _drawn(probabilities: Sequence[float], u: float) -> int:
    """The first place at which the cumulated probability exceeds u."""
    until = accumulate(probabilities)
    return next((at for at, p in enumerate(until) if p > u), len(probabilities) - 1)
