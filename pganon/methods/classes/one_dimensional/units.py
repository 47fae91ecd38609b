"""Units as searches read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pganon.encode import facts
from pganon.methods.classes.mondrian.conditions import reference_kinds
from pganon.methods.classes.one_dimensional.line import Line
from pganon.methods.classes.one_dimensional.search.conditions import (
    Condition,
    Conditions,
    Values,
)
from pganon.methods.classes.one_dimensional.search.measures import Reference
from pganon.methods.classes.one_dimensional.search.windows import Units
from pganon.methods.common.block_search import Given
from pganon.methods.common.packing import number_of_words, unpacked
from pganon.privacy.base import Requirement
from pganon.steps import State

Ints = NDArray[np.int64]


def units_of(line: Line, state: State, given: Given, row: Sequence[Any]) -> Units:
    """The units of a row of :data:`~pganon.methods.classes.one_dimensional.search_input.PACKED`."""
    _, first, cells, *values = row
    held = _numbers(cells, 1 + number_of_words(line.axes, state))
    codes = np.stack(unpacked(line.axes, state, held[:, 1:])).astype(np.int64)
    weights, last = held[:, 0], first + len(held)
    if line.relaxed:
        codes = np.repeat(codes, weights, axis=1)
        weights = np.ones(codes.shape[1], dtype=np.int64)
    return Units(
        codes, weights, _conditions(line, state, given, np.arange(first, last + 1), values)
    )


def records_of(row: Sequence[Any], line: Line, state: State) -> Ints:
    """How many records every cell of the row has."""
    return _numbers(row[2], 1 + number_of_words(line.axes, state))[:, 0]


def _conditions(
    line: Line, state: State, given: Given, numbers: Ints, sent: Sequence[bytes]
) -> Conditions | None:
    """Args: numbers: those of the cells, and the next one."""
    columns = line.sensitive
    asked = [r for r in line.spec.requirements if r.model.needs_values]
    if not asked:
        return None
    values = [_values(line, state, j, numbers, part) for j, part in zip(columns, sent, strict=True)]
    conditions = [
        Condition(
            requirement.model,
            columns.index(requirement.sensitive or 0),
            _references(line, state, given, requirement),
        )
        for requirement in asked
    ]
    return Conditions(tuple(conditions), tuple(values))


def _values(line: Line, state: State, j: int, numbers: Ints, sent: bytes) -> Values:
    size = state[facts.value_count(j)] + 1
    if line.relaxed:
        held = _numbers(sent, 1)[:, 0]
        return Values(np.arange(len(held) + 1), held, np.ones(len(held), dtype=np.int64), size)
    held = _numbers(sent, 3)
    return Values(np.searchsorted(held[:, 0], numbers), held[:, 1], held[:, 2], size)


def _references(
    line: Line, state: State, given: Given, requirement: Requirement
) -> tuple[Reference, ...]:
    if not requirement.model.needs_reference:
        return ()
    j = requirement.sensitive or 0
    return tuple(_reference(line, state, given, j, kind) for kind in reference_kinds(state))


def _reference(line: Line, state: State, given: Given, j: int, kind: str) -> Reference:
    def listed(name: str) -> np.ndarray:
        return np.array(given[f"{kind}_{name}{j}"])

    codes, size = listed("value"), state[facts.value_count(j)] + 1
    shares = np.zeros(size)
    shares[codes] = listed("share")
    nodes = None
    if line.spec.sensitive[j].hierarchy is not None:
        numbered = [np.unique(level, return_inverse=True)[1] for level in listed("path").T]
        nodes = np.zeros((len(numbered), size), dtype=np.int64)
        nodes[:, codes] = np.stack(numbered) + 1
    return Reference(shares, codes[np.argsort(listed("position"))], nodes)


def _numbers(sent: bytes, columns: int) -> Ints:
    return np.frombuffer(sent, dtype=">i8").astype(np.int64).reshape(-1, columns)
