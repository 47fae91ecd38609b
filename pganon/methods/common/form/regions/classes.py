"""Groups in regions: which region a group is in, what it shows and loses, and the check of it.

Where the hierarchy lists its leaves, these are all that there could be. Else there may be values
that nobody had: below every ancestor one that is below none of its known children.

Left of a cut is NULL, too, and what is at most the threshold; of a tree of ranges what is below it,
unless the cut separates single values. Without a cut on a side there is the end of the declared
domain, or none.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import Axis, TreeAxis, axes
from pganon.encode.number_line import bounds, ends, place, share
from pganon.encode.work import CODED
from pganon.forms.form import Tables
from pganon.forms.stored_relations import numbers
from pganon.forms.work import GROUPED_CLASSES
from pganon.hierarchies import listed_leaves, lists_leaves
from pganon.identifiers import QualifiedName, quote
from pganon.methods.common.form.checks import violations_check
from pganon.methods.common.form.recode import closed
from pganon.methods.common.form.regions.sets import set_bounds, with_nulls
from pganon.policy.options import CLASS_ID
from pganon.resolved.increments import BOUNDS, CUTS, REGIONS, TESTED
from pganon.resolved.model import Attribute, ReleaseSpec, Shown
from pganon.sqltools import (
    aliased,
    cast,
    col,
    equal,
    fragment,
    materialized,
    named,
    num,
    query,
    scalar,
    text,
)
from pganon.steps import CreateTable, State, Step, staged, table
from pganon.steps.relations import PRIVATE_SCHEMA, CheckQuery

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


def label_bounds(
    axis: TreeAxis, state: State, paths: exp.Select, taken: exp.Select, *, listed: bool
) -> exp.Select:
    """SELECT path, g, z, loss, glm, height; see :mod:`pganon.methods.common.form.regions.classes`.

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


PATHS = "region_paths"
_BESIDE = ("z", "loss", "glm", "height")


def bound_steps(spec: ReleaseSpec) -> list[Step]:
    """The part "bounds", of a first version."""
    if spec.growth is None or spec.growth.version is not None:
        return []
    paths = table(PATHS, "the cuts on the way to every region", lambda s: _paths(spec, s))
    each = [
        table(
            f"bound{axis.index}",
            f"bounds of {quote(axis.attribute.column.name)} in the regions",
            lambda s, axis=axis: _bounds_of(spec, axis, s),
        )
        for axis in axes(spec.attributes)
    ]
    together = staged(BOUNDS, "what groups of every region show", lambda s: _together(spec, s))
    return [paths, *each, together]


def _paths(spec: ReleaseSpec, state: State) -> exp.Select:
    cuts = {"c": state.stage(CUTS)}
    begun = query("select c.node from c where c.nulls is not null", cuts)
    moved = query(
        "select case when s.is_left then c.left_node else c.right_node end as node"
        " from walk as w join c on c.node = w.node"
        " cross join (values (true), (false)) as s(is_left)"
        " where s.is_left or c.column_name is not null",
        cuts,
    )
    ended = query("select w.node as region from walk as w where w.node < 0")
    for attribute in spec.attributes:
        name, path = text(attribute.column.name), f"p{attribute.index}"
        apart = fragment(
            "case when :name = any(c.nulls) then array[0::bigint] else '{}'::bigint[] end",
            name=name,
        )
        taken = fragment(
            "case when c.column_name = :name then :path || case when s.is_left then c.node"
            " else -c.node end else :path end",
            name=name.copy(),
            path=col(path, "w"),
        )
        begun = begun.select(named(apart, path))
        moved = moved.select(named(taken, path))
        ended = ended.select(col(path, "w"))
    return ended.with_("walk", as_=exp.union(begun, moved, distinct=False), recursive=True)


def _bounds_of(spec: ReleaseSpec, axis: Axis, state: State) -> exp.Select:
    """SELECT path, g, z, loss, glm, height."""
    paths = query(
        "select distinct :path as path from r",
        {"r": state.work(PATHS)},
        path=col(f"p{axis.index}", "r"),
    )
    taken = query(
        "select p.path, s.at, s.step > 0 as is_left, c.threshold, c.members,"
        " coalesce(c.level, 0) as level from p"
        " cross join lateral unnest(p.path) with ordinality as s(step, at)"
        " join c on c.node = abs(s.step)",
        {"p": paths.copy(), "c": state.stage(CUTS)},
    )
    if axis.attribute.form is Shown.RANGE:
        return line_bounds(axis, state, paths, taken)
    if isinstance(axis, TreeAxis):
        hierarchy = spec.policy.columns[axis.attribute.column.name].hierarchy
        listed = hierarchy is not None and lists_leaves(hierarchy)
        return label_bounds(axis, state, paths, taken, listed=listed)
    return set_bounds(axis.attribute, paths, taken)


def _together(spec: ReleaseSpec, state: State) -> exp.Select:
    tree = query("select r.region from r", {"r": state.work(PATHS)})
    for attribute in spec.attributes:
        i, alias = attribute.index, f"b{attribute.index}"
        tree = tree.select(named(cast(col("g", alias), attribute.published_type), f"g{i}"))
        tree = tree.select(*[named(col(name, alias), f"{name}{i}") for name in _BESIDE])
        on = exp.EQ(this=col("path", alias), expression=col(f"p{i}", "r"))
        tree = tree.join(aliased(state.work(f"bound{i}"), alias), on=on)
    return tree


def _earlier(spec: ReleaseSpec) -> QualifiedName | None:
    """The bounds that the first version of the release keeps; None where this is it."""
    return spec.growth.bounds if spec.growth is not None else None


def _bounds(spec: ReleaseSpec, state: State) -> QualifiedName:
    return _earlier(spec) or state.stage(BOUNDS)


def region_parts(spec: ReleaseSpec) -> list[tuple[str, str]]:
    """(part, schema) of the tables."""
    if not spec.shows_regions:
        return []
    first = [] if _earlier(spec) is not None else [BOUNDS]
    return [(part, PRIVATE_SCHEMA) for part in (*first, REGIONS)]


def region_step(spec: ReleaseSpec) -> CreateTable:
    return staged(REGIONS, "the region of every class", lambda s: _regions(spec, s))


def _regions(spec: ReleaseSpec, state: State) -> exp.Select:
    if _earlier(spec) is None:
        return query(
            "select n.class_id, -n.gid as region from n order by n.class_id",
            {"n": numbers(state, CLASS_ID)},
        )
    codes = [axis.code for axis in axes(spec.attributes)]
    cohorts = query(
        "select g.class_id, min(c.cohort) as cohort from g", {"g": state.work(GROUPED_CLASSES)}
    )
    cohorts = cohorts.join(aliased(state.work(CODED), "c"), on=equal(codes, "g", "c"))
    return query(
        "select f.class_id, d.region from f join d on d.cohort = f.cohort order by f.class_id",
        {
            "f": cohorts.group_by(col(CLASS_ID, "g")),
            "d": query("select distinct t.cohort, t.region from t", {"t": state.work(TESTED)}),
        },
    )


def regional_classes(spec: ReleaseSpec, state: State) -> exp.Select:
    """SELECT class_id and the published columns of every class."""
    tree = query(
        "select r.class_id from r join b on b.region = r.region",
        {"r": state.stage(REGIONS), "b": _bounds(spec, state)},
    )
    return tree.select(*[named(value, name) for name, value in _shown(spec).items()])


def _shown(spec: ReleaseSpec) -> dict[str, exp.Expr]:
    """Published columns, from bounds `b`."""
    shown: dict[str, exp.Expr] = {}
    for attribute in spec.attributes:
        shown[attribute.published] = col(f"g{attribute.index}", "b")
        if attribute.null_column is not None:
            shown[attribute.null_column] = col(f"z{attribute.index}", "b")
    return shown


def region_losses(spec: ReleaseSpec, state: State, sized: exp.Select) -> exp.Select:
    """A SELECT with `class_id` and what is lost in its region."""
    tree = query(
        "select e.* from e join r on r.class_id = e.class_id join b on b.region = r.region",
        {"e": sized, "r": state.stage(REGIONS), "b": _bounds(spec, state)},
    )
    names = [f"{name}{a.index}" for a in spec.attributes for name in ("loss", "glm", "height")]
    return tree.select(*[col(name, "b") for name in names])


def region_check(spec: ReleaseSpec, tables: Tables) -> CheckQuery:
    """Every class shows the bounds of its region; those are the owner's."""
    relations = dict(tables)
    bounds = relations.pop(BOUNDS, None) or _earlier(spec)
    assert bounds is not None
    differs = [
        exp.NullSafeNEQ(this=col(name, "c"), expression=value)
        for name, value in _shown(spec).items()
    ]
    broken = query(
        "select count(*) as measured from classes as c full join regions as r"
        " on r.class_id = c.class_id left join b on b.region = r.region"
        " where c.class_id is null or b.region is null or :differs",
        {**relations, "b": bounds},
        differs=exp.paren(exp.or_(*differs)),
    )
    return violations_check(REGIONS, broken)
