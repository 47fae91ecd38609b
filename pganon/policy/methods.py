"""Methods as a policy declares them: options, and what the rest of the policy must look like.

A new method is one class, in :data:`ANY` and in :mod:`pganon.policy.words`; the rules of
:mod:`pganon.policy.compatibility` read its class variables.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pganon.policy.anatomized import Anatomy, Msb, Slamsa, Slicing, Sloms
from pganon.policy.identity import DAnonyIR, GeneIR
from pganon.policy.options import (
    CLASS_ID,
    CLUSTER_NO,
    FLAT,
    SIZE,
    UNPUBLISHED,
    BlockSize,
    MethodOptions,
    RandomOrder,
)
from pganon.policy.refusals import known_word


class Mondrian(MethodOptions):
    """Top-down multidimensional partitioning."""

    roles = UNPUBLISHED | {"quasi_identifying", "sensitive", "insensitive"}
    grouped = "quasi_identifying"
    models = frozenset(
        {
            "k_anonymity",
            "alpha_k_anonymity",
            "distinct_l_diversity",
            "entropy_l_diversity",
            "recursive_cl_diversity",
            "t_closeness",
            "beta_likeness",
            "delta_disclosure",
        }
    )
    example = "{model: k_anonymity, k: 5}"
    adds = (CLASS_ID,)
    parts = (FLAT,)
    weighs = True
    revision = 2

    name: Literal["mondrian"]
    variant: Annotated[
        Literal["strict", "relaxed"], known_word("variant of mondrian", ("strict", "relaxed"))
    ] = "strict"
    choose: Annotated[
        Literal["width", "loss"], known_word("way to choose a column", ("width", "loss"))
    ] = "loss"

    @property
    def random_order(self) -> RandomOrder:
        return "numbered" if self.variant == "relaxed" else "none"


class _QuasiSensitive(MethodOptions):
    """Clusters of records whose value combinations in every QS set are too many to tell apart."""

    roles = UNPUBLISHED | {"quasi_sensitive", "insensitive"}
    grouped = "quasi_sensitive"
    models = frozenset({"qs_k_anonymity"})
    example = "{model: qs_k_anonymity, k: 5}"
    adds = (CLUSTER_NO, SIZE)
    parts = ("expanded",)
    shows = "values"
    leaves_out = False
    revision = 2


class QsGreedy(_QuasiSensitive):
    """Clusters grown record by record, always by the one that costs least information."""

    name: Literal["qs_greedy"]
    block_size: BlockSize = 2048


class QsEfficient(_QuasiSensitive):
    """Clusters cut from the records in the order of a Hilbert curve."""

    name: Literal["qs_efficient"]
    block_size: BlockSize = 16_384


ANY = (
    Mondrian | DAnonyIR | GeneIR | QsGreedy | QsEfficient | Anatomy | Slicing | Slamsa | Msb | Sloms
)

OPTIONS: dict[str, type[MethodOptions]] = {
    get_args(options.model_fields["name"].annotation)[0]: options for options in get_args(ANY)
}
"""Every method of this version by its name."""
