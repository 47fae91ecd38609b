"""Conditions of exclusion rules in SQL, over published values and over codes.

Values are compared as the column's own type compares them, so that citext stays insensitive to
case, an enum has its order, and a number needs no particular spelling.

A misspelled value passes verification, since no bucket has it. So occurrences are counted, and a
warning names the values that occur in no record, and so exclude nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.catalog.model import Column
from pganon.catalog.values import in_order
from pganon.encode.work import CODED, dictionary
from pganon.identifiers import quote
from pganon.policy.exclusions import Between, Condition
from pganon.policy.refusals import show
from pganon.resolved.model import Attribute, ExclusionRule, ReleaseSpec, Sensitive
from pganon.sqltools import cast, col, conjunction, fragment, named, num, query, scalar, text
from pganon.steps import Check, State
from pganon.steps.facts import Fact, Facts, flag

When = tuple[tuple[Attribute, Condition], ...]


def conditions(spec: ReleaseSpec) -> list[When]:
    """The different conditions of all rules, in the order of the policy."""
    return list(dict.fromkeys(rule.when for rule in spec.rules))


def meets(condition: Condition, column: Column, value: exp.Expr) -> exp.Expr:
    """Whether a value meets a condition. NULL is unknown to a range, and not in a list."""
    if isinstance(condition, Between):
        bounds = [
            fragment(f":v {operator} :b", v=in_order(column, value), b=_bound(column, bound))
            for operator, bound in ((">=", condition.min), ("<=", condition.max))
            if bound is not None
        ]
        return conjunction(bounds)
    return exp.paren(
        exp.and_(fragment(":v is not null", v=value), one_of(value, column, condition))
    )


def one_of(value: exp.Expr, column: Column, values: Sequence[str]) -> exp.Expr:
    """Condition: the value is one of some values of the policy."""
    return exp.paren(exp.or_(*[fragment(":v = :w", v=value, w=_value(column, v)) for v in values]))


def _bound(column: Column, written: str) -> exp.Expr:
    """The bound of a range as an operand for :func:`in_order`."""
    if column.kind == "enum":
        return num(column.labels.index(written) + 1)
    return _value(column, written)


_UNLIMITED = {"text": "text", "bpchar": "bpchar", "numeric": "numeric"}


def _value(column: Column, written: str) -> exp.Expr:
    """A value of the policy; a length or precision of the column would cut it silently."""
    return cast(text(written), _UNLIMITED.get(column.kind, column.stored_type))


def applies(when: When, value: Callable[[Attribute], exp.Expr]) -> exp.Expr:
    """Whether a record satisfies all conditions, three-valued.

    Args:
        value: the expression of a column of the record.
    """
    parts = [exp.paren(meets(condition, a.column, value(a))) for a, condition in when]
    return exp.paren(conjunction(parts))


def excluded(rule: ExclusionRule, value: exp.Expr) -> exp.Expr:
    """Whether a sensitive value is one that the rule excludes; never unknown."""
    same = one_of(value, rule.sensitive.column, rule.values)
    return fragment("coalesce(:same, false)", same=same)


def applies_to_codes(when: When, state: State, table: str) -> exp.Expr:
    """The same for the codes `c<i>` in `table`."""
    parts = [_by_code(attribute, condition, state, table) for attribute, condition in when]
    return exp.paren(conjunction(parts))


def _by_code(attribute: Attribute, condition: Condition, state: State, table: str) -> exp.Expr:
    """Probed in an array of truth values by code, which the server makes once."""
    column = attribute.column
    truths = query(
        "select array_agg(:met order by d.code) from d where d.code > 0",
        {"d": state.work(dictionary(attribute.index))},
        met=meets(condition, column, cast(col("value", "d"), column.stored_type)),
    )
    missing = "null::boolean" if isinstance(condition, Between) else "false"
    code = col(f"c{attribute.index}", table)
    return (
        exp.Case()
        .when(fragment(":c = 0", c=code), fragment(missing))
        .else_(fragment(":a[:c]", a=scalar(truths), c=code))
    )


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
