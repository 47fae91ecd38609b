"""Whether cells keep what their people were promised; `refuse` ends the run where they do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from pganon.errors import PrivacyRefusal
from pganon.guard.floors import Applied, applied_rules
from pganon.guard.judged import at_once, outcome
from pganon.guard.model import Version
from pganon.guard.people import stands_alone
from pganon.identifiers import quote
from pganon.privacy.base import Bound, Relation
from pganon.privacy.judged import Judged
from pganon.sqltools import fragment, query
from pganon.steps import Check, CreateTable, State, Step
from pganon.steps.facts import Fact, count, measure, or_null

CODE = "republication"


def numbered(version: Version) -> list[tuple[int, Applied]]:
    """The rules that cells must keep, with a number for their facts and tables."""
    return list(enumerate(applied_rules(version)))


def people_rules(version: Version) -> tuple[Step, ...]:
    """Rules about numbers of people, which need nothing but the cells."""
    return _steps(version, alone=True)


def value_rules(version: Version) -> tuple[Step, ...]:
    """The others."""
    return _steps(version, alone=False)


def _steps(version: Version, *, alone: bool) -> tuple[Step, ...]:
    found: list[Step] = []
    for number, applied in numbered(version):
        if (applied.rule.model.judged is Judged.PEOPLE) == alone:
            if not at_once(applied):
                found.append(_outcome(version, number, applied))
            found.append(_check(version, number, applied))
    return tuple(found)


def found_outcome(version: Version, state: State, number: int, applied: Applied) -> Relation:
    """(id, size, judged, measure, holds); see :func:`pganon.guard.judged.outcome`."""
    if at_once(applied):
        return outcome(version, state, applied)
    return version.work(state, f"rule{number}")


def _outcome(version: Version, number: int, applied: Applied) -> Step:
    return CreateTable(
        "guard rule",
        f"{applied.rule.label}, of all versions together",
        lambda s: version.work(s, f"rule{number}"),
        lambda s: outcome(version, s, applied),
    )


def missing(version: Version, number: int) -> Fact[int]:
    """People of judged cells that miss a rule."""
    return count("missing", f"guard{version.number}_rule{number}_", assumed=0)


def observed(version: Version, number: int) -> Fact[float | None]:
    """The worst measure of the cells that are judged by a rule; None if that is not known."""
    return or_null(measure("observed", f"guard{version.number}_rule{number}_"))


def _check(version: Version, number: int, applied: Applied) -> Step:
    extreme = "min" if applied.rule.model.bound is Bound.AT_LEAST else "max"

    def select(state: State) -> exp.Expr:
        return query(
            "select coalesce(sum(r.size) filter (where not r.holds), 0)::bigint as missing,"
            " :observed as observed from r where r.judged",
            {"r": found_outcome(version, state, number, applied)},
            observed=fragment(f"{extreme}(r.measure)::float8"),
        )

    def problem(row: Mapping[str, Any], state: State) -> PrivacyRefusal | None:
        if version.republication != "refuse" or row["missing"] == 0:
            return None
        if stands_alone(version, state):
            return None
        return refusal(applied, row["missing"], row["observed"], version.audience)

    return Check(
        "guard verdict",
        f"{applied.rule.label}: what all versions together leave of it",
        select,
        problem,
        gives=[missing(version, number), observed(version, number)],
    )


def refusal(
    applied: Applied, people: int, worst: float | None, audience: str = ""
) -> PrivacyRefusal:
    model = applied.rule.model
    readable = f"that {quote(audience)} could ever read" if audience else "that were ever readable"
    found = "is not known of them" if worst is None else f"measures {worst:.6g} at worst"
    return PrivacyRefusal(
        f"with all versions {readable}, {model.name}{applied.rule.on} requires"
        f" {model.symbol} {model.comparison} {model.parameter:g}; for {people} people who can be"
        f" told from the others it {found}",
        hint="refresh: increments adds people without new groups of those before;"
        " republication: warn publishes and says what it tells",
        model=model.name,
        required=model.parameter,
        observed=worst,
        code=CODE,
    )
