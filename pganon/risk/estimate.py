"""An estimated number, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pganon.risk.sample import Sample

ROUNDING = 1e-9
"""Relative rounding of an estimate: one of exactly all people may be a little above."""


class Reason(StrEnum):
    """Why a number cannot be estimated.

    ALL_UNIQUE: every record is alone in its class.
    NO_PAIRS: no class has two records.
    NO_ROOT: no parameters solve the equations of the estimator.
    SEVERAL_ROOTS: several parameters do.
    OVERFLOW: the solution is more people than the population has.
    """

    ALL_UNIQUE = "all_unique"
    NO_PAIRS = "no_pairs"
    NO_ROOT = "no_root"
    SEVERAL_ROOTS = "several_roots"
    OVERFLOW = "overflow"


@dataclass(frozen=True)
class Estimate:
    """Estimated population uniques.

    Attributes:
        by: the estimator that gave the number, or has none.
        uniques: people who are alone with their values; None where they cannot be estimated.
        reason: why not; None with a number.
    """

    by: str
    uniques: float | None
    reason: Reason | None = None


def estimated(by: str, uniques: float, sample: Sample) -> Estimate:
    """The estimate, unless it is more people than there are."""
    if not uniques <= sample.population * (1 + ROUNDING):
        return Estimate(by, None, Reason.OVERFLOW)
    return Estimate(by, min(uniques, float(sample.population)))


def only(roots: list[float]) -> float | Reason:
    """The one root, or why there is not one."""
    if len(roots) == 1:
        return roots[0]
    return Reason.SEVERAL_ROOTS if roots else Reason.NO_ROOT
