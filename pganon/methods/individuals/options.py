"""Options of DAnonyIR and GeneIR."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pganon.methods.individuals.reservation import IdentityReserved
from pganon.policy.model import ColumnPolicy
from pganon.policy.options import BlockSize
from pganon.policy.refusals import Refusal, known_word
from pganon.policy.tasks import SEVERAL_RECORDS, Start


class DAnonyIR(IdentityReserved):
    """Classes grown individual by individual, always by the one that costs least."""

    starts = (
        Start(
            task=SEVERAL_RECORDS,
            page="how-to/keep-records-of-a-person-together.md",
            costs="who knows a person's rare value, or number of records, finds the rest",
            about_each=({"model": "eir_l_diversity", "l": 3},),
        ),
    )

    name: Literal["danonyir"]
    block_size: BlockSize = 1000
    residuals: Annotated[
        Literal["generalize", "suppress"],
        known_word("way to treat residuals", ("generalize", "suppress")),
    ] = "generalize"

    @property
    def keeps_more(self) -> str | None:
        return "residuals: generalize" if self.residuals == "suppress" else None


class GeneIR(IdentityReserved):
    """Global generalization, level by level of the hierarchies, in random order: the baseline."""

    name: Literal["geneir"]

    def column_refusals(self, name: str, column: ColumnPolicy) -> Iterable[Refusal]:
        if column.role == self.grouped and column.hierarchy is None:
            yield Refusal(
                ("columns", name),
                f"the method {self.name} goes up hierarchies, and this column has none",
                "add hierarchy:, or use the method danonyir",
            )
        yield from super().column_refusals(name, column)
