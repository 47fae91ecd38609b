"""Generalized quasi-identifiers of a class as shares of its records, column by column.

mbox<i>      (number, c<i>, size, n)   share of the box of a class at value c<i>; size 1

All values that a class covers are taken as equally likely, and columns as independent of each
other (uniformity). Of integers and days every one within a range counts, else the values of the
source that it covers. So a class is like a bucket of a sliced QIT with a table per column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from pganon.encode.axis import Axis, axes
from pganon.metrics import coverage
from pganon.metrics.source import on_line, place_steps
from pganon.resolved.model import Attribute, ReleaseSpec, Shown
from pganon.sqltools import col, fragment, named, query
from pganon.steps import CreateTable, State, Step

_COUNTED = ("integer", "date")
"""Kinds of which every value within a range counts."""


def box_table(attribute: Attribute) -> str:
    return f"mbox{attribute.index}"


def steps(spec: ReleaseSpec, published: Callable[[State], exp.Select]) -> list[Step]:
    """From what classes show."""
    return [
        *place_steps(spec),
        *coverage.steps(spec, published),
        *[
            CreateTable(
                f"metric_box{axis.index}",
                f"shares of the values of attribute {axis.index + 1} in every class",
                lambda s, axis=axis: s.work(box_table(axis.attribute)),
                lambda s, axis=axis: _box(axis, s),
            )
            for axis in axes(spec.attributes)
        ],
    ]


def _box(axis: Axis, state: State) -> exp.Expr:
    i = axis.index
    if on_line(axis):
        # The codes between two others need no search.
        held = query(
            "select b.*, g.code from b cross join lateral"
            " (select x.code from generate_series(:lo, :hi) as x(code)"
            " union all select 0 where :z) as g",
            {"b": state.work("mboxes")},
            **{name: col(f"{name}{i}", "b") for name in ("lo", "hi", "z")},
        )
    else:
        held = query(
            "select b.*, d.code from b join d on :covered",
            {"b": state.work("mboxes"), "d": axis.dictionary(state)},
            covered=coverage.covered(axis, col("code", "d"), "b"),
        )
    return query(
        "select h.group_id as number, 1::float8 as size, 1::float8 / :many as n from h",
        {"h": held},
        many=_values(axis),
    ).select(named(col("code", "h"), f"c{i}"))


def _values(axis: Axis) -> exp.Expr:
    """How many values the box `h` holds."""
    i = axis.index
    if axis.attribute.form is not Shown.RANGE or axis.attribute.column.kind not in _COUNTED:
        return col(f"covers{i}", "h")
    parts = {name: col(f"{name}{i}", "h") for name in ("low", "high", "z")}
    return fragment("coalesce(:high - :low + 1, 0) + :z::int", **parts)


def matching(relation: str, groups: Sequence[str], state: State) -> exp.Select:
    """(query, item, groups.., n): rows of the QIT, by how much of them is expected to match."""
    tree = query(
        "select m.query, q.item, m.share * t.n as n from m join t on t.class_id = m.group_id"
        " join q on q.query = m.query where m.share > 0",
        {"m": state.work("mshares"), "t": state.work(relation), "q": state.work("mqueries")},
    )
    return tree.select(*[col(name, "t") for name in groups])
