"""Progress of a command, on stderr."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task
from rich.text import Text

from pganon.cli import common
from pganon.errors import UsageError


class Description(ProgressColumn):
    """Description of the running step."""

    def render(self, task: Task) -> Text:
        return Text(common.escaped(task.description))


class Elapsed(ProgressColumn):
    """Time since the start, and the time that is expected for everything."""

    def render(self, task: Task) -> Text:
        return Text(f"({_elapsed(task.elapsed or 0.0, task.fields.get('expected'))})")


def _elapsed(seconds: float, expected: float | None) -> str:
    if expected is None:
        return f"{seconds:.0f} s"
    return f"{seconds:.0f} s; the last run took {expected:.0f} s"


@contextmanager
def progress(
    text: str, *, quiet: bool = False, expected: float | None = None
) -> Iterator[Progress]:
    """A spinner on stderr while work goes on; without a terminal, a line every ten seconds.

    Args:
        quiet: show nothing.
        expected: seconds that the work took the last time.
    """
    console = common.stderr()
    bar = Progress(
        SpinnerColumn(),
        Description(),
        Elapsed(),
        console=console,
        transient=True,
        disable=quiet or not console.is_terminal,
    )
    with bar:
        bar.add_task(text, total=None, expected=expected)
        with nullcontext() if quiet or console.is_terminal else _lines(bar):
            yield bar


def progress_interval() -> float:
    """Seconds between two lines of progress; 0 for none.

    Raises:
        UsageError: the variable PGANON_PROGRESS holds something else.
    """
    given = os.environ.get("PGANON_PROGRESS") or "10"
    try:
        seconds = float(given)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 1e6:
        raise UsageError(
            f"PGANON_PROGRESS is {given}: a number of seconds is expected", hint="0 is no progress"
        )
    return seconds


@contextmanager
def _lines(bar: Progress) -> Iterator[None]:
    """Report progress from time to time, for a log."""
    interval, done, started = progress_interval(), threading.Event(), time.monotonic()

    def report() -> None:
        while not done.wait(interval):
            elapsed = _elapsed(time.monotonic() - started, bar.tasks[0].fields["expected"])
            common.note(f"{bar.tasks[0].description} ({elapsed})")

    if not interval:
        yield
        return
    reporter = threading.Thread(target=report, daemon=True)
    reporter.start()
    try:
        yield
    finally:
        done.set()
        reporter.join()
