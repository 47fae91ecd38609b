"""Exclusion rules with values that occur in no record, and so exclude nothing.

A misspelled value passes verification, since no bucket has it. So occurrences are counted, and a
warning names the values without any.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.work import CODED, dictionary
from pganon.identifiers import quote
from pganon.methods.buckets.exclusions.conditions import meets, one_of
from pganon.policy.exclusions import Between
from pganon.policy.refusals import show
from pganon.resolved.model import Attribute, ExclusionRule, ReleaseSpec, Sensitive
from pganon.sqltools import cast, col, named, query
from pganon.steps import Check, State
from pganon.steps.facts import Fact, Facts, flag


@dataclass(frozen=True)
class _Part:
    """One value or range of a rule, for one of its columns."""

    item: Attribute | Sensitive
    asked: str | Between

    @property
    def said(self) -> str:
        of = f"column {quote(self.item.column.name)}"
        if isinstance(self.asked, Between):
            return f"a value in the range for {of}"
        return f"the value {show(self.asked)} in {of}"

    def occurs(self, state: State) -> exp.Expr:
        """Whether a record that is kept has it."""
        column = self.item.column
        if isinstance(self.item, Sensitive):
            rows, value = state.work(CODED), col(f"v{self.item.index}", "t")
        else:
            rows = state.work(dictionary(self.item.index))
            value = cast(col("value", "t"), column.stored_type)
        if isinstance(self.asked, Between):
            condition = meets(self.asked, column, value)
        else:
            condition = one_of(value, column, [self.asked])
        return exp.Exists(this=query("select 1 from t where :met", {"t": rows}, met=condition))


def occurrence_steps(spec: ReleaseSpec) -> list[Check]:
    """Steps that observe the facts of :func:`idle_rules`, from `coded` and dictionaries."""
    return [_occurring(rule, number) for number, rule in enumerate(spec.rules)]


def idle_rules(spec: ReleaseSpec, facts: Facts) -> list[str]:
    """Warnings about values and ranges of the rules that no record has; each once."""
    return list(dict.fromkeys(_idle(spec, facts)))


def _idle(spec: ReleaseSpec, facts: Facts) -> Iterator[str]:
    for number, rule in enumerate(spec.rules):
        for place, part in enumerate(_parts(rule)):
            if not facts[_occurs(number, place)]:
                yield (
                    f'exclusion rule "{rule.label}": no record has {part.said}, so that the rule'
                    " rules nothing out by it; check how the source spells it"
                )


def _parts(rule: ExclusionRule) -> list[_Part]:
    parts: list[_Part] = []
    for attribute, condition in rule.when:
        asked = [condition] if isinstance(condition, Between) else condition
        parts += [_Part(attribute, one) for one in asked]
    return parts + [_Part(rule.sensitive, value) for value in rule.values]


def _occurring(rule: ExclusionRule, number: int) -> Check:
    return Check(
        f"occurs{number}",
        f"which values of a rule occur: {rule.label}",
        lambda s: exp.select(
            *[
                named(part.occurs(s), _occurs(number, place).column)
                for place, part in enumerate(_parts(rule))
            ]
        ),
        gives=[_occurs(number, place) for place, _ in enumerate(_parts(rule))],
    )


def _occurs(number: int, place: int) -> Fact[bool]:
    """Whether any record has this part of a rule."""
    return flag(f"occurs{place}", f"rule{number}_")
