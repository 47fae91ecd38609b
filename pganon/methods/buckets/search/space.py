"""Quasi-identifiers as points: one row of numbers per record, compared by Minkowski distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

CATEGORIES = 32
"""More categories than this are placed by rank instead of one coordinate each."""


@dataclass(frozen=True)
class Ordered:
    """A numeric attribute.

    Attributes:
        positions: by code - 1, the place of the value in [0, 1] over the whole table.
        nulls: whether the column has NULL anywhere in the table.
    """

    positions: Sequence[float]
    nulls: bool


@dataclass(frozen=True)
class Nominal:
    """A categorical attribute of `size` values besides NULL, which is one more category."""

    size: int
    nulls: bool


def encode(
    attributes: Sequence[Ordered | Nominal], codes: np.ndarray, p: float = 2.0
) -> np.ndarray:
    """Points of the records, every coordinate in [0, 1].

    Two different categories are at Minkowski distance 1, the width of a numeric attribute.

    Args:
        attributes: one per column of `codes`.
        codes: n x len(attributes), 0 for NULL, else from 1 in canonical order.
        p: order of the Minkowski distance, at least 1.

    Returns:
        n x D; D is 1, all zero, if no attribute distinguishes records.
    """
    parts = [
        _numeric(attribute, codes[:, at])
        if isinstance(attribute, Ordered)
        else _categorical(attribute, codes[:, at], p)
        for at, attribute in enumerate(attributes)
    ]
    z = np.hstack([np.empty((len(codes), 0)), *parts])
    return z if z.shape[1] else np.zeros((len(codes), 1))


def _numeric(attribute: Ordered, codes: np.ndarray) -> np.ndarray:
    z = np.array([0.5, *attribute.positions])[codes]
    return np.column_stack([z, codes == 0]) if attribute.nulls else z[:, None]


def _categorical(attribute: Nominal, codes: np.ndarray, p: float) -> np.ndarray:
    number = attribute.size + attribute.nulls
    rank = np.where(codes == 0, attribute.size, codes - 1)
    if number <= 1:
        return np.empty((len(codes), 0))
    if number > CATEGORIES:
        return rank[:, None] / (number - 1)
    return (rank[:, None] == np.arange(number)) * 2.0 ** (-1 / p)
