"""The measures of `pganon assess`: privacy models by their names in results and requirements."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from pganon.privacy.base import Model
from pganon.privacy.frequency import (
    AnatomyLDiversity,
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    RecursiveCLDiversity,
    RelativeFrequency,
)
from pganon.privacy.identity import EIRBeta, EIRLDiversity, IRAlpha, IRBeta, IRKAnonymity
from pganon.privacy.likeness import BetaLikeness, DeltaDisclosure, TCloseness
from pganon.sqltools import col


@dataclass(frozen=True)
class Measure:
    """A model that any relation can be measured with.

    Attributes:
        model: with some parameter, which requirements replace.
        counts: the unit of a class's rows; empty where a search measures it.
        short: its short name in requirements, if it has one.
        aggregate: in place of that of the model.
    """

    name: str
    model: Model
    counts: str = "values"
    short: str | None = None
    aggregate: exp.Expr | None = None


def measures() -> list[Measure]:
    """Parameters are not in the aggregates but for l, which is the column "l" of the text."""
    ranked = RecursiveCLDiversity.of(1, 3)
    any_l = RecursiveCLDiversity.ratio("g", RecursiveCLDiversity.tail("g", col("l")))
    return [
        Measure("k_anonymity", KAnonymity.of(1), "classes", short="k"),
        Measure("distinct_l_diversity", DistinctLDiversity.of(1), short="l"),
        Measure("entropy_l_diversity", EntropyLDiversity.of(1), short="entropy_l"),
        Measure("recursive_cl_diversity", RecursiveCLDiversity.of(1, 2), short="c"),
        Measure("recursive_cl_diversity_any_l", ranked, aggregate=any_l),
        Measure("frequency_l_diversity", AnatomyLDiversity.of(1), short="deg"),
        Measure("alpha", RelativeFrequency(1), short="alpha"),
        Measure("t_closeness", TCloseness.of(1), short="t"),
        Measure("t_closeness_ordered", TCloseness.of(1, "ordered"), short="t_ordered"),
        Measure("beta_likeness", BetaLikeness.of(1, "basic"), short="basic_beta"),
        Measure("beta_likeness_enhanced", BetaLikeness.of(1, "enhanced"), short="beta"),
        Measure("delta_disclosure", DeltaDisclosure.of(1), short="delta"),
        Measure("ir_k_anonymity", IRKAnonymity.of(1), "individuals", short="ir_k"),
        Measure("ir_alpha", IRAlpha(1), "individuals"),
        Measure("ir_beta", IRBeta(1)),
        Measure("eir_beta", EIRBeta(1), "holders"),
        Measure("eir_l_diversity", EIRLDiversity.of(1), counts="", short="eir_l"),
    ]


def short_names() -> dict[str, str]:
    """Full names of measures by their short ones."""
    return {measure.short: measure.name for measure in measures() if measure.short}
