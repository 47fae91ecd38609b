"""What `--workload` understands."""

from __future__ import annotations

import pytest

from pganon.errors import UsageError
from pganon.forms.request import Request, Workload, parse_workload


def test_parts_left_out_have_their_defaults() -> None:
    assert parse_workload("") == Workload(1000, 2, 0.05, 1)
    assert parse_workload("queries=10, seed=-3") == Workload(10, 2, 0.05, -3)
    assert parse_workload("predicates=3,selectivity=1") == Workload(1000, 3, 1.0, 1)
    assert parse_workload("").sensitive is None
    assert parse_workload("sensitive=yes").sensitive is True
    assert parse_workload("seed=2,sensitive=no") == Workload(seed=2, sensitive=False)


@pytest.mark.parametrize(
    "text",
    [
        *("queries=0", "queries=many", "queries", "predicates=0", "selectivity=0"),
        *("selectivity=1.5", "selectivity=nan", "seed=9223372036854775808", "size=3"),
        *("sensitive=maybe", "sensitive"),
    ],
)
def test_wrong_workloads(text: str) -> None:
    with pytest.raises(UsageError, match="workload: ") as caught:
        parse_workload(text)
    assert "selectivity=0.05" in (caught.value.hint or "")


def test_nothing_is_asked_for_by_default() -> None:
    assert Request().nothing
    assert not Request(workload=Workload()).nothing
