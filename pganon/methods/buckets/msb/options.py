"""Options of MSB."""

from __future__ import annotations

from typing import Literal

from pganon.methods.common.bucket_options import Priority, Unlinked
from pganon.policy.options import COUNT, GROUP_ID, PROBABILITY, BlockSize


class Msb(Unlinked):
    """Groups of records that differ in every sensitive column (MSB), the baseline."""

    models = frozenset({"slicing_l_diversity"})
    example = "{model: slicing_l_diversity, l: 3, level: unique}"
    adds = (GROUP_ID, COUNT, PROBABILITY)
    parts = ("qit", "st")
    sensitive = "some"
    levels = ("unique",)

    name: Literal["msb"]
    priority: Priority = "mmdcf"
    block_size: BlockSize = 50_000
