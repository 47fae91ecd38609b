"""What a refusal tells to do, by what there is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pganon.history.reasons import NO_WAYS, Found, Ways, refusal

FOUND = Found("crossing", 2, 9, 9, "version 1 of the release r", others=3)
EVERY = Ways(increments=True, invariant=True, same="version 1", accepts=True)


def test_every_way() -> None:
    said = refusal(FOUND, EVERY).hint or ""
    parts = ["refresh: increments", "refresh: invariant", "version 1", "`exclude`", "republication"]
    assert [part in said for part in parts] == [True] * 5
    assert refusal(replace(FOUND, others=0), NO_WAYS).hint is None


@pytest.mark.parametrize("reason", ["form", "several", "role", "finer"])
def test_leaving_groups_out_helps_where_others_are_fine(reason: str) -> None:
    assert "exclude" not in (refusal(replace(FOUND, reason=reason), EVERY).hint or "")
    assert "exclude" not in (refusal(replace(FOUND, others=0), EVERY).hint or "")
