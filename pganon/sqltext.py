"""Texts that become literals of SQL in files, which other tools read before the server does."""

from __future__ import annotations

import json
from typing import Any


def json_text(value: Any) -> str:
    """JSON in one line, without `%` and `$`.

    Drivers and tools replace these in what they read as SQL: placeholders, variables, quotes of
    PL/pgSQL. JSON has them in strings alone, where there is another way to write them.
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    for character in "%$":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
