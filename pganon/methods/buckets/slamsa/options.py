"""Options of SLAMSA."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from pganon.methods.common.bucket_options import Divided, Division, possible, word
from pganon.methods.common.divisions import Tables, division_refusals
from pganon.policy.columns import Columns, of_role
from pganon.policy.options import COUNT, EXPECTED, GROUP_ID, PROBABILITY, BlockSize
from pganon.policy.refusals import Refusal

_OF_FIREFLIES = {
    "fireflies",
    "generations",
    "patience",
    "attraction",
    "absorption",
    "step",
    "cooling",
}


class Slamsa(Divided):
    """Sensitive columns in tables of associated ones, buckets of similar quasi-identifiers."""

    models = frozenset({"slicing_l_diversity"})
    adds = (GROUP_ID, COUNT, PROBABILITY, EXPECTED)
    levels = ("attribute", "tuple")
    excludes = True
    keeps_value_sets = True

    name: Literal["slamsa"]
    profile: Annotated[
        Literal["aligned", "independent"], word("profile of slamsa", "aligned", "independent")
    ] = "aligned"
    quasi_tables: Tables = 1
    block_size: BlockSize = 500
    division: Division = "eligible"
    optimizer: Annotated[
        Literal["auto", "firefly", "base"],
        word("optimizer of slamsa", "auto", "firefly", "base"),
    ] = "auto"
    fireflies: Annotated[int, Field(ge=1, le=1000)] = 12
    generations: Annotated[int, Field(ge=1, le=10_000)] = 20
    patience: Annotated[int, Field(ge=1, le=10_000)] = 5
    attraction: Annotated[float, Field(ge=0, le=100)] = 1.0
    absorption: Annotated[float, Field(ge=0, le=1e6)] = 1.0
    step: Annotated[float, Field(ge=0, le=1)] = 0.25
    cooling: Annotated[float, Field(gt=0, le=1)] = 0.95
    norm: Annotated[float, Field(ge=1, le=100)] = 2.0

    @property
    def independent(self) -> bool:
        return self.profile == "independent"

    def decides_by_values(self, *, bounded: bool) -> bool:
        return self.division == "eligible"

    @property
    def idle(self) -> frozenset[str]:
        linking = {"link_threshold"} if self.profile == "aligned" else set()
        return frozenset(linking | (_OF_FIREFLIES if self.optimizer == "base" else set()))

    def part_names(self, columns: Columns) -> tuple[str, ...]:
        quasi = len(of_role(columns, "quasi_identifying"))
        return (*possible("qit", self.quasi_tables, quasi), *self.sensitive_parts(columns))

    def added_columns(self, columns: Columns) -> tuple[str, ...]:
        own = self.links(columns) if self.independent else ()
        return (*self.adds, *own)

    def refusals(self, columns: Columns) -> Iterable[Refusal]:
        yield from super().refusals(columns)
        names = of_role(columns, "quasi_identifying")
        yield from division_refusals("quasi_tables", self.quasi_tables, names)
