"""Options of the methods that hold against background knowledge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from pganon.methods.common.bucket_options import word
from pganon.policy.columns import Columns
from pganon.policy.options import (
    CLASS_ID,
    FLAT,
    UNPUBLISHED,
    UNSEEN,
    BlockSize,
    Encoding,
    MethodOptions,
)
from pganon.policy.refusals import Refusal, alternatives
from pganon.policy.tasks import Start

CLOSENESS = ("beta_likeness", "t_closeness")
"""Models that bound what the sensitive values of a class disclose, beside its size."""

KNOWLEDGE = "background_knowledge"


class Background(MethodOptions):
    """Base: classes of records about which a reader expects much the same."""

    roles = UNPUBLISHED | {"quasi_identifying", "sensitive", "insensitive"}
    grouped = "quasi_identifying"
    models = frozenset({"k_anonymity", *CLOSENESS, KNOWLEDGE})
    example = "{model: beta_likeness, column: disease, beta: 3}"
    adds = (CLASS_ID,)
    parts = (FLAT,)
    sensitive = "one"
    supports = frozenset({"reference"})

    @property
    def encoding(self) -> Encoding:
        return Encoding(codes_sensitive=True)

    def assumes(self, sensitive: int) -> tuple[str, ...]:
        return (UNSEEN,) if self.trims else ()

    @property
    def trims(self) -> bool:
        """Whether records are suppressed for their sensitive values alone."""
        return getattr(self, "lemma2", "drop") == "trim"

    def reference_refusals(self) -> Iterable[Refusal]:
        if self.trims:
            yield Refusal(
                ("publish", "reference"),
                "lemma2: trim suppresses records for their sensitive values, which the source's"
                " distribution would disclose",
                "write lemma2: drop, or remove it",
            )

    def key_refusals(self, columns: Columns, keys: Mapping[str, Any]) -> Iterable[Refusal]:
        """A column with a model may be unprotected: if it has one value, its class bounds none."""
        others = {key: value for key, value in keys.items() if key != "privacy"}
        return super().key_refusals(columns, others)

    def model_refusals(self, columns: Columns, models: Sequence[Any]) -> Iterable[Refusal]:
        named = [model.model for model in models]
        closeness = [name for name in CLOSENESS if name in self.models]
        if "k_anonymity" not in named:
            yield Refusal(
                ("privacy",),
                f"no model says how large the classes of the method {self.name} have to be",
                "add {model: k_anonymity, k: 5}",
            )
        if not set(named) & set(closeness):
            yield Refusal(
                ("privacy",),
                f"no model bounds what a class discloses of its sensitive values; use"
                f" {alternatives(closeness)}",
                "add {model: beta_likeness, column: .., beta: 3}",
            )
        # Models of which one is enough.
        for group in (("k_anonymity",), tuple(closeness), (KNOWLEDGE,)):
            places = [i for i, name in enumerate(named) if name in group]
            for place in places[1:]:
                one = alternatives(group)
                yield Refusal(
                    ("privacy", place),
                    f"there is {named[places[0]]} already; the method takes one of {one}",
                    "keep the stricter of the two",
                )
        for i, model in enumerate(models):
            if getattr(model, "distance", None) == "hierarchical":
                yield Refusal(
                    ("privacy", i, "distance"),
                    f"the method {self.name} cannot guarantee distance: hierarchical",
                    "use distance: equal, or ordered for numbers and dates",
                )
        if self.trims and "t_closeness" in named:
            yield Refusal(
                ("method", "lemma2"),
                "trim is for beta_likeness: under t_closeness no value is by itself too frequent",
                "write lemma2: drop",
            )


Unlike = Annotated[
    Literal["drop", "trim"], word("way to treat clusters of which not all can stay", "drop", "trim")
]


class BetaPrimacy(Background):
    """Classes drawn from buckets of values, so that every class is beta-like by construction."""

    models = frozenset({"k_anonymity", "beta_likeness", KNOWLEDGE})

    starts = (
        Start(
            task="background",
            page="how-to/protect-against-what-others-know.md",
            costs="wider classes, and more time; records that fit no class are left out",
            grows=False,
            about_all=(
                {"model": "k_anonymity", "k": 12},
                {"model": "background_knowledge", "j": 0.3, "knowledge": {"kernel": {}}},
            ),
            about_each=({"model": "beta_likeness", "beta": 3},),
            suppression_limit=0.1,
            keys={"on_infeasible": ("suppress", "leave out who fits no class, within the limit")},
        ),
    )

    name: Literal["beta_primacy"]
    lemma2: Unlike = "drop"
    division: Annotated[
        Literal["public", "eligible", "none"], word("way to divide", "public", "eligible", "none")
    ] = "public"
    select: Annotated[
        Literal["random", "sweep", "nearest"],
        word("way to select records", "random", "sweep", "nearest"),
    ] = "random"
    bucket_slack: Annotated[float, Field(ge=0, lt=1)] = 0.0

    def decides_by_values(self, *, bounded: bool) -> bool:
        return self.select != "random" or self.division == "eligible"


class Primacy(Background):
    """Base: classes of k similar records first, and then of those that violate the other model."""

    lemma2: Unlike = "drop"
    residual: Annotated[
        Literal["absorb", "suppress"], word("way to treat residuals", "absorb", "suppress")
    ] = "absorb"
    block_size: BlockSize = 1000

    @property
    def keeps_more(self) -> str | None:
        return "residual: absorb" if self.residual == "suppress" else None


class Incremental(Primacy):
    """Base: remaining records are put into classes one by one."""

    inc_pick: Annotated[
        Literal["aware", "nearest"], word("way to pick records", "aware", "nearest")
    ] = "aware"


class KInc(Incremental):
    """k-anonymity first, incremental completion (kInc_GE)."""

    name: Literal["kinc"]


class KAgg(Primacy):
    """k-anonymity first, agglomerative completion (kAgg_GE)."""

    name: Literal["kagg"]


class KIncMic(KInc):
    """The same classes, shown by means and modes (kInc_Mic)."""

    shows = "centre"
    parts = ()

    name: Literal["kinc_mic"]  # pyright: ignore[reportIncompatibleVariableOverride]


class KAggMic(KAgg):
    """The same with the sum of squared errors as cost, shown by means and modes (kAgg_Mic)."""

    shows = "centre"
    parts = ()

    name: Literal["kagg_mic"]  # pyright: ignore[reportIncompatibleVariableOverride]


class JsReduce(Background):
    """Classes along the Hilbert curve (Riboni, Pareschi and Bettini 2012): the baseline."""

    name: Literal["js_reduce"]
    block_size: BlockSize = 4000
