"""Options of slicing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from pganon.methods.common.bucket_options import (
    Association,
    Clustering,
    Tables,
    Unlinked,
    division_refusals,
    most_tables,
    numbered,
)
from pganon.policy.columns import Columns, of_role
from pganon.policy.options import COUNT, EXPECTED, GROUP_ID
from pganon.policy.refusals import Refusal


class Slicing(Unlinked):
    """Columns of associated attributes, each permuted within buckets; one sensitive column."""

    models = frozenset({"slicing_l_diversity"})
    example = "{model: slicing_l_diversity, column: disease, l: 3}"
    adds = (GROUP_ID, COUNT, EXPECTED)
    sensitive = "one"
    levels = ("attribute",)

    name: Literal["slicing"]
    columns: Tables = 2
    alpha: Annotated[int, Field(ge=1, le=1000)] | None = None
    association: Association = "msc"
    clustering: Clustering = "pam"

    def part_names(self, columns: Columns) -> tuple[str, ...]:
        divided = len(of_role(columns, "quasi_identifying")) + 1
        most = max(most_tables(self.columns, divided) - 1, 1)
        return (*dict.fromkeys(n for c in range(1, most + 1) for n in numbered("qit", c)), "st")

    def refusals(self, columns: Columns) -> Iterable[Refusal]:
        quasi = of_role(columns, "quasi_identifying")
        names = [*quasi, *of_role(columns, "sensitive")]
        yield from division_refusals("columns", self.columns, names)
        auto = self.columns == "auto" and len(quasi) == 1 and self.alpha is None
        if (
            auto
            or self.columns == 1
            or (isinstance(self.columns, tuple) and len(self.columns) == 1)
        ):
            yield Refusal(
                ("method", "columns"),
                "one table would hold all quasi-identifiers together with the sensitive column",
                "write columns: 2",
            )
        yield from _wrong_alpha(self, len(quasi))


def _wrong_alpha(method: Slicing, quasi: int) -> Iterable[Refusal]:
    """Refusal of a sensitive table with columns that the other tables need."""
    alpha, columns = method.alpha, method.columns
    if alpha is None or quasi == 0 or columns == 1:
        return
    if isinstance(columns, tuple):
        yield Refusal(
            ("method", "alpha"),
            "the lists of columns already say what stands with the sensitive column",
            "remove alpha",
        )
        return
    others = 1 if columns == "auto" else columns - 1
    remaining = max(quasi + 1 - alpha, 0)
    if remaining < others:
        most = quasi + 1 - others
        yield Refusal(
            ("method", "alpha"),
            f"a sensitive table of {alpha} columns leaves {remaining} of {quasi} quasi-identifiers"
            f" for {others} other table{'s' * (others > 1)}",
            f"write a number up to {most}" if most > 0 else "write fewer columns",
        )
