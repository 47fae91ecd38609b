"""Log of a worker: a line per event, for people or programs; names, numbers and codes alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from pganon.plain import as_json

Write = Callable[[str], None]


@dataclass(frozen=True)
class Log:
    """Writes lines.

    Attributes:
        as_json: one JSON object per line.
    """

    write: Write
    as_json: bool = False

    def __call__(self, event: str, **facts: object) -> None:
        """A line with the time, the event and its facts; None is left out."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        given = {name: value for name, value in facts.items() if value is not None}
        if self.as_json:
            self.write(as_json({"at": at, "event": event, **given}, ensure_ascii=False))
            return
        said = " ".join(f"{name}={value}" for name, value in given.items())
        self.write(f"{at} {event} {said}".rstrip())
