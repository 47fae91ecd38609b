"""What the guard found of a run, in figures and in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pganon.guard.model import Version
from pganon.guard.report import OF_VALUES, figures
from pganon.guard.words import assumption, sentences
from pganon.publish.memory import EVERYBODY
from pganon.run.independent import Together
from pganon.steps import State


@dataclass(frozen=True)
class Found:
    """A version as it was judged for every audience.

    Attributes:
        versions: for each audience, before that on columns that are taken to be independent.
        together: by audience, what was taken to be independent of what.
        everybody: whether the policy takes everybody to have every version.
    """

    versions: Sequence[Version]
    state: State
    together: Mapping[str, Together]
    everybody: bool

    @property
    def figures(self) -> dict[str, Any]:
        """Of the audience whom all versions tell most."""
        found = [(self._of(version), version.audience) for version in self._judged]
        if not found:
            return {}
        worst, audience = max(found, key=lambda one: _told(one[0]))
        named = {} if audience == EVERYBODY else {"guard_audience": audience}
        return {**worst, **named, **self._of_independent(audience)}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was taken for granted, and what is left of the promises if the policy asks."""
        judged = [*self._judged, *(v for v in self.versions if v.independent)]
        warned = [version for version in judged if version.republication == "warn"]
        left = (one for v in warned for one in sentences(self._of(v), v.audience))
        return (*self._assumed, *left)

    def _of(self, version: Version) -> dict[str, Any]:
        return figures(version, self.state.facts)

    def _of_independent(self, audience: str) -> dict[str, Any]:
        """What versions of the same columns tell, where others are taken to be independent."""
        kept = self.together.get(audience)
        if kept is None or not kept.others:
            return {}
        own = next(v for v in self.versions if v.independent and v.audience == audience)
        told = {name: self._of(own)[f"guard_{name}"] for name in OF_VALUES}
        columns = {"columns": list(kept.columns), "others": list(kept.others)}
        return {"guard_independent": columns | told}

    @property
    def _assumed(self) -> Iterator[str]:
        for version in self._judged:
            kept = self.together.get(version.audience)
            if kept is not None and kept.others:
                worst = self._of(version)["guard_worst_probability"]
                yield assumption(kept.columns, kept.others, worst, version.audience)

    @property
    def _judged(self) -> list[Version]:
        """Everybody only where no audience has the version, or for a policy that says so."""
        found = [version for version in self.versions if not version.independent]
        if self.everybody:
            return found
        return [version for version in found if version.audience] or found


def _told(found: dict[str, Any]) -> tuple[float, ...]:
    """By how much more a version tells than another."""
    missed = found["guard_below_k"] + found["guard_above"]
    return (missed, found["guard_worst_probability"] or 0, -(found["guard_smallest_cell"] or 0))
