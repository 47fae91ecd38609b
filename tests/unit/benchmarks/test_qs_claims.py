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
    [(lambda n: 3 * n + 200, True), (lambda n: 3 * n + 400, False), (lambda n: n**2, False),
     (lambda n: 1.0, False), (lambda n: 9000 - n, False), (lambda n: n**0.96, True),
     (lambda n: n**0.9, False), (lambda n: n**1.1, False)],
    ids=["a line", "not of a record", "a square", "flat", "falling", "nearly", "too slowly",
         "too fast"],
)  # fmt: skip
def test_growth_that_is_about_linear(loss: Callable[[int], float], holds: bool) -> None:
    """The loss of a record is equal for all sizes, within 10 %."""
    found = verdicts(loss, lambda n: n)
    assert found["efficient: total NCP grows about linearly with records"] is holds
    assert found["greedy 1024: lower total NCP than efficient at any size"] is None  # equal


@pytest.mark.parametrize(
    ("times", "lower", "faster"),
    [((0.8,) * 4, True, None), ((0.95,) * 4, None, None), ((1.2,) * 4, False, None),
     ((0.8, 0.8, 0.8, 0.95), "mostly", None), ((0.8, 0.8, 0.95, 1.2), False, None),
     ((2.9,) * 4, False, None), ((3.1,) * 4, False, True), ((0.3,) * 4, True, False)],
)  # fmt: skip
def test_ranks(times: tuple[float, ...], lower: bool | str | None, faster: bool | None) -> None:
    """Losses have one from 10 % on, seconds from a factor of 3 on."""
    of_sizes = [("efficient", 1000 * n, 1.0) for n in (1, 2, 3, 4)]
    of_sizes += [("greedy 1024", 1000 * n, of) for n, of in enumerate(times, 1)]
    rows = [
        {"loss": "flat", "count": "product", "method": method, "rows": n, "ncp_total": of * n,
         "method_seconds": of}
        for method, n, of in of_sizes
    ]  # fmt: skip
    found = {row["claim"]: row["holds"] for row in evaluate({"by_size": rows})}
    assert found["greedy 1024: lower total NCP than efficient at any size"] == lower
    assert found["efficient: faster than greedy 1024 at any size"] == faster
