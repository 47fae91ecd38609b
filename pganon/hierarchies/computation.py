"""Hierarchies computed from the values: intervals, parts of the calendar, prefixes, known codes.

Ranges are half-open, [lower, upper), and nest: a range of one level lies inside one range of the
next. The top covers all ranges of the level below it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

from sqlglot import exp

from pganon.errors import PganonError
from pganon.hierarchies.build import (
    DATES,
    NUMBERS,
    TEXTS,
    Build,
    counted,
    size_check,
    tree_table,
    value_text,
)
from pganon.policy.hierarchies import TOP, AgeHierarchy, ReadyHierarchy, is_multiple
from pganon.policy.ready import OTHER, code, label
from pganon.sqltools import col, fragment, named, num, query, text
from pganon.steps import Check, State, Step
from pganon.steps.facts import counts

_Map = Callable[[exp.Expr], exp.Expr]

# Finest first: the end of the period that starts at :l, and its label.
_PERIODS = {
    "day": ("interval '1 day'", "to_char(:l, 'YYYY-MM-DD')"),
    "week": ("interval '7 days'", "to_char(:l, 'IYYY-\"W\"IW')"),
    "month": ("interval '1 month'", "to_char(:l, 'YYYY-MM')"),
    "quarter": ("interval '3 months'", "to_char(:l, 'YYYY-\"Q\"Q')"),
    "year": ("interval '1 year'", "to_char(:l, 'YYYY')"),
    "5 years": (
        "interval '5 years'",
        "to_char(:l, 'YYYY') || '-' || to_char(:u - interval '1 day', 'YYYY')",
    ),
    "decade": ("interval '10 years'", "to_char(:l, 'YYYY') || 's'"),
    "century": (
        "interval '100 years'",
        "to_char(:l, 'YYYY') || '-' || to_char(:u - interval '1 day', 'YYYY')",
    ),
}
_FIVE = "date_trunc('year', b.x) - extract(year from b.x)::int % 5 * interval '1 year'"


def age_steps(build: Build, ages: AgeHierarchy) -> tuple[Step, ...]:
    """Steps for intervals of ages, of which the highest ones are one interval."""
    if build.kind not in NUMBERS:
        raise build.refuse("ages are numbers", "cast the column to integer in a view")
    # NaN and infinities are greater than any age, or less.
    outside = _outside_check(
        build,
        f"v.value < 0 or v.value >= {ages.oldest}",
        f"outside the ages 0 to {ages.oldest - 1}",
        "keep them out with `where:`, or declare intervals",
    )
    widths = [Decimal(width) for width in ages.age]
    top = Decimal(ages.top), Decimal(ages.oldest)
    table = tree_table(build, lambda state: _intervals(build, widths, Decimal(0), state, top))
    return (outside, table, size_check(build))


def interval_steps(
    build: Build, widths: Sequence[int | float | Decimal], origin: int | float | Decimal
) -> tuple[Step, ...]:
    """Steps for intervals of numbers that start at `origin` + a multiple of the width."""
    if build.kind not in NUMBERS:
        raise build.refuse(
            "intervals are for numbers",
            "use csv, table, prefix or, for dates, {date: [month, year]}",
        )
    exact = [Decimal(str(width)) for width in widths]
    if not exact or min(exact) <= 0:
        raise build.refuse("the widths of intervals must be greater than 0")
    if not all(is_multiple(wide, narrow) for narrow, wide in pairwise(exact)):
        raise build.refuse("every width must be a multiple of the width before it")
    return (
        _outside_check(
            build,
            "v.value::text in ('NaN', 'Infinity', '-Infinity')",
            "NaN or infinite",
            "keep them out with `where:`",
        ),
        tree_table(build, lambda state: _intervals(build, exact, Decimal(str(origin)), state)),
        size_check(build),
    )


def _number(value: Decimal) -> exp.Expr:
    return fragment(":t::numeric", t=text(format(value, "f")))


def _intervals(
    build: Build,
    widths: Sequence[Decimal],
    origin: Decimal,
    state: State,
    highest: tuple[Decimal, Decimal] | None = None,
) -> exp.Select:
    """Args: highest: an interval in which there are no others, and above which there is nothing."""
    # A cast of float8 to numeric keeps 15 digits, its text keeps all.
    source = ":v::text::numeric" if build.kind == "double precision" else ":v::numeric"
    bounds = query(
        "select v.value, :x as x from v",
        {"v": build.values(state)},
        x=fragment(source, v=col("value", "v")),
    )
    # The remainder of numeric is exact; a rounded quotient could pass over a bound.
    lower = "trim_scale(:x - ((:x - :o) % :w + :w) % :w)"
    upper = "trim_scale(:l + :w)"
    ends: dict[str, exp.Expr] = {}
    if highest is not None:
        lower = f"case when :x >= :top then :top else {lower} end"
        upper = f"case when :l >= :top then :end else {upper} end"
        ends = {"top": _number(highest[0]), "end": _number(highest[1])}
    x, o = col("x", "b"), _number(origin)
    lowers = [
        named(fragment(lower, x=x, o=o, w=_number(w), **ends), f"l{i}")
        for i, w in enumerate(widths)
    ]
    starts = query("select b.value from b", {"b": bounds}).select(*lowers)
    uppers = [
        named(fragment(upper, l=col(f"l{i}", "b"), w=_number(w), **ends), f"u{i}")
        for i, w in enumerate(widths)
    ]
    ranges = query("select b.* from b", {"b": starts}).select(*uppers)
    label = "'[' || (:l)::text || ',' || (:u)::text || ')'"
    return _ranges(build, ranges, [label] * len(widths), lambda bound: bound)


def date_steps(build: Build, units: Sequence[str]) -> tuple[Step, ...]:
    """Steps for periods of the calendar (time zone UTC), finest unit first."""
    if build.kind not in DATES:
        other = "for numbers use intervals"
        if build.kind in TEXTS:
            other = "cast the column to date in a view over the source, or use prefix"
        raise build.refuse("date levels are for dates and timestamps", other)
    order = [list(_PERIODS).index(unit) for unit in units]
    if not order or sorted(set(order)) != order:
        raise build.refuse("date levels go from fine to coarse, each once")
    for fine, coarse in pairwise(units):
        if fine == "week" or (fine in ("5 years", "decade") and coarse == "century"):
            raise build.refuse(
                f"a {fine} does not always lie inside one {coarse}", f"leave {fine} or {coarse} out"
            )
    outside = _outside_check(
        build,
        "v.value < '0001-01-01' or v.value >= '10000-01-01'",
        "outside the years 1 to 9999",
        "keep them out with `where:`, or leave the hierarchy out",
    )
    table = tree_table(build, lambda state: _periods(build, units, state))
    return (outside, table, size_check(build))


def _periods(build: Build, units: Sequence[str], state: State) -> exp.Select:
    zone = build.kind == "timestamptz"
    moment = ":v at time zone 'UTC'" if zone else ":v::timestamp"
    moments = query(
        "select v.value, :x as x from v",
        {"v": build.values(state)},
        x=fragment(moment, v=col("value", "v")),
    )
    lowers = [
        named(fragment(_FIVE if unit == "5 years" else f"date_trunc('{unit}', b.x)"), f"l{i}")
        for i, unit in enumerate(units)
    ]
    starts = query("select b.value from b", {"b": moments}).select(*lowers)
    uppers = [
        named(fragment(f":l + {_PERIODS[unit][0]}", l=col(f"l{i}", "b")), f"u{i}")
        for i, unit in enumerate(units)
    ]
    ranges = query("select b.* from b", {"b": starts}).select(*uppers)
    back = {"date": ":b::date", "timestamp": ":b", "timestamptz": ":b at time zone 'UTC'"}
    return _ranges(
        build,
        ranges,
        [_PERIODS[unit][1] for unit in units],
        lambda bound: fragment(back[build.kind], b=bound),
    )


def _ranges(build: Build, ranges: exp.Select, labels: Sequence[str], typed: _Map) -> exp.Select:
    """The tree of `ranges`(value, l0.., u0..): one level per label template, then the top."""
    top = len(labels) - 1
    lowers = [col(f"l{i}", "b") for i in range(top + 1)]
    uppers = [col(f"u{i}", "b") for i in range(top + 1)]
    texts = [
        fragment(label, l=lower, u=upper)
        for label, lower, upper in zip(labels, lowers, uppers, strict=True)
    ]
    own = value_text(build.kind, col("value", "b"))
    span_lower = fragment("min(:l) over ()", l=lowers[top])
    span_upper = fragment("max(:u) over ()", u=uppers[top])
    return query("select b.value from b", {"b": ranges}).select(
        named(exp.Array(expressions=[own, *texts, text(TOP)]), "labels"),
        named(exp.Array(expressions=[typed(b) for b in (*lowers, span_lower)]), "lowers"),
        named(exp.Array(expressions=[typed(b) for b in (*uppers, span_upper)]), "uppers"),
    )


def _outside_check(build: Build, condition: str, what: str, hint: str) -> Check:
    def select(state: State) -> exp.Select:
        return query(
            "select count(*) as outside_values, coalesce(sum(v.n), 0)::bigint as outside_records"
            " from v where :condition",
            {"v": build.values(state)},
            condition=fragment(condition),
        )

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        if not row["outside_values"]:
            return None
        return build.refuse(
            f"{counted(row['outside_values'], 'value')}"
            f" in {counted(row['outside_records'], 'record')} {what}",
            hint,
        )

    return Check(
        build.step("span"),
        build.purpose(f"no value is {what}"),
        select,
        problem,
        gives=counts("outside_values", "outside_records", of=build.facts),
    )


def ready_steps(build: Build, hierarchy: ReadyHierarchy) -> tuple[Step, ...]:
    """Steps for codes, postcodes and countries, whose levels are known."""
    if build.kind not in TEXTS:
        raise build.refuse(
            f"{hierarchy.kind} is for text",
            "for codes that are stored as numbers set type: categorical; no leading zero may be"
            " missing",
        )
    height = len(hierarchy.form["levels"])
    top = col(f"l{height}", "b")

    def select(state: State) -> exp.Select:
        own = value_text(build.kind, col("value", "b"))
        known = [
            fragment(f"case when b.l{height} is null then '{OTHER}' else b.l{i} end")
            for i in range(1, height + 1)
        ]
        tree = query("select b.value from b", {"b": _ready(build, hierarchy, state)}).select(
            named(exp.Array(expressions=[own, *known, text(TOP)]), "labels")
        )
        return tree if hierarchy.other else tree.where(fragment(":top is not null", top=top))

    table, size = tree_table(build, select), size_check(build)
    if hierarchy.other:
        return (table, size)
    return (table,) if build.partial else (_fitting_check(build, hierarchy, top), table, size)


def _ready(build: Build, hierarchy: ReadyHierarchy, state: State) -> exp.Select:
    """b(value, n, l0, l1, ...): every label is made of the one below."""
    own = code(hierarchy.form, value_text(build.kind, col("value", "v")))
    tree = query("select v.value, v.n, :own as l0 from v", {"v": build.values(state)}, own=own)
    for i, level in enumerate(hierarchy.form["levels"]):
        above = named(label(level, col(f"l{i}", "b")), f"l{i + 1}")
        tree = query("select b.* from b", {"b": tree}).select(above)
    return tree


def _fitting_check(build: Build, hierarchy: ReadyHierarchy, top: exp.Expr) -> Check:
    example = hierarchy.form["example"]

    def select(state: State) -> exp.Select:
        return query(
            "select count(*) as odd_values, coalesce(sum(b.n), 0)::bigint as odd_records,"
            " count(*) filter (where :v ~ '^[0-9]+$' and char_length(:v) < :length) as short_values"
            " from b where :top is null",
            {"b": _ready(build, hierarchy, state)},
            v=value_text(build.kind, col("value", "b")),
            top=top,
            length=num(len(example) if example.isdigit() else 0),
        )

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        if not row["odd_values"]:
            return None
        word = getattr(hierarchy, hierarchy.kind)
        short, zeros = "", ""
        if row["short_values"]:
            short = f"; {row['short_values']} with fewer digits"
            zeros = "; where leading zeros were lost, keep the column as text"
        return build.refuse(
            f"{counted(row['odd_values'], 'value')} in {counted(row['odd_records'], 'record')} that"
            f" {hierarchy.kind}: {word} does not know, as it knows {example}{short}",
            "mend them in a view over the source, or set other: true, which calls all of them"
            f' "{OTHER}"{zeros}',
        )

    return Check(
        build.step("fitting"),
        build.purpose("every value is of the declared form"),
        select,
        problem,
        gives=counts("odd_values", "odd_records", "short_values", of=build.facts),
    )


def prefix_steps(build: Build, lengths: Sequence[int]) -> tuple[Step, ...]:
    """Steps for labels that keep the first characters of the value; the others become `*`."""
    if build.kind not in TEXTS:
        raise build.refuse(
            "a prefix is for text",
            "for codes that are stored as numbers set type: categorical; for numbers use"
            " intervals, for dates {date: [month, year]}",
        )
    if not lengths or min(lengths) < 1 or sorted(set(lengths), reverse=True) != list(lengths):
        raise build.refuse("prefix lengths must be at least 1 and descend, e.g. [4, 3, 2]")

    def select(state: State) -> exp.Select:
        label = value_text(build.kind, col("value", "v"))
        kept = [
            fragment(
                "left(:t, :k) || repeat('*', greatest(char_length(:t) - :k, 0))", t=label, k=num(k)
            )
            for k in lengths
        ]
        return query("select v.value from v", {"v": build.values(state)}).select(
            named(exp.Array(expressions=[label, *kept, text(TOP)]), "labels")
        )

    return (tree_table(build, select), size_check(build))
