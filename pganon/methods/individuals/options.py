"""Options of DAnonyIR and GeneIR."""

from __future__ import annotations

from typing import Annotated, Literal

from pganon.methods.individuals.reservation import IdentityReserved
from pganon.policy.options import BlockSize
from pganon.policy.refusals import known_word


class DAnonyIR(IdentityReserved):
    """Classes grown individual by individual, always by the one that costs least."""

    name: Literal["danonyir"]
    block_size: BlockSize = 1000
    residuals: Annotated[
        Literal["generalize", "suppress"],
        known_word("way to treat residuals", ("generalize", "suppress")),
    ] = "generalize"


class GeneIR(IdentityReserved):
    """Global generalization, level by level of the hierarchies, in random order: the baseline."""

    climbs = True

    name: Literal["geneir"]
