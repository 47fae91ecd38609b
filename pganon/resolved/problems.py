"""Problems of a policy, collected so that all are reported at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pganon.errors import Problem
from pganon.policy.document import field_path
from pganon.policy.refusals import Refusal
from pganon.policy.tables import in_root

LineOf = Callable[[str], int | None]
"""The line of a field of the policy's file; None where there is no file."""


@dataclass
class Problems:
    """Problems in the order in which they were reported, each with the line of its field.

    Attributes:
        root: the table that has keys in place of the policy.
    """

    line_of: LineOf = lambda field: None
    reported: list[Problem] = field(default_factory=list)
    root: str | None = None

    def report(self, field: str, message: str, suggestion: str | None = None) -> None:
        key, *rest = field.partition(".")
        field = field_path(in_root(self.root, (key,))) + "".join(rest) if self.root else field
        self.reported.append(Problem(message, field, self.line_of(field), suggestion))

    def refuse(self, refusals: Iterable[Refusal]) -> None:
        for refusal in refusals:
            self.report(field_path(refusal.place), refusal.message, refusal.suggestion)
