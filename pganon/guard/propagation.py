"""Rounds that tighten the bounds of a value by those of the others (the shuttle algorithm).

Three sums are known: everybody in a cell has one value, the cells of a group have the published
counts together, and the parts of a cell have what it had. In each sum one term is at least the sum
less what the others are at most. No possible world is lost, so every round is sound by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from pganon.guard.floors import applied_rules
from pganon.guard.model import ROUNDS, Version
from pganon.identifiers import QualifiedName
from pganon.privacy.judged import Judged
from pganon.sqltools import fragment, query
from pganon.steps import Check, CreateTable, Repeat, State, Step
from pganon.steps.facts import Fact, count, flag


@dataclass(frozen=True)
class _Sum:
    """Rows of a window add up to at least `least` and at most `most`; NULL says nothing."""

    over: str
    least: str
    most: str


_SIZE = _Sum("a", "b.size", "b.size")
_SUMS = (_SIZE, _Sum("g", "b.exact", "b.n"), _Sum("o", "b.least", "b.most"))


def rounds_taken(version: Version) -> Fact[int]:
    """The number of rounds, which is kept with the version: a replay takes as many."""
    return count("rounds", f"guard{version.number}_")


def limit(version: Version) -> int:
    """Most rounds that the version takes."""
    if version.rounds is not None:
        return version.rounds
    bounded = any(found.rule.model.judged is Judged.EXTREMES for found in applied_rules(version))
    return ROUNDS if bounded or version.republication != "refuse" else 0


def first_bounds(version: Version, state: State) -> QualifiedName:
    return _bounds(version, state, 0)


def final_bounds(version: Version, state: State) -> QualifiedName:
    """The bounds after the last round, some at most 0."""
    return _bounds(version, state, state[rounds_taken(version)])


def _bounds(version: Version, state: State, round: int) -> QualifiedName:
    return state.work(f"guard{version.number}_bounds", round=round)


def propagation_steps(version: Version) -> tuple[Step, ...]:
    last = limit(version)
    if last == 0:
        return ()
    settled = flag("settled", f"guard{version.number}_")

    def body(number: int) -> tuple[Step, ...]:
        return (
            CreateTable(
                "guard round",
                "bounds tightened by one another",
                lambda s: _bounds(version, s, s.round + 1),
                lambda s: _tightened(version, _bounds(version, s, s.round)),
            ),
            Check(
                "guard settled",
                "whether another round could help",
                lambda s: query(
                    "select not coalesce(bool_or(b.moved), false) or :last as settled from b",
                    {"b": _bounds(version, s, s.round + 1)},
                    last=exp.true() if s.round + 1 >= last else exp.false(),
                ),
                gives=[settled],
            ),
        )

    return (
        Repeat(
            "guard rounds",
            "bounds of values that follow from one another",
            body,
            settled,
            lambda s: last,
            rounds_taken(version),
        ),
    )


def _tightened(version: Version, bounds: QualifiedName) -> exp.Select:
    """The next bounds; `moved` says whether a row has others than before."""
    # Several records: somebody may have several values of a cell, which add up to more than it.
    sums = [total for total in _SUMS if not (version.several and total is _SIZE)]
    lo = [_rest(total.least, total.over, "at_most") for total in sums]
    hi = [_rest(total.most, total.over, "at_least") for total in sums]
    bounded = query(
        "select b.*, greatest(b.at_least, :lo)::integer as lo, least(b.at_most, :hi)::integer as hi"
        " from b window a as (partition by b.cell, b.col),"
        " g as (partition by b.link, b.value), o as (partition by b.origin, b.value)",
        {"b": query("select b.* from b where b.at_most > 0", {"b": bounds})},
        lo=exp.func("greatest", *lo),
        hi=exp.func("least", *hi),
    )
    return query(
        "select b.cell, b.col, b.value, b.is_own, b.lo as at_least, b.hi as at_most, b.size,"
        " b.origin, b.least, b.most, b.link, b.n, b.exact,"
        " b.lo > b.at_least or b.hi < b.at_most as moved from b",
        {"b": bounded},
    )


def _rest(total: str, over: str, side: str) -> exp.Expr:
    """A known sum, less what all terms but this one are at most, or at least."""
    return fragment(f"{total} - (sum(b.{side}) over {over} - b.{side})")
