"""Bounds of trees: the label of the lowest ancestor of everything that could be in a region.

Where the hierarchy lists its leaves, these are all that there could be. Else there may be values
that nobody had: below every ancestor one that is below none of its known children.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import TreeAxis
from pganon.hierarchies import listed_leaves
from pganon.methods.common.form.regions.sets import with_nulls
from pganon.sqltools import fragment, materialized, num, query, scalar
from pganon.steps import State


def label_bounds(
    axis: TreeAxis, state: State, paths: exp.Select, taken: exp.Select, *, listed: bool
) -> exp.Select:
    """SELECT path, g, z, loss, glm, height; see :mod:`pganon.methods.common.form.regions.lines`.

    Args:
        listed: whether the hierarchy lists its leaves.
    """
    covered = query(
        "select e.path, :label as g from e join leaves as a on a.place = e.low"
        " join leaves as z on z.place = e.high",
        {"e": _ends(paths, taken)},
        label=fragment(_COMMON),
    )
    bounds = query(
        "select p.path, x.g, p.z from p left join x on x.path = p.path",
        {"p": with_nulls(axis.attribute, paths, taken), "x": covered},
    )
    nodes = query(
        "select t.label, min(t.level) as level, max(t.loss) as loss, max(t.hi - t.lo) as others"
        " from t group by t.label",
        {"t": axis.table(state)},
    )
    top, others = num(axis.levels(state)), num(max(axis.size(state) - 1, 1))
    tree = query(
        "select f.path, f.g, f.z, case when f.g is null then 0 when f.z then 1"
        " else n.loss end as loss, case when f.g is null then 0 when f.z then 1"
        " else n.others::float8 / :others end as glm, case when f.g is null then 0 when f.z"
        " then :top else n.level end as height from f left join n on n.label = f.g",
        {"f": bounds, "n": nodes},
        others=others,
        top=top,
    )
    every = _leaves(axis, state) if listed else _level_labels(axis, state)
    return materialized(tree, leaves=_numbered(every))


def _numbered(leaves: exp.Select) -> exp.Select:
    """SELECT labels, place: from 1, so that what is below a label stands together."""
    return query(
        "select u.labels, (row_number() over (order by :down))::integer as place from u",
        {"u": leaves},
        down=fragment(_DOWN),
    )


_DOWN = """
    array(select x.label collate "C" from unnest(u.labels) with ordinality as x(label, place)
        order by x.place desc)
"""
"""From the top to the leaf."""

_COMMON = """
    coalesce((select x.label from unnest(a.labels) with ordinality as x(label, place)
        where x.label = z.labels[x.place] order by x.place limit 1),
        a.labels[cardinality(a.labels)])
"""
"""The lowest label that the first leaf and the last have on one level, and so all between them."""


def _ends(paths: exp.Select, taken: exp.Select) -> exp.Select:
    """SELECT path, low, high: places of the first leaf and the last that may be there, or NULL."""
    nodes = query(
        "select x.place - 1 as level, x.label,"
        " int4range(min(u.place), max(u.place), '[]') as leaves from leaves as u"
        " cross join lateral unnest(u.labels) with ordinality as x(label, place)"
        " where x.label is not null group by x.place, x.label"
    )
    cut = query(
        "select s.path, s.at, s.is_left, n.leaves from s left join lateral unnest(s.members)"
        " as m(label) on true left join n on n.level = s.level and n.label = m.label",
        {"s": taken.copy(), "n": nodes},
    )
    lefts = query(
        "select c.path, coalesce(range_agg(c.leaves), '{}'::int4multirange) as leaves from c"
        " where c.is_left group by c.path, c.at",
        {"c": cut.copy()},
    )
    left = query(
        "select e.path, range_intersect_agg(e.leaves) as leaves from e group by e.path",
        {"e": lefts},
    )
    right = query(
        "select c.path, range_agg(c.leaves) as leaves from c where not c.is_left group by c.path",
        {"c": cut},
    )
    every = query("select int4multirange(int4range(1, count(*)::integer + 1)) from leaves")
    there = query(
        "select p.path, coalesce(l.leaves, :every) - coalesce(r.leaves, '{}'::int4multirange)"
        " as leaves from p left join l on l.path = p.path left join r on r.path = p.path"
        " where not 0 = any(p.path)",
        {"p": paths.copy(), "l": left, "r": right},
        every=scalar(every),
    )
    return query(
        "select t.path, lower(t.leaves) as low, upper(t.leaves) - 1 as high from t",
        {"t": there},
    )


def _leaves(axis: TreeAxis, state: State) -> exp.Select:
    """SELECT labels: of every declared leaf, from itself to the top."""
    declared = listed_leaves(str(axis.index))(state)
    return query("select l.path as labels from l", {"l": declared})


def _level_labels(axis: TreeAxis, state: State) -> exp.Select:
    """SELECT labels of every known value, and of one that nobody had below every ancestor."""
    return query(
        "select array_agg(case when t.level >= a.level then t.label end order by t.level) as labels"
        " from t as a join t on t.code = a.code where a.code = a.lo group by a.code, a.level",
        {"t": axis.table(state)},
    )
