"""Models that compare the sensitive values of a group with those of the whole table.

p is the share of a value in the reference, q its share in the group. The reference is public or
learned from the release itself, so these models bound the additional information from belonging to
a group. None of them bounds what the table's distribution, or several records of one person
together, reveal.
"""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Literal

from pydantic import Field
from sqlglot import exp

from pganon.policy.refusals import known_word
from pganon.privacy.base import Bound, Judged
from pganon.privacy.declaration import MeasuredModel
from pganon.sqltools import col, fragment


class ReferenceModel(MeasuredModel):
    """A model that needs the distribution of the table."""

    bound: ClassVar[Bound] = Bound.AT_MOST
    needs_reference: ClassVar[bool] = True


class TCloseness(ReferenceModel):
    """In every class the earth mover's distance of the column to the whole is at most t."""

    # Li et al. 2007; equality satisfies. distance "equal": all values equally far apart, half the
    # sum of absolute differences. distance "ordered": earth mover's distance over the order of the
    # values, neighbours being 1 / (m - 1) apart. distance "hierarchical": earth mover's distance
    # over a hierarchy (section 5.2), two values being as far apart as the level of their lowest
    # common ancestor, divided by that of the root. Values absent from a group count in all.
    #
    # The distance is over all values together: the share of a rare value may grow many times
    # (see :class:`BetaLikeness`).

    symbol: ClassVar[str] = "t"
    said: ClassVar[str] = (
        "The shares of values in {column} in a group differ from those of everybody by at most"
        " {model.t:g}, where 0 is no difference and 1 the largest."
    )

    model: Literal["t_closeness"]
    column: str
    t: Annotated[float, Field(gt=0, le=1)]
    distance: Annotated[Literal["equal", "ordered", "hierarchical"], known_word("distance")] = (
        "equal"
    )
    min_size: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None  # of a bucket

    def most(self, share: float) -> float | None:
        # Along an order or a hierarchy, values that are alike may change places for less.
        return min(share + self.t, 1.0) if self.distance == "equal" else None

    @property
    def judged(self) -> Judged:
        return Judged.MOST if self.distance == "equal" else Judged.RECORDS

    @property
    def parameters(self) -> dict[str, object]:
        size = {} if self.min_size is None else {"min_size": self.min_size}
        return {"t": self.t, **size}

    @property
    def label(self) -> str:
        return f"{self.name} t = {self.t:g} ({self.distance} distance)"

    def aggregate(self, rows: str) -> exp.Expr:
        if self.distance == "ordered":
            return fragment(
                "greatest(sum(:moved), 0) / greatest(max(:places) - 1, 1)",
                moved=col("moved", rows),
                places=col("places", rows),
            )
        if self.distance == "hierarchical":
            # By definition every inner node costs level * min(pos, neg), pos being the sum of the
            # children's excesses e = max(q - p, 0). As pos - neg = q - p of the node itself, that
            # is level * (pos - e of the node); summed up, every node but the root counts its e
            # once. So it is the equal distance of the nodes of a level, averaged over the levels.
            return fragment(
                "sum(greatest(:n::float8 / :total - :share, 0)) / max(:levels)",
                n=col("n", rows),
                total=col("total", rows),
                share=col("share", rows),
                levels=col("levels", rows),
            )
        # The positive differences add up to half of all absolute ones, and only values that
        # occur in the group can be positive, so no grid of all values is needed.
        return fragment(
            "sum(greatest(:n::float8 / :total - :share, 0))",
            n=col("n", rows),
            total=col("total", rows),
            share=col("share", rows),
        )


def _gain(rows: str) -> exp.Expr:
    """q / p of a value; infinite where the reference does not have it."""
    return fragment(
        "coalesce(:n::float8 / :total / nullif(:share, 0), 'Infinity'::float8)",
        n=col("n", rows),
        total=col("total", rows),
        share=col("share", rows),
    )


class BetaLikeness(ReferenceModel):
    """In every class no value's share exceeds that in the whole by more than beta times it."""

    # Cao and Karras 2012: for every value with q > p, (q - p) / p <= beta ("basic", definition 2)
    # or (q - p) / p <= min(beta, -ln p) ("enhanced", definition 3); equality satisfies, values
    # absent from a group never violate. Measured as the largest (q - p) / p. The limit -ln p of the
    # enhanced form holds whatever beta is, so a group that breaks it measures infinite: there is no
    # beta for it.
    #
    # Bounds gains only: a group may lack a value altogether, which rules it out for its members.
    # The basic form does not limit values with p >= 1 / (1 + beta) at all.

    judged: ClassVar[Judged] = Judged.MOST
    symbol: ClassVar[str] = "beta"

    model: Literal["beta_likeness"]
    column: str
    beta: Annotated[float, Field(gt=0, le=1e9)]
    variant: Annotated[Literal["basic", "enhanced"], known_word("variant of beta_likeness")] = (
        "enhanced"
    )

    def sentence(self, known: str, column: str) -> str:
        return (
            f"No value in {column} is more than {1 + self.beta:g} times as common in a group as"
            " among everybody."
        )

    def most(self, share: float) -> float | None:
        gain = self.beta
        if self.variant == "enhanced":
            gain = min(gain, -math.log(share)) if share > 0 else gain
        return min(share * (1 + gain), 1.0)

    @property
    def label(self) -> str:
        return f"{self.name} beta = {self.beta:g} ({self.variant})"

    def aggregate(self, rows: str) -> exp.Expr:
        largest = fragment("greatest(max(:gain) - 1, 0)", gain=_gain(rows))
        if self.variant == "basic":
            return largest
        # The slack covers the rounding of p; a share can reach 1 + -ln p exactly where p is 1.
        return fragment(
            "case when bool_and(:gain - 1 <= 1e-12 - ln(nullif(:share, 0))) then :largest"
            " else 'Infinity'::float8 end",
            gain=_gain(rows),
            share=col("share", rows),
            largest=largest,
        )


class DeltaDisclosure(ReferenceModel):
    """In every class every value's share is within a factor exp(delta) of that in the whole."""

    # |ln(q / p)| < delta for every value of the table (Brickell and Shmatikov 2008).
    #
    # Strict, natural logarithm. A value of the table that a group lacks has ln 0, so the group
    # measures infinite, as the definition says; tools that skip such values report less. So it is
    # the strictest of the models here: every group must hold every value.
    #
    # Says nothing about groups of few records: one class of the whole table always satisfies it.

    judged: ClassVar[Judged] = Judged.EXTREMES
    symbol: ClassVar[str] = "delta"
    strict: ClassVar[bool] = True

    model: Literal["delta_disclosure"]
    column: str
    delta: Annotated[float, Field(gt=0, le=1e3)]

    def sentence(self, known: str, column: str) -> str:
        return (
            f"Every value in {column} is less than {math.exp(self.delta):.3g} times as common in a"
            " group as among everybody, and no less than the same factor rarer."
        )

    def most(self, share: float) -> float:
        return min(share * math.exp(self.delta), 1.0)

    def aggregate(self, rows: str) -> exp.Expr:
        return fragment(
            "case when count(*) < max(:domain) then 'Infinity'::float8"
            " else max(abs(ln(:gain))) end",
            domain=col("domain", rows),
            gain=_gain(rows),
        )
