"""Rows that models aggregate: a histogram of groups with additional columns of the models.

The earth mover's distance over ordered values considers only the values that occur in a group, so
its cost does not grow with groups x values. Between two of them the cumulative share of the group
remains q, while the cumulative share P(i) of the table at position i grows. `moved` of a row is the
sum of |q - P(i)| from its position up to the position before the group's next value; a search
finds where P passes q, and sums of P are known beforehand.

The distance over a hierarchy considers only the nodes above values of a group.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlglot import exp

from pganon.identifiers import QualifiedName
from pganon.sqltools import aliased, col, fragment, named, query, scalar

Relation = QualifiedName | exp.Select


def class_rows(
    histogram: Relation,
    by: Sequence[str],
    read: Collection[str],
    reference: Relation | None = None,
) -> exp.Select:
    """The histogram with the columns that are read of it; `Model.aggregate` says what they are."""
    if "levels" in read:
        return tree_rows(histogram, by, reference)
    compared = "share" in read or "moved" in read
    # Made here, so it may grow where it is; a copy for every column would take most of the time.
    tree = query("select h.value, h.n from h", {"h": histogram})
    tree = tree.select(*[col(name, "h") for name in by], copy=False)
    if compared or "total" in read:
        tree = tree.select(named(over(exp.Sum(this=col("n", "h")), by), "total"), copy=False)
    if "rank" in read:
        falling = exp.Order(
            expressions=[
                exp.Ordered(this=col("n", "h"), desc=True),
                exp.Ordered(this=col("value", "h")),
            ]
        )
        tree = tree.select(named(over(exp.RowNumber(), by, falling), "rank"), copy=False)
    if not compared:
        return tree
    if reference is None:
        raise ValueError("the model needs the distribution of the table")
    tree = tree.select(
        named(fragment("coalesce(r.share, 0)"), "share"),
        named(fragment("coalesce(r.position, 0)"), "position"),
        copy=False,
    )
    tree = tree.join(
        aliased(reference, "r"),
        on=exp.EQ(this=col("value", "r"), expression=col("value", "h")),
        join_type="left",
        copy=False,
    )
    if "domain" in read:
        occurring = query("select count(*) from x where x.share > 0", {"x": reference})
        tree = tree.select(named(scalar(occurring), "domain"), copy=False)
    if "moved" in read:
        return _with_moves(tree, by, reference)
    return tree


def tree_rows(histogram: Relation, by: Sequence[str], reference: Relation | None) -> exp.Select:
    """SELECT `by`, n, total, share, levels: one row per group, level and node with its records.

    Levels are those below the root, the values themselves among them; `share` is the node's in
    the reference, `total` the group's number of records. `path` of the reference has a key per
    level, lowest first, equally many for all values. A value that the reference does not have is
    a node without share of its own on every level.
    """
    if reference is None:
        raise ValueError("the model needs the distribution of the table")
    # `by` often has a column "node" already.
    placed = query(
        "select h.n, x.ancestor, x.tier from h left join r on r.value = h.value"
        " cross join (select coalesce(max(cardinality(d.path)), 1) as levels from d) as d"
        " cross join lateral unnest(coalesce(r.path, array_fill(0, array[d.levels])))"
        " with ordinality as x(ancestor, tier)",
        {"h": histogram, "r": reference, "d": reference},
    ).select(*[col(name, "h") for name in by])
    nodes = query("select h.tier, h.ancestor, sum(h.n) as n from h", {"h": placed})
    keys = [col(name, "h") for name in (*by, "tier", "ancestor")]
    nodes = nodes.select(*[col(name, "h") for name in by]).group_by(*keys)
    shares = query(
        "select x.tier, x.ancestor, sum(r.share) as share from r"
        " cross join lateral unnest(r.path) with ordinality as x(ancestor, tier)"
        " group by x.tier, x.ancestor",
        {"r": reference},
    )
    return query(
        "select h.n, :total as total, coalesce(s.share, 0) as share, d.levels"
        " from h left join s on s.tier = h.tier and s.ancestor = h.ancestor"
        " cross join (select coalesce(max(cardinality(d.path)), 1) as levels from d) as d",
        {"h": nodes, "s": shares, "d": reference},
        total=over(exp.Sum(this=col("n", "h")), [*by, "tier"]),
    ).select(*[col(name, "h") for name in by])


def _with_moves(rows: exp.Select, by: Sequence[str], reference: Relation) -> exp.Select:
    order = exp.Order(expressions=[exp.Ordered(this=col("position", "h"))])
    # Places from 1: the share that the table has reached at each, and the sums of these shares.
    table = query(
        "select count(*) as places, array_agg(y.reached order by y.position) as reached,"
        " array_agg(y.summed order by y.position) as summed from (select x.position, x.reached,"
        " sum(x.reached) over (order by x.position) as summed from (select r.position,"
        " sum(r.share) over (order by r.position) as reached from r) as x) as y",
        {"r": reference},
    )
    kept = rows.named_selects
    walked = exp.select(
        *[col(name, "h") for name in kept],
        named(over(exp.Sum(this=col("n", "h")), by, order), "so_far"),
        named(over(exp.Lead(this=col("position", "h")), by, order.copy()), "next"),
        named(over(exp.RowNumber(), by, order.copy()), "place"),
    ).from_(aliased(rows, "h"))
    spans = query(
        "select w.so_far::float8 / w.total as q, w.position - 1 as before, w.place,"
        " coalesce(w.next, t.places + 1) - 1 as last, t.places, t.reached, t.summed"
        " from w cross join t",
        {"w": walked, "t": table},
    ).select(*[col(name, "w") for name in kept])
    # The last place, from the one before this row's on, at which the table has not passed q.
    turned = query(
        "select s.q, s.before, s.place, s.last, s.places, s.summed,"
        " greatest(s.before, least(s.last, width_bucket(s.q, s.reached))) as turn from s",
        {"s": spans},
    ).select(*[col(name, "s") for name in kept])
    return query(
        "select m.places, (m.turn - m.before) * m.q - (m.last - m.turn) * m.q"
        " + coalesce(m.summed[m.last], 0) - 2 * coalesce(m.summed[m.turn], 0)"
        " + case when m.place = 1 then 2 else 1 end * coalesce(m.summed[m.before], 0) as moved"
        " from m",
        {"m": turned},
    ).select(*[col(name, "m") for name in kept])


def over(function: exp.Expr, by: Sequence[str], order: exp.Order | None = None) -> exp.Expr:
    """A window function over the rows of `h` that agree in the columns `by`."""
    return exp.Window(this=function, partition_by=[col(name, "h") for name in by], order=order)


def grouped(select: exp.Select, by: Sequence[str], table: str) -> exp.Select:
    """`select` with the columns `by` of `table` in front and grouped by them."""
    columns = [col(name, table) for name in by]
    tree = select.select(*columns, copy=False)
    if not columns:
        return tree
    return tree.group_by(*[column.copy() for column in columns], copy=False)
