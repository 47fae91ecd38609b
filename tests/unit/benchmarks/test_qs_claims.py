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
    [(lambda n: n, None), (lambda n: 3 * n + 400, None), (lambda n: n**2, None),
     (lambda n: 1.0, False), (lambda n: 9000 - n, False), (lambda n: 1e5 + n, False),
     (lambda n: 8000 if n == 2000 else n, False)],
    ids=["a line", "not of a record", "a square", "flat", "falling", "hardly", "and falls"],
)  # fmt: skip
def test_growth_that_is_about_linear(loss: Callable[[int], float], holds: bool | None) -> None:
    """What grows may be called about linear or not; what does not grow is not."""
    found = verdicts(loss, lambda n: n)
    assert found["efficient: total NCP grows about linearly with records"] is holds
    assert found["greedy 1024: lower total NCP than efficient at any size"] is None  # equal


@pytest.mark.parametrize(
    ("losses", "holds", "shown"),
    [((1000, 4000), None, "exponent 2.000, of a record 1, 2; 1000: 1,000, 2000: 4,000"),
     ((500, 1000), None, "exponent 1.000, of a record 0.5, 0.5; 1000: 500, 2000: 1,000"),
     ((0, 1000), None, "of a record 0, 0.5; 1000: 0, 2000: 1,000"),
     ((500, 500), False, "1000: 500, 2000: 500")],
)  # fmt: skip
def test_how_nearly_linear_is_shown(
    losses: tuple[int, int], holds: bool | None, shown: str
) -> None:
    rows = [
        {"loss": "flat", "count": "product", "method": "efficient", "rows": n, "ncp_total": of}
        for n, of in zip((1000, 2000), losses, strict=True)
    ]
    rows = [{**row, "method_seconds": 1.0} for row in rows]
    (found,) = evaluate({"by_size": rows})
    assert found["claim"] == "efficient: total NCP grows about linearly with records"
    assert (found["holds"], found["numbers"]) == (holds, shown)


@pytest.mark.parametrize(
    ("times", "lower", "faster"),
    [((0.8,) * 4, True, None), ((0.95,) * 4, None, None), ((1.2,) * 4, False, None),
     ((0.8, 0.8, 0.8, 0.95), "mostly", None), ((0.8, 0.8, 0.95, 1.2), None, None),
     ((0.8, 0.8, 1.2, 1.2), False, None), ((0.8, 0.95, 0.95, 1.2), None, None),
     ((3.9,) * 4, False, None), ((4.1,) * 4, False, True), ((0.2,) * 4, True, False)],
)  # fmt: skip
def test_ranks(times: tuple[float, ...], lower: bool | str | None, faster: bool | None) -> None:
    """Losses have one from 10 % on, seconds from a factor of 4 on."""
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
