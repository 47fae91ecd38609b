"""Signals that stop a worker: the first lets it finish, a second one interrupts it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@dataclass
class Stop:
    """Whether the worker should stop.

    Attributes:
        grace: seconds after which the request that is being served is interrupted.
        busy: whether one is.
    """

    grace: float
    asked: bool = False
    busy: bool = False

    def _signal(self, number: int, frame: FrameType | None) -> None:
        again, self.asked = self.asked, True
        if again and self.busy:
            raise KeyboardInterrupt
        if not again:
            signal.setitimer(signal.ITIMER_REAL, max(self.grace, 0.001))

    def _alarm(self, number: int, frame: FrameType | None) -> None:
        if self.busy:
            raise KeyboardInterrupt

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Take signals for the length of a block."""
        before = {number: signal.signal(number, self._signal) for number in _SIGNALS}
        before[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._alarm)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def working(self) -> Iterator[None]:
        """A request is being served."""
        self.busy = True
        try:
            yield
        finally:
            self.busy = False
