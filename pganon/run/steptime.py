"""How long the steps of a run took."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class StepTime:
    """Seconds spent in a step; the rounds of a Loop are added up under its name."""

    name: str
    purpose: str
    seconds: float = 0.0
    times: int = 0

    def add(self, other: StepTime) -> None:
        self.seconds += other.seconds
        self.times += other.times
