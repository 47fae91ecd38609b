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

from pganon.plan.sqltools import col, query
from pganon.privacy.base import Bound, Model, Relation, grouped


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

    def measure(
        self, histogram: Relation, by: Sequence[str], reference: Relation | None = None
    ) -> exp.Select:
        tree = query("select sum(h.n)::bigint as measure from h", {"h": histogram})
        return grouped(tree, by, "h")


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

    def measure(
        self, histogram: Relation, by: Sequence[str], reference: Relation | None = None
    ) -> exp.Select:
        return grouped(query("select count(*) as measure from h", {"h": histogram}), by, "h")


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
        return self.l

    @property
    def minimum_size(self) -> int:
        return math.ceil(self.l - 1e-9)

    def measure(
        self, histogram: Relation, by: Sequence[str], reference: Relation | None = None
    ) -> exp.Select:
        tree = query(
            "select exp(ln(sum(h.n)::float8) - sum(h.n * ln(h.n::float8)) / sum(h.n)::float8)"
            " as measure from h",
            {"h": histogram},
        )
        return grouped(tree, by, "h")


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
        return self.t

    @property
    def label(self) -> str:
        return f"{self.name} t = {self.t:g} ({self.distance} distance)"

    @property
    def needs_reference(self) -> bool:
        return True

    def measure(
        self, histogram: Relation, by: Sequence[str], reference: Relation | None = None
    ) -> exp.Select:
        if reference is None:
            raise ValueError("t-closeness needs the distribution of the table")
        if self.distance == "equal":
            return self._equal(histogram, by, reference)
        return self._ordered(histogram, by, reference)

    def _equal(self, histogram: Relation, by: Sequence[str], reference: Relation) -> exp.Select:
        # The positive differences add up to half of all absolute ones, and only values that
        # occur in the group can be positive, so no grid of all values is needed.
        shares = query("select h.value, h.n from h", {"h": histogram}).select(
            *[col(name, "h") for name in by], _share(by)
        )
        tree = query(
            "select sum(greatest(g.share - coalesce(r.share, 0), 0)) as measure"
            " from g left join r on r.value = g.value",
            {"g": shares, "r": reference},
        )
        return grouped(tree, by, "g")

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
            _aliased(histogram, "h"),
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


def _share(by: Sequence[str]) -> exp.Expr:
    size = exp.Window(
        this=exp.Sum(this=col("n", "h")), partition_by=[col(name, "h") for name in by]
    )
    share = exp.Div(this=exp.cast(col("n", "h"), "double precision"), expression=size)
    return exp.alias_(share, "share", quoted=True)


def _aliased(relation: Relation, alias: str) -> exp.Expr:
    if isinstance(relation, exp.Select):
        return relation.copy().subquery(alias)
    return exp.alias_(relation.table, alias, table=True, quoted=True)
