"""Options of one-dimensional partitioning."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pganon.methods.classes.options import Partitioning, Price
from pganon.policy.refusals import known_word

_ROUNDS = 64
_RECORDS_TIMES_ROUNDS = 2_000_000

Refine = Annotated[int, Field(ge=0, le=1000)] | Literal["auto"]


class OneDimensional(Partitioning):
    """Pieces of a line through all records, which may overlap in what they show."""

    name: Literal["one_dimensional"]
    variant: Annotated[
        Literal["strict", "relaxed"],
        known_word("variant of one_dimensional", ("strict", "relaxed")),
    ] = "strict"
    dominant: Annotated[
        Literal["apart", "mixed"],
        known_word("place of values that half of the records share", ("apart", "mixed")),
    ] = "apart"
    refine: Refine = "auto"
    price: Price = None

    def rounds(self, records: int) -> int:
        """Rounds of refinement."""
        if self.refine != "auto":
            return self.refine
        return min(_ROUNDS, _RECORDS_TIMES_ROUNDS // max(records, 1))
