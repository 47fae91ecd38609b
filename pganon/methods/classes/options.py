"""Options that methods of disjoint or overlapping classes share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from pganon.policy.columns import Columns
from pganon.policy.model import ColumnPolicy
from pganon.policy.options import CLASS_ID, FLAT, UNPUBLISHED, Encoding, MethodOptions
from pganon.policy.refusals import Refusal

COMPARED = frozenset({"t_closeness", "beta_likeness", "delta_disclosure"})
"""Models that compare a class with the distribution of all."""

PROFIT = "profitability"
"""A model that is measured of every class at the end."""

OF_RELEASE = frozenset({"average_risk", "sample_uniqueness"})
"""Models of all classes together."""

_COUNTED = OF_RELEASE | {
    "k_anonymity",
    "no_attack",
    "k_map",
    "delta_presence",
    "distinct_l_diversity",
}
"""Models that no class satisfies better with fewer records."""


Price = Annotated[float, Field(ge=0, le=1)] | None
"""Loss that a record counts which is left out for what its class loses; None for the default."""


def unbounded_classes(models: Sequence[Any], example: str) -> Iterable[Refusal]:
    """Models of all classes together, and none of every class; `example` is one of these."""
    names = [model.model for model in models]
    yield from measured_alone(names, example)
    if OF_RELEASE.issuperset(names):
        yield Refusal(
            ("privacy",),
            f"{' and '.join(names)} bounds no class, and no other model does",
            f"add {example}, or use the method mondrian",
        )


def measured_alone(names: Sequence[str], example: str) -> Iterable[Refusal]:
    """A model that no class is made for, and none that one is made for."""
    if PROFIT in names and (OF_RELEASE | {PROFIT}).issuperset(names):
        yield Refusal(
            ("privacy",),
            f"no class is made for {PROFIT}: it is measured of those made for other models",
            f"add {example}",
        )


def unsearched_populations(
    models: Sequence[Any],
    said: str = "the method makes classes without looking at a population",
    suggestion: str = "use the method mondrian or full_domain, or estimate k_map by"
    " sampling_fraction and significance",
) -> Iterable[Refusal]:
    """Models that count people of a population, where no search heeds them."""
    for number, model in enumerate(models):
        if model.counted_in is not None:
            yield Refusal(("privacy", number, "population"), said, suggestion)


class Partitioning(MethodOptions):
    """Records of classes stay together for what they have in common."""

    roles = UNPUBLISHED | {"quasi_identifying", "sensitive", "insensitive"}
    grouped = "quasi_identifying"
    models = frozenset(
        {
            "k_anonymity",
            "no_attack",
            "k_map",
            "average_risk",
            "sample_uniqueness",
            "profitability",
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
    supports = frozenset({"labels", "means", "population", "reference"})
    leaves_surplus_out = True

    if TYPE_CHECKING:
        variant: Any  # fields of every subclass
        price: Price

    @property
    def encoding(self) -> Encoding:
        return Encoding("numbered" if self.variant == "relaxed" else "none", combines=True)

    @property
    def price_of_record(self) -> float:
        """Loss that a record counts which is left out for what its class loses."""
        return 1.0 if self.price is None else self.price

    def column_refusals(self, name: str, column: ColumnPolicy) -> Iterable[Refusal]:
        return ()  # it heeds all keys

    def model_refusals(self, columns: Columns, models: Sequence[Any]) -> Iterable[Refusal]:
        yield from unbounded_classes(models, self.example)
        yield from unsearched_populations(models)

    def suppression_refusals(
        self, columns: Columns, models: Sequence[Any], asked: Mapping[str, Any]
    ) -> Iterable[Refusal]:
        names = [model.model for model in models]
        if self.price is not None:
            yield from self._idle_price(models, asked)
        grows = asked["refresh"] not in (None, "recompute")
        apart = any(column.nulls == "own_class" for column in columns.values() if column)
        kept = COMPARED | _COUNTED | (frozenset() if self.leaves_unprofitable else {PROFIT})
        for number, model in enumerate(models):
            if model.model == PROFIT and model.counted_in and asked["on_infeasible"] == "suppress":
                yield Refusal(
                    ("privacy", number, "population"),
                    "classes are left out before it is known whom they cover",
                    "write on_infeasible: refuse, or remove population",
                )
        bounded = any(name not in kept for name in names)
        if asked["on_infeasible"] == "suppress" and not (grows or apart or bounded):
            yield Refusal(
                ("on_infeasible",),
                f"leaving records out helps no class to satisfy {' and '.join(names)}",
                "leave on_infeasible out",
            )

    def _idle_price(self, models: Sequence[Any], asked: Mapping[str, Any]) -> Iterable[Refusal]:
        where, names = ("method", "price"), [model.model for model in models]
        beside = next((m.model for m in models if m.counted_in or m.model == PROFIT), None)
        whole = next((name for name in names if name in COMPARED | OF_RELEASE), None)
        if whole is not None:
            does = "compares classes with" if whole in COMPARED else "is a share of"
            yield Refusal(
                where,
                f"{whole} {does} what is published, so no record is left out for the loss of its"
                " class",
                "remove price",
            )
        elif beside is not None:
            yield Refusal(
                where,
                f"beside {beside} no record is left out for the loss of its class",
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
