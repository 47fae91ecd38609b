"""What of a release the steps of identity reservation look at."""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import BITS, Axis, NominalAxis
from pganon.methods.shape import MethodShape
from pganon.plan.sqltools import col, fragment, named, num
from pganon.plan.steps import State
from pganon.policy.options import MethodOptions

Shape = MethodShape[MethodOptions]


def words(axis: NominalAxis, state: State) -> int:
    """Number of 64-bit words with one bit per code, NULL's 0 among them."""
    return axis.size(state) // BITS + 1


def hull(axis: Axis, state: State, table: str) -> list[exp.Expr]:
    """Aggregates over the records of an individual: what of an attribute they have.

    Of ordered attributes and trees the lowest and highest code and whether NULL occurs, of nominal
    ones a bit per value.
    """
    if not isinstance(axis, NominalAxis):
        return axis.extent(state, table)
    code = col(axis.code, table)
    bit = "bit_or(case when :c >> 6 = :w then 1::bigint << (:c & 63) else 0 end)"
    return [
        named(fragment(bit, c=code, w=num(word)), f"b{axis.index}_{word}")
        for word in range(words(axis, state))
    ]


def joined_hull(axis: Axis, state: State, table: str) -> list[exp.Expr]:
    """Aggregates over the hulls of individuals: that of all of them."""
    rules = {"lo": "min(:c)", "hi": "max(:c)", "n": "bool_or(:c)", "b": "bit_or(:c)"}
    return [
        named(fragment(rules[name.rstrip("0123456789_")], c=col(name, table)), name)
        for name in hull_columns(axis, state)
    ]


def hull_columns(axis: Axis, state: State) -> list[str]:
    """Names of :func:`hull`."""
    i = axis.index
    if isinstance(axis, NominalAxis):
        return [f"b{i}_{word}" for word in range(words(axis, state))]
    return [f"lo{i}", f"hi{i}", *([f"n{i}"] if axis.has_null(state) else [])]
