"""Values as JSON and people read them.

JSON has neither infinity nor NaN: where they are a result they are texts, as PostgreSQL writes them
to JSON. Figures that are kept have null there, as a figure that nothing bounds tells nothing.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from datetime import date, time
from decimal import Decimal
from math import isfinite
from typing import Any

_WORDS = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}


def number(value: float | Decimal | None, digits: int = 6) -> str:
    """For people: a whole number as it is, others to so many digits, and one after the point."""
    if value is None or not isfinite(value):
        return text(value)
    if value == int(value):
        return f"{value:.0f}"
    return f"{float(value):.{max(digits, len(str(abs(int(value)))) + 1)}g}"


def text(value: object) -> str:
    """With all digits; "" for None."""
    if value is None:
        return ""
    if isinstance(value, float | Decimal) and not isfinite(value):
        return _WORDS[str(float(value))]
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def as_json(value: object, *, kept: bool = False, **style: Any) -> str:
    """One JSON value.

    Args:
        kept: whether numbers that JSON lacks become null.
        style: arguments of :func:`json.dumps`.
    """
    return json.dumps(_plain(value, kept=kept), allow_nan=False, **style)


def _plain(value: object, *, kept: bool) -> object:
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float | Decimal):
        if not isfinite(value):
            return None if kept else text(value)
        return int(value) if isinstance(value, Decimal) and value == int(value) else float(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(item, kept=kept) for name, item in value.items()}
    if isinstance(value, Iterable):
        return [_plain(item, kept=kept) for item in value]
    return str(value)
