"""How versions show groups of people, as far as the rule about groups compares it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pganon.catalog.model import Origin

Form = Literal["classes", "exact", "several"]
"""How a version shows its groups.

classes: generalized quasi-identifiers, and beside them a row per record. exact: rows of exact
quasi-identifiers, and values by group. several: people are in several groups at once.
"""

Clash = Literal["role", "unresolved", "derived"]

_UNKNOWN = Origin(frozenset())

UNION = 0
"""In place of a run that a group is a function of: it is a union of groups of every version."""


@dataclass(frozen=True)
class Presentation:
    """Columns that a version shows of its groups, and the form in which it does.

    Attributes:
        run_id: the run that made the groups.
        columns: names, in the source, of the columns that it shows of people in groups, in the
            order of `held` of its groups.
        quasi: of those whose values readers are taken to know, or to know some of.
        partition_hash: of what in its policy decides groups; None where its secrets are gone.
        drawn: fingerprint of its source and of the seed that made its groups.
        layout: columns of the source that each of its views has.
        invariant: columns of which people keep their signatures; nothing where they do not.
        least: the fewest people of a group that it promises.
        origins: of all these columns, what they are made of; not of versions that were made before
            that was kept.
    """

    run_id: int
    form: Form
    columns: tuple[str, ...]
    quasi: tuple[str, ...]
    partition_hash: str | None = None
    drawn: bytes | None = None
    layout: tuple[tuple[str, ...], ...] = ()
    invariant: tuple[str, ...] = ()
    least: int = 1
    origins: Mapping[str, Origin] = field(default_factory=dict)

    def fits(self, other: Presentation) -> bool:
        """Whether to have a group in both tells no more than to have it in one."""
        if self.form != other.form or self.form == "several":
            return False
        return self.form == "classes" or (self._same_policy(other) and self.layout == other.layout)

    def repeats(self, other: Presentation) -> bool:
        """Whether both are made of the same rows, by the same policy and the same seeds."""
        return self._same_policy(other) and self.drawn is not None and self.drawn == other.drawn

    def keeps_with(self, other: Presentation) -> bool:
        """Whether people keep their value sets from one to the other, whatever their groups."""
        return bool(self.invariant) and self.invariant == other.invariant

    def divides(self, other: Presentation) -> bool:
        """Whether groups of both can only be those of other people, or the very same."""
        return "several" in (self.form, other.form) or bool(self.invariant)

    def _same_policy(self, other: Presentation) -> bool:
        comparable = self.partition_hash is not None
        return comparable and self.partition_hash == other.partition_hash

    def clash(self, other: Presentation) -> Clash | None:
        """Why both together may tell what neither does: one shows a column that readers of the
        other are taken to know, or to know otherwise, some of them, of quasi-sensitive ones; or a
        column whose values cannot be compared with those that they come from.

        What both have in the same way is no reason.
        """
        mine = [name for name in self._names if not self._has_too(other, name)]
        theirs = [name for name in other._names if not other._has_too(self, name)]
        pairs = [
            *((one, two) for one in mine for two in other._names),
            *((one, two) for one in self._names for two in theirs),
        ]
        related = [(one, two) for one, two in pairs if self._related(other, one, two)]
        found = [
            *((one, two) for one in mine for two in other._names if self._finds(one, other, two)),
            *((one, two) for one in self._names for two in theirs if other._finds(two, self, one)),
        ]
        if any(self._roles(one) != other._roles(two) for one, two in (*related, *found)):
            return "role"
        unresolved = [self._origin(one) for one in mine] + [other._origin(two) for two in theirs]
        if not all(origin.resolved for origin in unresolved):
            return "unresolved"
        compared = set[str]()
        for place, name in enumerate(self.columns):
            if self.place_in(other, place) is not None:
                compared |= self._origin(name).bases
        shown = (
            (self._origin(a).bases, other._origin(b).bases)
            for a, b in related
            if a in self.columns and b in other.columns
        )
        return "derived" if any((a & b) - compared for a, b in shown) else None

    def place_in(self, other: Presentation, place: int) -> int | None:
        """The place among the columns of another version of the values of a column: of the same
        base column, or of the same name."""
        name = self.columns[place]
        origin = self._origin(name)
        for number, column in enumerate(other.columns):
            same = other._origin(column)
            if origin.plain and same.plain and not origin.bases.isdisjoint(same.bases):
                return number
        return other.columns.index(name) if name in other.columns else None

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.columns, *self.quasi)))

    def _origin(self, name: str) -> Origin:
        return self.origins.get(name, _UNKNOWN)

    def _has_too(self, other: Presentation, name: str) -> bool:
        """Whether another version has the column in the same way."""
        if self._roles(name) != other._roles(name):
            return False
        one, two = self._origin(name), other._origin(name)
        return _UNKNOWN in (one, two) or not one.bases.isdisjoint(two.bases) or one == two

    def _related(self, other: Presentation, one: str, two: str) -> bool:
        return one == two or not self._origin(one).bases.isdisjoint(other._origin(two).bases)

    def _finds(self, name: str, other: Presentation, column: str) -> bool:
        """Whether a column has what is found by one of another version."""
        return not self._origin(name).chosen.isdisjoint(other._origin(column).bases)

    def _roles(self, name: str) -> tuple[bool, bool]:
        """Whether a column is shown, and whether readers are taken to know it."""
        return name in self.columns, name in self.quasi
