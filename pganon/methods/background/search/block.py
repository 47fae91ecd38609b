"""A block of records, as the searches read it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pganon.methods.background.search.limits import Counts, Limits
from pganon.methods.background.search.points import Points, Rows


@dataclass(frozen=True, eq=False)
class Block:
    """Records in the order in which ties are broken.

    Attributes:
        sensitive: by record, its sensitive value.
        limits: what every class has to satisfy.
    """

    points: Points
    sensitive: npt.NDArray[np.int64]
    limits: Limits

    @property
    def values(self) -> int:
        """Number of sensitive values."""
        return len(self.limits.shares)

    def counts(self, rows: Rows) -> Counts:
        """Records by sensitive value."""
        return np.bincount(self.sensitive[rows], minlength=self.values)
