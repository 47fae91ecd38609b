"""Options of the methods that keep the records of an individual together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from pganon.policy.columns import Columns, of_role
from pganon.policy.options import (
    CLASS_ID,
    FLAT,
    INDIVIDUAL_NO,
    UNPUBLISHED,
    MethodOptions,
)
from pganon.policy.refusals import Refusal, known_word, show


class IdentityReserved(MethodOptions):
    """Classes of individuals; every record shows whose it is by a random number."""

    roles = UNPUBLISHED | {"quasi_identifying", "sensitive", "insensitive"}
    grouped = "quasi_identifying"
    models = frozenset(
        {
            "ir_k_anonymity",
            "ir_kl_anonymity",
            "ir_alpha_beta_anonymity",
            "eir_l_diversity",
            "eir_alpha_beta_anonymity",
        }
    )
    example = "{model: eir_l_diversity, column: disease, l: 3}"
    adds = (CLASS_ID, INDIVIDUAL_NO)
    parts = (FLAT,)
    sensitive = "one"
    codes_sensitive = True
    reserves_identity = True
    leaves_out = False

    qi_conflict: Annotated[
        Literal["hull", "reject"],
        known_word("way to treat individuals whose records differ", ("hull", "reject")),
    ] = "hull"
    duplicates: Annotated[
        Literal["keep", "collapse"],
        known_word("way to treat records that repeat a value", ("keep", "collapse")),
    ] = "keep"
    most_exposed: Annotated[float, Field(ge=0, le=1)] = 1.0
    least_count_group: Annotated[int, Field(ge=1, le=2**31 - 1)] = 1

    @property
    def collapses(self) -> bool:
        return self.duplicates == "collapse"

    def refusals(self, columns: Columns) -> Iterable[Refusal]:
        """Columns whose values would be lost with records that are counted once."""
        for name in of_role(columns, "insensitive") if self.collapses else ():
            yield Refusal(
                ("columns", name, "role"),
                "records that duplicates: collapse counts as one may have different values of"
                f" {show(name)}",
                f"leave {show(name)} out, or use duplicates: keep",
            )
