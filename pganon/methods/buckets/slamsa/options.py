"""Options of SLAMSA."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from pganon.methods.common.bucket_options import (
    SEPARATE_TABLES,
    Divided,
    Division,
    Tables,
    division_refusals,
    possible,
    word,
)
from pganon.policy.columns import Columns, of_role
from pganon.policy.options import COUNT, EXPECTED, GROUP_ID, PROBABILITY, BlockSize
from pganon.policy.refusals import Refusal
from pganon.policy.tasks import Start


class Slamsa(Divided):
    """Sensitive columns in tables of associated ones, buckets of similar quasi-identifiers."""

    models = frozenset({"slicing_l_diversity"})
    adds = (GROUP_ID, COUNT, PROBABILITY, EXPECTED)
    levels = ("attribute", "tuple")
    supports = frozenset({"exclusions", "invariant"})

    starts = (
        Start(
            task="several-sensitive",
            page="how-to/protect-several-sensitive-columns.md",
            costs="it shows who is in the table; only associated columns stay beside each other",
            about_each=({"model": "slicing_l_diversity", "l": 2},),
        ),
    )

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
    norm: Annotated[float, Field(ge=1, le=100)] = 2.0

    @property
    def independent(self) -> bool:
        """Whether every sensitive table has its own buckets."""
        return self.profile == "independent"

    def assumes(self, sensitive: int) -> tuple[str, ...]:
        return (SEPARATE_TABLES,) if self.independent and sensitive > 1 else ()

    def key_refusals(self, columns: Columns, keys: Mapping[str, Any]) -> Iterable[Refusal]:
        """Value sets of people who are in several buckets."""
        yield from super().key_refusals(columns, keys)
        if keys.get("refresh") == "invariant" and self.independent:
            yield Refusal(
                ("method", "profile"),
                "refresh: invariant keeps the values of one bucket of a person, and with profile:"
                " independent there are several",
                "write profile: aligned, or refresh: recompute",
            )

    def decides_by_values(self, *, bounded: bool) -> bool:
        return self.division == "eligible"

    @property
    def idle(self) -> frozenset[str]:
        return frozenset({"link_threshold"} if self.profile == "aligned" else ())

    def part_names(self, columns: Columns) -> tuple[str, ...]:
        quasi = len(of_role(columns, "quasi_identifying"))
        return (*possible("qit", self.quasi_tables, quasi), *self.sensitive_parts(columns))

    def added_columns(self, columns: Columns) -> tuple[str, ...]:
        links = self.links(columns) if self.independent else ()
        return (*self.adds, *links)

    def refusals(self, columns: Columns) -> Iterable[Refusal]:
        yield from super().refusals(columns)
        names = of_role(columns, "quasi_identifying")
        yield from division_refusals("quasi_tables", self.quasi_tables, names)
