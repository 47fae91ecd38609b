"""Estimators of population uniques: people who are alone with their values in the population."""

from __future__ import annotations

from pganon.risk import pitman, snb, zayatz
from pganon.risk.estimate import Estimate
from pganon.risk.sample import Sample

DANKAR = "dankar"

SMALL_FRACTION = 0.1
"""Sampling fraction up to which Dankar's rule takes Pitman's estimator."""


def estimates(sample: Sample) -> dict[str, Estimate]:
    """Every estimator's, by name."""
    found = {
        zayatz.NAME: zayatz.zayatz(sample),
        pitman.NAME: pitman.pitman(sample),
        snb.NAME: snb.snb(sample),
    }
    return {**found, DANKAR: dankar(sample, **found)}


def required(sample: Sample, estimator: str) -> Estimate:
    """As a requirement takes it, by the name of an estimator or by Dankar's rule.

    Where the rule takes Pitman's estimator, none stands in for it: it may be far below.
    """
    match estimator:
        case zayatz.NAME:
            return zayatz.zayatz(sample)
        case pitman.NAME:
            return pitman.pitman(sample)
        case snb.NAME:
            return snb.snb(sample)
        case _:
            found = pitman.pitman(sample)
            if sample.fraction <= SMALL_FRACTION:
                return found
            return dankar(sample, zayatz.zayatz(sample), found, snb.snb(sample))


def dankar(sample: Sample, zayatz: Estimate, pitman: Estimate, snb: Estimate) -> Estimate:
    """The estimator that did best by sampling fraction (Dankar et al. 2012).

    Zayatz takes the place of one that has no number.
    """
    if sample.fraction <= SMALL_FRACTION:
        return zayatz if pitman.uniques is None else pitman
    numbers = [one for one in (snb, zayatz) if one.uniques is not None]
    return min(numbers, key=lambda one: one.uniques or 0, default=zayatz)
