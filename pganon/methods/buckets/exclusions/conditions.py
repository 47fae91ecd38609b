"""Conditions of exclusion rules in SQL, over published values and over codes.

Values are compared as the column's own type compares them, so that citext stays insensitive to
case, an enum has its order, and a number needs no particular spelling.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from pganon.catalog.model import Column
from pganon.catalog.values import in_order
from pganon.encode.work import dictionary
from pganon.policy.exclusions import Between, Condition
from pganon.resolved.model import Attribute, ExclusionRule, ReleaseSpec
from pganon.sqltools import cast, col, conjunction, fragment, num, query, scalar, text
from pganon.steps import State

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
