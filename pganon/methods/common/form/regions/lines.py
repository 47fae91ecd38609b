"""Bounds of numbers, dates and timestamps: what lies between the nearest cuts.

Left of a cut is NULL, too, and what is at most the threshold; of a tree of ranges what is below it,
unless the cut separates single values. Without a cut on a side there is the end of the declared
domain, or none.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import Axis, TreeAxis
from pganon.encode.number_line import bounds, ends, place, share
from pganon.methods.common.form.recode import closed
from pganon.resolved.model import Attribute
from pganon.sqltools import cast, col, fragment, named, num, query
from pganon.steps import State

_NEXT = {
    "integer": ":v + 1",
    "date": ":v + 1",
    "timestamp": ":v + interval '1 microsecond'",
    "timestamptz": ":v + interval '1 microsecond'",
}
"""The value after another one, of kinds that have such."""


def line_bounds(axis: Axis, state: State, paths: exp.Select, taken: exp.Select) -> exp.Select:
    """SELECT path, g, z, loss, glm, height.

    Args:
        paths: SELECT path, each once.
        taken: SELECT path, at, is_left, threshold, members, level: the cuts of every path.
    """
    attribute = axis.attribute
    attached = _ends_of_tree if isinstance(axis, TreeAxis) else _ends_of_cuts
    shown = query("select e.path, e.empty, e.z from e", {"e": _nearest(attribute, paths, taken)})
    shown = shown.select(*[named(value, name) for name, value in attached(attribute).items()])
    # Of the span; where a region has no end, up to that of the span.
    parts = [
        share(
            fragment(f"coalesce(:p, t.{end})", p=place(attribute, col(name, "b"))),
            col("first", "t"),
            col("last", "t"),
        )
        for name, end in (("hi", "last"), ("lo", "first"))
    ]
    measured = query(
        "select b.path, case when not b.empty then b.g end as g, b.z,"
        " case when b.empty then 0 when b.z then 1 else :share end as loss,"
        " case when b.empty then 0 when b.z then :top end as known"
        " from b cross join t",
        {"b": shown.copy(), "t": _span(axis, state)},
        share=exp.paren(fragment(":stop - :start", stop=parts[0], start=parts[1])),
        top=num(axis.levels(state) if isinstance(axis, TreeAxis) else 0),
    )
    return query(
        "select m.path, m.g, m.z, m.loss, m.loss as glm, coalesce(m.known, h.level) as height"
        " from m join h on h.path = m.path",
        {"m": measured, "h": _heights(axis, state, shown)},
    )


def _nearest(attribute: Attribute, paths: exp.Select, taken: exp.Select) -> exp.Select:
    """SELECT path, empty, z, low, high, [low_level, high_level]: every cut lies between those
    before it, so the last on either side is the nearest."""
    last = "(array_agg(:v order by s.at desc) filter (where :side and s.threshold is not null))[1]"
    sides = {"low": "not s.is_left", "high": "s.is_left"}
    kind = attribute.value_type
    if attribute.ranged and kind == "bigint":
        kind = "numeric"  # ranges may end between whole numbers
    nearest = query(
        "select p.path, 0 = any(p.path)"
        " or coalesce(bool_or(s.is_left and s.threshold is null), false) as empty,"
        " coalesce(bool_and(s.is_left), true) as leftmost from p"
        " left join s on s.path = p.path group by p.path",
        {"p": paths, "s": taken},
    )
    for name, side in sides.items():
        text = last.replace(":side", side)
        value = cast(fragment(text, v=col("threshold", "s")), kind)
        level = fragment(text, v=col("level", "s"))
        nearest = nearest.select(named(value, name), named(level, f"{name}_level"))
    null = fragment("x.leftmost" if attribute.null_column is not None else "false")
    return query("select x.*, :null as z from x", {"x": nearest}, null=null)


def _ends_of_cuts(attribute: Attribute) -> dict[str, exp.Expr]:
    """`g`, and its ends `lo` and `hi`; NULL where it has none."""
    low, high = col("low", "e"), col("high", "e")
    step = _NEXT.get(attribute.column.kind)
    first = low if step is None else fragment(step, v=low)
    lo, hi = first, high
    if attribute.domain is not None:
        lo, hi = (
            fragment("coalesce(:v, :end)", v=value, end=end)
            for value, end in zip((lo, hi), bounds(attribute), strict=True)
        )
    if step is not None:
        value = closed(attribute, lo.copy(), hi.copy())
    else:
        value = fragment(
            "numrange(trim_scale(:lo), trim_scale(:hi),"
            " case when :low is null then '[]' else '(]' end)",
            lo=lo.copy(),
            hi=hi.copy(),
            low=low.copy(),
        )
    return {"lo": lo, "hi": hi, "g": value}


def _ends_of_tree(attribute: Attribute) -> dict[str, exp.Expr]:
    """The same: as the ranges of the tree half-open, where values have a next one."""
    step = _NEXT.get(attribute.column.kind)
    low, high = col("low", "e"), col("high", "e")
    if step is not None:
        lo, hi = (
            fragment(f"case when :level = 0 then {step} else :v end", v=value, level=level)
            for value, level in ((low, col("low_level", "e")), (high, col("high_level", "e")))
        )
        value = exp.func(attribute.published_type, lo.copy(), hi.copy(), dialect="postgres")
        return {"lo": lo, "hi": hi, "g": value}
    value = fragment(
        "numrange(trim_scale(:low), trim_scale(:high), case when e.low_level = 0 then '('"
        " else '[' end || case when e.high_level = 0 then ']' else ')' end)",
        low=low,
        high=high,
    )
    return {"lo": low.copy(), "hi": high.copy(), "g": value}


def _span(axis: Axis, state: State) -> exp.Select:
    """SELECT first, last: the places that losses are shares of the way between."""
    if isinstance(axis, TreeAxis):
        return query(
            "select min(:lower) as first, max(:upper) as last from t",
            {"t": axis.table(state)},
            lower=place(axis.attribute, col("lower", "t")),
            upper=place(axis.attribute, col("upper", "t")),
        )
    first, last = ends(axis.attribute, place(axis.attribute, col("value", "d")))
    # The count makes it one row, also where both ends are declared.
    return query(
        "select :first as first, :last as last, count(*) as values from d where d.code > 0",
        {"d": axis.dictionary(state)},
        first=first,
        last=last,
    )


def _heights(axis: Axis, state: State, shown: exp.Select) -> exp.Select:
    """SELECT path, level: the lowest level of a tree with a range around the region, or the top."""
    if not isinstance(axis, TreeAxis):
        return query("select b.path, 0 as level from b", {"b": shown})
    ranges = query(
        "select distinct t.level, t.lower, t.upper from t where t.level between 1 and :top - 1",
        {"t": axis.table(state)},
        top=num(axis.levels(state)),
    )
    return query(
        "select b.path, coalesce(min(t.level), :top) as level from b"
        " left join t on t.lower <= b.lo and t.upper >= b.hi group by b.path",
        {"b": shown, "t": ranges},
        top=num(axis.levels(state)),
    )
