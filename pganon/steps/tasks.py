"""What a search decides, block by block, and hands back to the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class TaskResult:
    """What one task of a :class:`~pganon.steps.Search` decided.

    Attributes:
        rows: rows of the step's table.
        figures: added up over all tasks; they become facts `<step>_<figure>`.
    """

    rows: Sequence[Sequence[Any]]
    figures: Mapping[str, float] = field(default_factory=dict)


Task = Callable[[], TaskResult]
"""Pure, and something that can be sent to another process."""
