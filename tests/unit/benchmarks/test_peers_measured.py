"""What is measured of releases of any tool; expected figures are by hand."""

from __future__ import annotations

import random

import numpy as np
import pytest

from benchmarks import support
from benchmarks.peers import Peers
from benchmarks.peers_measured import Column, Released, Source, asked, measured

AGES = [20, 22, 30, 32]
SOURCE = Source.of([((str(age), sex), 1) for age, sex in zip(AGES, "mfmf", strict=True)], [(), ()])
PAIRS = [(("[20-22]", "{f,m}"), "flu", 1), (("20 - 22", '{"m","f"}'), "cold", 1)]
OTHERS = [(("[30,33)", "*"), "flu", 1), (("30-32", "m,f"), "cold", 1)]


def test_labels() -> None:
    """Spellings of one set of values are one class, whose values all count."""
    found = measured(SOURCE, Released.of(SOURCE.columns, PAIRS + OTHERS), 2, 2, queries=20)
    assert (found["classes"], found["smallest"], found["diversity"]) == (2, 2, 2)
    assert found["holds"]
    assert found["gcp"] == pytest.approx((2 / 12 + 1) / 2)


def test_a_tool_that_does_not_deliver_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    """One record shows its own age in a release that was asked for k = 2."""
    cheating = [PAIRS[0], (("22", "f"), "cold", 1), *OTHERS]
    found = measured(SOURCE, Released.of(SOURCE.columns, cheating), 2, None, queries=20)
    assert (found["smallest"], found["holds"]) == (1, False)
    rows = [{"tool": "cheat", "rows": 4, "k": 2, "l": None, **found}]
    assert not support.check("peers", Peers.judged({"quality": rows}))
    assert "cheat delivers k = 2" in capsys.readouterr().out


def test_too_few_sensitive_values() -> None:
    """A class of one value, though of enough records."""
    alike = [(labels, "flu", count) for labels, _, count in PAIRS]
    found = measured(SOURCE, Released.of(SOURCE.columns, alike + OTHERS), 2, 2, queries=20)
    assert (found["smallest"], found["diversity"], found["holds"]) == (2, 1, False)


def test_suppressed_records_are_lost() -> None:
    found = measured(SOURCE, Released.of(SOURCE.columns, PAIRS), 2, None, queries=20)
    assert found["suppressed"] == 2
    assert found["gcp"] == pytest.approx((2 * (2 / 12 + 1) / 2 + 2) / 4)


def test_exact_values_answer_queries_exactly() -> None:
    exact = [((str(age), sex), "flu", 1) for age, sex in zip(AGES, "mfmf", strict=True)]
    assert measured(SOURCE, Released.of(SOURCE.columns, exact), 1, None, queries=200)["error"] == 0


def test_answers_from_labels() -> None:
    """Of one column: half of the values, of which a class that covers all has half."""
    source = Source.of([(("a",), 3), (("b",), 1)], [()])
    released = Released.of(source.columns, [(("a,b",), "flu", 4)])
    # a has 3 records and b one, where 2 are expected: errors of 1/3 and 1.
    error = measured(source, released, 2, None, queries=1001)["error"]
    assert error in (pytest.approx(1 / 3), pytest.approx(1))


def test_queries_ask_for_neighbours_among_numbers() -> None:
    """And for any values among names."""
    numbers = Column.of(map(str, range(40)))
    for _ in range(20):
        places = np.flatnonzero(asked(random.Random(), numbers, 0.08))
        assert list(places) == [places[0] + step for step in range(3)]
    names = Column.of(f"name {number}" for number in range(40))
    assert asked(random.Random(), names, 0.08).sum() == 3
    assert asked(random.Random(), names, 0.001).sum() == 1


@pytest.mark.parametrize("label", ["x", "1-2", "a,x", ""])
def test_labels_that_mean_nothing(label: str) -> None:
    with pytest.raises(ValueError, match="the label"):
        Column.of("ab").covered(label)


def test_names_of_a_hierarchy() -> None:
    column = Column.of(["17", "24"], [[age, "10-19", "*"] for age in ("16", "17", "18")])
    assert column.covered("10-19") == {"17", "18"}
    assert column.covered("(17, 19]") == {"18", "19"}
    assert column.covered("[17,19)") == {"17", "18"}
    assert column.covered("*") == set(column.values)
