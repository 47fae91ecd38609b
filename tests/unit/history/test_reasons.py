"""Hints of refusals, by the alternatives that there are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pganon.history.reasons import NO_ALTERNATIVES, Alternatives, Conflict, refusal

CONFLICT = Conflict("crossing", 2, 9, "version 1 of the release r", others=3)
EVERY = Alternatives(increments=True, invariant=True, same="version 1", accepts=True)


def test_every_alternative() -> None:
    hint = refusal(CONFLICT, EVERY).hint or ""
    parts = ["refresh: increments", "refresh: invariant", "version 1", "`exclude`", "republication"]
    assert [part in hint for part in parts] == [True] * 5
    left = refusal(replace(CONFLICT, others=0), NO_ALTERNATIVES).hint
    label = CONFLICT.label
    assert left == f"if no copy of {label} is left, drop it; pganon forget ends its retention"


@pytest.mark.parametrize("reason", ["form", "several", "role", "finer"])
def test_leaving_groups_out_helps_where_others_are_fine(reason: str) -> None:
    assert "exclude" not in (refusal(replace(CONFLICT, reason=reason), EVERY).hint or "")
    assert "exclude" not in (refusal(replace(CONFLICT, others=0), EVERY).hint or "")
