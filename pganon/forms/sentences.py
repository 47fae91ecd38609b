"""What a form says of itself in sentences, for people who decide on a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pganon.forms.inference import Inferred
from pganon.forms.utility import Utility


@dataclass(frozen=True)
class Figure:
    """A figure in a sentence; `kind` is count, number or percent."""

    kind: str
    value: float


@dataclass(frozen=True)
class Told:
    """A sentence or two, with its figures.

    Attributes:
        of: how many people, or records, it is of; None if it tells nothing of some of them.
    """

    label: str
    parts: tuple[str | Figure, ...]
    of: int | None = None

    def document(self, smallest: int, members: str) -> dict[str, Any]:
        """As JSON; what is of fewer than `smallest` is not told."""
        if self.of and self.of < smallest:
            few = f"This is of fewer than {smallest} {members}, so it is not told."
            return {"label": self.label, "parts": [few]}
        parts = [
            part if isinstance(part, str) else {"kind": part.kind, "value": part.value}
            for part in self.parts
        ]
        return {"label": self.label, "parts": parts}


def told(label: str, *parts: str | Figure, of: int | None = None) -> Told:
    return Told(label, parts, of)


def share(value: float) -> Figure:
    return Figure("percent", value)


def number(value: float) -> Figure:
    return Figure("number", value)


def count(value: float) -> Figure:
    return Figure("count", value)


def details(utility: Utility, members: str) -> list[Told]:
    """The lines of `pganon show`, of forms that have no sentences."""
    return [told(label, text) for label, text in utility.details().items()]


def nothing(utility: Utility, members: str) -> list[Told]:
    """Where sizes of groups and shares of values say all."""
    return []


def learned(found: Mapping[str, Inferred], members: str, of: str, by: str) -> list[Told]:
    """What a program learns from the release itself.

    Args:
        found: by column.
        of: the label, with `{}` for the column.
        by: what it learns from.
    """
    return [_learned(name, one, members, of.format(name), by) for name, one in found.items()]


def _learned(name: str, found: Inferred, members: str, label: str, by: str) -> Told:
    if found.share is None or found.accuracy is None:
        return told(
            label,
            f"Whether the column {name} can be learned from {by} was not measured: too few"
            f" {members}.",
        )
    parts: list[str | Figure] = [
        f"A program that learns from {by} which value in the column {name} goes with which other"
        " values guesses it of ",
        share(found.accuracy),
        f" of {found.records:,} {members} right",
    ]
    if found.allowed is not None:
        parts += [" (what is required allows ", share(found.allowed), ")"]
    parts += [". It is more than ", share(found.limit), " sure of "]
    parts += (
        [share(found.share), " of the values, and right as often."]
        if found.share
        else ["nobody's value."]
    )
    return told(label, *parts, of=found.records)
