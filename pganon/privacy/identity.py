"""Models for persons with several records whose link is published (identity reservation).

A group is a relation of (individual, value) with a number of records each; every individual lies
in one group. Wang, Du, Luo and Li, "Two privacy-preserving approaches for data publishing with
identity reservation", Knowledge and Information Systems 2019.

The IR models keep an individual from being found among the pseudonyms of the group and bound the
records of a value. The EIR models also bound the sensitive values in every reasoning set, one
record per individual. None of them protects against who knows one of the victim's values or the
number of their records; IR (k, l) allows that all individuals share one value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from sqlglot import exp

from pganon.plan.sqltools import col, fragment
from pganon.privacy.base import Bound, Model
from pganon.privacy.frequency import DistinctLDiversity
from pganon.search.hitting_sets import hits_within, minimum_hitting_set


@dataclass(frozen=True)
class IRKAnonymity(Model):
    """Every group has at least k individuals. Its histogram is of individuals, not of values."""

    k: int
    name: ClassVar[str] = "ir_k_anonymity"
    symbol: ClassVar[str] = "k"
    counts: ClassVar[str] = "individuals"

    @property
    def parameter(self) -> float:
        return self.k

    @property
    def exact(self) -> bool:
        return True

    @property
    def minimum_size(self) -> int:
        return self.k

    def aggregate(self, rows: str) -> exp.Expr:
        return fragment("count(*)")


class _Share(Model):
    bound: ClassVar[Bound] = Bound.AT_MOST

    def aggregate(self, rows: str) -> exp.Expr:
        return fragment("max(:n)::float8 / sum(:n)::float8", n=col("n", rows))


@dataclass(frozen=True)
class IRAlpha(_Share):
    """No individual has more than the share alpha of a group's records (equality satisfies).

    Its histogram is of individuals.
    """

    alpha: float
    name: ClassVar[str] = "ir_alpha"
    symbol: ClassVar[str] = "alpha"
    counts: ClassVar[str] = "individuals"

    @property
    def parameter(self) -> float:
        return float(self.alpha)


@dataclass(frozen=True)
class IRBeta(_Share):
    """No value has more than the share beta of a group's records (equality satisfies)."""

    beta: float
    name: ClassVar[str] = "ir_beta"
    symbol: ClassVar[str] = "beta"

    @property
    def parameter(self) -> float:
        return float(self.beta)


@dataclass(frozen=True)
class EIRBeta(Model):
    """No value is held by more than the share beta of a group's individuals.

    Equality satisfies. The same as the bound on every reasoning set: all holders of a value may
    choose it. Rows count individuals instead of records, `total` those of the group.
    """

    beta: float
    name: ClassVar[str] = "eir_beta"
    symbol: ClassVar[str] = "beta"
    bound: ClassVar[Bound] = Bound.AT_MOST
    counts: ClassVar[str] = "holders"

    @property
    def parameter(self) -> float:
        return float(self.beta)

    @property
    def needs_total(self) -> bool:
        return True

    def aggregate(self, rows: str) -> exp.Expr:
        return fragment("max(:n::float8 / :total)", n=col("n", rows), total=col("total", rows))


@dataclass(frozen=True)
class EIRLDiversity:
    """Every reasoning set of a group has at least l distinct sensitive values.

    A reasoning set takes one record of every individual. The smallest number of values in one is
    the size of a minimum hitting set of the individuals' value sets, which is searched exactly;
    SQL alone cannot. The adversary's confidence in one value is bounded by (n - l + 1) / n among
    n individuals, not by 1 / l.
    """

    l: int  # noqa: E741 - the literature's name
    name: ClassVar[str] = "eir_l_diversity"
    symbol: ClassVar[str] = "l"

    def measure(self, individuals: Iterable[Iterable[int]]) -> int:
        """Size of a minimum hitting set of the individuals' sets of value codes."""
        return len(minimum_hitting_set(individuals))

    def satisfied_by(self, individuals: Iterable[Iterable[int]]) -> bool:
        """Whether no hitting set has fewer than l values; cheaper than measuring."""
        return hits_within(individuals, self.l - 1) is None


def ir_kl(k: int, l: int) -> tuple[Model, ...]:  # noqa: E741
    """IR (k, l)-anonymity: k individuals and l distinct values in every group."""
    return IRKAnonymity(k), DistinctLDiversity(l)


def ir_alpha_beta(alpha: float, beta: float) -> tuple[Model, ...]:
    """IR (alpha, beta)-anonymity."""
    return IRAlpha(alpha), IRBeta(beta)


def eir_alpha_beta(alpha: float, beta: float) -> tuple[Model, ...]:
    """EIR (alpha, beta)-anonymity."""
    return IRAlpha(alpha), EIRBeta(beta)
