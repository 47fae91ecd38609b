"""Coverage of published values, computed from the published relations alone.

mshown       (group_id, n, and per attribute g<i>, z<i>, id<i>)   published value, whether NULL is
             among what it covers (NULL where the group hides its values), and a number for the pair
mcover<i>    one row per id<i> of a published value:
    z        whether NULL is covered
    covers   values of the source covered, NULL included
    mass     records of the source whose value is covered
    lo, hi   first and last code covered (lo > hi: none)
             a mean covers the value nearest to it
    low, high      distances of the bounds from the source's lowest; `low` = `high` is one value
    start, stop    bounds on the line from the start (0) to the end (1) of the attribute's span
    bits     bit c says whether code c is covered, where values are not ordered
mboxes       mshown joined with all covers: columns above with the attribute's number appended
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pganon.encode.axis import Axis, TreeAxis, axes
from pganon.encode.number_line import ends, place, share
from pganon.forms.elements import element
from pganon.metrics.draws import no_codes
from pganon.metrics.source import discrete, distance, measured, on_line
from pganon.resolved.model import ReleaseSpec, Shown
from pganon.sqltools import (
    aliased,
    col,
    fragment,
    materialized,
    named,
    query,
    stacked,
)
from pganon.steps import CreateTable, State, Step, table

COVER = ("z", "covers", "mass", "lo", "hi", "low", "high", "start", "stop", "bits")


def steps(spec: ReleaseSpec, published: Callable[[State], exp.Select]) -> list[Step]:
    return [shown_step(spec, published), *cover_steps(spec)]


def shown_step(spec: ReleaseSpec, published: Callable[[State], exp.Select]) -> CreateTable:
    """From :func:`pganon.forms.shape.shown`."""
    return table(
        "metric_shown",
        "published values by group",
        lambda s: _shown(spec, published(s)),
        into="mshown",
    )


def cover_step(axis: Axis, cover: Callable[[Axis, State], exp.Expr] | None = None) -> CreateTable:
    """From `mshown` and `mplaces<i>`; `cover` is what is asked instead of all columns."""
    return table(
        f"metric_cover{axis.index}",
        f"what the published values of attribute {axis.index + 1} cover",
        lambda s: (cover or _cover)(axis, s),
        into=f"mcover{axis.index}",
        inline=True,
    )


def ends_of_labels(axis: Axis, state: State) -> exp.Expr:
    """Columns `id`, `z`, `covers`, `lo`, `hi` of labels of a hierarchy, without their bits."""
    assert isinstance(axis, TreeAxis)
    return query(
        "select k.id, k.z, k.z::int + coalesce(t.hi - t.lo + 1, 0) as covers,"
        " coalesce(t.lo, 1) as lo, coalesce(t.hi, 0) as hi from k"
        ' left join t on t.label = k.g::text collate "C"',
        {"k": _keys(axis, state), "t": _labels(axis, state)},
    )


def cover_steps(spec: ReleaseSpec) -> list[Step]:
    """From `mshown` and `mplaces<i>`."""
    made: list[Step] = [cover_step(axis) for axis in axes(spec.attributes)]
    made.append(
        table(
            "metric_boxes",
            "published values of every group with what they cover",
            lambda s: _boxes(spec, s),
            into="mboxes",
        )
    )
    return made


def _shown(spec: ReleaseSpec, published: exp.Select) -> exp.Expr:
    # Columns are read by their place, as one of the release may be called n, too.
    places = {name: place for place, name in enumerate(published.named_selects[2:])}
    first = published.named_selects[:2]
    assert {*first} == {"group_id", "n"}
    columns = [*first, *[f"x{place}" for place in range(len(places))]]
    named_columns = [exp.to_identifier(name, quoted=True) for name in columns]
    alias = exp.TableAlias(this=exp.to_identifier("p"), columns=named_columns)
    relation = exp.Subquery(this=published, alias=alias)
    flat = exp.select(col("group_id", "p"), col("n", "p")).from_(relation)
    for attribute in spec.attributes:
        value = col(f"x{places[attribute.published]}", "p")
        flat.select(named(value, f"g{attribute.index}"), copy=False)
        if attribute.null_column is not None:
            null = col(f"x{places[attribute.null_column]}", "p")
        elif attribute.hidden is not None:
            null = fragment("nullif(:v is null, true)", v=value)
        else:
            null = fragment(":v is null", v=value)
        flat.select(named(null, f"z{attribute.index}"), copy=False)
    tree = query("select f.* from f")
    for attribute in spec.attributes:
        i, alias = attribute.index, f"d{attribute.index}"
        g, z = col(f"g{i}", "f"), col(f"z{i}", "f")
        values = query("select distinct :g as g, :z as z from f where :g is not null", g=g, z=z)
        numbered = query("select d.g, d.z, row_number() over () as id from d", {"d": values})
        # To sort ranges and arrays of all groups takes long. NULL equals nothing: 0 and -1, and of
        # what a group hides -2.
        number = fragment("coalesce(:id, :z::int - 1, -2)", id=col("id", alias), z=z)
        tree.select(named(number, f"id{i}"), copy=False)
        tree.join(
            aliased(numbered, alias),
            on=fragment(":a = :g and :b = :z", a=col("g", alias), g=g, b=col("z", alias), z=z),
            join_type="left",
            copy=False,
        )
    return materialized(tree, f=flat)


def _boxes(spec: ReleaseSpec, state: State) -> exp.Expr:
    tree = query("select s.group_id, s.n from s", {"s": state.work("mshown")})
    for attribute in spec.attributes:
        i, alias = attribute.index, f"k{attribute.index}"
        tree = tree.select(col(f"id{i}", "s"))
        tree = tree.select(*[named(col(name, alias), f"{name}{i}") for name in COVER])
        tree = tree.join(
            aliased(state.work(f"mcover{i}"), alias),
            on=exp.EQ(this=col("id", alias), expression=col(f"id{i}", "s")),
        )
    return tree


def _keys(axis: Axis, state: State) -> exp.Select:
    """(id, g, z): every published value once."""
    i = axis.index
    return (
        query("select 1 from s", {"s": state.work("mshown")})
        .select(*[named(col(f"{name}{i}", "s"), name) for name in ("id", "g", "z")], append=False)
        .distinct()
    )


def _cover(axis: Axis, state: State) -> exp.Expr:
    if not on_line(axis):
        return _set_cover(axis, state)
    if axis.attribute.form is Shown.RANGE:
        return _line_cover(axis, state, _range_bounds(axis, state))
    if axis.attribute.form is Shown.MEAN:
        return _line_cover(axis, state, _mean_bounds(axis, state))
    return _line_cover(axis, state, _array_bounds(axis, state))


# -- values in order ----------------------------------------------------------------------------


def _range_bounds(axis: Axis, state: State) -> exp.Select:
    """(id, lo, hi, low, high) of ranges.

    Bounds and values are sorted together and counted: exact for any number, and never quadratic.
    """
    keys = {"k": _keys(axis, state)}
    parts = [
        query(
            "select v.place, 1 as kind, 0 as id, 'v' as side from v where v.code > 0",
            {"v": state.work(f"mplaces{axis.index}")},
        ),
        query(
            "select coalesce(:lower, '-Infinity'::numeric) as place, case when lower_inc(k.g)"
            " or lower_inf(k.g) then 0 else 2 end as kind, k.id, 'l' as side"
            " from k where k.g is not null",
            keys,
            lower=place(axis.attribute, fragment("lower(k.g)")),
        ),
        query(
            "select coalesce(:upper, 'Infinity'::numeric) as place, case when upper_inc(k.g)"
            " or upper_inf(k.g) then 2 else 0 end as kind, k.id, 'u' as side"
            " from k where k.g is not null",
            keys,
            upper=place(axis.attribute, fragment("upper(k.g)")),
        ),
    ]
    counted = query(
        "select e.*, count(*) filter (where e.kind = 1) over (order by e.place, e.kind) as seen,"
        " min(e.place) filter (where e.kind = 1) over () as first,"
        " max(e.place) filter (where e.kind = 1) over () as last from e",
        {"e": stacked(parts)},
    )
    first = "ceil(c.place) + (c.kind = 2 and c.place = ceil(c.place))::int"
    last = "floor(c.place) - (c.kind = 0 and c.place = floor(c.place))::int"
    return query(
        "select c.id, min(c.seen) filter (where c.side = 'l') + 1 as lo,"
        " max(c.seen) filter (where c.side = 'u') as hi,"
        " min(case when c.place = '-Infinity' then c.first else :first end)"
        " filter (where c.side = 'l') as low,"
        " max(case when c.place = 'Infinity' then c.last else :last end)"
        " filter (where c.side = 'u') as high"
        " from c where c.side <> 'v' group by c.id",
        {"c": counted},
        first=fragment(first if discrete(axis) else "c.place"),
        last=fragment(last if discrete(axis) else "c.place"),
    )


def _mean_bounds(axis: Axis, state: State) -> exp.Select:
    """(id, lo, hi, low, high) of means: their place, and the nearest code, the lower on a tie."""
    values = {"v": state.work(f"mplaces{axis.index}")}
    means = query(
        "select :place as place, 1 as kind, k.id from k where k.g is not null",
        {"k": _keys(axis, state)},
        place=place(axis.attribute, fragment("k.g")),
    )
    places = query("select v.place, 0 as kind, 0 as id from v where v.code > 0", values)
    counted = query(
        "select e.*, count(*) filter (where e.kind = 0) over (order by e.place, e.kind) as seen"
        " from e",
        {"e": stacked([places, means])},
    )
    return query(
        "select n.id, n.code as lo, n.code as hi, n.place as low, n.place as high from"
        " (select m.id, m.place, case when b.code is null or m.place - a.place <= b.place - m.place"
        " then a.code else b.code end as code from m"
        " left join v as a on a.code = m.seen left join v as b on b.code = m.seen + 1) as n",
        {**values, "m": query("select c.* from c where c.kind = 1", {"c": counted})},
    )


def _array_bounds(axis: Axis, state: State) -> exp.Select:
    """(id, lo, hi, low, high) of arrays of neighbours."""
    return query(
        "select m.id, min(m.code) as lo, max(m.code) as hi, min(m.code)::numeric as low,"
        " max(m.code)::numeric as high from m where m.code > 0 group by m.id",
        {"m": _array_members(axis, state)},
    )


def _line_cover(axis: Axis, state: State, bounds: exp.Select) -> exp.Expr:
    """`start` and `stop` of ranges are their own bounds, of arrays places of the values."""
    by_value = not measured(axis)
    first, last = ends(axis.attribute, fragment("q.place"))
    tree = query(
        "select k.id, k.z, k.z::int + coalesce(b.hi - b.lo + 1, 0) as covers,"
        " (case when k.z then coalesce(t.nulls, 0) else 0 end)"
        " + coalesce(h.upto - l.upto + l.n, 0) as mass,"
        " coalesce(b.lo, 1) as lo, coalesce(b.hi, 0) as hi,"
        " :low as low, :high as high from k"
        " left join b on b.id = k.id"
        " left join p as l on l.code = b.lo left join p as h on h.code = b.hi"
        " cross join (select sum(q.n) filter (where q.code = 0) as nulls, :first as first,"
        " :last as last, min(q.place) as lowest from p as q) as t",
        {"k": _keys(axis, state), "b": bounds, "p": state.work(f"mplaces{axis.index}")},
        first=first,
        last=last,
        **{name: distance(col(name, "b"), fragment("t.lowest")) for name in ("low", "high")},
    )
    for name, bound, edge in (("start", "low", "l"), ("stop", "high", "h")):
        covered = share(col(bound, "b"), col("first", "t"), col("last", "t"))
        at = fragment("case when b.id is not null then :own end", own=covered)
        tree = tree.select(named(col("at", edge) if by_value else at, name))
    return tree.select(named(fragment("null::varbit"), "bits"))


# -- sets ---------------------------------------------------------------------------------------


def _array_members(axis: Axis, state: State) -> exp.Select:
    """(id, code) of the elements of published arrays; a mode is one."""
    return query(
        "select k.id, d.code from k cross join lateral unnest(:elements) as u(element)"
        ' join d on :value = u.element::text collate "C"',
        {"k": _keys(axis, state), "d": axis.dictionary(state)},
        elements=fragment("array[k.g]" if axis.attribute.form is Shown.MODE else "k.g"),
        value=fragment(':v::text collate "C"', v=element(axis.attribute, col("value", "d"))),
    )


def _labels(axis: TreeAxis, state: State) -> exp.Select:
    """(label, lo, hi) of all nodes of the hierarchy."""
    return query(
        'select t.label::text collate "C" as label, min(t.lo) as lo, max(t.hi) as hi'
        " from t group by 1",
        {"t": axis.table(state)},
    )


def members(axis: Axis, state: State) -> exp.Select:
    """(id, code) of what the published values cover, where values are not ordered."""
    if isinstance(axis, TreeAxis) and axis.attribute.form is not Shown.MODE:
        values = query(
            'select k.id, d.code from k join t on t.label = k.g::text collate "C"'
            " join d on d.code between t.lo and t.hi where d.code > 0",
            {
                "k": _keys(axis, state),
                "t": _labels(axis, state),
                "d": axis.dictionary(state),
            },
        )
    else:
        values = _array_members(axis, state)
    nulls = query("select k.id, 0 as code from k where k.z", {"k": _keys(axis, state)})
    return stacked([values, nulls])


def _set_cover(axis: Axis, state: State) -> exp.Expr:
    return query(
        "select k.id, k.z, count(d.code) as covers, coalesce(sum(d.n), 0) as mass,"
        " coalesce(min(d.code) filter (where d.code > 0), 1)::bigint as lo,"
        " coalesce(max(d.code), 0)::bigint as hi, null::float8 as low, null::float8 as high,"
        " null::float8 as start, null::float8 as stop,"
        " coalesce(bit_or(set_bit(:none, d.code, 1)), :none) as bits"
        " from k left join m on m.id = k.id left join d on d.code = m.code group by k.id, k.z",
        {
            "k": _keys(axis, state),
            "m": members(axis, state),
            "d": axis.dictionary(state),
        },
        none=no_codes(axis.size(state)),
    )


def covered(axis: Axis, code: exp.Expr, table: str) -> exp.Expr:
    """Condition: the published value of this attribute in `table` (as mboxes) covers the code."""
    i = axis.index
    if not on_line(axis):
        return fragment("get_bit(:b, :c) = 1", b=col(f"bits{i}", table), c=code)
    return fragment(
        ":c between :lo and :hi or :c = 0 and :z",
        c=code,
        lo=col(f"lo{i}", table),
        hi=col(f"hi{i}", table),
        z=col(f"z{i}", table),
    )
