"""Columns of `coded` as their association is measured."""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.association import Associated
from pganon.encode.axis import OrderedAxis, axes
from pganon.plan.sqltools import col, fragment
from pganon.plan.steps import State
from pganon.spec.model import ReleaseSpec, Sensitive


def sensitive_columns(spec: ReleaseSpec) -> list[Associated]:
    return [
        Associated(
            item.published,
            col(f"s{item.index}", "t"),
            _number(item) if item.column.is_number or item.column.is_time else None,
        )
        for item in spec.sensitive
    ]


def _number(item: Sensitive) -> exp.Expr:
    value = col(f"v{item.index}", "t")
    if item.column.is_number:
        return fragment(":v::float8", v=value)
    if item.column.kind == "date":
        return fragment("(:v - date '2000-01-01')::float8", v=value)
    return fragment("extract(epoch from :v)::float8", v=value)


def quasi_columns(spec: ReleaseSpec, state: State) -> list[Associated]:
    found: list[Associated] = []
    for axis in axes(spec.attributes):
        number = None
        if isinstance(axis, OrderedAxis):
            known = col(axis.code, "t")
            number = fragment(
                "case when :c > 0 then :position end",
                c=known,
                position=axis.position(state, known),
            )
        code = fragment("nullif(:c, 0)", c=col(axis.code, "t"))
        found.append(Associated(axis.attribute.published, code, number))
    return found
