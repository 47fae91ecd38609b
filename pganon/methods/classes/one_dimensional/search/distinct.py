"""How many different values windows of consecutive units have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.signedinteger]


_NEVER = -(1 << 40)

_NEAR = 12
"""Lengths apart up to which windows are made from shorter ones."""


@dataclass(frozen=True)
class Distinct:
    """Values of units, in their order.

    A window has as many different values as it has ones that did not occur before in it.

    Attributes:
        units: of every element the unit, ascending.
        before: the last unit before it with the same value; far below 0 if there is none.
        count: number of units.
    """

    units: Ints
    before: Ints
    count: int

    @classmethod
    def of_units(cls, values: Ints, starts: Ints | None = None) -> Distinct:
        """One value per unit, or those from each start on."""
        units = np.arange(len(values))
        if starts is None:
            return cls.of_elements(units, values, len(values))
        return cls.of_elements(np.searchsorted(starts, units, "right") - 1, values, len(starts))

    @classmethod
    def of_elements(cls, units: Ints, values: Ints, count: int) -> Distinct:
        if values.max(initial=0) < 1 << 15:
            values = values.astype(np.int16)  # sorted by digits, in a tenth of the time
        order = np.argsort(values, kind="stable")
        held = values[order]
        same = held[1:] == held[:-1]
        before = np.full(len(values), _NEVER)
        before[order[1:][same]] = units[order[:-1][same]]
        return cls(units, before, count)

    def of_lengths(self, lengths: Sequence[int]) -> Iterator[Ints]:
        """Of every length, the number in the window of so many units that ends at each unit.

        Windows that would begin before the first unit begin there.
        """
        gaps, number, reached = self._gaps, np.ones(self.count, dtype=np.int32), 1
        for length in lengths:
            if gaps is not None and length - reached <= _NEAR:
                # A longer window begins with one more value, new unless it comes again in it.
                for apart in range(reached, min(length, self.count)):
                    number[apart:] += gaps[: self.count - apart] > apart
            else:
                number = self._of_length(length)
            reached = length
            yield number

    @cached_property
    def _gaps(self) -> NDArray[np.int32] | None:
        """To the next unit with the same value; None where units have several."""
        if not np.array_equal(self.units, np.arange(self.count)):
            return None
        gaps = np.full(self.count, np.iinfo(np.int32).max, dtype=np.int32)
        again = np.flatnonzero(self.before >= 0)
        gaps[self.before[again]] = again - self.before[again]
        return gaps

    def _of_length(self, length: int) -> Ints:
        # An element counts in the windows that reach it, but not the one before.
        begins = np.maximum(self.units, self.before + length)
        ends = self.units + length
        some = begins < np.minimum(ends, self.count)
        change = np.bincount(begins[some], minlength=self.count)
        change = change - np.bincount(ends[some & (ends < self.count)], minlength=self.count)
        return np.cumsum(change)

    def between(self, first: Ints, last: Ints) -> Ints:
        """The number in the windows from the units `first` to the units `last`.

        Of all elements up to the last, those whose value occurred before `first` at most: all
        elements before it are among them.
        """
        starts = np.searchsorted(self.units, np.arange(self.count + 1))
        return self._wavelet.below(starts[last + 1], first) - starts[first]

    @cached_property
    def _wavelet(self) -> Wavelet:
        return Wavelet(np.maximum(self.before + 1, 0), self.count + 2)


class Wavelet:
    """Counts of small values in prefixes of a sequence (wavelet matrix, Claude and Navarro 2012).

    Args:
        values: from 0; they, and what they are compared with, are below `limit`.
    """

    def __init__(self, values: Ints, limit: int) -> None:
        self.bits = max(int(limit).bit_length(), 1)
        self.zeros: list[Ints] = []
        held = values
        for bit in reversed(range(self.bits)):
            zero = (held >> bit & 1) == 0
            self.zeros.append(np.concatenate([[0], np.cumsum(zero)]))
            held = np.concatenate([held[zero], held[~zero]])

    def below(self, ends: Ints, limits: Ints) -> Ints:
        """How many of the first `ends` values are at most `limits`."""
        limits = limits + 1
        first, last = np.zeros(len(ends), dtype=np.int64), ends.astype(np.int64)
        number = np.zeros(len(ends), dtype=np.int64)
        for place, bit in enumerate(reversed(range(self.bits))):
            zeros = self.zeros[place]
            from_zero, to_zero = zeros[first], zeros[last]
            one = (limits >> bit & 1) == 1
            number += np.where(one, to_zero - from_zero, 0)
            first = np.where(one, zeros[-1] + first - from_zero, from_zero)
            last = np.where(one, zeros[-1] + last - to_zero, to_zero)
        return number
