"""Columns of records as their association is measured."""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import OrderedAxis, axes
from pganon.methods.common.association import Associated
from pganon.resolved.model import Carried, ReleaseSpec, Sensitive
from pganon.sqltools import col, fragment
from pganon.steps import State


def sensitive_columns(spec: ReleaseSpec) -> list[Associated]:
    return [_unchanged(item, f"s{item.index}", f"v{item.index}") for item in spec.sensitive]


def carried_columns(spec: ReleaseSpec) -> list[Associated]:
    """Their codes are called `i<j>`."""
    return [_unchanged(item, f"i{item.index}", f"p{item.index}") for item in spec.carried]


def _unchanged(item: Sensitive | Carried, code: str, value: str) -> Associated:
    on_line = item.column.is_number or item.column.is_time
    number = _number(item, col(value, "t")) if on_line else None
    return Associated(item.published, col(code, "t"), number)


def _number(item: Sensitive | Carried, value: exp.Expr) -> exp.Expr:
    if item.column.is_number:
        return fragment(":v::float8", v=value)
    if item.column.kind == "date":
        return fragment("(:v - date '2000-01-01')::float8", v=value)
    return fragment("extract(epoch from :v)::float8", v=value)


def quasi_columns(spec: ReleaseSpec, state: State) -> list[Associated]:
    columns: list[Associated] = []
    for axis in axes(spec.attributes):
        number = None
        if isinstance(axis, OrderedAxis):
            codes = col(axis.code, "t")
            number = fragment(
                "case when :c > 0 then :position end",
                c=codes,
                position=axis.position(state, codes),
            )
        code = fragment("nullif(:c, 0)", c=col(axis.code, "t"))
        columns.append(Associated(axis.attribute.published, code, number))
    return columns
