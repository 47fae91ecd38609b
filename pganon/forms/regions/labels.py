"""Bounds of trees: the label of the lowest ancestor of everything that could be in a region.

Where the hierarchy lists its leaves, these are all that there could be. Else there may be values
that nobody had: below every ancestor one that is below none of its known children.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import TreeAxis
from pganon.encode.hierarchy import listed_leaves
from pganon.forms.regions.sets import with_nulls
from pganon.sqltools import fragment, num, query, stacked
from pganon.steps import State


def label_bounds(
    axis: TreeAxis, state: State, paths: exp.Select, taken: exp.Select, *, listed: bool
) -> exp.Select:
    """SELECT path, g, z, loss, glm, height; see :func:`pganon.forms.regions.lines.line_bounds`.

    Args:
        listed: whether the hierarchy lists its leaves.
    """
    leaves = _leaves(axis, state) if listed else _known(axis, state)
    there = query(
        "select u.path, u.labels from u where not exists (select 1 from s where s.path = u.path"
        " and coalesce(u.labels[s.level + 1] = any(s.members), false) <> s.is_left)",
        {"u": _tried(paths, taken, leaves), "s": taken.copy()},
    )
    covered = query(
        "select h.path, :label as g from h group by h.path",
        {"h": there},
        label=_common(axis.levels(state)),
    )
    found = query(
        "select p.path, x.g, p.z from p left join x on x.path = p.path",
        {"p": with_nulls(axis.attribute, paths, taken), "x": covered},
    )
    nodes = query(
        "select t.label, min(t.level) as level, max(t.loss) as loss, max(t.hi - t.lo) as others"
        " from t group by t.label",
        {"t": axis.table(state)},
    )
    top, others = num(axis.levels(state)), num(max(axis.size(state) - 1, 1))
    return query(
        "select f.path, f.g, f.z, case when f.g is null then 0 when f.z then 1"
        " else n.loss end as loss, case when f.g is null then 0 when f.z then 1"
        " else n.others::float8 / :others end as glm, case when f.g is null then 0 when f.z"
        " then :top else n.level end as height from f left join n on n.label = f.g",
        {"f": found, "n": nodes},
        others=others,
        top=top,
    )


def _tried(paths: exp.Select, taken: exp.Select, leaves: exp.Select) -> exp.Select:
    """SELECT path, labels: leaves that may be there.

    Cuts on the way down tell labels of ever lower levels apart, so after the last one to the left
    nothing is there but what is below its labels. All leaves for every path would be their product.
    """
    last = query(
        "select distinct on (s.path) s.path, s.level, s.members from s where s.is_left"
        " order by s.path, s.at desc",
        {"s": taken.copy()},
    )
    below = query(
        "select l.path, l.level, m.label from l cross join lateral unnest(l.members) as m(label)",
        {"l": last.copy()},
    )
    nodes = query(
        "select u.labels, x.label, x.place - 1 as level from u"
        " cross join lateral unnest(u.labels) with ordinality as x(label, place)",
        {"u": leaves.copy()},
    )
    parts = [
        query(
            "select b.path, n.labels from b join n on n.label = b.label and n.level = b.level",
            {"b": below, "n": nodes},
        ),
        query(
            "select p.path, u.labels from p left join l on l.path = p.path cross join u"
            " where l.path is null and not 0 = any(p.path)",
            {"p": paths.copy(), "l": last, "u": leaves},
        ),
    ]
    return stacked(parts)


def _leaves(axis: TreeAxis, state: State) -> exp.Select:
    """SELECT labels: of every declared leaf, from itself to the top."""
    declared = listed_leaves(str(axis.index))(state)
    return query("select l.path as labels from l", {"l": declared})


def _known(axis: TreeAxis, state: State) -> exp.Select:
    """SELECT labels of every known value, and of one that nobody had below every ancestor."""
    return query(
        "select array_agg(case when t.level >= a.level then t.label end order by t.level) as labels"
        " from t as a join t on t.code = a.code where a.code = a.lo group by a.code, a.level",
        {"t": axis.table(state)},
    )


def _common(levels: int) -> exp.Expr:
    """SQL aggregate: the lowest label that all labels have on one level."""
    case = exp.Case()
    for place in range(1, levels + 1):
        label = fragment(f'h.labels[{place}] collate "C"')
        same = "bool_and(:l is not null) and min(:l) = max(:l)"
        case.when(fragment(same, l=label), fragment("min(:l)", l=label.copy()), copy=False)
    return case.else_(fragment('min(h.labels[cardinality(h.labels)] collate "C")'))
