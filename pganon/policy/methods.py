"""Methods as a policy declares them: options, and what the rest of the policy must look like.

A new method is one class here, in :data:`ANY` and in :mod:`pganon.policy.words`; the rules of
:mod:`pganon.policy.compatibility` read its class variables.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, get_args

from pydantic import Field

from pganon.policy.hierarchies import Declaration
from pganon.policy.refusals import known_word

CLASS_ID = "class_id"
"""Published column with the number of an equivalence class."""

CLUSTER_NO = "cluster_no"
"""Published column with the number of a cluster."""

SIZE = "size"
"""Published column with the number of records of a cluster."""

GROUP_ID = "group_id"
"""Published column with the number of a group of anatomy."""

COUNT = "count"
"""Published column with the number of records of a group that have a sensitive value."""

PROBABILITY = "probability"
"""Published column with the share of a group's records that have a sensitive value."""

_UNPUBLISHED = frozenset({"identifying", "individual"})


class MethodOptions(Declaration):
    """Base of the methods.

    Attributes:
        roles: roles of columns that the method publishes or drops.
        grouped: role of the columns that it groups records by.
        models: privacy models that it can guarantee.
        example: one of them as a policy writes it.
        adds: columns that its published views have beside those of the source.
        parts: further published views, named by :func:`part_name`.
        shows: what is published of a column that records are grouped by: a generalized value, an
            array of values, or the exact value.
        one_sensitive: whether there must be one sensitive column, no more and no less.
    """

    roles: ClassVar[frozenset[str]]
    grouped: ClassVar[str]
    models: ClassVar[frozenset[str]]
    example: ClassVar[str]
    adds: ClassVar[tuple[str, ...]]
    parts: ClassVar[tuple[str, ...]] = ()
    shows: ClassVar[Literal["generalized", "values", "exact"]] = "generalized"
    one_sensitive: ClassVar[bool] = False

    @property
    def numbers_records(self) -> bool:
        """Whether records with equal codes are told apart, so that each needs a number."""
        return True


class Mondrian(MethodOptions):
    """Top-down multidimensional partitioning."""

    roles = _UNPUBLISHED | {"quasi_identifying", "sensitive", "insensitive"}
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

    name: Literal["mondrian"]
    variant: Annotated[
        Literal["strict", "relaxed"], known_word("variant of mondrian", ("strict", "relaxed"))
    ] = "strict"
    choose: Annotated[
        Literal["width", "loss"], known_word("way to choose a column", ("width", "loss"))
    ] = "width"

    @property
    def numbers_records(self) -> bool:
        return self.variant == "relaxed"


class _QuasiSensitive(MethodOptions):
    """Clusters of records whose value combinations in every QS set are too many to tell apart."""

    roles = _UNPUBLISHED | {"quasi_sensitive", "insensitive"}
    grouped = "quasi_sensitive"
    models = frozenset({"qs_k_anonymity"})
    example = "{model: qs_k_anonymity, k: 5}"
    adds = (CLUSTER_NO, SIZE)
    parts = ("expanded",)
    shows = "values"


BlockSize = Annotated[int, Field(ge=2, le=2**31 - 1)]


class QsGreedy(_QuasiSensitive):
    """Clusters grown record by record, always by the one that costs least information."""

    name: Literal["qs_greedy"]
    block_size: BlockSize = 2048


class QsEfficient(_QuasiSensitive):
    """Clusters cut from the records in the order of a Hilbert curve."""

    name: Literal["qs_efficient"]
    block_size: BlockSize = 16_384


class Anatomy(MethodOptions):
    """Exact quasi-identifiers in one table, sensitive values in another, linked by groups."""

    roles = _UNPUBLISHED | {"quasi_identifying", "sensitive", "insensitive"}
    grouped = "quasi_identifying"
    models = frozenset({"anatomy_l_diversity"})
    example = "{model: anatomy_l_diversity, column: disease, l: 3}"
    adds = (GROUP_ID, COUNT, PROBABILITY)
    parts = ("qit", "st")
    shows = "exact"
    one_sensitive = True

    name: Literal["anatomy"]
    block_size: BlockSize = 100
    division: Annotated[
        Literal["public", "eligible"], known_word("division of anatomy", ("public", "eligible"))
    ] = "public"


ANY = Mondrian | QsGreedy | QsEfficient | Anatomy

OPTIONS: dict[str, type[MethodOptions]] = {
    get_args(options.model_fields["name"].annotation)[0]: options for options in get_args(ANY)
}
"""Every method of this version by its name."""


def part_name(release: str, part: str) -> str:
    """Name of the published view of a part."""
    return f"{release}_{part}"
