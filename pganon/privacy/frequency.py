"""Models over the number of records per sensitive value in a group.

All of them count records, so they say nothing about persons with several records, and none
protects against an adversary who already knows sensitive values of other members of a group.
Models that compare groups with the whole table are in :mod:`pganon.privacy.likeness`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, model_validator
from sqlglot import exp

from pganon.policy.refusals import known_word, refuse_one
from pganon.privacy.base import Bound, CountModel, Judged, Model, ShareModel, share
from pganon.privacy.declaration import MeasuredModel
from pganon.sqltools import col, fragment, num

AtLeastTwo = Annotated[int, Field(ge=2, le=2**31 - 1)]


class _Size(CountModel):
    needs_values: ClassVar[bool] = False

    def aggregate(self, rows: str) -> exp.Expr:
        return fragment("sum(:n)::bigint", n=col("n", rows))


class KAnonymity(MeasuredModel, _Size):
    """Every class holds at least k records."""

    # Samarati 2001, Sweeney 2002. Does not protect sensitive values: a class may have only one.

    judged: ClassVar[Judged] = Judged.PEOPLE
    said: ClassVar[str] = "Everybody looks like at least {others} others of the release in {known}."

    model: Literal["k_anonymity"]
    k: AtLeastTwo


@dataclass(frozen=True)
class RelativeFrequency(ShareModel):
    """No sensitive value has more than the share alpha of a group's records.

    With k-anonymity this is (alpha, k)-anonymity in its general form, for every value of the
    column (Wong et al. 2006, definition 3); equality satisfies. Bounds what a reader learns about
    a member from a group alone. Does not bound the gain relative to the rest of the table: a
    share of alpha may be many times the table's.
    """

    alpha: float | Fraction
    name: ClassVar[str] = "alpha_k_anonymity"
    judged: ClassVar[Judged] = Judged.MOST
    symbol: ClassVar[str] = "alpha"
    said: ClassVar[str] = "In no group do more than {percent} have the same value in {column}."

    @property
    def parameter(self) -> float:
        return float(self.alpha)

    def most(self, share: float) -> float:
        return self.parameter

    @property
    def limit(self) -> Fraction:
        return self.alpha if isinstance(self.alpha, Fraction) else super().limit

    @property
    def minimum_size(self) -> int:
        return math.ceil(1 / self.limit)

    def aggregate(self, rows: str) -> exp.Expr:
        n = col("n", rows)
        return share(fragment("max(:n)", n=n), fragment("sum(:n)", n=n))


class DistinctLDiversity(MeasuredModel, CountModel):
    """Every class holds at least l different values of the column."""

    # Machanavajjhala et al. 2007. A value may still be far more frequent than the others.

    conditional = True
    judged: ClassVar[Judged] = Judged.VALUES
    symbol: ClassVar[str] = "l"
    counts_distinct: ClassVar[bool] = True
    said: ClassVar[str] = "Every group has at least {model.l} different values in {column}."

    model: Literal["distinct_l_diversity"]
    column: str
    l: AtLeastTwo  # noqa: E741 (the field's own letter)

    def aggregate(self, rows: str) -> exp.Expr:
        return fragment("count(*)")


class EntropyLDiversity(MeasuredModel):
    """In every class the entropy of the column is at least log(l)."""

    # Measured as exp(entropy), the effective number of values, so that it compares with l
    # (Machanavajjhala et al. 2007, definition 4.1). A whole l is compared with tolerance, too.

    conditional = True
    judged: ClassVar[Judged] = Judged.RECORDS
    symbol: ClassVar[str] = "l"
    said: ClassVar[str] = (
        "The values of every group in {column} are at least as mixed as {model.l:g} values that"
        " are equally common."
    )

    model: Literal["entropy_l_diversity"]
    column: str
    l: Annotated[float, Field(ge=2, le=2**31 - 1)]  # noqa: E741

    @property
    def minimum_size(self) -> int:
        return math.ceil(self.l - 1e-9)

    def aggregate(self, rows: str) -> exp.Expr:
        return fragment(
            "exp(ln(sum(:n)::float8) - sum(:n * ln(:n::float8)) / sum(:n)::float8)",
            n=col("n", rows),
        )


class RecursiveCLDiversity(MeasuredModel):
    """In every class the most frequent value is rarer than c times the l-th and all rarer ones."""

    # r1 < c * (r_l + ... + r_m), the counts of a group's m values by descending frequency. So the
    # most frequent value is not too frequent even if a reader rules out l - 2 of the others
    # (Machanavajjhala et al. 2007, definition 4.2; strict). Measured as the ratio of both sides:
    # the group has (c, l)-diversity for every c above it, and for none where it has fewer than l
    # values (infinite). Does not compare a group with the table, and a rare value may be in every
    # record that remains when the others are ruled out.

    conditional = True
    judged: ClassVar[Judged] = Judged.RECORDS
    symbol: ClassVar[str] = "c"
    bound: ClassVar[Bound] = Bound.AT_MOST
    strict: ClassVar[bool] = True
    said: ClassVar[str] = (
        "In every group the most common value in {column} has less than {model.c:g} times as"
        " many people as the values from the {model.l}. place on together."
    )

    model: Literal["recursive_cl_diversity"]
    column: str
    c: Annotated[float, Field(gt=0, le=1e9)]
    l: AtLeastTwo  # noqa: E741

    def most(self, share: float) -> float | None:
        # The values from the l-th on are at most all others.
        return self.c / (1 + self.c) if self.l > 1 else None

    @property
    def label(self) -> str:
        return f"{self.name} c = {self.c:g}, l = {self.l}"

    @property
    def minimum_size(self) -> int:
        return self.l

    def aggregate(self, rows: str) -> exp.Expr:
        n = col("n", rows)
        if self.l == 1:
            tail = fragment("sum(:n)", n=n)
        elif self.l == 2:  # no order needed
            tail = fragment("sum(:n) - max(:n)", n=n)
        else:
            tail = self.tail(rows, num(self.l))
        return self.ratio(rows, tail)

    @staticmethod
    def tail(rows: str, l: exp.Expr) -> exp.Expr:  # noqa: E741 - the literature's name
        """r_l + ... + r_m, for any l."""
        return fragment(
            "sum(:n) filter (where :rank >= :l)", n=col("n", rows), rank=col("rank", rows), l=l
        )

    @staticmethod
    def ratio(rows: str, tail: exp.Expr) -> exp.Expr:
        return fragment(
            "coalesce(max(:n)::float8 / nullif((:tail)::float8, 0), 'Infinity'::float8)",
            n=col("n", rows),
            tail=tail,
        )


class FrequencyLDiversity(MeasuredModel):
    """At most 1/l of a group's records have the same value (frequency l-diversity).

    Equals Deg(P) >= l, the privacy degree of anatomy and slicing (Xiao and Tao 2006). At level
    `unique` all values of a group are also different. Bounds the posterior of a reader who knows
    only the victim's group. Does not protect against readers who can exclude values for the victim.
    """

    judged: ClassVar[Judged] = Judged.MOST
    symbol: ClassVar[str] = "l"

    if TYPE_CHECKING:  # a field of every subclass
        l: int  # noqa: E741

    @property
    def measured_level(self) -> str:
        """The level of a policy, for models that have one."""
        return getattr(self, "level", "unique")

    @property
    def parameters(self) -> dict[str, object]:
        return {"l": self.l, "level": self.measured_level}

    @property
    def minimum_size(self) -> int:
        return self.l

    def sentence(self, known: str, column: str) -> str:
        one = column and self.measured_level != "tuple"
        values = f"the same value in {column}" if one else "the same values"
        return f"In every group or bucket at most 1 in {self.l} has {values}."

    def most(self, share: float) -> float | None:
        return None if self.measured_level == "tuple" else 1 / self.l

    def aggregate(self, rows: str) -> exp.Expr:
        degree = fragment("sum(:n)::float8 / max(:n)::float8", n=col("n", rows))
        if self.measured_level != "unique":
            return degree
        # A value that repeats leaves no degree at all.
        return fragment("case when max(:n) > 1 then 1 else :d end", n=col("n", rows), d=degree)


class AnatomyLDiversity(FrequencyLDiversity):
    """In every group at most 1/l of the records have the same value of the column."""

    conditional = True

    model: Literal["anatomy_l_diversity"]
    column: str
    l: AtLeastTwo  # noqa: E741
    level: Annotated[Literal["attribute", "unique"], known_word("level of anatomy_l_diversity")] = (
        "attribute"
    )


class SlicingLDiversity(FrequencyLDiversity):
    """In every bucket at most 1/l of the records have the same value.

    Of a sensitive column, of every sensitive column where none is named, or (level: tuple) of the
    values of a sensitive table taken together.
    """

    # At level tuple no single column is bounded: all vectors of a bucket may differ and share their
    # diagnosis.

    conditional = True

    model: Literal["slicing_l_diversity"]
    column: str | None = None
    l: AtLeastTwo  # noqa: E741
    level: Annotated[
        Literal["attribute", "tuple", "unique"], known_word("level of slicing_l_diversity")
    ] = "attribute"
    min_size: Annotated[int, Field(ge=1, le=2**31 - 1)] = 1

    @model_validator(mode="after")
    def _level_of_tables(self) -> SlicingLDiversity:
        if self.column is not None and self.level == "tuple":
            refuse_one(
                "level: tuple is about whole sensitive tables, not about one column",
                at=("column",),
                suggestion="remove column, or write level: attribute",
            )
        return self

    @property
    def about_each(self) -> bool:
        return self.column is None and self.level != "tuple"

    def measures(self) -> tuple[Model, ...]:
        values = self.of(self.l, self.level)
        return (values, BucketSize(self.min_size)) if self.min_size > 1 else (values,)


class LocalBucketDiversity(FrequencyLDiversity):
    """Every bucket of the column holds l or more values, none of them twice.

    In buckets that several columns have in common values may repeat; then at most 1/l of a bucket's
    records have the same one. The column is sensitive, or semi-sensitive: then its buckets hold the
    values that are hidden.
    """

    # Li, He and Sun, corollary 2. Does not bound what is learned by who knows the value of another
    # member of a bucket.

    model: Literal["local_bucket_diversity"]
    column: str
    l: AtLeastTwo  # noqa: E741


class CommonBucketDiversity(LocalBucketDiversity):
    """The same in buckets that several columns have in common."""

    @property
    def measured_level(self) -> str:
        return "attribute"


@dataclass(frozen=True)
class BucketSize(_Size):
    """Every bucket has at least k records. Not k-anonymity, which is about quasi-identifiers."""

    k: int
    name: ClassVar[str] = "bucket_size"
    said: ClassVar[str] = "Every bucket has at least {model.k} records."
