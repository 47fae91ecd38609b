"""Whether it pays to publish a record, when readers attack where that pays for them.

A record of a class brings its benefit as far as its class says something, and costs the loss where
an attack on it pays. After Wan et al., A game theoretic framework for analyzing re-identification
risk, PLoS ONE 2015, as ARX has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sqlglot import exp

from pganon.privacy.base import Judged, Model
from pganon.privacy.population import PopulationModel
from pganon.privacy.rows import Relation
from pganon.sqltools import col, fragment, query


@dataclass(frozen=True)
class Profitability(Model):
    """In every class, benefit (1 - ncp) - loss / s is above 0; without loss / s where gain / s is
    at most the cost. s is the number of records among whom a reader picks."""

    gain: float
    cost: float
    loss: float
    benefit: float
    name: ClassVar[str] = "profitability"
    symbol: ClassVar[str] = "profit"
    strict: ClassVar[bool] = True
    merging_keeps: ClassVar[bool] = False
    from_histogram: ClassVar[bool] = False
    judged: ClassVar[Judged] = Judged.NOTHING
    among: ClassVar[str] = "n"
    """The column with s."""
    needs_values: ClassVar[bool] = False
    said: ClassVar[str] = (
        "In every group a record is worth more, by what the group still says of it, than an"
        " attack of somebody who knows {known} is expected to cost its publisher."
    )

    @property
    def parameter(self) -> float:
        return 0.0

    @property
    def parameters(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in ("gain", "cost", "loss", "benefit")}

    @property
    def label(self) -> str:
        said = ", ".join(f"{name} = {value:g}" for name, value in self.parameters.items())
        return f"{self.name} {said}"

    def aggregate(self, rows: str) -> exp.Expr:
        return exp.func("min", col("measure", rows))

    def measure(
        self, histogram: Relation, by: Sequence[str], reference: Relation | None = None
    ) -> exp.Select:
        """SELECT by, measure: the profit of a record, to nine decimals, as losses are float8.

        Args:
            histogram: relation (by, n, ncp, [covered]), one row per class.
        """
        numbers = {
            name: exp.Literal.number(repr(float(getattr(self, name)))) for name in self.parameters
        }
        profit = fragment(
            "round(:benefit * (1 - h.ncp::numeric)"
            " - case when :gain > :cost * :s then :loss / :s else 0 end, 9)",
            s=fragment("greatest(:s, 1)::numeric", s=col(self.among, "h")),
            **numbers,
        )
        tree = query("select :m as measure from h", {"h": histogram}, m=profit)
        return tree.select(*[col(name, "h") for name in by])


@dataclass(frozen=True)
class ProfitabilityInPopulation(Profitability, PopulationModel):
    """The same where readers pick among the people of a population whom a class covers."""

    among: ClassVar[str] = "covered"
    searched: ClassVar[bool] = False
