"""The rule as a function of who is in which group. :mod:`pganon.history.check` is the same in SQL.

A group of a version is *new*: nobody of it is in a group before; *same*: every version that has
anybody of it in a group has it as exactly one group, with the same values; or a *function* of one
version: a union of whole groups, of which that shows all that the new version shows of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pganon.resolved.presentation import UNION, Presentation

Person = int
Values = Mapping[str, object]
"""By column."""


@dataclass(frozen=True)
class Group:
    """Who is in a group of a version, and with which values.

    Attributes:
        people: with the values that the version shows of them, by column; nothing of a group that
            was left out, and of whom nothing is shown.
        shown: whether anything is, of a group that was left out; of other groups it is.
        of: runs that it is a function of, for who has one of them, or :data:`UNION`.
        forgotten: whether nobody knows any more who was in it, or it has what nobody has.
    """

    people: Mapping[Person, Values]
    left_out: bool = False
    shown: bool = True
    of: frozenset[int] = frozenset()
    forgotten: bool = False


@dataclass(frozen=True)
class Told:
    """A version: its groups, and everybody in its source."""

    manner: Presentation
    groups: Sequence[Group]
    source: frozenset[Person] = field(default=frozenset())


@dataclass(frozen=True)
class Verdict:
    """What is wrong with a group, or, if nothing is, what it is a function of."""

    reason: str | None = None
    of: int | None = None


def judge(new: Told, earlier: Sequence[Told]) -> list[Verdict]:
    """The verdict on every group, for a reader who has all earlier versions."""
    had = {UNION, *(version.manner.run_id for version in earlier)}
    return [_verdict(group, new, earlier, had) for group in new.groups]


@dataclass(frozen=True)
class _Met:
    """A group beside one version that has somebody of it in a group."""

    group: Group
    new: Told
    version: Told
    olds: Sequence[Group]

    @property
    def whole(self) -> bool:
        """Whether it is a union of whole groups."""
        if any(old.forgotten for old in self.olds) or self.group.forgotten:
            return False
        people = [person for old in self.olds for person in old.people]
        return set(people) == set(self.group.people)

    @property
    def is_one(self) -> bool:
        return self.whole and len(self.olds) == 1

    @property
    def is_part(self) -> bool:
        """Whether it is some of the people of one group, of whom all are in groups again."""
        again = {person for group in self.new.groups for person in group.people}
        return len(self.olds) == 1 and set(self.group.people) < set(self.olds[0].people) <= again

    @property
    def changed(self) -> bool:
        """Whether anybody has another value in a column that both show."""
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
        """Why it is not the same."""
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


def _verdict(group: Group, new: Told, earlier: Sequence[Told], had: set[int]) -> Verdict:
    met = [found for version in earlier if (found := _met(group, new, version, had)) is not None]
    if group.left_out and not group.shown:
        return _of_left_out(met)
    found = [one.reason for one in met]
    if any(found):
        for one in met:
            if one.is_function:
                return Verdict(of=one.version.manner.run_id)
    return Verdict(next((reason for reason in found if reason), None))


def _of_left_out(met: Sequence[_Met]) -> Verdict:
    """A union of whole groups in every version."""
    for one in met:
        if one.divides:
            if one.reason == "several":
                return Verdict("several")
        elif not one.whole:
            return Verdict("left_out")
        elif one.changed:
            return Verdict("changed")
    return Verdict(of=UNION if any(not one.is_one for one in met) else None)


def _met(group: Group, new: Told, version: Told, had: set[int]) -> _Met | None:
    olds = [
        old
        for old in version.groups
        if not new.manner.keeps_with(version.manner)
        if not old.of & had and not old.people.keys().isdisjoint(group.people)
    ]
    return _Met(group, new, version, olds) if olds else None


def clashing(new: Told, earlier: Sequence[Told]) -> bool:
    """Whether a column is shown of a person in one version, and known of the person in another."""
    return any(
        new.manner.clashes(version.manner) and not new.source.isdisjoint(version.source)
        for version in earlier
    )
