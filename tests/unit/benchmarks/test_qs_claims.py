"""How claims of the paper of QS k-anonymity are judged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from benchmarks.qs_claims import evaluate

Row = dict[str, Any]


def verdicts(loss: Callable[[int], float], seconds: Callable[[int], float]) -> dict[str, Any]:
    rows = [
        {"loss": "flat", "count": "product", "method": method, "rows": n, "ncp_total": loss(n),
         "seconds": seconds(n), "method_seconds": seconds(n)}
        for method in ("efficient", "greedy 1024")
        for n in (1000, 2000, 4000, 8000)
    ]  # fmt: skip
    return {row["claim"]: row["holds"] for row in evaluate({"by_size": rows})}


@pytest.mark.parametrize(
    ("loss", "holds"),
    [(lambda n: 3 * n + 400, True), (lambda n: n**2, False), (lambda n: 1.0, False),
     (lambda n: 9000 - n, False), (lambda n: n**0.9, True), (lambda n: n**0.7, False),
     (lambda n: n**1.3, False)],
    ids=["a line", "a square", "flat", "falling", "nearly", "too slowly", "too fast"],
)  # fmt: skip
def test_growth_that_is_about_linear(loss: Callable[[int], float], holds: bool) -> None:
    found = verdicts(loss, lambda n: n)
    assert found["efficient: total NCP grows about linearly with records"] is holds
    assert found["greedy 1024: lower total NCP than efficient at any size"] is False  # equal
