"""What ranges cover of the source, whether they have both ends, one or none."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from pganon.catalog.model import Column
from pganon.encode.axis import OrderedAxis
from pganon.metrics.coverage import _range_bounds
from pganon.resolved.model import Attribute, Scale, Shown
from pganon.sqltools import statement
from pganon.steps import State
from tests.support.harness.cluster import Database

VALUES = [1, 3, 4, 7, 9]
RANGES: dict[str, tuple[int, int, float, float]] = {
    # first and last code covered, lowest and highest place
    "[3,7]": (2, 4, 3, 7),
    "(3,7]": (3, 4, 3, 7),
    "(3,7)": (3, 3, 3, 7),
    "[3,7)": (2, 3, 3, 7),
    "(,4]": (1, 3, 1, 4),
    "(,4)": (1, 2, 1, 4),
    "[4,)": (3, 5, 4, 9),
    "(4,)": (4, 5, 4, 9),
    "(,)": (1, 5, 1, 9),
    "[4,4]": (3, 3, 4, 4),
}
WHOLE = {"(3,7]": 4, "(3,7)": 4, "(4,)": 5}, {"(3,7)": 6, "[3,7)": 6, "(,4)": 3}
"""Lowest and highest whole number where an end is excluded."""


@pytest.mark.parametrize("kind", ["integer", "numeric"])
def test_ranges_cover_codes(db: Database, kind: Any) -> None:
    conn = db.owner()
    conn.execute("CREATE TABLE pganon_work.r1_mshown (id0 bigint, g0 numrange, z0 boolean)")
    conn.execute("CREATE TABLE pganon_work.r1_mplaces0 (code bigint, place numeric)")
    for code, value in enumerate(VALUES, start=1):
        conn.execute("INSERT INTO pganon_work.r1_mplaces0 VALUES (%s, %s)", [code, value])
    for number, shown in enumerate(RANGES):
        conn.execute(
            "INSERT INTO pganon_work.r1_mshown VALUES (%s, %s::numrange, false)", [number, shown]
        )
    column: Column = SimpleNamespace(name="x", kind=kind)  # pyright: ignore[reportAssignmentType]
    attribute = Attribute(
        0, column, "x", Scale.ORDERED, Shown.RANGE, "numeric", "numrange", None, "reject", 1.0
    )
    tree = _range_bounds(OrderedAxis(attribute), State(1))
    found = {number: tuple(rest) for number, *rest in conn.execute(statement(tree)).fetchall()}
    for number, (shown, (first, last, low, high)) in enumerate(RANGES.items()):
        if kind == "integer":
            low, high = WHOLE[0].get(shown, low), WHOLE[1].get(shown, high)
        assert found[number] == (first, last, Decimal(low), Decimal(high)), shown
