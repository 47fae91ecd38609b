"""Parts of a release that the steps of identity reservation read."""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import Axis, NominalAxis
from pganon.forms.work import hull_columns
from pganon.methods.common.context import MethodContext
from pganon.policy.options import MethodOptions
from pganon.sqltools import col, fragment, named
from pganon.steps import State

IdentityContext = MethodContext[MethodOptions]


def hull(axis: Axis, state: State, table: str) -> list[exp.Expr]:
    """Aggregates over the records of an individual: what of an attribute they have.

    Of ordered attributes and trees the lowest and highest code and whether NULL occurs, of nominal
    ones an array of the codes, NULL's 0 among them.
    """
    if not isinstance(axis, NominalAxis):
        return axis.extent(state, table)
    return [named(fragment("array_agg(distinct :c)", c=col(axis.code, table)), f"b{axis.index}")]


def joined_hull(axis: Axis, state: State, table: str) -> list[exp.Expr]:
    """Aggregates over the hulls of individuals: that of all of them; codes may repeat."""
    rules = {
        "lo": "min(:c)",
        "hi": "max(:c)",
        "n": "bool_or(:c)",
        # There is no aggregate that concatenates arrays of different lengths.
        "b": "string_to_array(string_agg(array_to_string(:c, ','), ','), ',')::int[]",
    }
    return [
        named(fragment(rules[name.rstrip("0123456789")], c=col(name, table)), name)
        for name in hull_columns(axis, state)
    ]
