"""Attacks that infer sensitive values from what is published, and what is made of their success.

<name>    (learner, posterior, correct)    of every value that is attacked, by every learner
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from pganon.catalog.values import equal_key
from pganon.encode.secrets import row_hash, run_secret
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PrivacyRefusal
from pganon.forms.inference import Inferred
from pganon.identifiers import quote
from pganon.privacy.rows import Relation
from pganon.resolved.model import Carried, ReleaseSpec, Sensitive
from pganon.sqltools import col, fragment, num, query, scalar
from pganon.steps import Check, Rows, Search, State, Step
from pganon.steps.facts import Fact, Facts, count, measure, or_null
from pganon.steps.tasks import Task

RECORDS = 50_000
"""Most records that are attacked."""

CANDIDATES = 250_000
"""Most pairs of such a record and a row of the sensitive table that could be its own."""

FACTOR = 1.5
"""A probability counts as inferred from this many times 1/l on, if that is above the limit."""

NOTICEABLE = 0.01
"""Share of the records from which on a run warns, where the policy sets none."""

_MEASURES = ("confidence", "accuracy", "above", "correct", "share", "advantage")
"""Fields of :class:`Inferred` that are None where no record was attacked."""

_CHANCE = 4
"""Standard deviations that chance may do. With three, one of 1,500 releases whose columns say
nothing is taken for one that tells: guesses agree with each other beyond a bucket, too."""


@dataclass(frozen=True)
class Bounds:
    """Bounds on what guesses may infer.

    Attributes:
        limit: probability above which a value counts as inferred.
        allowed: share of right guesses that the column's model allows.
    """

    limit: float
    allowed: float


def attacked(of: str) -> Fact[int]:
    """How many records were attacked; `of` names the attack."""
    return count("records", f"{of}_")


def outcome(of: str, name: str) -> Fact[float | None]:
    """A measure of an attack."""
    return or_null(measure(name, f"{of}_"))


def outcomes(of: str) -> list[Fact[Any]]:
    """Facts that :func:`measured` gives of an attack."""
    return [attacked(of), *[outcome(of, name) for name in _MEASURES]]


def _inferred(row: Mapping[str, Any], bounds: Bounds) -> Inferred:
    measures = {name: row[name] for name in _MEASURES}
    return Inferred(records=row["records"], limit=bounds.limit, allowed=bounds.allowed, **measures)


def inferred_from(of: str, bounds: Bounds, facts: Facts) -> Inferred:
    """Measures of an attack."""
    measures = {name: facts[outcome(of, name)] for name in _MEASURES}
    return _inferred({"records": facts[attacked(of)], **measures}, bounds)


@dataclass(frozen=True)
class Attack:
    """One attack on one sensitive column.

    Attributes:
        name: of its table.
        of: what its facts are named by.
        rows: SELECT of what it learns from and is asked.
        task: from these rows to (learner, posterior, correct).
        bounds: what its guesses are held against.
        values: what is inferred, for people.
        source: what it learns from.
    """

    spec: ReleaseSpec
    item: Sensitive
    name: str
    of: str
    rows: Callable[[State], exp.Select]
    task: Callable[[State, Rows], Task]
    bounds: Callable[[Facts], Bounds]
    values: str
    source: str

    @property
    def steps(self) -> list[Step]:
        return [
            Search(
                self.name,
                f"{self.values} of {self.item.published} inferred from {self.source}",
                lambda s: s.work(self.name),
                (
                    ("learner", "smallint"),
                    ("posterior", "double precision"),
                    ("correct", "boolean"),
                ),
                given=lambda s: query("select 1 as batches"),
                rows=lambda s, batch: self.rows(s),
                tasks=lambda s, given, rows: [self.task(s, rows)],
            ),
            Check(
                self.of,
                f"how many {self.values} of {self.item.published} that tells",
                lambda s: measured(s.work(self.name), self.bounds(s.facts)),
                lambda row, state: problem(self.spec, self.item, row, self.bounds(state.facts)),
                gives=outcomes(self.of),
            ),
        ]


def first_groups(sized: exp.Select, most: int, *, any_size: bool = False) -> exp.Select:
    """SELECT number: of groups (number, n) the first, which have at most so many in all.

    Args:
        any_size: whether one that has more alone ends them; else it is left out.
    """
    limit = num(most)
    added = query("select z.number, sum(z.n) over (order by z.number) as n from z", {"z": sized})
    if not any_size:
        added = added.where(fragment("z.n <= :most", most=limit))
    return query("select a.number from a where a.n <= :most", {"a": added}, most=limit)


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


def measured(guesses: Relation, bounds: Bounds) -> exp.Select:
    """SELECT one row: the measures of :class:`Inferred`, of the learner that infers most."""
    level = _number(bounds.limit)
    surest = query(
        "select g.*, count(*) over w as n, sum(g.correct::int) over w as hits from g"
        " window w as (partition by g.learner order by g.posterior desc)",
        {"g": guesses},
    )
    right = fragment(
        "g.posterior > :t and g.hits > g.n * :t::float8 + :z * sqrt(g.n * :t::float8 * (1 - :t))",
        t=level,
        z=num(_CHANCE),
    )
    learners = query(
        "select g.learner, count(*) as records, avg(g.posterior) as confidence,"
        " avg(g.correct::int)::float8 as accuracy,"
        " avg((g.posterior > :t)::int)::float8 as above,"
        " (avg(g.correct::int) filter (where g.posterior > :t))::float8 as correct,"
        " coalesce(max(g.n) filter (where :told), 0)::float8 / count(*) as share"
        " from g group by g.learner",
        {"g": surest},
        t=level,
        told=right,
    )
    learners = query(
        "select l.*, l.records * (1 - :a::float8) as n from l",
        {"l": learners},
        a=_number(bounds.allowed),
    )
    held = query("select l.*, :gained as advantage from l", {"l": learners}, gained=_gained(bounds))
    worst = query(
        "select h.* from h order by greatest(h.share, h.advantage) desc, h.accuracy desc, h.learner"
        " limit 1",
        {"h": held},
    )
    # One row although nobody may have been attacked.
    return query(
        "select coalesce(sum(m.records), 0)::bigint as records, max(m.confidence) as confidence,"
        " max(m.accuracy) as accuracy, max(m.above) as above, max(m.correct) as correct,"
        " max(m.share) as share, max(m.advantage) as advantage from m",
        {"m": worst},
    )


def _gained(bounds: Bounds) -> exp.Expr:
    """The advantage of a learner `l`: how far the lower end of Wilson's interval of its accuracy
    is above what is allowed, as a share of what is not.

    Guesses in one bucket depend on each other: who takes two values the wrong way is wrong twice.
    At worst they vary like `l.n` independent ones, which is fewer.
    """
    if bounds.allowed >= 1:
        return fragment("0::float8")
    lowest = fragment(
        "(l.accuracy + :zz / (2 * l.n) - :z * sqrt(l.accuracy * (1 - l.accuracy) / l.n"
        " + :zz / (4 * l.n ^ 2))) / (1 + :zz / l.n)",
        z=num(_CHANCE),
        zz=num(_CHANCE**2),
    )
    return fragment(
        "greatest((:lowest - :a) / (1 - :a), 0)", lowest=lowest, a=_number(bounds.allowed)
    )


def _number(value: float) -> exp.Expr:
    return exp.Literal.number(repr(value))


def problem(
    spec: ReleaseSpec, item: Sensitive, row: Mapping[str, Any], bounds: Bounds
) -> PganonError | None:
    """The refusal, where the policy says how much may be inferred."""
    asked, inferred = spec.policy.inference, _inferred(row, bounds)
    if asked is None or (inferred.told is not None and inferred.told <= asked.share):
        return None
    if inferred.told is None:
        message, hint = (
            f"what can be inferred of column {quote(item.column.name)} cannot be measured: every"
            f" bucket has more than {CANDIDATES} pairs of a record and a value",
            "use another method or other options, or remove inference",
        )
    else:
        message, hint = (
            f"{inference_text(item, inferred)}; inference allows a share of {asked.share:g}, and"
            f" at least {inferred.told:.4g} are inferred",
            f"{REMEDY}, or allow a larger share",
        )
    return PrivacyRefusal(
        message,
        model="inference",
        required=asked.share,
        observed=inferred.told,
        hint=hint,
        code=ErrorCode.INFERENCE,
    )


REMEDY = (
    "require a larger l, publish fewer quasi-identifiers and insensitive columns, or use a method"
    " that generalizes"
)


def inference_text(item: Sensitive, inferred: Inferred) -> str:
    """Text about the values that are inferred."""
    return (
        f"values of column {quote(item.column.name)} can be inferred: naive Bayes, learned from"
        f" the release alone, guesses {inferred.accuracy:.4g} of {inferred.records} right, where"
        f" {inferred.allowed:.4g} is allowed, and tells those of a share of {inferred.share:.4g} of"
        f" the records with a probability above {inferred.limit:.4g}, and is right as often"
    )
