"""Privacy models as predicates over a histogram of the groups of a release.

A histogram is a relation with the grouping columns, `value` (a key for a sensitive value; never
NULL, so who builds it gives the NULL value a key of its own) and `n` (number of records, > 0), one
row per group and value. A model
measures every group of it in one SELECT and says when a measure satisfies its parameter.
Partitioning, feasibility, verification and `verify()` all use the same class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlglot import exp

from pganon.identifiers import QualifiedName
from pganon.plan.sqltools import col, fragment, named, query

TOLERANCE = 1e-12
"""Relative slack of comparisons: covers the rounding of float8 sums, and no real difference.

The smallest difference between two distinct entropies or distances of groups of up to 100,000
records is far above it."""

Relation = QualifiedName | exp.Select


class Bound(StrEnum):
    """Whether the parameter bounds the measure of every group from below or above."""

    AT_LEAST = ">="
    AT_MOST = "<="


@dataclass(frozen=True)
class Model(ABC):
    """A privacy model with its parameter."""

    name = ""
    bound = Bound.AT_LEAST

    @property
    @abstractmethod
    def parameter(self) -> float:
        """The required value of the measure."""

    @property
    def label(self) -> str:
        """Name and parameter as people write them."""
        return f"{self.name} {self.symbol} = {self.parameter:g}"

    symbol = "k"

    @property
    def minimum_size(self) -> int:
        """Fewest records that a group satisfying the model can have."""
        return 1

    @property
    def needs_values(self) -> bool:
        """Whether the histogram must tell sensitive values apart."""
        return True

    @property
    def counts_distinct(self) -> bool:
        """Whether the measure is the number of distinct values, whatever their frequency."""
        return False

    @property
    def needs_reference(self) -> bool:
        """Whether groups are compared with the distribution of the whole table."""
        return False

    @property
    def needs_total(self) -> bool:
        """Whether the aggregate reads the number of records of the group."""
        return self.needs_reference

    @property
    def needs_rank(self) -> bool:
        """Whether the aggregate reads the rank of a value by falling frequency in its group."""
        return False

    @abstractmethod
    def aggregate(self, rows: str) -> exp.Expr:
        """The measure of one group, as an aggregate over its rows in the relation `rows`.

        A row is one value of the group: `value`, `n` (records) and, where the model says it needs
        them, `total` (records of the group), `share` and `position` (of the value in the
        reference; 0 where it does not occur there) and `rank` (1 is the most frequent). Several
        models that read the same rows can so be measured in one pass.
        """

    def measure(
        self, histogram: Relation, by: Sequence[str], reference: Relation | None = None
    ) -> exp.Select:
        """SELECT the columns `by` and `measure`, one row per group.

        Args:
            histogram: relation (by..., value, n).
            by: names of the grouping columns.
            reference: relation (value, position, share): all values with their order from 1 and
                their share in the table; required where :attr:`needs_reference`.
        """
        rows = class_rows(histogram, by, [self], reference)
        tree = exp.select(named(self.aggregate("g"), "measure")).from_(rows.subquery("g"))
        return grouped(tree, by, "g")

    def holds(self, measure: exp.Expr) -> exp.Expr:
        """SQL condition: a group with this measure satisfies the model."""
        text = ":m >= :p" if self.bound is Bound.AT_LEAST else ":m <= :p"
        return fragment(text, m=measure, p=exp.Literal.number(repr(self._limit)))

    def satisfied_by(self, measure: float) -> bool:
        """The same condition in Python, for a measure that was read back."""
        if self.bound is Bound.AT_LEAST:
            return measure >= self._limit
        return measure <= self._limit

    @property
    def _limit(self) -> float:
        if isinstance(self.parameter, int):
            return self.parameter
        if self.bound is Bound.AT_LEAST:
            return self.parameter * (1 - TOLERANCE)
        return self.parameter + TOLERANCE

    def worst(self, measured: exp.Select) -> exp.Select:
        """SELECT `measured` (worst group's measure) and `failing` (groups that do not satisfy)."""
        measure = col("measure", "groups")
        extreme = "min" if self.bound is Bound.AT_LEAST else "max"
        tree = query(
            "select count(*) filter (where not :holds) as failing from groups",
            {"groups": measured},
            holds=self.holds(measure),
        )
        value = exp.func(extreme, measure.copy())
        return tree.select(exp.alias_(value, "measured", quoted=True))


@dataclass(frozen=True)
class Requirement:
    """A model that a release must satisfy.

    Attributes:
        sensitive: index of the sensitive column it is about, None for models that count records.
    """

    model: Model
    sensitive: int | None = None
    column: str | None = None

    @property
    def label(self) -> str:
        return f"{self.model.label} on {self.column}" if self.column else self.model.label


def class_rows(
    histogram: Relation,
    by: Sequence[str],
    models: Sequence[Model],
    reference: Relation | None = None,
) -> exp.Select:
    """The histogram with the further columns that :meth:`Model.aggregate` of `models` reads."""
    tree = query("select h.value, h.n from h", {"h": histogram}).select(
        *[col(name, "h") for name in by]
    )
    if any(model.needs_total for model in models):
        tree = tree.select(named(_over(exp.Sum(this=col("n", "h")), by), "total"))
    if any(model.needs_rank for model in models):
        falling = exp.Order(
            expressions=[
                exp.Ordered(this=col("n", "h"), desc=True),
                exp.Ordered(this=col("value", "h")),
            ]
        )
        tree = tree.select(named(_over(exp.RowNumber(), by, falling), "rank"))
    if any(model.needs_reference for model in models):
        if reference is None:
            raise ValueError("the model needs the distribution of the table")
        tree = tree.select(
            named(fragment("coalesce(r.share, 0)"), "share"),
            named(fragment("coalesce(r.position, 0)"), "position"),
        )
        tree = tree.join(
            aliased(reference, "r"),
            on=exp.EQ(this=col("value", "r"), expression=col("value", "h")),
            join_type="left",
        )
    return tree


def _over(function: exp.Expr, by: Sequence[str], order: exp.Order | None = None) -> exp.Expr:
    return exp.Window(this=function, partition_by=[col(name, "h") for name in by], order=order)


def aliased(relation: Relation, alias: str) -> exp.Expr:
    """The relation as a FROM item of that name."""
    if isinstance(relation, exp.Select):
        return relation.copy().subquery(alias)
    return exp.alias_(relation.table, alias, table=True, quoted=True)


def grouped(select: exp.Select, by: Sequence[str], table: str) -> exp.Select:
    """`select` with the columns `by` of `table` in front and grouped by them."""
    columns = [col(name, table) for name in by]
    tree = select.select(*columns)
    return tree.group_by(*[column.copy() for column in columns]) if columns else tree
