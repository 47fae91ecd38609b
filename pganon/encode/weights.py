"""Sample weights: whether records have them, what a release shows of them, and risk by them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from pganon.catalog.values import stored
from pganon.encode.work import SNAP, WEIGHT
from pganon.errors import PreconditionError
from pganon.identifiers import quote
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import cast, col, fragment, named, query
from pganon.steps import Check, State, Step
from pganon.steps.facts import RECORDS, Fact, Facts, count, measure, or_null

UNWEIGHTED = count("unweighted", assumed=0)
"""Records without a weight that is finite and above 0."""

_EXPECTED = measure("expected", of="weighted_")

WEIGHTED, DEFF, PRESENCE = OF_RELEASE = tuple(
    measure(name, of="weights_") for name in ("weighted", "deff", "presence")
)
"""Of a release that shows means: the people whom its records stand for, Kish's design effect by
weights, and the greatest share of a class's people who are in it."""

_OF_SOURCE = or_null(measure("weight", of="source_"))
"""The sum of all weights."""

COUNTED: tuple[Fact[Any], ...] = (UNWEIGHTED, _OF_SOURCE)


def weight_column(spec: ReleaseSpec) -> list[exp.Expr]:
    """The column of the snapshot, if the policy has one of weights."""
    if spec.weight is None:
        return []
    return [named(cast(stored(spec.weight, col(spec.weight.name, "src")), "numeric"), WEIGHT)]


def unweighted(spec: ReleaseSpec) -> list[exp.Expr]:
    """What counts records of the snapshot `t` without a weight, and adds up all."""
    if spec.weight is None:
        return []
    value = col(WEIGHT, "t")
    number = fragment("count(*) filter (where (:w > 0 and :w < 'Infinity') is not true)", w=value)
    return [
        named(number, UNWEIGHTED.column),
        named(fragment("sum(:w)", w=value), _OF_SOURCE.column),
    ]


def weight_problem(spec: ReleaseSpec, row: Mapping[str, Any]) -> PreconditionError | None:
    """Records without a weight refuse a run."""
    wrong = row.get(UNWEIGHTED.column)
    if spec.weight is None or not wrong:
        return None
    return PreconditionError(
        f"column {quote(spec.weight.name)} has no weight in {wrong} records",
        hint="a weight is a finite number above 0: how many people the record stands for",
    )


def weight_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    """Counts the records that are expected to be found by who knows the population alone.

    Not where individuals may have several records, which are no independent chances.
    """
    if spec.weight is None or spec.policy.several_each:
        return ()
    return (
        Check(
            "weigh",
            "risk in the population by sample weights, of the values of the source",
            lambda state: _expected(spec, state),
            gives=(_EXPECTED,),
        ),
    )


def _expected(spec: ReleaseSpec, state: State) -> exp.Select:
    classes = query(
        "select count(*) as n, sum(t.weight) as w from t", {"t": state.work(SNAP)}
    ).group_by(*[col(f"q{attribute.index}", "t") for attribute in spec.attributes])
    alike = query("select c.n, c.w, count(*) as classes from c group by c.n, c.w", {"c": classes})
    return query(
        "select sum(d.classes * d.n"
        " * pganon.individual_risk(d.n, least(1, d.n / d.w)::double precision)) as expected from d",
        {"d": alike},
    )


def weighted_risk(facts: Facts) -> dict[str, float] | None:
    """Records that are expected to be found (`expected`), and their share (`global`); where the
    release shows means, what :data:`OF_RELEASE` says, and the share of the weights of the source
    that it leaves out, `left_out`.

    None where a run measured neither.
    """
    expected = facts.get(_EXPECTED)
    found = {} if expected is None else {"expected": expected, "global": expected / facts[RECORDS]}
    shown = {fact.column: value for fact in OF_RELEASE if (value := facts.get(fact)) is not None}
    total = facts.get(_OF_SOURCE)
    if shown and total:
        shown["left_out"] = max(0.0, 1 - facts[WEIGHTED] / total)
    return {**found, **shown} or None
