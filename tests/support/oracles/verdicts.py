"""The rule by who is in which group; :mod:`pganon.history.check` is the same in SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pganon.resolved.presentation import UNION, Presentation

Person = int
Values = Mapping[str, object]
"""By column."""


@dataclass(frozen=True)
class Group:
    """The people of a group of a version, with their values.

    Attributes:
        people: with the values that the version shows of them, by column. Empty mappings for
            people who were left out and of whom nothing is shown.
        shown: whether values are shown of people who were left out; True for other groups.
        of: runs that the group is a function of, for readers who have one of them, or
            :data:`UNION`.
        forgotten: whether people of the group were forgotten, or it has counterfeits.
    """

    people: Mapping[Person, Values]
    left_out: bool = False
    shown: bool = True
    of: frozenset[int] = frozenset()
    forgotten: bool = False


@dataclass(frozen=True)
class VersionGroups:
    """The groups of a version, and all people of its source."""

    manner: Presentation
    groups: Sequence[Group]
    source: frozenset[Person] = field(default=frozenset())


@dataclass(frozen=True)
class Verdict:
    """Why a group is refused; if it is not, the run that it is a function of, if any."""

    reason: str | None = None
    of: int | None = None


def judge(new: VersionGroups, earlier: Sequence[VersionGroups]) -> list[Verdict]:
    """Return the verdict on every group, for a reader who has all earlier versions."""
    had = {UNION, *(version.manner.run_id for version in earlier)}
    return [_verdict(group, new, earlier, had) for group in new.groups]


@dataclass(frozen=True)
class _Overlap:
    """A group, and the groups of an earlier version with which it has people in common."""

    group: Group
    new: VersionGroups
    version: VersionGroups
    olds: Sequence[Group]

    @property
    def whole(self) -> bool:
        """Whether the group is a union of whole groups."""
        if any(old.forgotten for old in self.olds) or self.group.forgotten:
            return False
        people = [person for old in self.olds for person in old.people]
        return set(people) == set(self.group.people)

    @property
    def is_one(self) -> bool:
        return self.whole and len(self.olds) == 1

    @property
    def is_part(self) -> bool:
        """Whether it is a part of one group whose people are all in groups again."""
        again = {person for group in self.new.groups for person in group.people}
        return len(self.olds) == 1 and set(self.group.people) < set(self.olds[0].people) <= again

    @property
    def changed(self) -> bool:
        """Whether a person has another value in a column that both versions show."""
        return any(
            values[column] != self.group.people[person][column]
            for old in self.olds
            for person, values in old.people.items()
            for column in values
            if person in self.group.people and column in self.group.people[person]
        )

    @property
    def covered(self) -> bool:
        """Whether the version shows all columns of these people."""
        wanted = {column for values in self.group.people.values() for column in values}
        return all(wanted <= set(values) for old in self.olds for values in old.people.values())

    @property
    def fits(self) -> bool:
        return self.new.manner.fits(self.version.manner)

    @property
    def divides(self) -> bool:
        return self.new.manner.divides(self.version.manner)

    @property
    def nothing_shown(self) -> bool:
        return all(old.left_out and not old.shown for old in self.olds)

    @property
    def is_function(self) -> bool:
        one = self.new.manner.form == "classes" or len(self.olds) == 1
        whole = self.whole and not self.divides
        return whole and one and self.fits and self.covered and not self.changed

    @property
    def reason(self) -> str | None:
        """Why the group is not the same; None if it is."""
        if self.divides:
            repeats = self.new.manner.repeats(self.version.manner)
            gone = any(group.forgotten for group in self.version.groups)
            return None if repeats and not gone else "several"
        if self.is_one and not self.changed and (self.fits or self.nothing_shown):
            return None
        if any(old.left_out for old in self.olds) and not self.is_one:
            return "left_out"
        if self.is_one:
            return "changed" if self.changed else "form"
        return "finer" if self.is_part else "crossing"


def _verdict(
    group: Group, new: VersionGroups, earlier: Sequence[VersionGroups], had: set[int]
) -> Verdict:
    overlaps = [
        overlap
        for version in earlier
        if (overlap := _overlap(group, new, version, had)) is not None
    ]
    if group.left_out and not group.shown:
        return _of_left_out(overlaps)
    reasons = [one.reason for one in overlaps]
    if any(reasons):
        for one in overlaps:
            if one.is_function:
                return Verdict(of=one.version.manner.run_id)
    return Verdict(next((reason for reason in reasons if reason), None))


def _of_left_out(overlaps: Sequence[_Overlap]) -> Verdict:
    """People who are left out must be a union of whole groups in every version."""
    for one in overlaps:
        if one.divides:
            if one.reason == "several":
                return Verdict("several")
        elif not one.whole:
            return Verdict("left_out")
        elif one.changed:
            return Verdict("changed")
    union = any(not one.is_one and not one.divides for one in overlaps)
    return Verdict(of=UNION if union else None)


def _overlap(
    group: Group, new: VersionGroups, version: VersionGroups, had: set[int]
) -> _Overlap | None:
    olds = [
        old
        for old in version.groups
        if not new.manner.keeps_with(version.manner)
        if not old.of & had and not old.people.keys().isdisjoint(group.people)
    ]
    return _Overlap(group, new, version, olds) if olds else None


def clashing(new: VersionGroups, earlier: Sequence[VersionGroups]) -> bool:
    """Whether a column that is shown of a person is a quasi-identifier in another version."""
    return any(
        new.manner.clash(version.manner) and not new.source.isdisjoint(version.source)
        for version in earlier
    )
