"""One number for the codes of a record, to join and to group records by instead of all codes.

The codes are the digits of the number, each attribute with a base of its own. A join by one number
takes less than one by many codes, and the planner knows how many rows it gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod

from sqlglot import exp

from pganon.encode import facts
from pganon.resolved.model import Attribute, ReleaseSpec
from pganon.sqltools import cast, col, fragment, num, total
from pganon.steps import State

COMBINATION = "combination"
"""Column of `coded`: the number of its combination of codes, a bigint."""

_MOST = 2**63 - 1

Code = Callable[[Attribute], exp.Expr]


def combined(spec: ReleaseSpec, state: State) -> bool:
    """Whether encoded records have the number: the method asks for it, and it is no code alone and
    fits a bigint."""
    wanted = spec.policy.method.encoding.combines and not spec.numbers_records
    return wanted and len(spec.attributes) > 1 and _bases(spec.attributes, state) <= _MOST


def cell_columns(spec: ReleaseSpec, state: State) -> list[str]:
    """Columns of `coded` that say which combination of codes a record has."""
    codes = [f"c{attribute.index}" for attribute in spec.attributes]
    return [COMBINATION] if combined(spec, state) else codes


def combination(spec: ReleaseSpec, state: State, code: Code) -> exp.Expr:
    """The number of a row with these codes."""
    return weighted_sum(spec, state, spec.attributes, code)


def weighted_sum(
    spec: ReleaseSpec, state: State, attributes: Iterable[Attribute], code: Code
) -> exp.Expr:
    """What the codes of some attributes add to the number; NULL (0) adds nothing."""
    return total(
        [
            fragment(
                ":code * :weight",
                code=cast(code(attribute), "bigint"),
                weight=num(_weight(spec, state, attribute)),
            )
            for attribute in attributes
        ]
    )


def code_of(spec: ReleaseSpec, state: State, attribute: Attribute, table: str) -> exp.Expr:
    """The code of an attribute, from the number in a table."""
    return fragment(
        ":number / :weight % :base",
        number=col(COMBINATION, table),
        weight=num(_weight(spec, state, attribute)),
        base=num(_bases([attribute], state)),
    )


def _weight(spec: ReleaseSpec, state: State, attribute: Attribute) -> int:
    return _bases(spec.attributes[attribute.index + 1 :], state)


def _bases(attributes: Iterable[Attribute], state: State) -> int:
    return prod(state[facts.size(attribute.index)] + 1 for attribute in attributes)
