"""Options of SLOMS."""

from __future__ import annotations

from typing import Literal

from pganon.methods.common.bucket_options import SEPARATE_TABLES, Clustering, Divided, Priority
from pganon.policy.columns import Columns
from pganon.policy.options import CLASS_ID, COUNT, GROUP_ID, PROBABILITY, BlockSize


class Sloms(Divided):
    """Generalized quasi-identifiers, sensitive tables with separate buckets (SLOMS)."""

    models = frozenset({"k_anonymity", "slicing_l_diversity"})
    example = "{model: slicing_l_diversity, l: 3, level: unique}"
    adds = (CLASS_ID, GROUP_ID, COUNT, PROBABILITY)
    shows = "generalized"
    levels = ("unique",)

    name: Literal["sloms"]
    clustering: Clustering = "pam"
    priority: Priority = "mmdcf"
    block_size: BlockSize = 5000

    def assumes(self, sensitive: int) -> tuple[str, ...]:
        return (SEPARATE_TABLES,) if sensitive > 1 else ()

    def added_columns(self, columns: Columns) -> tuple[str, ...]:
        return (*self.adds, *self.links(columns))
