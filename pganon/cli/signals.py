"""SIGTERM ends a command as an interrupt from the keyboard does: what it began is undone first."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from pganon.errors import Stopped, Terminated, UserInterrupt


class _Termination(KeyboardInterrupt):
    """The driver cancels a statement for an interrupt from the keyboard alone."""


@contextmanager
def terminable() -> Iterator[None]:
    """Within, SIGTERM raises; not where somebody else handles or ignores it.

    Only the main thread of a process can handle signals. Processes that search are ended by it as
    they would be otherwise.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    here = os.getpid()

    def end(number: int, frame: FrameType | None) -> None:
        if os.getpid() == here:
            raise _Termination
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def stopped(interrupt: BaseException) -> UserInterrupt:
    """The error of a command that was interrupted."""
    first = interrupt.interrupt if isinstance(interrupt, Stopped) else interrupt
    cls = Terminated if isinstance(first, _Termination) else UserInterrupt
    return cls(interrupt)
