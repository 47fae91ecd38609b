"""Options of the methods that keep the records of an individual together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from pganon.policy.columns import Columns, of_role
from pganon.policy.options import (
    CLASS_ID,
    FLAT,
    INDIVIDUAL_NO,
    UNPUBLISHED,
    Encoding,
    MethodOptions,
)
from pganon.policy.refusals import Refusal, known_word, show
from pganon.policy.words import NOBODY


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
    sensitive = "some"
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
    def encoding(self) -> Encoding:
        collapses = self.duplicates == "collapse"
        return Encoding(codes_sensitive=True, reserves_identity=True, collapses=collapses)

    def key_refusals(self, columns: Columns, keys: Mapping[str, Any]) -> Iterable[Refusal]:
        """A policy that does not tell individuals apart."""
        yield from super().key_refusals(columns, keys)
        if None in columns.values() or "individual" not in keys:
            return
        if keys["individual"] in (None, NOBODY) and not of_role(columns, "individual"):
            yield Refusal(
                ("columns",),
                f"no column says whose a record is, which the method {self.name} keeps together",
                "declare the column that tells individuals apart with role: individual",
            )

    def refusals(self, columns: Columns) -> Iterable[Refusal]:
        """Columns whose values would be lost with records that are counted once."""
        for name in of_role(columns, "insensitive") if self.encoding.collapses else ():
            yield Refusal(
                ("columns", name, "role"),
                "records that duplicates: collapse counts as one may have different values of"
                f" {show(name)}",
                f"leave {show(name)} out, or use duplicates: keep",
            )
