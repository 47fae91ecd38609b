"""Tasks of a search in this process and in others."""

from __future__ import annotations

import os
from dataclasses import dataclass

import pytest

from pganon.errors import PrivacyRefusal
from pganon.run.pool import WORTH, perform
from pganon.steps.tasks import TaskResult


@dataclass(frozen=True)
class Square:
    number: int

    def __call__(self) -> TaskResult:
        if self.number < 0:
            raise PrivacyRefusal("no square", hint="take another", code="negative")
        return TaskResult([(self.number, self.number**2, os.getpid())], {"sum": self.number})


@pytest.mark.parametrize(
    ("rows", "processes", "elsewhere"), [(WORTH, 2, True), (WORTH, 1, False), (WORTH - 1, 2, False)]
)
def test_results_come_in_the_order_of_the_tasks(rows: int, processes: int, elsewhere: bool) -> None:
    found = list(perform([Square(n) for n in range(7)], rows, processes))
    assert [item.rows[0][:2] for item in found] == [(n, n**2) for n in range(7)]
    assert [item.figures["sum"] for item in found] == list(range(7))
    assert all((item.rows[0][2] != os.getpid()) == elsewhere for item in found)


def test_an_error_elsewhere_is_the_error_here() -> None:
    with pytest.raises(PrivacyRefusal, match="no square") as caught:
        list(perform([Square(2), Square(-1)], WORTH, 2))
    assert (caught.value.code, caught.value.hint) == ("negative", "take another")


def test_nothing_to_do() -> None:
    assert list(perform([], WORTH, 2)) == []
