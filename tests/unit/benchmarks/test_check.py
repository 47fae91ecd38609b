"""`--check`: which claims hold, and what becomes of it."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import __main__, support

CLAIMS: list[dict[str, Any]] = [
    {"claim": "loss grows with k", "holds": "yes"},
    {"claim": "errors fall with l", "holds": False, "found": "1 of 3"},
    {"claim": "it is linear", "holds": "-"},
]


def test_claims_that_do_not_hold_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert not support.check("lgb", {"claims": CLAIMS})
    named = "  claim: errors fall with l, holds: NO, found: 1 of 3"
    assert capsys.readouterr().out.splitlines() == ["lgb: 1 of 2 claims hold", named]
    assert support.check("lgb", {"claims": CLAIMS[:1]})
    assert support.check("assess", {})


@pytest.mark.parametrize(("claims", "status"), [(CLAIMS, 1), (CLAIMS[:1], 0)])
def test_status(monkeypatch: pytest.MonkeyPatch, claims: list[Any], status: int) -> None:
    monkeypatch.setattr(__main__, "run", lambda *_, **__: {"claims": claims})
    with pytest.raises(SystemExit) as ended:
        __main__.main(["lgb", "--parts", "--check"])
    assert ended.value.code == status
