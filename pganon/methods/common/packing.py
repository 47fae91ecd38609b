"""Codes of records as searches read them: several in a number, and numbers as bytes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.sqltools import col, fragment, num
from pganon.steps import State

_WORD = 1 << 62
"""Codes of several attributes are one number below this."""


def packed(axes: Sequence[Axis], state: State, table: str) -> list[exp.Expr]:
    """The codes of a row of `table` as bigints, which :func:`unpacked` reads."""

    def appended(word: exp.Expr, axis: Axis) -> exp.Expr:
        base = num(axis.size(state) + 1)
        return fragment(":w * :base + :c", w=exp.paren(word), base=base, c=col(axis.code, table))

    return [
        reduce(appended, others, fragment(":c::bigint", c=col(first.code, table)))
        for first, *others in _words(axes, state)
    ]


def number_of_words(axes: Sequence[Axis], state: State) -> int:
    """How many bigints hold the codes of a row."""
    return len(_words(axes, state))


def unpacked(
    axes: Sequence[Axis], state: State, numbers: NDArray[np.int64]
) -> list[NDArray[np.int32]]:
    """The codes by attribute. Args: numbers: rows x words."""
    codes: list[NDArray[np.int32]] = []
    for place, together in enumerate(_words(axes, state)):
        word, parts = numbers[:, place], []
        for axis in reversed(together):
            word, code = np.divmod(word, axis.size(state) + 1)
            parts.append(code.astype(np.int32))
        codes += reversed(parts)
    return codes


def array_text(numbers: NDArray[np.int64]) -> str:
    """As COPY reads an array."""
    return "{" + ",".join(map(str, numbers.tolist())) + "}"


def _words(axes: Sequence[Axis], state: State) -> list[list[Axis]]:
    """Attributes whose codes fit into one number together."""
    words: list[list[Axis]] = []
    bound = _WORD
    for axis in axes:
        bound *= axis.size(state) + 1
        if bound > _WORD:
            words.append([])
            bound = axis.size(state) + 1
        words[-1].append(axis)
    return words
