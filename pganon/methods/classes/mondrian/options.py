"""Options of Mondrian."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from pganon.policy.model import ColumnPolicy
from pganon.policy.options import CLASS_ID, FLAT, UNPUBLISHED, MethodOptions, RandomOrder
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
    shows_reference = True
    leaves_surplus_out = True

    name: Literal["mondrian"]
    variant: Annotated[
        Literal["strict", "relaxed"], known_word("variant of mondrian", ("strict", "relaxed"))
    ] = "strict"
    choose: Annotated[
        Literal["width", "loss"], known_word("way to choose a column", ("width", "loss"))
    ] = "loss"
    price: Annotated[float, Field(ge=0, le=1)] | None = None

    @property
    def price_of_record(self) -> float:
        """Loss that a record counts which is left out for what its class loses."""
        return 1.0 if self.price is None else self.price

    def column_refusals(self, name: str, column: ColumnPolicy) -> Iterable[Refusal]:
        return ()  # it heeds all keys

    @property
    def replays(self) -> bool:
        return self.variant == "strict"

    @property
    def replay_hint(self) -> str:
        return "use variant: strict, or regions: none"

    @property
    def random_order(self) -> RandomOrder:
        return "numbered" if self.variant == "relaxed" else "none"
