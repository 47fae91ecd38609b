"""Options of local generalization and bucketization."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from pganon.identifiers import MAX_BYTES, fits
from pganon.methods.common.bucket_options import SEPARATE_TABLES, word
from pganon.methods.local.local_names import bucket_column, form_column, values_part
from pganon.policy.columns import Columns, of_role
from pganon.policy.hierarchies import RANGED
from pganon.policy.labels import Name
from pganon.policy.options import (
    COUNT,
    FLAT,
    GROUP_ID,
    UNPUBLISHED,
    BlockSize,
    Encoding,
    MethodOptions,
)
from pganon.policy.refusals import Refusal, alternatives, nearest, show
from pganon.policy.tasks import DECIDE, Start
from pganon.policy.words import HIDDEN
from pganon.privacy import frequency
from pganon.privacy.base import Model

PRINCIPLES = ("local_bucket_diversity", "t_closeness")
"""Models of how well the hidden values of a column are unlinked."""

Split = Annotated[Literal["median", "none"], word("way to split values", "median", "none")]
AssignValues = Annotated[
    Literal["m_invariance", "deal"], word("way to assign values", "m_invariance", "deal")
]


class Local(MethodOptions):
    """Base: people decide which columns records show, and which they hide."""

    roles = UNPUBLISHED | {"quasi_identifying", "semi_sensitive", "sensitive", "insensitive"}
    grouped = "quasi_identifying"
    adds = (GROUP_ID, COUNT)
    parts = (FLAT,)
    sensitive = "hidden"

    @property
    def encoding(self) -> Encoding:
        return Encoding(codes_sensitive=True)

    def assumes(self, sensitive: int) -> tuple[str, ...]:
        return ("knows which columns the person hides", "knows no hidden value of anybody")

    def decides_by_values(self, *, bounded: bool) -> bool:
        return False  # groups depend on shown values only, buckets on hidden values only

    @property
    def withholds(self) -> bool:
        """Whether all values of a sensitive column may be withheld."""
        return False

    def key_refusals(self, columns: Columns, keys: Mapping[str, Any]) -> Iterable[Refusal]:
        """Other releases of the same people, whose buckets cannot be compared with these."""
        yield from super().key_refusals(columns, keys)
        republication = keys.get("republication")
        if republication in ("warn", "allow"):
            yield Refusal(
                ("republication",),
                f"the method {self.name} has no republication: {republication}: what its buckets"
                " and those of another release of the same people disclose together is not judged"
                " yet",
                "remove republication; a run with --dry-run is never refused for other releases",
            )

    def part_names(self, columns: Columns) -> tuple[str, ...]:
        return (FLAT, *[values_part(name) for name in _published(columns, HIDDEN)])

    def added_columns(self, columns: Columns) -> tuple[str, ...]:
        withheld = ("sensitive",) if self.withholds else ()
        return (
            GROUP_ID,
            COUNT,
            *[bucket_column(name) for name in _published(columns, HIDDEN)],
            *[form_column(name) for name in _published(columns, ("semi_sensitive", *withheld))],
        )

    def refusals(self, columns: Columns) -> Iterable[Refusal]:
        hidden = of_role(columns, *HIDDEN)
        for name in hidden:
            column = columns[name]
            assert column is not None
            longest = max(
                bucket_column(column.published_as or name), form_column(column.published_as or name)
            )
            if not fits(longest):
                yield Refusal(
                    ("columns", name),
                    f"the name {show(longest)} of the column with its buckets has more than"
                    f" {MAX_BYTES} bytes",
                    "shorten it with `as:`",
                )


class LocalGroups(Local):
    """Base: shown values are generalized in groups."""

    models = frozenset({"k_anonymity"})

    small_subsets: Annotated[
        Literal["apart", "merge"], word("way to treat small subsets", "apart", "merge")
    ] = "apart"

    def model_refusals(self, columns: Columns, models: Sequence[Any]) -> Iterable[Refusal]:
        yield from super().model_refusals(columns, models)
        if not any(model.model == "k_anonymity" for model in models):
            yield Refusal(
                ("privacy",),
                f"no model says how large the groups of the method {self.name} have to be",
                "add {model: k_anonymity, k: 5}",
            )


class LocalBuckets(Local):
    """Base: hidden values are in buckets."""

    models = frozenset(PRINCIPLES)
    example = "{model: local_bucket_diversity, column: disease, l: 3}"
    unlinks = True

    split: Split = "median"
    assign: AssignValues = "m_invariance"
    min_bucket_range: Mapping[Name, Annotated[float, Field(gt=0)]] = Field(default_factory=dict)
    ineligible: Annotated[
        Literal["refuse", "withhold"], word("word for ineligible", "refuse", "withhold")
    ] = "refuse"
    buckets: Annotated[
        Literal["independent", "aligned"], word("word for buckets", "independent", "aligned")
    ] = "independent"
    link_threshold: Annotated[float, Field(ge=0, le=1)] = 0.1

    @property
    def encoding(self) -> Encoding:
        return Encoding(codes_sensitive=True, numbers_by_value=True)

    def assumes(self, sensitive: int) -> tuple[str, ...]:
        separate = (SEPARATE_TABLES,) if sensitive > 1 else ()
        taught = "learns nothing from records that show a column about those that hide it"
        return (*separate, *super().assumes(sensitive), taught)

    def measures(self, model: Any) -> tuple[Model, ...]:
        if self.aligned and isinstance(model, frequency.LocalBucketDiversity):
            return (frequency.CommonBucketDiversity.of(model.l),)
        return super().measures(model)

    @property
    def aligned(self) -> bool:
        """Whether columns may have buckets in common, in which values may repeat."""
        return self.buckets == "aligned"

    @property
    def withholds(self) -> bool:
        return self.ineligible == "withhold"

    def refusals(self, columns: Columns) -> Iterable[Refusal]:
        yield from super().refusals(columns)
        hidden = of_role(columns, *HIDDEN)
        for name in self.min_bucket_range:
            at = ("method", "min_bucket_range", name)
            if name not in hidden:
                message = f"column {show(name)} has no buckets"
                yield Refusal(at, message, nearest(name, hidden))
            elif self.aligned:
                yield Refusal(
                    at,
                    "is for buckets of one column; buckets: aligned looks at no distance",
                    "remove it, or use buckets: independent",
                )

    def model_refusals(self, columns: Columns, models: Sequence[Any]) -> Iterable[Refusal]:
        """Refusals unless every column with hidden values has one principle."""
        yield from super().model_refusals(columns, models)
        by_column: dict[str, list[str]] = {}
        for i, model in enumerate(models):
            if model.model not in PRINCIPLES:
                continue
            by_column.setdefault(model.column, []).append(model.model)
            if len(by_column[model.column]) > 1:
                yield Refusal(
                    ("privacy", i),
                    f"column {show(model.column)} has {by_column[model.column][0]} already",
                    "keep one of them",
                )
            if getattr(model, "distance", None) == "hierarchical":
                yield Refusal(
                    ("privacy", i, "distance"),
                    f"the method {self.name} cannot guarantee distance: hierarchical",
                    "use distance: equal, or ordered for numbers and dates",
                )
            column = columns.get(model.column)
            if getattr(model, "distance", None) == "ordered" and column and _rearranged(column):
                yield Refusal(
                    ("privacy", i, "distance"),
                    f"distance: ordered takes values in their natural order, and column"
                    f" {show(model.column)} has another one",
                    "use distance: equal, or remove the order or hierarchy of the column",
                )
            if model.model == "t_closeness" and model.column in self.min_bucket_range:
                yield Refusal(
                    ("method", "min_bucket_range", model.column),
                    "is for buckets in which all values differ; t_closeness is about the column",
                    "remove it, or use local_bucket_diversity",
                )
        for name, column in columns.items():
            if column is not None and column.role in HIDDEN and name not in by_column:
                yield Refusal(
                    ("privacy",),
                    f"no model says how well values of {show(name)} are to be hidden; use"
                    f" {alternatives(PRINCIPLES)}",
                    f"add {{model: local_bucket_diversity, column: {name}, l: 3}}",
                )


def _rearranged(column: Any) -> bool:
    """Whether an order or a hierarchy rearranges the values of a semi-sensitive column."""
    by_value = isinstance(column.hierarchy, RANGED)
    return column.order is not None or (column.hierarchy is not None and not by_value)


def _published(columns: Columns, roles: Iterable[str]) -> list[str]:
    """Published names of the columns of these roles."""
    wanted = set(roles)
    return [c.published_as or name for name, c in columns.items() if c and c.role in wanted]


class LgbMdp(LocalGroups, LocalBuckets):
    """Groups by cuts at medians of the widest column (LGB_MDP)."""

    models = LocalGroups.models | LocalBuckets.models

    starts = (
        Start(
            task=DECIDE,
            page="how-to/let-people-decide-what-is-sensitive.md",
            costs="one release only; what is shown is generalized, what is hidden is in buckets",
            grows=False,
            about_all=({"model": "k_anonymity", "k": 12},),
            about_each=({"model": "local_bucket_diversity", "l": 2},),
        ),
    )

    name: Literal["lgb_mdp"]


class LgbNcp(LocalGroups, LocalBuckets):
    """Groups by top-down greedy division that keeps the loss low (LGB_NCP)."""

    models = LocalGroups.models | LocalBuckets.models

    name: Literal["lgb_ncp"]
    ncp_assign: Annotated[
        Literal["grow", "seeds"], word("way to divide cells", "grow", "seeds")
    ] = "grow"
    ncp_small: Annotated[
        Literal["fill", "stop"], word("way to treat a small side", "fill", "stop")
    ] = "fill"
    block_size: BlockSize = 20_000


class LocalBucketization(LocalBuckets):
    """Only buckets: shown values are published exactly, one group for equal records."""

    name: Literal["local_bucketization"]


class LocalGeneralization(LocalGroups):
    """Only groups, by cuts at medians: hidden values are published exactly, beside the group."""

    example = "{model: k_anonymity, k: 5}"

    name: Literal["local_generalization"]
