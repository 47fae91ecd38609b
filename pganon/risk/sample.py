"""A table as a sample of its population: class sizes and their frequencies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pganon.errors import PreconditionError

LARGEST = 2**63 - 1
"""Most people of a population: a bigint of the server."""


@dataclass(frozen=True, eq=False)
class Sample:
    """A table that is taken for a simple random sample of its population.

    Attributes:
        sizes: the different class sizes in records, ascending, float64 of shape (m,).
        classes: how many classes have each, float64 of shape (m,).
        records: n, at least 1.
        population: N, above n.
    """

    sizes: NDArray[np.float64]
    classes: NDArray[np.float64]
    records: int
    population: int

    @classmethod
    def of(cls, frequencies: Mapping[int, int], population: int) -> Sample:
        """The sample with these numbers of classes by class size.

        Raises:
            PreconditionError: the population is not larger than the sample, or too large.
        """
        records = sum(size * classes for size, classes in frequencies.items())
        if not records < population <= LARGEST:
            limit = f"{records}, the number of records" if population <= records else f"{LARGEST}"
            side = "above" if population <= records else "at most"
            raise PreconditionError(
                f"the population size {population} must be {side} {limit}",
                hint="it is the number of people that the table is a sample of",
            )
        sizes = sorted(frequencies)
        return cls(
            np.array(sizes, np.float64),
            np.array([frequencies[size] for size in sizes], np.float64),
            records,
            population,
        )

    @property
    def fraction(self) -> float:
        """f, the sampling fraction n / N."""
        return self.records / self.population

    @cached_property
    def number_of_classes(self) -> int:
        """u."""
        return int(self.classes.sum())

    def classes_of(self, size: int) -> int:
        """n_j, the number of classes of `size` records."""
        return int(self.classes[self.sizes == size].sum())
