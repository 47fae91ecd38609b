"""The source as metrics see it: cells of equal codes with the group they are published in.

msource      (group_id, cell, c<i>, n, t<j>)   group_id is NULL for suppressed records; t<j> sums
mplaces<i>   (code, n, upto, place, away, at)   values of attribute i; `upto` records with values
             up to this one; where values lie on a line, `away` its distance from the lowest, and
             `at` its place in [0, 1]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

from sqlglot import exp

from pganon.encode.axis import Axis, OrderedAxis, TreeAxis, axes
from pganon.encode.coding import suppresses_nulls
from pganon.encode.number_line import place, share
from pganon.encode.records import TIMES, number_of
from pganon.encode.work import CODED, LEFT_OUT
from pganon.forms.form import Description
from pganon.resolved.model import ReleaseSpec, Shown
from pganon.sqltools import cast, col, fragment, named, query, stacked
from pganon.steps import Check, State, Step, table
from pganon.steps.facts import count

CELLS = count("cells", "metric_", assumed=40)
GROUPS = count("groups", "metric_", assumed=40)
"""Number of distinct combinations of codes, and of groups."""


COMPARED = 300_000_000
"""Most pairs of a cell and a group that a metric compares; beyond, it is not measured."""


def few(state: State, limit: int = COMPARED) -> bool:
    return state[CELLS] * state[GROUPS] <= limit


@dataclass(frozen=True)
class Summed:
    """A numeric column published unchanged, which queries can add up."""

    number: int
    work: str
    published: str


def summed(spec: ReleaseSpec) -> list[Summed]:
    pairs = [(f"v{item.index}", item) for item in spec.sensitive]
    pairs += [(f"p{item.index}", item) for item in spec.carried]
    numeric = [(work, item.published) for work, item in pairs if item.column.is_number]
    return [Summed(number, *pair) for number, pair in enumerate(numeric)]


def coded_records(spec: ReleaseSpec, state: State) -> exp.Select:
    """(c<i>, s<j>, n): the records of the source as codes, suppressed ones too."""
    names = [axis.code for axis in axes(spec.attributes)]
    names += [f"s{item.index}" for item in spec.sensitive]
    tables = [CODED]
    if suppresses_nulls(spec):
        tables.append(LEFT_OUT)
    records = [
        query("select 1 from t", {"t": state.work(table)}).select(
            *[col(name, "t") for name in names], append=False
        )
        for table in tables
    ]
    columns = [col(name, "r") for name in names]
    tree = query("select count(*)::float8 as n from r", {"r": stacked(records)}).select(*columns)
    return tree.group_by(*[column.copy() for column in columns])


def on_line(axis: Axis) -> bool:
    """Whether the values of the attribute have distances to each other."""
    return isinstance(axis, OrderedAxis) or axis.attribute.form is Shown.RANGE


def labelled(axis: Axis) -> TypeGuard[TreeAxis]:
    """Whether the attribute is published as labels of a hierarchy."""
    return isinstance(axis, TreeAxis) and axis.attribute.form is Shown.LABEL


def measured(axis: Axis) -> bool:
    """Whether published values are places on the line that no record needs to have."""
    return axis.attribute.form in (Shown.RANGE, Shown.MEAN)


def discrete(axis: Axis) -> bool:
    """Whether a published range of the attribute holds finitely many values."""
    return not measured(axis) or axis.attribute.column.kind not in ("numeric", "float")


def steps(spec: ReleaseSpec, description: Description) -> list[Step]:
    return [
        table(
            "metric_source",
            "source records by codes and group",
            lambda s: _source(spec, description, s),
            into="msource",
        ),
        *place_steps(spec),
        Check(
            "metric_sizes",
            "cells and groups, which bound the work of comparing them",
            lambda s: query(
                "select max(m.cell) as cells, count(distinct m.group_id) as groups from m",
                {"m": s.work("msource")},
            ),
            gives=[CELLS, GROUPS],
        ),
    ]


def place_steps(spec: ReleaseSpec) -> list[Step]:
    return [
        table(
            f"metric_places{axis.index}",
            f"places of the values of attribute {axis.index + 1}",
            lambda s, axis=axis: _places(axis, s),
            into=f"mplaces{axis.index}",
            inline=True,
        )
        for axis in axes(spec.attributes)
    ]


def _source(spec: ReleaseSpec, description: Description, state: State) -> exp.Expr:
    names = [axis.code for axis in axes(spec.attributes)]
    sums = summed(spec)
    columns = ["group_id", *names, *[item.work for item in sums]]
    columns += [TIMES] if spec.counted else []
    tree = query(
        "select m.group_id, :n as n from m",
        {"m": records(spec, description, columns, state)},
        n=number_of(spec, "m"),
    ).select(*[col(name, "m") for name in names])
    for item in sums:
        value = cast(col(item.work, "m"), "float8")
        if spec.counted:
            value = fragment(":v * m.times", v=value)
        added = fragment("coalesce(sum(:v), 0)", v=value)
        tree = tree.select(named(added, f"t{item.number}"))
    tree = tree.group_by(col("group_id", "m"), *[col(name, "m") for name in names])
    return query("select x.* from x", {"x": tree}).select(named(cell_number(names, "x"), "cell"))


def cell_number(names: Sequence[str], table: str) -> exp.Expr:
    """A number for the values of these columns."""
    return exp.Window(
        this=exp.func("dense_rank", dialect="postgres"),
        order=exp.Order(expressions=[exp.Ordered(this=col(name, table)) for name in names]),
    )


def records(
    spec: ReleaseSpec, description: Description, columns: list[str], state: State
) -> exp.Select:
    """These columns of :attr:`Description.members` of all records, suppressed ones too.

    A row per record, unless :data:`TIMES` is one of the columns.
    """
    parts = [_columns(spec, description.members(spec, state), columns)]
    if suppresses_nulls(spec):
        left_out = query("select null::int as group_id, l.* from l", {"l": state.work(LEFT_OUT)})
        parts.append(_columns(spec, left_out, columns))
    return stacked(parts)


def _columns(spec: ReleaseSpec, tree: exp.Select, names: list[str]) -> exp.Select:
    rows = query("select 1 from x", {"x": tree})
    if spec.counted and TIMES not in names:
        rows = query("select 1 from x cross join lateral generate_series(1, x.times)", {"x": tree})
    return rows.select(*[col(name, "x") for name in names], append=False)


def _places(axis: Axis, state: State) -> exp.Expr:
    dictionary = {"d": axis.dictionary(state)}
    tree = query(
        "select d.code, d.n, sum(d.n) over (order by d.code) - coalesce(sum(d.n) filter"
        " (where d.code = 0) over (), 0) as upto from d",
        dictionary,
    )
    if not on_line(axis):
        nowhere = [named(fragment("null::float8"), name) for name in ("away", "at")]
        return tree.select(named(fragment("null::numeric"), "place"), *nowhere)
    if measured(axis):
        placed = place(axis.attribute, col("value", "d"))
    else:
        placed = fragment("nullif(d.code, 0)::numeric")
    tree = tree.select(named(placed, "place"))
    lowest, highest = fragment("min(x.place) over ()"), fragment("max(x.place) over ()")
    if isinstance(axis, OrderedAxis):
        tree, at = tree.select(col("position", "d")), col("position", "x")
    else:
        at = share(fragment("x.place"), lowest, highest)
    return query(
        "select x.code, x.n, x.upto, x.place, :away as away,"
        " case when x.place is not null then :at end as at from x",
        {"x": tree},
        away=distance(fragment("x.place"), lowest),
        at=at,
    )


def distance(placed: exp.Expr, lowest: exp.Expr) -> exp.Expr:
    """From the lowest value, as float8: so large numbers near each other remain distinct."""
    # A difference below the least float8 would be an error.
    return fragment("round(:p - :l, 40)::float8", p=placed, l=lowest)
