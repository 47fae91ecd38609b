"""Options of Mondrian."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pganon.policy.columns import Columns
from pganon.policy.encoding import Encoding
from pganon.policy.model import ColumnPolicy
from pganon.policy.options import CLASS_ID, FLAT, UNPUBLISHED, MethodOptions
from pganon.policy.refusals import Refusal, known_word


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
    supports = frozenset({"reference"})

    name: Literal["mondrian"]
    variant: Annotated[
        Literal["strict", "relaxed"], known_word("variant of mondrian", ("strict", "relaxed"))
    ] = "strict"
    choose: Annotated[
        Literal["width", "loss"], known_word("way to choose a column", ("width", "loss"))
    ] = "loss"

    def column_refusals(self, name: str, column: ColumnPolicy) -> Iterable[Refusal]:
        return ()  # it heeds all keys

    def key_refusals(self, columns: Columns, keys: Mapping[str, Any]) -> Iterable[Refusal]:
        """Regions of cuts that are not by values."""
        for refusal in super().key_refusals(columns, keys):
            if refusal.place != ("regions",):
                yield refusal
            elif self.variant != "strict":
                yield replace(refusal, suggestion="use variant: strict, or regions: none")

    @property
    def encoding(self) -> Encoding:
        return Encoding(order="numbered" if self.variant == "relaxed" else "none")
