"""Attacks that infer sensitive values from what is published, and what is made of their success.

<name>    (posterior, correct)    of every value that is attacked
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from pganon.catalog.values import equal_key
from pganon.encode.secrets import row_hash, run_secret
from pganon.errors import PganonError, PrivacyRefusal
from pganon.identifiers import quote
from pganon.privacy.rows import Relation
from pganon.published.inference import Inferred
from pganon.search.tasks import Task
from pganon.spec.model import Carried, ReleaseSpec, Sensitive
from pganon.sqltools import col, fragment, num, query, scalar
from pganon.steps import Check, Search, State, Step
from pganon.steps.facts import Fact, Facts, count, measure, or_null

RECORDS = 50_000
"""Most records that are attacked."""

CANDIDATES = 250_000
"""Most pairs of such a record and a row of the sensitive table that could be its own."""

FACTOR = 1.5
"""A probability counts as inferred from this many times 1/l on, if that is above the limit."""

NOTICEABLE = 0.01
"""Share of the records from which on a run warns, where the policy sets none."""

_FIGURES = ("confidence", "accuracy", "above", "correct", "share")
"""Fields of :class:`Inferred` that are None where no record was attacked."""

_CHANCE = 3
"""Standard deviations that chance may do."""


def attacked(of: str) -> Fact[int]:
    """How many records were attacked; `of` names the attack."""
    return count("records", f"{of}_")


def outcome(of: str, name: str) -> Fact[float | None]:
    """A figure of an attack."""
    return or_null(measure(name, f"{of}_"))


def outcomes(of: str) -> list[Fact[Any]]:
    """What :func:`judged` gives of an attack."""
    return [attacked(of), *[outcome(of, name) for name in _FIGURES]]


def found_by(of: str, above: float, facts: Facts) -> Inferred:
    """The figures of an attack."""
    return Inferred(
        records=facts[attacked(of)],
        limit=above,
        **{name: facts[outcome(of, name)] for name in _FIGURES},
    )


@dataclass(frozen=True)
class Attack:
    """One learner on one sensitive column.

    Attributes:
        name: of its table.
        of: what its facts are named by.
        rows: SELECT of what it learns from and is asked.
        task: from these rows to (posterior, correct).
        limit: the probability above which a value counts as inferred.
        values: what is inferred, for people.
        source: what it learns from.
    """

    spec: ReleaseSpec
    item: Sensitive
    name: str
    of: str
    rows: Callable[[State], exp.Select]
    task: Callable[[State, Sequence[tuple[Any, ...]]], Task]
    limit: Callable[[Facts], float]
    values: str
    source: str

    @property
    def steps(self) -> list[Step]:
        return [
            Search(
                self.name,
                f"{self.values} of {self.item.published} inferred from {self.source}",
                lambda s: s.work(self.name),
                (("posterior", "double precision"), ("correct", "boolean")),
                given=lambda s: query("select 1 as batches"),
                batches=lambda s: 1,
                rows=lambda s, batch: self.rows(s),
                tasks=lambda s, given, rows: [self.task(s, rows)],
            ),
            Check(
                self.of,
                f"how many {self.values} of {self.item.published} that tells",
                lambda s: judged(s.work(self.name), self.limit(s.facts)),
                lambda row, state: problem(self.spec, self.item, row, self.limit(state.facts)),
                gives=outcomes(self.of),
            ),
        ]


def on_line(item: Sensitive | Carried) -> bool:
    return item.column.is_number or item.column.is_time


def code_of(item: Sensitive | Carried, name: str, state: State) -> exp.Expr:
    """A whole number per value: its place on the line, 0 for NULL, or else a hash of it."""
    value = col(name, "r")
    if not on_line(item):
        return hashed([equal_key(item.column, value)], state)
    return fragment("case when :v is null then 0 else rank() over (order by :v) end", v=value)


def hashed(values: Sequence[exp.Expr], state: State) -> exp.Expr:
    return row_hash(exp.func("row", *values), scalar(run_secret(state, "seed_a")))


def judged(guesses: Relation, above: float) -> exp.Select:
    """SELECT one row: the figures of :class:`Inferred`."""
    level = exp.Literal.number(repr(above))
    surest = query(
        "select g.posterior, g.correct, count(*) over (order by g.posterior desc) as n,"
        " sum(g.correct::int) over (order by g.posterior desc) as hits from g",
        {"g": guesses},
    )
    told = fragment(
        "g.posterior > :t and g.hits > g.n * :t::float8 + :z * sqrt(g.n * :t::float8 * (1 - :t))",
        t=level,
        z=num(_CHANCE),
    )
    return query(
        "select count(*) as records, avg(g.posterior) as confidence,"
        " avg(g.correct::int)::float8 as accuracy,"
        " avg((g.posterior > :t)::int)::float8 as above,"
        " (avg(g.correct::int) filter (where g.posterior > :t))::float8 as correct,"
        " coalesce(max(g.n) filter (where :told), 0)::float8 / nullif(count(*), 0) as share from g",
        {"g": surest},
        t=level,
        told=told,
    )


def problem(
    spec: ReleaseSpec, item: Sensitive, row: Mapping[str, Any], above: float
) -> PganonError | None:
    """The refusal, where the policy says how much may be inferred."""
    asked = spec.policy.inference
    if asked is None or (row["share"] is not None and row["share"] <= asked.share):
        return None
    if row["share"] is None:
        message, hint = (
            f"what can be inferred of column {quote(item.column.name)} cannot be measured: every"
            f" bucket has more than {CANDIDATES} pairs of a record and a value",
            "use another method or other options, or remove inference",
        )
    else:
        message, hint = (
            f"{told_text(item, row['share'], above)}; inference allows {asked.share:g}",
            f"{REMEDY}, or allow a larger share",
        )
    return PrivacyRefusal(
        message,
        model="inference",
        required=asked.share,
        observed=row["share"],
        hint=hint,
        code="inference",
    )


REMEDY = (
    "require a larger l, publish fewer quasi-identifiers and insensitive columns, or use a method"
    " that generalizes"
)


def told_text(item: Sensitive, share: float, above: float) -> str:
    """What is inferred, in words."""
    return (
        f"values of column {quote(item.column.name)} can be inferred: naive Bayes, learned from"
        f" the release alone, tells those of a share of {share:.4g} of the records with a"
        f" probability above {above:.4g}, and is right as often"
    )
