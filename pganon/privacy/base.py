"""Privacy models as predicates over a histogram of the groups of a release.

A histogram is a relation with the grouping columns, `value` (a key for a sensitive value; never
NULL, so its builder gives NULL a separate key) and `n` (number of records, > 0), one row per group
and value. A model
measures every group of it in one SELECT and says when a measure satisfies its parameter.
Partitioning, feasibility, verification and `verify()` all use the same class.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields
from enum import StrEnum
from fractions import Fraction
from typing import Any, Self, cast

from sqlglot import exp

from pganon.privacy.rows import Relation, class_rows, grouped
from pganon.sqltools import col, fragment, named, num, query


class Judged(StrEnum):
    """The part of a group that a model depends on, so that its people may be suppressed for it.

    PEOPLE: the number of people.
    MOST: how many of them have a value at most.
    EXTREMES: how many have it at most and at least.
    VALUES: the different values that they have.
    RECORDS: the values that they have, with their frequencies.
    COMBINATIONS: the combinations of their own values.
    NOTHING: quasi-identifiers alone, or one version alone.
    """

    PEOPLE = "people"
    MOST = "most"
    EXTREMES = "extremes"
    VALUES = "values"
    RECORDS = "records"
    COMBINATIONS = "combinations"
    NOTHING = "nothing"


HOLDS, FINER, VOID = "holds", "finer", "void"
"""Whether a guarantee holds beside other versions: as it is, only for readers without a finer one,
or not at all."""

ONE_VERSION = "readers of one version"

ALL_VERSIONS = "readers of all versions, who know who was in which group of every one"

KEPT_SETS = (
    "readers who know who was in which group of every version, and hold no value of a group for"
    " likelier than another"
)
"""Instead, of people who keep their signatures."""

KEPT_VECTORS = (
    "readers who know who was in which group of every version, and which values of different"
    " columns go together, and hold nothing that somebody of a group may have in all columns for"
    " likelier than another"
)
"""The same for several sensitive columns."""


def over_finer(k: int) -> str:
    """Instead of these, where this version can be computed from a finer one, which guarantees k."""
    return (
        "readers of this and coarser versions; who has the finer one that this follows from has its"
        f" bounds: k = {k}"
    )


TOLERANCE = 1e-12
"""Relative slack of comparisons: covers the rounding of float8 sums, and no real difference.

The smallest difference between two distinct entropies or distances of groups of up to 100,000
records is far above it."""


class Bound(StrEnum):
    """Whether the parameter bounds the measure of every group from below or above."""

    AT_LEAST = ">="
    AT_MOST = "<="


def from_below(operator: str) -> bool:
    """Whether a requirement with this operator (`>=`, `>`, `<=`, `<`) is a lower bound."""
    return operator.startswith(">")


class Model(ABC):
    """A privacy model with its parameter."""

    name = ""
    bound = Bound.AT_LEAST
    strict = False
    """Whether a measure equal to the parameter violates the model."""
    merging_keeps = True
    """Whether two groups that satisfy the model satisfy it as one group, too. One group of all
    records is then the best result. What it violates is refused before any search; otherwise
    verification alone decides."""
    needs_values = True
    """Whether the histogram must distinguish sensitive values."""
    counts_distinct = False
    """Whether the measure is the number of distinct values, whatever their frequency."""
    needs_reference = False
    """Whether groups are compared with the distribution of the whole table."""
    exact = False
    """Whether measures have no rounding error, so that they are compared as they are."""
    from_histogram = True
    """Whether it is measured from a histogram. If not, the form of a release measures it, and parts
    that read histograms skip it."""
    judged = Judged.NOTHING
    """The part that it depends on of individuals who share their groups in several versions."""
    tolerance = TOLERANCE
    """Relative slack of comparisons, of a parameter below 1 absolute where it bounds from above."""

    symbol = "k"
    """What a policy calls the parameter."""
    said = "Every group satisfies {model.label}{about}."
    """See :meth:`sentence`; `others` is the parameter less one, `percent` its percentage."""

    @property
    def parameter(self) -> float:
        """The required value of the measure."""
        return getattr(self, self.symbol)

    @property
    def parameters(self) -> dict[str, object]:
        """All parameters by the names that a policy uses."""
        return {self.symbol: self.parameter}

    @property
    def label(self) -> str:
        """Name and parameter as people write them."""
        return f"{self.name} {self.symbol} = {self.parameter:g}"

    @classmethod
    def of(cls, *parameters: Any, **named: Any) -> Self:
        """The measure with these parameters, in the order of the fields."""
        return cls(*parameters, **named)

    @classmethod
    def needed(cls) -> list[str]:
        """Names of the parameters that have no default."""
        return [one.name for one in fields(cast(Any, cls)) if one.default is MISSING]

    def sentence(self, known: str, column: str) -> str:
        """The condition for people who do not know the field.

        Args:
            known: the quasi-identifiers, as in "the columns age, sex and zip".
            column: the sensitive column, as in "the column diagnosis"; "" for a model of none.
        """
        about = f" in {column}" if column else ""
        percent = f"{100 * self.parameter:.3g} %"
        words = {"known": known, "column": column, "about": about, "percent": percent}
        return self.said.format(model=self, others=self.parameter - 1, **words)

    def most(self, share: float) -> float | None:
        """The largest share of a group that may have a value which `share` of all people have.

        None where the model sets no limit.
        """
        return None

    @property
    def minimum_size(self) -> int:
        """Fewest records that a group satisfying the model can have."""
        return 1

    @abstractmethod
    def aggregate(self, rows: str) -> exp.Expr:
        """The measure of one group, as an aggregate over its rows in the relation `rows`.

        A row is one value of the group: `value`, `n` (records) and, where they are read, `total`
        (records of the group), `share` and `position` (of the value in the reference; 0 where it
        does not occur there), `rank` (1 is the most frequent), `domain` (values that occur in the
        reference), `moved` and `places` (earth moved along the order of the values, and their
        number; see :mod:`pganon.privacy.rows`). Or it is a node of a hierarchy over the values,
        with `levels`; see :func:`pganon.privacy.rows.tree_rows`.
        """

    def measure(
        self, histogram: Relation, by: Sequence[str], reference: Relation | None = None
    ) -> exp.Select:
        """SELECT the columns `by` and `measure`, one row per group.

        Args:
            histogram: relation (by..., value, n).
            by: names of the grouping columns.
            reference: relation (value, position, share): all values with their order from 1 and
                their share in the table; required where :attr:`needs_reference`. With `path`,
                keys of a value and its ancestors, where `levels` are read.
        """
        aggregate = self.aggregate("g")
        read = {column.name for column in aggregate.find_all(exp.Column)}
        rows = class_rows(histogram, by, read, reference)
        tree = exp.select(named(aggregate, "measure"))
        tree = tree.from_(rows.subquery("g", copy=False), copy=False)
        return grouped(tree, by, "g")

    def holds(self, measure: exp.Expr) -> exp.Expr:
        """SQL condition: a group with this measure satisfies the model."""
        return self._compared(measure, exp.Literal.number(repr(self._limit_of(self.parameter))))

    def holds_for(self, measure: exp.Expr, parameter: exp.Expr) -> exp.Expr:
        """SQL condition: the measure satisfies the model with a parameter known to SQL alone."""
        if self.exact:
            return self._compared(measure, parameter)
        slack = exp.Literal.number(repr(self.tolerance))
        if self.bound is Bound.AT_LEAST:
            text = ":p * (1 - :slack)"
        else:
            sign = "-" if self.strict else "+"
            text = f":p {sign} :slack * greatest(1, :p)"
        return self._compared(measure, fragment(text, p=parameter, slack=slack))

    def _compared(self, measure: exp.Expr, limit: exp.Expr) -> exp.Expr:
        return fragment(f":m {self.comparison} :p", m=measure, p=limit)

    @property
    def comparison(self) -> str:
        """How a measure must compare with the parameter."""
        return self.bound.value.rstrip("=") if self.strict else self.bound.value

    def satisfied_by(self, measure: float) -> bool:
        """The same condition in Python, for a measure that was read back."""
        return self.satisfied_with(self.parameter, measure)

    def satisfied_with(self, parameter: float, measure: float) -> bool:
        """Whether the measure satisfies the model with another parameter."""
        limit = self._limit_of(parameter)
        if self.bound is Bound.AT_LEAST:
            return measure >= limit
        return measure < limit if self.strict else measure <= limit

    def _limit_of(self, parameter: float) -> float:
        if self.exact:
            return parameter
        if self.bound is Bound.AT_LEAST:
            return parameter * (1 - self.tolerance)
        slack = self.tolerance * max(1, parameter)
        return parameter - slack if self.strict else parameter + slack

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
        return tree.select(exp.alias_(value, "measured", quoted=True), copy=False)


class CountModel(Model):
    """A model with a lower bound on a number of records, individuals or values."""

    exact = True

    @property
    def minimum_size(self) -> int:
        return int(self.parameter)


def share(part: exp.Expr, whole: exp.Expr) -> exp.Expr:
    """numeric with 40 decimals."""
    one = exp.Literal.number(f"1.{'0' * 40}")
    return fragment(":part::numeric * :one / :whole::numeric", part=part, one=one, whole=whole)


class ShareModel(Model):
    """A model with an upper bound on a share of a group; equality satisfies.

    A bound is a decimal, or a fraction of decimals. A bound whose denominator has at most 17 digits
    and a share of up to 10^10 records differ by 10^-27 or not at all: truncated to 40 decimals,
    they compare as the fractions do. A share that was read back as a float may be on the other
    side of such a close bound: SQL decides whether a group satisfies the model.
    """

    bound = Bound.AT_MOST

    exact = True

    @property
    def limit(self) -> Fraction:
        """The parameter as it was meant: the float 0.1 is one tenth."""
        return Fraction(str(self.parameter))

    def holds(self, measure: exp.Expr) -> exp.Expr:
        limit = self.limit
        if limit == Fraction(str(self.parameter)):
            return super().holds(measure)
        return self._compared(measure, share(num(limit.numerator), num(limit.denominator)))

    def worst(self, measured: exp.Select) -> exp.Select:
        """The same, with `measured` in the digits that people read."""
        row = super().worst(measured)
        return query("select w.failing, w.measured::float8 as measured from w", {"w": row})


@dataclass(frozen=True)
class Requirement:
    """A model that a release must satisfy.

    Attributes:
        sensitive: index of the sensitive column it is about, None for models that count records.
        given: the model that therefore holds against readers who know that the value is not NULL,
            if the policy asks for it; see :mod:`pganon.privacy.requirements`.
    """

    model: Model
    sensitive: int | None = None
    column: str | None = None
    given: Model | None = None

    @property
    def label(self) -> str:
        about = f" on {self.column}" if self.column else ""
        return f"{self.model.label}{about}{self.known}"

    @property
    def known(self) -> str:
        """The model against readers who know that the value is not NULL, in parentheses."""
        if self.given is None:
            return ""
        return f" ({self.given.label.removeprefix(f'{self.given.name} ')} if it is not NULL)"

    @property
    def bounds_frequency(self) -> bool:
        """Whether it may help a group to leave out records of its most frequent values."""
        model = self.model
        compared = model.needs_reference or model.counts_distinct
        return self.sensitive is not None and not compared

    def declarable(self, measure: float) -> float:
        """The parameter of the policy that bounds this measure."""
        if self.given is None:
            return measure
        match self.model.symbol:
            case "l":
                return measure - 1
            case "alpha":
                return measure / (1 - measure) if measure < 1 else math.inf
            case _:
                return measure
