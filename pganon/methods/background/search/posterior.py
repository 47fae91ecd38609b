"""Posteriors of the members of one class, for a reader who holds the priors.

The reader knows the prior of every member and the sensitive values of the class, but not who has
which.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pganon.methods.background.search.limits import EPS, Counts, Shares
from pganon.methods.background.search.linkage import Vectors

MOST_STATES = 10_000
"""Numbers of values that are left, in all combinations, up to which posteriors are exact."""


def exact(priors: Vectors, counts: Counts) -> Vectors | None:
    """By member and value, the posterior; None if the priors allow no assignment of the values.

    Over all assignments of the values to the members, each as probable as the product of the
    priors. Assignments are summed up by how many records of each value are left.

    Args:
        priors: members x values.
        counts: records by value, as many as there are members.

    Raises:
        ValueError: the numbers differ, or there are too many combinations.
    """
    _check(priors, counts)
    if not feasible(counts):
        raise ValueError(f"{len(priors)} members have too many assignments; estimate them")
    joint = np.zeros(priors.shape)
    values = np.flatnonzero(counts)
    context = tuple((counts[values] + 1).tolist())
    for member in range(len(priors)):
        others = np.delete(priors, member, axis=0)[:, values]
        weights = _weights(others, context)
        for axis, value in enumerate(values.tolist()):
            rest = counts[values].copy()
            rest[axis] -= 1
            joint[member, value] = priors[member, value] * weights[tuple(rest.tolist())]
    totals = joint.sum(axis=1, keepdims=True)
    return joint / totals if (totals > 0).all() else None


def feasible(counts: Counts) -> bool:
    """Whether :func:`exact` can sum over all assignments."""
    return float(np.prod(np.asarray(counts, dtype=float) + 1)) <= MOST_STATES


def estimated(priors: Vectors, counts: Counts) -> Vectors | None:
    """The Omega-estimate of the same (Li, Li and Zhang 2009); None if nobody can have some value.

    Proportional to the records of the value times the member's share of all priors for it.
    """
    _check(priors, counts)
    sums = priors.sum(axis=0)
    if ((counts > 0) & (sums == 0)).any():
        return None
    joint = counts * priors / np.where(sums > 0, sums, 1.0)
    totals = joint.sum(axis=1, keepdims=True)
    return joint / totals if (totals > 0).all() else None


def highest(posteriors: Vectors, counts: Counts) -> tuple[float, float]:
    """The largest posterior of a member, and the most by which one exceeds the value's share."""
    return float(posteriors.max()), float((posteriors - counts / counts.sum()).max())


def exceeding(posteriors: Vectors, f: Shares) -> int:
    """Members about whom some value is more probable than the largest share f of it in a class."""
    return int((posteriors > f + EPS).any(axis=1).sum())


def _check(priors: Vectors, counts: Counts) -> None:
    if len(priors) != int(np.sum(counts)):
        raise ValueError(f"{len(priors)} members cannot have {int(np.sum(counts))} values")


def _weights(priors: Vectors, context: Sequence[int]) -> Vectors:
    """By number of each value, the probability of all assignments of so many to the members."""
    weights = np.zeros(context)
    weights[(0,) * len(context)] = 1.0
    for prior in priors:
        longer = np.zeros(context)
        for axis, probability in enumerate(prior.tolist()):
            ahead, behind = [slice(None)] * len(context), [slice(None)] * len(context)
            ahead[axis], behind[axis] = slice(1, None), slice(None, -1)
            longer[tuple(ahead)] += probability * weights[tuple(behind)]
        weights = longer
    return weights
