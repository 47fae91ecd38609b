"""What people were promised before, and the rules that a cell must therefore keep."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from pganon.guard.model import Floor, Version
from pganon.guard.rules import Rule, judged_rules
from pganon.sqltools import col, fragment, num


@dataclass(frozen=True)
class Applied:
    """A rule, and whose it is.

    Attributes:
        floors: numbers of the floors whose people must keep it; 0 is that of newcomers.
        promised: numbers of the floors that have the rule themselves, or a stricter one.
        declared: whether the version's own policy has it, or a stricter one.
    """

    rule: Rule
    floors: tuple[int, ...]
    promised: tuple[int, ...]
    declared: bool

    def applies(self, cell: str) -> exp.Expr:
        """SQL condition on a row of the cells."""
        numbers = exp.In(this=col("old_floor", cell), expressions=[num(n) for n in self.floors])
        return exp.paren(numbers)

    def was_promised(self, cell: str) -> exp.Expr:
        """SQL condition: people of the cell were released under it before."""
        if not self.promised:
            return exp.false()
        return exp.In(this=col("old_floor", cell), expressions=[num(n) for n in self.promised])


def new_floors(version: Version) -> tuple[Floor, ...]:
    """Those of the memory, then that of newcomers and those of people who are released again."""
    old = _old(version)
    raised = [_raised(version, floor) for floor in ((), *old)]
    return tuple(dict.fromkeys([*old, *raised]))


def floor_after(version: Version, released: exp.Expr, old: exp.Expr) -> exp.Expr:
    """SQL: the number of a cell's floor, given that so far; 0 where nothing was promised."""
    numbers = {floor: number for number, floor in enumerate(new_floors(version), start=1)}
    cases = exp.Case()
    for number, floor in enumerate(((), *_old(version))):
        condition = fragment(":old = :n", old=old.copy(), n=num(number))
        cases = cases.when(condition, num(numbers[_raised(version, floor)]), copy=False)
    return fragment(
        "case when :released then :cases else :old end", released=released, cases=cases, old=old
    )


def applied_rules(version: Version) -> tuple[Applied, ...]:
    """Every rule that some cell must keep and the version judges, each once."""
    floors = {0: (), **dict(enumerate(_old(version), start=1))}
    kept = {
        number: _raised(version, floor if version.strongest else ())
        for number, floor in floors.items()
    }
    every = (rule for found in kept.values() for rule in found)
    rules = dict.fromkeys(rule for rule in every if version.judges(rule))
    return tuple(
        Applied(
            rule,
            tuple(number for number, found in kept.items() if rule in found),
            tuple(number for number, floor in floors.items() if _implied(rule, floor)),
            _implied(rule, version.rules),
        )
        for rule in rules
    )


def _old(version: Version) -> tuple[Floor, ...]:
    return version.memory.floors if version.memory else ()


def _raised(version: Version, floor: Floor) -> Floor:
    return judged_rules((*floor, *version.rules))


def _implied(rule: Rule, floor: Floor) -> bool:
    """Whether some rule is the same, or the same with a stricter parameter."""
    return judged_rules((*floor, rule)) == judged_rules(floor)
