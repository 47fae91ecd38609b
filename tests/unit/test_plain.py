"""Numbers as people and JSON read them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from pganon import plain

INFINITE = float("inf")


@pytest.mark.parametrize(
    ("value", "digits", "wanted"),
    [
        (None, 6, ""),
        (3.0, 6, "3"),
        (-20000000.0, 4, "-20000000"),
        (Decimal("0E-20"), 4, "0"),
        (142.234, 4, "142.2"),
        (99.999, 4, "100"),
        (1234567.25, 4, "1234567.2"),
        (0.00012345, 3, "0.000123"),
        (INFINITE, 4, "Infinity"),
        (-INFINITE, 4, "-Infinity"),
        (float("nan"), 4, "NaN"),
        (Decimal("NaN"), 4, "NaN"),
    ],
)
def test_numbers_for_people(value: Any, digits: int, wanted: str):
    assert plain.number(value, digits) == wanted


def test_texts_have_all_digits():
    assert plain.text(0.1234567890123) == "0.1234567890123"
    assert plain.text(Decimal("1E-20")) == "0.00000000000000000001"
    assert [plain.text(v) for v in (True, "a", None)] == ["True", "a", ""]


@dataclass
class Some:
    figures: tuple[float | Decimal, ...]


def test_json_has_no_infinity():
    given: dict[int, Any] = {
        1: Some((INFINITE, Decimal("-Infinity"), Decimal("2.0"), Decimal("0.5")))
    }
    given[2] = [date(2024, 1, 2), b"\x01", UUID(int=1), {"a": float("nan")}, True, None]
    found = json.loads(plain.as_json(given))
    assert found["1"]["figures"] == ["Infinity", "-Infinity", 2, 0.5]
    assert found["2"] == ["2024-01-02", "01", str(UUID(int=1)), {"a": "NaN"}, True, None]
    kept = json.loads(plain.as_json(given, kept=True))
    assert (kept["1"]["figures"], kept["2"][3]) == ([None, None, 2, 0.5], {"a": None})
