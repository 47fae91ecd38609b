"""How the records of a source are encoded for a method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

RandomOrder = Literal["none", "drawn", "numbered"]
"""A random order of the records: by a number each, which identifies a record, or by a random draw
for each, which is enough to sort by and avoids a sort of all records."""


@dataclass(frozen=True)
class Encoding:
    """Codes, order and individuals of the encoded records, as a method asks for them.

    Attributes:
        order: how records with equal codes are ordered.
        along_curve: whether records are placed along a curve over their attributes.
        numbers_by_value: whether records are numbered by the values of a sensitive column, and at
            random within them.
        codes_sensitive: whether sensitive columns that no model is about have codes.
        reserves_identity: whether an individual may have several records, which stay together.
        collapses: whether the records of an individual with the same sensitive value count once.
        combines: whether records have one number for all codes, to be joined and grouped by.
        divides_cells: whether records with equal codes may be in several groups.
    """

    order: RandomOrder = "numbered"
    along_curve: bool = False
    numbers_by_value: bool = False
    codes_sensitive: bool = False
    reserves_identity: bool = False
    collapses: bool = False
    combines: bool = False
    divides_cells: bool = False

    @property
    def numbers_records(self) -> bool:
        """Whether every record has a number."""
        return self.order == "numbered"
