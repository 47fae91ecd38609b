"""Options of anatomy."""

from __future__ import annotations

from typing import Literal

from pganon.methods.common.bucket_options import Division, Unlinked
from pganon.policy.options import COUNT, GROUP_ID, PROBABILITY, BlockSize, Encoding
from pganon.policy.tasks import Start


class Anatomy(Unlinked):
    """Exact quasi-identifiers in one table, sensitive values in another, linked by groups."""

    models = frozenset({"anatomy_l_diversity"})
    example = "{model: anatomy_l_diversity, column: disease, l: 3}"
    adds = (GROUP_ID, COUNT, PROBABILITY)
    parts = ("qit", "st")
    sensitive = "one"
    levels = ("attribute", "unique")
    supports = frozenset({"invariant"})

    starts = (
        Start(
            task="exact",
            page="how-to/publish-exact-quasi-identifiers.md",
            costs="it shows who is in the table; a value is known only as one of l in a group",
            about_each=({"model": "anatomy_l_diversity", "l": 3},),
        ),
    )

    name: Literal["anatomy"]
    block_size: BlockSize = 100
    division: Division = "public"

    @property
    def encoding(self) -> Encoding:
        return Encoding(order="drawn", along_curve=True)

    def decides_by_values(self, *, bounded: bool) -> bool:
        return self.division == "eligible"
