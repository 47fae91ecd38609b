"""Options of Mondrian."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pganon.methods.classes.options import (
    OF_RELEASE,
    Partitioning,
    Price,
    measured_alone,
    unsearched_populations,
)
from pganon.policy.columns import Columns
from pganon.policy.refusals import Refusal, known_word
from pganon.policy.tasks import Start


class Mondrian(Partitioning):
    """Top-down multidimensional partitioning."""

    starts = (
        Start(
            task="monthly",
            page="tutorial/every-month.md",
            costs="published groups stay; new people wait until there are enough of them",
            about_all=({"model": "k_anonymity", "k": 12},),
            about_each=({"model": "distinct_l_diversity", "l": 2},),
            suppression_limit=0.05,
            keys={
                "refresh": ("increments", "a version adds groups of new people to the one before"),
            },
        ),
    )

    models = Partitioning.models | {"delta_presence", "event_share"}
    supports = Partitioning.supports | {"tables"}
    leaves_unprofitable = True

    name: Literal["mondrian"]
    variant: Annotated[
        Literal["strict", "relaxed"], known_word("variant of mondrian", ("strict", "relaxed"))
    ] = "strict"
    choose: Annotated[
        Literal["width", "loss"], known_word("way to choose a column", ("width", "loss"))
    ] = "loss"
    price: Price = None

    def model_refusals(self, columns: Columns, models: Sequence[Any]) -> Iterable[Refusal]:
        # Cuts are undone until all classes together are large enough, so these may stand alone.
        yield from measured_alone([model.model for model in models], self.example)
        counting = [model for model in models if model.counted_in is not None]
        if counting and OF_RELEASE.issuperset(model.model for model in models):
            yield Refusal(
                ("privacy",),
                f"{counting[0].model} with a population bounds no class, and no other model does",
                f"add {self.example}",
            )
        if self.variant == "relaxed":
            yield from unsearched_populations(
                models,
                "the relaxed variant divides people who have one value, and those of a population"
                " have no side",
                "write variant: strict",
            )

    def key_refusals(self, columns: Columns, keys: Mapping[str, Any]) -> Iterable[Refusal]:
        """Regions of cuts that are not by values."""
        for refusal in super().key_refusals(columns, keys):
            if refusal.place != ("regions",):
                yield refusal
            elif self.variant != "strict":
                yield replace(refusal, suggestion="use variant: strict, or regions: none")
