"""Models over all classes of a release together, by their sizes alone.

`sizes` is a relation (size, classes): how many classes have so many records. The average risk is
that of a reader who knows that a person is in the table (prosecutor), over its records.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from pydantic import Field
from sqlglot import exp

from pganon.privacy.base import Judged, Model, ShareModel, share
from pganon.privacy.declaration import MeasuredModel
from pganon.privacy.rows import Relation
from pganon.sqltools import col, fragment, num, query


class ReleaseModel(ShareModel, ABC):
    """An upper bound on a share of the whole release; no class satisfies it by itself."""

    judged: ClassVar[Judged] = Judged.PEOPLE
    from_histogram: ClassVar[bool] = False
    needs_values: ClassVar[bool] = False

    @abstractmethod
    def part(self, size: exp.Expr) -> exp.Expr:
        """What a class of this size adds to the share, in records."""

    def aggregate(self, rows: str) -> exp.Expr:
        """The measure of the release, as an aggregate over the rows (size, classes) of `rows`."""
        size, classes = col("size", rows), col("classes", rows)
        return share(
            fragment("sum(:part * :classes)", part=self.part(size), classes=classes),
            fragment("sum(:size * :classes)", size=size.copy(), classes=classes.copy()),
        )

    def measure(
        self, histogram: Relation, by: Sequence[str], reference: Relation | None = None
    ) -> exp.Select:
        """SELECT `measure`: one row, of all groups together."""
        return query(
            "select :m as measure from z", {"z": sizes(histogram, by)}, m=self.aggregate("z")
        )


def sizes(histogram: Relation, by: Sequence[str]) -> exp.Select:
    """SELECT size, classes of the groups of a histogram."""
    keys = [col(name, "h") for name in by]
    each = query("select sum(h.n)::bigint as size from h", {"h": histogram}).group_by(*keys)
    return query("select g.size, count(*) as classes from g group by g.size", {"g": each})


@dataclass(frozen=True)
class AverageRisk(ReleaseModel):
    """The mean of 1 / |E| over all records, which is classes / records, is at most `risk`.

    Says nothing of the record at the highest risk, which may be alone.
    """

    risk: float
    name: ClassVar[str] = "average_risk"
    symbol: ClassVar[str] = "risk"
    said: ClassVar[str] = (
        "Who knows {known} of a person picks the right record of the group with a chance of at"
        " most {percent}, on average over all people."
    )

    def part(self, size: exp.Expr) -> exp.Expr:
        return num(1)


class RecordsBelow(ReleaseModel, ABC):
    """At most a share of all records are in classes of fewer than `least`."""

    symbol: ClassVar[str] = "share"

    @property
    @abstractmethod
    def least(self) -> int:
        """Fewest records of a class that is large enough."""

    def part(self, size: exp.Expr) -> exp.Expr:
        return fragment(
            "case when :n < :least then :n else 0 end", n=size.copy(), least=num(self.least)
        )


@dataclass(frozen=True)
class AboveHighest(Model, ABC):
    """At most the share `share_of_records` of all records have a risk above `highest`.

    The risk is one by the number of those among whom a reader picks: records, or people.
    """

    share_of_records: float
    highest: float
    name: ClassVar[str] = "average_risk"
    symbol: ClassVar[str] = "share"

    @property
    def parameter(self) -> float:
        return self.share_of_records

    @property
    def parameters(self) -> dict[str, object]:
        return {"highest": self.highest, "share": self.share_of_records}

    @property
    def label(self) -> str:
        return f"{self.name} highest = {self.highest:g}, share = {self.share_of_records:g}"

    @property
    def least(self) -> int:
        """Fewest of those with a risk that is not above `highest`; of the decimal."""
        return math.ceil(1 / Fraction(str(self.highest)))


@dataclass(frozen=True)
class RecordsAtRisk(AboveHighest, RecordsBelow):
    """The same of the risk 1 / |E|."""

    def sentence(self, known: str, column: str) -> str:
        return (
            f"At most {100 * self.parameter:.3g} % of the people look like fewer than"
            f" {self.least - 1} others of the release in {known}."
        )


class SampleUniqueness(MeasuredModel, RecordsBelow):
    """Few records are alone in their class."""

    said: ClassVar[str] = (
        "At most {percent} of the people look like nobody else of the release in {known}."
    )

    model: Literal["sample_uniqueness"]
    share: Annotated[float, Field(ge=0, lt=1)]

    @property
    def least(self) -> int:
        return 2
