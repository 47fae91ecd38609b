"""Messages and hints of versions that are refused beside others."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pganon.error_codes import ErrorCode
from pganon.errors import PrivacyRefusal
from pganon.policy.model import Policy
from pganon.policy.rules import over_time_refusals
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.republication import Republication
from pganon.resolved.rules import increment_refusals

_MESSAGES = {
    "crossing": "{people} people were in other groups in {label}; who has both sees smaller ones",
    "finer": "{people} people were in larger groups in {label}, which these divide",
    "changed": "in {groups} groups of {label} values changed; the difference shows whose",
    "form": "{label} shows {people} people of the same groups in another way; rows of both can be"
    " matched",
    "several": "{label} is about {people} people of this one, and that or this one divides them in"
    " several ways at once",
    "left_out": "{people} people are beside others in groups here whom {label} left out for their"
    " values, or were in its groups and are left out now",
    "role": "a column that is shown here is a quasi-identifier of {label}, or made of one, or the"
    " other way round, and {people} people are in both",
    "derived": "a column that is shown here is computed from one that {label} shows, or the other"
    " way round, so it cannot be seen whether values of the {people} people in both changed",
    "unresolved": "a column is made by functions that may read tables, here or in {label}, so it"
    " cannot be told which columns it shows of the {people} people in both",
}


@dataclass(frozen=True)
class Conflict:
    """Groups of a new version that the rule does not allow beside an earlier one.

    Attributes:
        reason: a key of the messages, such as `crossing`.
        groups: number of groups of the new version that are not allowed.
        people: number of people in those of them with this reason.
        label: the earlier version.
        others: number of groups of the new version that are allowed.
    """

    reason: str
    groups: int
    people: int
    label: str
    others: int = 0

    @property
    def message(self) -> str:
        return _MESSAGES[self.reason].format(
            people=self.people, groups=self.groups, label=self.label
        )


_LEAVE_OUT = ("crossing", "changed", "left_out")
"""Reasons that groups may have of which others have none."""


@dataclass(frozen=True)
class Alternatives:
    """Releases that a source and its policy allow instead of a version that is refused.

    Attributes:
        increments: the release can grow.
        invariant: the release can be m-invariant.
        same: a version under another policy, which shows the same groups again.
        accepts: the policy may accept the version.
    """

    increments: bool = False
    invariant: bool = False
    same: str | None = None
    accepts: bool = False

    def hint(self, conflict: Conflict) -> str | None:
        hints = [
            "refresh: increments adds groups of new individuals" if self.increments else None,
            "refresh: invariant keeps the values of people" if self.invariant else None,
            f"the policy of {self.same} shows the same groups again, if the source has not changed"
            if self.same
            else None,
            "leave out the people of the groups that are in the way (`exclude`)"
            if conflict.reason in _LEAVE_OUT and conflict.others
            else None,
            "compute the column in a table, or leave it out of the policy"
            if conflict.reason == "unresolved"
            else None,
            "show the column as that version does, or leave it out of the policy"
            if conflict.reason == "derived"
            else None,
            f"if no copy of {conflict.label} is left, drop it; pganon forget ends its retention",
            "republication: warn publishes, and voids the guarantees of both versions"
            if self.accepts
            else None,
        ]
        return "; ".join(hint for hint in hints if hint) or None


NO_ALTERNATIVES = Alternatives()


def refusal(conflict: Conflict, alternatives: Alternatives) -> PrivacyRefusal:
    return PrivacyRefusal(
        conflict.message,
        required=0,
        observed=conflict.people,
        hint=alternatives.hint(conflict),
        code=ErrorCode.REPUBLICATION,
        reason=conflict.reason,
    )


def alternatives_of(spec: ReleaseSpec, republication: Republication) -> Alternatives:
    """Of a release of people who can be told apart."""
    policy = spec.policy
    # Beside a version under the same policy the source has changed, or it would be repeated.
    comparable = (one for one in republication.earlier if one.partition_hash is not None)
    nearest = next(comparable, None)
    return Alternatives(
        increments=policy.refresh != "increments" and _can_grow(spec),
        invariant=policy.refresh != "invariant" and _can_keep(policy),
        same=(nearest.label if nearest and not republication.candidates else None),
        accepts=policy.method.admits("republication", "allow"),
    )


def _can_grow(spec: ReleaseSpec) -> bool:
    """But for the size of an increment, which can be given."""
    policy = spec.policy.model_copy(
        update={"refresh": "increments", "increment_size": spec.least_cohort}
    )
    return not any(increment_refusals(replace(spec, policy=policy)))


def _can_keep(policy: Policy) -> bool:
    # A refusal names the methods that can, which imports all of them.
    supported = "invariant" in policy.method.supports
    return supported and not any(over_time_refusals(policy.written(refresh="invariant")))
