"""What there is instead of a version that the rule refuses."""

from __future__ import annotations

from dataclasses import replace

from pganon.history.reasons import Ways
from pganon.policy.model import Policy
from pganon.policy.over_time import over_time_refusals
from pganon.resolved.growth import increment_refusals
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.republication import Republication


def ways_of(spec: ReleaseSpec, republication: Republication) -> Ways:
    """Of a release of people who can be told apart."""
    policy = spec.policy
    return Ways(
        increments=policy.refresh != "increments" and _can_grow(spec),
        invariant=policy.refresh != "invariant" and _can_keep(policy),
        same=_under_another_policy(republication),
        accepts=not policy.method.published_once,
    )


def _can_grow(spec: ReleaseSpec) -> bool:
    """But for the size of an increment, which can be given."""
    policy = spec.policy.model_copy(
        update={"refresh": "increments", "increment_size": spec.minimum_size}
    )
    return not any(increment_refusals(replace(spec, policy=policy)))


def _can_keep(policy: Policy) -> bool:
    given = {**dict(policy), "refresh": "invariant"}
    return not any(over_time_refusals(policy.known, given, policy.method))


def _under_another_policy(republication: Republication) -> str | None:
    """Beside a version under the same policy the source has changed, or it would be repeated."""
    known = (one for one in republication.earlier if one.partition_hash is not None)
    nearest = next(known, None)
    return nearest.label if nearest and not republication.candidates else None
