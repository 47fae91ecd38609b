"""Why a version is refused beside others, in a sentence, and what can be done."""

from __future__ import annotations

from dataclasses import dataclass

from pganon.errors import PrivacyRefusal

CODE = "republication"

WAYS = (
    "refresh: increments adds groups of newcomers, refresh: invariant keeps values; the same policy"
    " over an unchanged source shows the same groups again; republication: warn publishes, and"
    " voids the guarantees of both versions"
)

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
        people: in those of them with this reason.
        known: people of the new version who were in groups before.
        label: of the version that they were in.
    """

    reason: str
    groups: int
    people: int
    known: int
    label: str

    @property
    def sentence(self) -> str:
        return _SAID[self.reason].format(people=self.people, groups=self.groups, label=self.label)


def refusal(found: Found) -> PrivacyRefusal:
    return PrivacyRefusal(
        found.sentence,
        required=0,
        observed=found.people,
        hint=WAYS,
        code=CODE,
        reason=found.reason,
    )
