"""Background knowledge: how different the priors of the members of a class may be.

A reader may know beforehand that some people are more likely to have a value than others. Where
members of a class have different priors, he can guess whose its values are. A prior is a
distribution of the sensitive value for everybody with the same quasi-identifiers. Riboni, Pareschi
and Bettini, "JS-reduce: Defending your data from sequential background knowledge attacks", IEEE
Transactions on Dependable and Secure Computing 2012.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar, Literal

from pydantic import Field
from sqlglot import exp

from pganon.policy.columns import Columns
from pganon.policy.knowledge import Knowledge
from pganon.policy.refusals import Refusal
from pganon.privacy.base import Bound, Judged
from pganon.privacy.declaration import MeasuredModel
from pganon.sqltools import col, fragment


class BackgroundKnowledge(MeasuredModel):
    """In every class what readers know of the members beforehand differs by at most j.

    Attributes:
        smoothing: the share of every prior that is the distribution of the whole instead.
    """

    # The Jensen-Shannon divergence of the priors of any two records of a class is at most j.
    #
    # To the base 2, so that it is between 0 and 1; equality satisfies. Where all priors of a class
    # are equal, its histogram is all that a reader learns. Otherwise j bounds how different priors
    # are, not what he may conclude: at a divergence of 0.025 a value can be certain, if the prior
    # of all other members rules it out.
    #
    # Priors stay with the owner, so only the owner can measure it: of pairs of priors in a class,
    # not of a histogram.

    judged: ClassVar[Judged] = Judged.RECORDS
    symbol: ClassVar[str] = "j"
    bound: ClassVar[Bound] = Bound.AT_MOST
    merging_keeps: ClassVar[bool] = False
    from_histogram: ClassVar[bool] = False
    tolerance: ClassVar[float] = 1e-9
    needs_values: ClassVar[bool] = False

    model: Literal["background_knowledge"]
    j: Annotated[float, Field(ge=0, le=1)]
    knowledge: Knowledge
    smoothing: Annotated[float, Field(ge=0, lt=1)] = 0.0

    def refusals(self, columns: Columns) -> Iterable[Refusal]:
        return (refusal.below("knowledge") for refusal in self.knowledge.refusals(columns))

    @property
    def parameters(self) -> dict[str, object]:
        return {
            "j": self.parameter,
            "knowledge": self.knowledge.source,
            "bounds": "divergence of priors",
            "verified": "by the owner",
            "depends_on": "quasi-identifiers" if self.from_outside else "sensitive values",
        }

    @property
    def from_outside(self) -> bool:
        """Whether priors are given, not estimated from the source."""
        return self.knowledge.source == "relation"

    @property
    def label(self) -> str:
        return f"{self.name} j = {self.j:g} ({self.knowledge.source})"

    def aggregate(self, rows: str) -> exp.Expr:
        """Over a row per pair of priors of the group, with their `divergence`; none is 0."""
        return fragment("coalesce(max(:d), 0)", d=col("divergence", rows))
