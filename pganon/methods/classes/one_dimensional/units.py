"""Units as searches read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
from pganon.methods.common.packed import number_of_words, unpacked
from pganon.steps import State

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Packed:
    """Units as they are sent."""

    line: Line
    state: State
    given: Given

    def units(self, row: Sequence[Any]) -> Units:
        """Those of a row (block, first, cells, [values..])."""
        _, first, cells, *values = row
        axes = self.line.axes
        held = _numbers(cells, 1 + number_of_words(axes, self.state))
        codes = np.stack(unpacked(axes, self.state, held[:, 1:])).astype(np.int64)
        return Units(codes, held[:, 0], self._conditions(first, len(held), values))

    def _conditions(self, first: int, count: int, sent: Sequence[bytes]) -> Conditions | None:
        asked = [r for r in self.line.spec.requirements if r.sensitive in self.line.sensitive]
        asked = [r for r in asked if r.model.needs_values]
        if not asked:
            return None
        columns = self.line.sensitive
        values = tuple(
            self._values(j, first, count, part) for j, part in zip(columns, sent, strict=True)
        )
        conditions = tuple(
            Condition(
                requirement.model,
                columns.index(requirement.sensitive or 0),
                self._references(requirement.sensitive or 0)
                if requirement.model.needs_reference
                else (),
            )
            for requirement in asked
        )
        return Conditions(conditions, values)

    def _values(self, j: int, first: int, count: int, sent: bytes) -> Values:
        size = self.state[facts.value_count(j)] + 1
        if self.line.relaxed:
            held = _numbers(sent, 1)[:, 0]
            return Values(np.arange(count + 1), held, np.ones(count, dtype=np.int64), size)
        held = _numbers(sent, 3)
        starts = np.searchsorted(held[:, 0], first + np.arange(count + 1))
        return Values(starts, held[:, 1], held[:, 2], size)

    def _references(self, j: int) -> tuple[Reference, ...]:
        return tuple(self._reference(j, kind) for kind in reference_kinds(self.state))

    def _reference(self, j: int, kind: str) -> Reference:
        def listed(name: str) -> np.ndarray:
            return np.array(self.given[f"{kind}_{name}{j}"])

        codes, size = listed("value"), self.state[facts.value_count(j)] + 1
        shares = np.zeros(size)
        shares[codes] = listed("share")
        nodes = None
        if self.line.spec.sensitive[j].hierarchy is not None:
            paths = listed("path")
            numbered = [np.unique(level, return_inverse=True)[1] for level in paths.T]
            nodes = np.zeros((len(numbered), size), dtype=np.int64)
            nodes[:, codes] = np.stack(numbered) + 1
        return Reference(shares, codes[np.argsort(listed("position"))], nodes)


def _numbers(sent: bytes, columns: int) -> Ints:
    return np.frombuffer(sent, dtype=">i8").astype(np.int64).reshape(-1, columns)
