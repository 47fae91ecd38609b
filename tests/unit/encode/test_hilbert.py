"""The Hilbert index: sizes, and the shape of the query."""

from __future__ import annotations

import pytest

from pganon.encode.hilbert import hilbert_index, word_widths
from pganon.identifiers import QualifiedName
from pganon.sqltools import render

POINTS = QualifiedName("w", "points")


def written(dimensions: int, bits: int) -> str:
    return render(hilbert_index(POINTS, [f"c{i}" for i in range(dimensions)], bits, ["rid"]))


@pytest.mark.parametrize(
    ("dimensions", "bits", "words"),
    [(1, 1, 1), (1, 62, 1), (2, 31, 1), (9, 7, 2), (62, 2, 2), (25, 5, 3), (40, 20, 13)],
)
@pytest.mark.slow
def test_as_many_words_as_the_bits_need(dimensions: int, bits: int, words: int) -> None:
    widths = word_widths(dimensions, bits)
    assert (len(widths), sum(widths)) == (words, dimensions * bits)
    names = hilbert_index(POINTS, ["c"] * dimensions, bits, ["rid"]).named_selects
    assert names == ["rid", *[f"h{i}" for i in range(words)]]


@pytest.mark.parametrize(("dimensions", "bits"), [(0, 3), (3, 0), (3, -1), (3, 63)])
def test_sizes_out_of_range(dimensions: int, bits: int) -> None:
    with pytest.raises(ValueError, match="dimensions of"):
        word_widths(dimensions, bits)
    with pytest.raises(ValueError, match="dimensions of"):
        hilbert_index(POINTS, ["c"] * dimensions, bits, [])


def test_the_text_grows_with_the_bits_alone() -> None:
    assert len(written(6, 12)) < 2.5 * len(written(6, 6))
    assert len(written(40, 3)) < 2.5 * len(written(20, 3))


def test_rows_are_stored_in_between_only_where_planning_would_take_too_much() -> None:
    assert all("MATERIALIZED" not in written(*size) for size in [(8, 7), (6, 15), (16, 10)])
    assert written(20, 13).count("MATERIALIZED") == 1
    assert written(20, 20).count("MATERIALIZED") == 2
