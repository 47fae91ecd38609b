"""How versions show groups of people, as far as the rule about groups compares it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Form = Literal["classes", "exact", "several"]
"""How a version shows its groups.

classes: generalized quasi-identifiers, and beside them a row per record. exact: rows of exact
quasi-identifiers, and values by group. several: people are in several groups at once.
"""

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

    def clashes(self, other: Presentation) -> bool:
        """Whether one shows a column that readers of the other are taken to know, or to know
        otherwise: some of the columns, of quasi-sensitive ones."""
        common = {*self.columns, *self.quasi} & {*other.columns, *other.quasi}
        return any(self._roles(name) != other._roles(name) for name in common)

    def _roles(self, name: str) -> tuple[bool, bool]:
        """Whether a column is shown, and whether readers are taken to know it."""
        return name in self.columns, name in self.quasi
