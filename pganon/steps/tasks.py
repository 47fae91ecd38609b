"""Tasks of a search, block by block, and their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class TaskResult:
    """The result of one task of a :class:`~pganon.steps.Search`.

    Attributes:
        rows: rows of the step's table.
        figures: added up over all tasks; they become facts `<step>_<figure>`.
    """

    rows: Sequence[Sequence[Any]]
    figures: Mapping[str, float] = field(default_factory=dict)


Task = Callable[[], TaskResult]
"""Pure, and something that can be sent to another process."""
