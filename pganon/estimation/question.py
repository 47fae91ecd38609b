"""A query resolved against a release: which conditions are on which part of its columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from pganon.estimation.release import FLOATS, AskedRelease, Part, Published

Measure = Literal["count", "sum", "avg", "min", "max", "persons", "weighted", "rows"]

FIGURES = ("", "_lower", "_upper", "_low", "_high", "_error")
"""Of an aggregate: estimate, sure bounds, likely range, error of the model."""

FLAGS = ("classes", "few", "maybe_empty")
INDEPENDENT = "independent"
"""A further one, where what nothing links is taken to be independent."""


@dataclass(frozen=True)
class Leaf:
    """A condition on columns of one part, counted where it is true."""

    part: Part
    condition: exp.Expr


@dataclass(frozen=True)
class Joined:
    """Conditions on different parts, all of which (`every`), or one of which, must hold."""

    every: bool
    items: tuple[Formula, ...]


@dataclass(frozen=True)
class Displayed:
    """A condition on a column that records show, have in a bucket or withhold.

    Every way is a conjunction; all together they are of every record once.

    Attributes:
        holds, fails, open: ways in which it is true, is not, or is not known at all.
    """

    holds: tuple[tuple[Leaf, ...], ...]
    fails: tuple[tuple[Leaf, ...], ...]
    open: tuple[tuple[Leaf, ...], ...]


Formula = Leaf | Joined | Displayed


@dataclass(frozen=True)
class Key:
    """An expression of GROUP BY over the columns of one part."""

    part: Part
    expression: exp.Expr


@dataclass(frozen=True)
class Aggregate:
    """An aggregate of the records of a group.

    Attributes:
        measure: `persons` is the number of individuals, `weighted` the sum of sample weights, or
            that of their products with a column, `rows` the number of rows of a related table.
        column: what is counted, added or averaged; None for count(*) and sum of weights.
    """

    measure: Measure
    column: Published | None


def added_beside(aggregate: Aggregate) -> tuple[Aggregate, ...]:
    """Whether there may be no value, and how far rounding may take a sum or a mean of floats."""
    column = aggregate.column
    if column is None or aggregate.measure in ("count", "persons", "weighted", "rows"):
        return ()
    if aggregate.measure in ("sum", "avg") and column.kind in FLOATS:
        return (Aggregate("count", column), Aggregate("min", column), Aggregate("max", column))
    return () if aggregate.measure == "sum" else (Aggregate("count", column),)


@dataclass(frozen=True)
class Question:
    """Aggregates, by group, of the records that fulfil a condition.

    Attributes:
        conditions: all must hold, no two on one part: leaves, and then alternatives.
        alternatives: what else must hold, on parts that are nowhere else; answered one by one.
    """

    release: AskedRelease
    keys: tuple[Key, ...]
    aggregates: tuple[Aggregate, ...]
    conditions: tuple[Formula, ...] = ()
    alternatives: Formula | None = None

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """All of the condition."""
        apart = () if self.alternatives is None else (self.alternatives,)
        return (*self.conditions, *apart)

    @property
    def others(self) -> list[Formula]:
        """Alternatives of which one SELECT has the figures."""
        return [formula for formula in self.conditions if not isinstance(formula, Leaf)]

    @property
    def parts(self) -> tuple[Part, ...]:
        """All parts that the query is about, in order of first use."""
        found = parts_of(self.formulas)
        found += [key.part for key in self.keys]
        found += [a.column.part for a in self.aggregates if a.column is not None]
        if self.release.person is not None:
            found.append(self.release.person.part)
        return tuple(dict.fromkeys(found))

    def conditions_on(self, part: Part) -> list[exp.Expr]:
        """Those on a part, one but in alternatives that are answered one by one."""
        found = [leaf for formula in self.formulas for leaf in leaves_of(formula)]
        return [leaf.condition for leaf in dict.fromkeys(found) if leaf.part == part]

    def columns(self, part: Part) -> list[Published]:
        return [c for c in self.release.columns.values() if c.part == part]


@dataclass(frozen=True)
class Item:
    """A column of the answer: a key by its number, or aggregates, as columns of their names."""

    name: str
    what: int | exp.Expr


@dataclass(frozen=True)
class Resolved:
    """A query.

    Attributes:
        questions: the first has the groups of the answer, and aggregates of all their records;
            every other one has aggregates with the same FILTER.
        having: what estimates and keys of a group must fulfil. Names are :func:`figure` of
            estimates and `k` with the number of a key.
        order: columns of the answer to sort by, each with whether it is descending, and whether
            missing values come first.
    """

    questions: tuple[Question, ...]
    items: tuple[Item, ...]
    having: exp.Expr | None = None
    order: tuple[tuple[str, bool, bool], ...] = ()
    limit: int | None = None

    @property
    def release(self) -> AskedRelease:
        return self.questions[0].release

    @property
    def independent(self) -> bool:
        """Whether it is about several things of a person of whom nothing says who has them all."""
        for question in self.questions:
            leaves = [leaf for formula in question.formulas for leaf in leaves_of(formula)]
            events = [leaf.condition for leaf in leaves if leaf.part.events]
            facts = sum(len(list(condition.find_all(exp.Column))) for condition in events)
            if facts and facts + any(part.exact for part in question.parts) > 1:
                return True
        return False

    @property
    def aggregates(self) -> dict[str, Aggregate]:
        return {
            figure(i, number): aggregate
            for i, question in enumerate(self.questions)
            for number, aggregate in enumerate(question.aggregates)
        }

    @property
    def parts(self) -> tuple[Part, ...]:
        return tuple(dict.fromkeys(part for q in self.questions for part in q.parts))


def figure(question: int, aggregate: int) -> str:
    """The name of an aggregate, by the number of its question and its own in there."""
    return f"a{question}_{aggregate}"


def leaves_of(formula: Formula) -> Iterator[Leaf]:
    if isinstance(formula, Leaf):
        yield formula
        return
    if isinstance(formula, Displayed):
        for way in (*formula.holds, *formula.fails, *formula.open):
            yield from way
        return
    for item in formula.items:
        yield from leaves_of(item)


def parts_of(formulas: Sequence[Formula]) -> list[Part]:
    return [leaf.part for formula in formulas for leaf in leaves_of(formula)]


def cut(value: str, lower: str, upper: str) -> str:
    """A value that rounding must not take beyond its bounds."""
    return f"least(({upper})::float8, greatest(({lower})::float8, {value}))"


def figures(aggregate: Aggregate, known: tuple[str, str, str, str, str, str]) -> list[str]:
    """What an answer shows of an aggregate, as SQL over what is known.

    Args:
        known: in the order of :data:`FIGURES`, perhaps beyond the bounds. Of minima and maxima only
            the bounds are read.
    """
    estimate, lower, upper, low, high, error = known
    if aggregate.measure in ("min", "max"):
        # Bounds are the estimate as well where they meet, else there is none.
        meets = f"case when {lower} = {upper} then {{}} end"
        is_time = aggregate.column is not None and aggregate.column.is_time
        value = meets.format(lower if is_time else f"{lower}::float8")
        return [value, lower, upper, lower, upper, meets.format("0::float8")]
    # An end that is not known is that of the bounds.
    high = f"greatest(({lower})::float8, least(({upper})::float8, {high}))"
    return [cut(estimate, lower, upper), lower, upper, cut(low, lower, upper), high, error]
