"""Models over the number of records per sensitive value in a group.

All of them count records, so they say nothing about persons with several records, and none
protects against an adversary who already knows sensitive values of other members of a group.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sqlglot import exp

from pganon.plan.sqltools import col, fragment, query
from pganon.privacy.base import Bound, Model, Relation, aliased, grouped


@dataclass(frozen=True)
class KAnonymity(Model):
    """Every group has at least k records (Samarati 2001, Sweeney 2002).

    Does not protect sensitive values: a group may have only one.
    """

    k: int
    name: ClassVar[str] = "k_anonymity"
    symbol: ClassVar[str] = "k"

    @property
    def parameter(self) -> float:
        return self.k

    @property
    def minimum_size(self) -> int:
        return self.k

    @property
    def needs_values(self) -> bool:
        return False

    def aggregate(self, rows: str) -> exp.Expr:
        return fragment("sum(:n)::bigint", n=col("n", rows))


@dataclass(frozen=True)
class DistinctLDiversity(Model):
    """Every group has at least l distinct sensitive values (Machanavajjhala et al. 2007).

    A value may still be far more frequent than the others.
    """

    l: int  # noqa: E741 - the literature's name
    name: ClassVar[str] = "distinct_l_diversity"
    symbol: ClassVar[str] = "l"

    @property
    def parameter(self) -> float:
        return self.l

    @property
    def minimum_size(self) -> int:
        return self.l

    @property
    def counts_distinct(self) -> bool:
        return True

    def aggregate(self, rows: str) -> exp.Expr:
        return fragment("count(*)")


@dataclass(frozen=True)
class EntropyLDiversity(Model):
    """The entropy of the sensitive values of every group is at least ln l.

    Measured as exp(entropy), the effective number of values, so that it compares with l
    (Machanavajjhala et al. 2007, definition 4.1).
    """

    l: float  # noqa: E741 - the literature's name
    name: ClassVar[str] = "entropy_l_diversity"
    symbol: ClassVar[str] = "l"

    @property
    def parameter(self) -> float:
        return float(self.l)  # a whole l is compared with tolerance, too

    @property
    def minimum_size(self) -> int:
        return math.ceil(self.l - 1e-9)

    def aggregate(self, rows: str) -> exp.Expr:
        return fragment(
            "exp(ln(sum(:n)::float8) - sum(:n * ln(:n::float8)) / sum(:n)::float8)",
            n=col("n", rows),
        )


@dataclass(frozen=True)
class TCloseness(Model):
    """The distribution of every group is within distance t of the table's (Li et al. 2007).

    distance "equal": all values equally far apart, half the sum of absolute differences.
    distance "ordered": earth mover's distance over the order of the values, neighbours being
    1 / (m - 1) apart.
    """

    t: float
    distance: str = "equal"
    name: ClassVar[str] = "t_closeness"
    symbol: ClassVar[str] = "t"
    bound: ClassVar[Bound] = Bound.AT_MOST

    @property
    def parameter(self) -> float:
        return float(self.t)

    @property
    def label(self) -> str:
        return f"{self.name} t = {self.t:g} ({self.distance} distance)"

    @property
    def needs_reference(self) -> bool:
        return True

    def aggregate(self, rows: str) -> exp.Expr:
        # The positive differences add up to half of all absolute ones, and only values that
        # occur in the group can be positive, so no grid of all values is needed.
        return fragment(
            "sum(greatest(:n::float8 / :total - :share, 0))",
            n=col("n", rows),
            total=col("total", rows),
            share=col("share", rows),
        )

    def measure(
        self, histogram: Relation, by: Sequence[str], reference: Relation | None = None
    ) -> exp.Select:
        if self.distance == "equal":
            return super().measure(histogram, by, reference)
        if reference is None:
            raise ValueError("t-closeness needs the distribution of the table")
        return self._ordered(histogram, by, reference)

    def _ordered(self, histogram: Relation, by: Sequence[str], reference: Relation) -> exp.Select:
        sizes = grouped(query("select sum(h.n)::float8 as total from h", {"h": histogram}), by, "h")
        match = [exp.EQ(this=col(name, "h"), expression=col(name, "g")) for name in by]
        keys = [col(name, "g") for name in by]
        differences = query(
            "select r.position, coalesce(h.n, 0) / g.total - r.share as difference"
            " from g cross join r",
            {"g": sizes, "r": reference},
        ).select(*keys)
        differences = differences.join(
            aliased(histogram, "h"),
            on=exp.and_(
                *match,
                exp.EQ(this=col("value", "h"), expression=col("value", "r")),
            ),
            join_type="left",
        )
        running = exp.Window(
            this=exp.Sum(this=col("difference", "d")),
            partition_by=[col(name, "d") for name in by],
            order=exp.Order(expressions=[exp.Ordered(this=col("position", "d"))]),
        )
        cumulative = (
            exp.select(*[col(name, "d") for name in by])
            .select(exp.alias_(running, "moved", quoted=True))
            .from_(differences.subquery("d"))
        )
        tree = query(
            "select sum(abs(m.moved)) / greatest(count(*) - 1, 1) as measure from m",
            {"m": cumulative},
        )
        return grouped(tree, by, "m")
