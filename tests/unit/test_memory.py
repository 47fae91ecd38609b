"""Which memories a run refuses to judge with, and how it says so."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.errors import LedgerError
from pganon.publish.memory import About, Remembered, check

NOTHING: Any = None


def about(*runs: int) -> list[About]:
    return [
        About("visits", run, run, "mondrian", None, [], None, NOTHING, None, None, {}, None)
        for run in runs
    ]


@pytest.mark.parametrize(
    ("remembered", "versions", "said"),
    [
        ((1,), (1, 2, 3), "lacks version 2 of visits, version 3 of visits"),
        ((1, 2, 3), (1, 2), "is of versions about others, too"),
        ((1, 3), (1, 2), "lacks version 2 of visits"),
        (None, (1,), "is missing"),
    ],
)
def test_of_other_versions(
    remembered: tuple[int, ...] | None, versions: tuple[int, ...], said: str
) -> None:
    known = [] if remembered is None else [Remembered("", NOTHING, remembered, b"", 1)]
    with pytest.raises(LedgerError) as caught:
        check(NOTHING, known, about(*versions))
    assert str(caught.value) == f"what is remembered of these people {said}"
    assert caught.value.code == "memory"
    assert "--rebuild" in str(caught.value.hint)
