"""The steward's memory of records without a key, from its definition."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


def hashed(key: bytes, values: Iterable[str | None]) -> bytes:
    """The key of a record: a hash of the texts of the values that it is grouped by."""
    told = b"".join(map(_told, values))
    return hashlib.sha256(bytes(key) + told).digest()


def _told(value: str | None) -> bytes:
    if value is None:
        return (-1).to_bytes(4, "big", signed=True)
    held = value.encode()
    return len(held).to_bytes(4, "big", signed=True) + held
