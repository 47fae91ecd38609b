"""Options of full-domain recoding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from pganon.methods.classes.options import (
    COMPARED,
    Partitioning,
    unbounded_classes,
    unsearched_populations,
)
from pganon.policy.columns import Columns
from pganon.policy.model import ColumnPolicy
from pganon.policy.options import CLASS_ID, FLAT, UNPUBLISHED, Encoding, MethodOptions
from pganon.policy.refusals import Refusal, known_word, show
from pganon.resolved.model import ReleaseSpec

OBJECTIVES = ("gcp", "precision", "entropy")


class FullDomain(MethodOptions):
    """One level of its hierarchy for every quasi-identifier, for all records."""

    roles = UNPUBLISHED | {"quasi_identifying", "sensitive", "insensitive"}
    grouped = "quasi_identifying"
    models = Partitioning.models | {"delta_presence", "population_uniqueness"}
    example = "{model: k_anonymity, k: 5}"
    adds = (CLASS_ID,)
    parts = (FLAT,)
    supports = frozenset({"labels", "means", "population", "reference"})
    leaves_out = False
    one_level = True

    name: Literal["full_domain"]
    objective: Annotated[
        Literal["gcp", "precision", "entropy"], known_word("objective", OBJECTIVES)
    ] = "gcp"
    rounds: Annotated[int, Field(ge=1, le=20)] = 1
    max_nodes: Annotated[int, Field(ge=1, le=1_000_000)] = 2000

    @property
    def encoding(self) -> Encoding:
        return Encoding(order="none", combines=True)

    def column_refusals(self, name: str, column: ColumnPolicy) -> Iterable[Refusal]:
        return ()  # it heeds all keys

    def kind_refusals(self, name: str, column: ColumnPolicy, kind: str) -> Iterable[Refusal]:
        """Numbers and dates without levels; intervals made of the values would disclose them."""
        if column.role == self.grouped and kind == "numeric" and column.hierarchy is None:
            yield Refusal(
                ("columns", name),
                f"the method {self.name} needs levels of {show(name)}, a number or date",
                "add hierarchy: {intervals: [5, 10]}, {date: [month, year]} or another form, or"
                " type: ordinal or categorical",
            )

    def key_refusals(self, columns: Columns, keys: Mapping[str, Any]) -> Iterable[Refusal]:
        yield from super().key_refusals(columns, keys)
        if keys.get("refresh") == "increments":
            yield Refusal(
                ("refresh",),
                f"the method {self.name} chooses levels for all records together, not for new ones",
                "write refresh: recompute",
            )

    def model_refusals(self, columns: Columns, models: Sequence[Any]) -> Iterable[Refusal]:
        yield from unbounded_classes(models, self.example)
        compared = [model.model for model in models if model.model in COMPARED]
        if compared and self.rounds > 1:
            yield Refusal(
                ("method", "rounds"),
                f"{compared[0]} compares classes with all that is released, which is not known"
                " before the last round",
                "write rounds: 1, or take another model",
            )
        if self.rounds > 1:
            yield from unsearched_populations(
                models,
                "with several rounds, the people whom a class covers are not known before the last",
                "write rounds: 1",
            )
            yield from self._estimated_at_once(models)

    def _estimated_at_once(self, models: Sequence[Any]) -> Iterable[Refusal]:
        """Classes whose labels overlap are no key of the population."""
        for number, model in enumerate(models):
            if model.model == "population_uniqueness":
                yield Refusal(
                    ("privacy", number, "model"),
                    "with several rounds, labels overlap, so that their sizes say nothing about the"
                    " population",
                    "write rounds: 1",
                )


def rounds_of(spec: ReleaseSpec) -> int:
    """Rounds of recoding."""
    options = spec.policy.method
    assert isinstance(options, FullDomain)
    return options.rounds
