"""Options of Mondrian."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from pganon.policy.columns import Columns
from pganon.policy.encoding import Encoding
from pganon.policy.model import ColumnPolicy
from pganon.policy.options import CLASS_ID, FLAT, UNPUBLISHED, MethodOptions
from pganon.policy.refusals import Refusal, known_word
from pganon.policy.tasks import Start

_COMPARED = frozenset({"t_closeness", "beta_likeness", "delta_disclosure"})
"""Models that compare a class with the distribution of all."""

_COUNTED = frozenset({"k_anonymity", "distinct_l_diversity"})
"""Models that no class satisfies better with fewer records."""


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
    leaves_surplus_out = True

    starts = (
        Start(
            task="survey",
            page="tutorial/first-release.md",
            costs="quasi-identifiers become ranges and sets; every further one costs the others",
            about_all=({"model": "k_anonymity", "k": 5},),
            about_each=({"model": "distinct_l_diversity", "l": 2},),
        ),
        Start(
            task="monthly",
            page="tutorial/every-month.md",
            costs="published groups stay; new people wait until there are enough of them",
            about_all=({"model": "k_anonymity", "k": 5},),
            about_each=({"model": "distinct_l_diversity", "l": 2},),
            keys={
                "refresh": ("increments", "a version adds groups of new people to the one before"),
            },
        ),
        Start(
            task="audiences",
            page="explanation/releases-over-time.md",
            costs="a policy each; a role that gains a version is checked against all that it had",
            about_all=({"model": "k_anonymity", "k": 10},),
            about_each=({"model": "distinct_l_diversity", "l": 3},),
            keys={
                "audiences": (
                    "by_reader",
                    "in the policies of both, each with a release name and readers of its own",
                ),
            },
        ),
    )

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

    def key_refusals(self, columns: Columns, keys: Mapping[str, Any]) -> Iterable[Refusal]:
        """Regions of cuts that are not by values."""
        for refusal in super().key_refusals(columns, keys):
            if refusal.place != ("regions",):
                yield refusal
            elif self.variant != "strict":
                yield replace(refusal, suggestion="use variant: strict, or regions: none")

    def suppression_refusals(
        self, columns: Columns, models: Sequence[Any], asked: Mapping[str, Any]
    ) -> Iterable[Refusal]:
        names = [model.model for model in models]
        if self.price is not None:
            yield from self._idle_price([name for name in names if name in _COMPARED], asked)
        grows = asked["refresh"] not in (None, "recompute")
        apart = any(column.nulls == "own_class" for column in columns.values() if column)
        bounded = any(name not in _COMPARED | _COUNTED for name in names)
        if asked["on_infeasible"] == "suppress" and not (grows or apart or bounded):
            yield Refusal(
                ("on_infeasible",),
                f"leaving records out helps no class to satisfy {' and '.join(names)}",
                "leave on_infeasible out",
            )

    def _idle_price(self, compared: Sequence[str], asked: Mapping[str, Any]) -> Iterable[Refusal]:
        where = ("method", "price")
        if compared:
            yield Refusal(
                where,
                f"{compared[0]} compares classes with what is published, so no record is left out"
                " for the loss of its class",
                "remove price",
            )
        elif asked["refresh"] not in (None, "recompute"):
            yield Refusal(
                where,
                f"with refresh: {asked['refresh']} no record is left out for the loss of its class",
                "remove price, or use refresh: recompute",
            )
        elif asked["suppression_limit"] == 0:
            yield Refusal(
                where,
                "price has no effect: suppression_limit is 0, so no record may be left out",
                "write a suppression_limit, for example 0.01, or remove price",
            )

    @property
    def encoding(self) -> Encoding:
        return Encoding("numbered" if self.variant == "relaxed" else "none", combines=True)
