"""Why a version is refused beside others, in a sentence, and what can be done."""

from __future__ import annotations

from dataclasses import dataclass

from pganon.error_codes import ErrorCode
from pganon.errors import PrivacyRefusal

_SAID = {
    "crossing": "{people} people were in other groups in {label}; who has both sees smaller ones",
    "finer": "{people} people were in larger groups in {label}, which these divide",
    "changed": "in {groups} groups of {label} values changed; the difference shows whose",
    "form": "{label} shows {people} people of the same groups in another way; rows of both can be"
    " told to belong together",
    "several": "{label} is about {people} people of this one, and that or this one divides them in"
    " several ways at once",
    "left_out": "{people} people are beside others in groups here whom {label} left out for their"
    " values, or were in its groups and are left out now",
    "role": "a column that is shown here is a quasi-identifier of {label}, or the other way round,"
    " and {people} people are in both",
}


@dataclass(frozen=True)
class Found:
    """What the rule found.

    Attributes:
        groups: of the new version that are in the way.
        others: that are not.
        people: in those of them with this reason.
        known: people of the new version who were in groups before.
        label: of the version that they were in.
    """

    reason: str
    groups: int
    people: int
    known: int
    label: str
    others: int = 0

    @property
    def sentence(self) -> str:
        return _SAID[self.reason].format(people=self.people, groups=self.groups, label=self.label)


_LEAVE_OUT = ("crossing", "changed", "left_out")
"""Reasons that groups may have of which others have none."""


@dataclass(frozen=True)
class Ways:
    """What a source and its policy allow instead of a version that is refused.

    Attributes:
        increments: the release can grow.
        invariant: groups can keep their values.
        same: a version under another policy, which shows the same groups again.
        accepts: the policy may accept it.
    """

    increments: bool = False
    invariant: bool = False
    same: str | None = None
    accepts: bool = False

    def hint(self, found: Found) -> str | None:
        ways = [
            "refresh: increments adds groups of newcomers" if self.increments else None,
            "refresh: invariant keeps the values of people" if self.invariant else None,
            f"the policy of {self.same} shows the same groups again, if the source has not changed"
            if self.same
            else None,
            "leave out the people of the groups that are in the way (`exclude`)"
            if found.reason in _LEAVE_OUT and found.others
            else None,
            "republication: warn publishes, and voids the guarantees of both versions"
            if self.accepts
            else None,
        ]
        return "; ".join(way for way in ways if way) or None


NO_WAYS = Ways()


def refusal(found: Found, ways: Ways) -> PrivacyRefusal:
    return PrivacyRefusal(
        found.sentence,
        required=0,
        observed=found.people,
        hint=ways.hint(found),
        code=ErrorCode.REPUBLICATION,
        reason=found.reason,
    )
