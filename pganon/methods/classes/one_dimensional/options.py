"""Options of one-dimensional partitioning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from pganon.methods.classes.options import Partitioning, Price
from pganon.policy.columns import Columns
from pganon.policy.options import Encoding
from pganon.policy.refusals import Refusal, known_word
from pganon.policy.tasks import Start

_ROUNDS = 64
_RECORDS_TIMES_ROUNDS = 2_000_000

Refine = Annotated[int, Field(ge=0, le=1000)] | Literal["auto"]


class OneDimensional(Partitioning):
    """Pieces of a line through all records, which may overlap in what they show."""

    starts = (
        Start(
            task="survey",
            page="tutorial/first-release.md",
            costs="quasi-identifiers become ranges and sets; every further one costs the others",
            about_all=({"model": "k_anonymity", "k": 12},),
            about_each=({"model": "distinct_l_diversity", "l": 2},),
        ),
        Start(
            task="audiences",
            page="explanation/releases-over-time.md",
            costs="a policy each; a role that gains a version is checked against all that it had",
            about_all=({"model": "k_anonymity", "k": 12},),
            about_each=({"model": "distinct_l_diversity", "l": 3},),
            keys={
                "audiences": (
                    "by_reader",
                    "in the policies of both, each with a release name and readers of its own",
                ),
            },
        ),
    )

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

    @property
    def encoding(self) -> Encoding:
        if self.variant == "strict":
            return super().encoding
        return Encoding("drawn", combines=True, divides_cells=True)

    def key_refusals(self, columns: Columns, keys: Mapping[str, Any]) -> Iterable[Refusal]:
        """Regions of cuts, which a line has not."""
        for refusal in super().key_refusals(columns, keys):
            if refusal.place == ("regions",):
                refusal = replace(refusal, suggestion="use the method mondrian, or regions: none")
            yield refusal

    def rounds(self, records: int) -> int:
        """Rounds of refinement."""
        if self.refine != "auto":
            return self.refine
        return min(_ROUNDS, _RECORDS_TIMES_ROUNDS // max(records, 1))
