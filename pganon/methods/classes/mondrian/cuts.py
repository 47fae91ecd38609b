"""Where the tried attributes can be cut, and which cut is nearest to balance.

ordered   relaxed only: records in cutting order
ranked    tried values in cutting order, with cumulative weight
best      the cut of every try nearest to balance that leaves both sides large enough
sides<j>  strict only: sensitive values on both sides of these cuts
checked   whether both sides satisfy the conditions
hist<j>   where not: records per position and sensitive value
searched  the nearest cut of those that do
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import BITS
from pganon.identifiers import QualifiedName
from pganon.methods.classes.mondrian import population
from pganon.methods.classes.mondrian.conditions import allowed_cuts, both_sides, measures
from pganon.methods.classes.mondrian.context import CellContext
from pganon.methods.common.rounds.rounds import in_order, order, shown, total_weight
from pganon.methods.common.rounds.rule import at
from pganon.sqltools import aliased, col, conjunction, equal, fragment, named, num, query
from pganon.steps import State

PLACE_BITS = 31
"""Positions are integers; distances to balance are kept above them in one bigint."""


def ordered(context: CellContext, state: State) -> exp.Expr:
    """Relaxed only: records in cutting order and their half at the exact median.

    Records of one value are told apart by `rid`, a random number: whoever is on which side
    depends on nothing that is known about them.
    """
    tree = shown(context, state, "rid", *[f"s{j}" for j in context.sensitive])
    weighed = query(
        "select k.*, sum(k.w) over (partition by k.node, k.attr, k.v) as vw from k", {"k": tree}
    )
    placed = query(
        "select q.*, row_number() over (partition by q.node, q.attr"
        " order by :order, q.v, q.rid) as place from q",
        {"q": weighed},
        order=order(context, "q", "vw"),
    )
    return query("select p.*, (p.place * 2 > p.n)::int as half from p", {"p": placed})


def ranked_halves(context: CellContext, state: State) -> exp.Expr:
    """Relaxed only: as `ranked`, one row per value and half, which has the column `half`."""
    values = query(
        "select x.node, x.attr, x.v, x.half, :w as w,"
        " sum(sum(x.w)) over (partition by x.node, x.attr, x.v) as vw from x"
        " group by x.node, x.attr, x.v, x.half",
        {"x": at(state, "ordered")["ordered"]},
        w=total_weight(state, "x"),
    )
    return in_order(context, state, values, "vw", ["half"])


def best(context: CellContext, state: State) -> exp.Select:
    """(node, attr, level, rank, cum, thr, mask): the cut of every try, if it has one.

    A cut in code order is kept as its last value on the left, one by frequency as the bit mask
    of the values on the left; the relaxed variant uses `cum`, the records on the left.
    """
    conditions = context.conditions if context.relaxed else []
    return _nearest(context, state, _allowed(context, state, conditions))


def searched(context: CellContext, state: State) -> exp.Select:
    """Like :func:`best`, for the tries whose nearest cut of all misses a condition."""
    allowed = _allowed(context, state, context.conditions)
    failing = query(
        "select k.node, k.attr from checked as k where not k.holds", at(state, "checked")
    )
    allowed = allowed.join(failing.subquery("k"), on=equal(["node", "attr"], "k", "r"))
    for number, requirement in enumerate(context.counting):
        alias, by = f"o{number}", ["node", "attr", "pos"]
        both = population.held(requirement, state, "around", by)
        allowed = allowed.join(both.subquery(alias), on=equal(by, alias, "r"))
    return _nearest(context, state, allowed)


def _allowed(context: CellContext, state: State, conditions: list) -> exp.Select:
    allowed = query(
        "select r.node, r.attr, r.n, r.cum, r.pos from ranked as r"
        " where r.cum >= :k and r.n - r.cum >= :k",
        at(state, "ranked"),
        k=num(context.minimum_size),
    )
    for number, requirement in enumerate(conditions):
        alias = f"q{number}"
        cuts = allowed_cuts(requirement, state)
        allowed = allowed.join(cuts.subquery(alias), on=equal(["node", "attr", "pos"], alias, "r"))
    return allowed


def _nearest(context: CellContext, state: State, allowed: exp.Select) -> exp.Select:
    nearest = query(
        "select a.node, a.attr,"
        " (min((abs(2 * a.cum - a.n) << :bits) + a.pos) & ((1::bigint << :bits) - 1))::int as pos"
        " from a group by a.node, a.attr",
        {"a": allowed},
        bits=num(PLACE_BITS),
    )
    # Both `cum` and, in code order, `v` grow with the position.
    left = query(
        "select b.node, b.attr, max(r.cum) as cum, max(r.v) as thr, :mask as mask"
        " from b join ranked as r on r.node = b.node and r.attr = b.attr and r.pos <= b.pos"
        " group by b.node, b.attr",
        {"b": nearest, **at(state, "ranked")},
        mask=_mask(context, state),
    )
    return query(
        "select l.node, l.attr, t.level, t.rank, l.cum, l.thr, l.mask"
        " from l join tries as t on t.node = l.node and t.attr = l.attr",
        {"l": left, **at(state, "tries")},
    )


def _narrow(context: CellContext, state: State) -> bool:
    """Whether one word has a bit for every code of each attribute that is cut by frequency."""
    return all(axis.size(state) < BITS for axis in context.axes if axis.by_frequency)


def _mask(context: CellContext, state: State) -> exp.Expr:
    if context.relaxed or not any(axis.by_frequency for axis in context.axes):
        return fragment("null::bigint")
    if _narrow(context, state):
        # Values beyond 63 only come from attributes in code order, whose mask nobody reads.
        return fragment("bit_or(1::bigint << (r.v & 63))")
    bit = context.by_attribute(
        col("attr", "b"),
        lambda axis: (
            fragment("set_bit(repeat('0', :size)::varbit, r.v, 1)", size=num(axis.size(state) + 1))
            if axis.by_frequency
            else fragment("null::varbit")
        ),
    )
    return exp.func("bit_or", bit)


def is_left(context: CellContext, state: State, table: str) -> exp.Expr:
    """Whether a cell `c` lies on the left of the cut in `table`."""

    def side(axis) -> exp.Expr:
        key = axis.key(state, col(axis.code, "c"), col("level", table))
        if not axis.by_frequency:
            return fragment(":k <= :t", k=key, t=col("thr", table))
        return in_mask(context, state, col("mask", table), key)

    if context.relaxed:
        return fragment("o.place <= :cum", cum=col("cum", table))
    return context.by_attribute(col("attr", table), side)


def in_mask(context: CellContext, state: State, mask: exp.Expr, key: exp.Expr) -> exp.Expr:
    """Whether the mask of a cut by frequency has a key on its left."""
    if _narrow(context, state):
        return fragment("(:m >> :k) & 1 = 1", m=mask, k=key)
    return fragment("get_bit(:m, :k) = 1", m=mask, k=key)


def join_order(context: CellContext, state: State, tree: exp.Select, table: str) -> exp.Select:
    """Relaxed only: the place `o` of a record `c` in the order of the cut in `table`."""
    if not context.relaxed:
        return tree
    records = aliased(state.in_round("ordered"), "o")
    on = fragment("o.node = c.node and o.rid = c.rid and o.attr = :attr", attr=col("attr", table))
    return tree.join(records, on=on, join_type="left")


# -- conditions beyond the size ---------------------------------------------------------------


def certain(context: CellContext, state: State, sensitive: int) -> exp.Expr:
    """(node, attr): the best cuts with a cell on each side that has values enough by itself."""
    placed = query(
        "select b.node, b.attr, (:left)::int as side, :d as d"
        " from cells as c join best as b on b.node = c.node",
        at(state, "cells", "best"),
        left=is_left(context, state, "b"),
        d=col(f"d{sensitive}", "c"),
    )
    most = query(
        "select p.node, p.attr, p.side, max(p.d) as measure from p group by p.node, p.attr, p.side",
        {"p": placed},
    )
    strictest = max(
        (r for r in context.conditions if r.sensitive == sensitive), key=lambda r: r.model.parameter
    )
    return both_sides(most, strictest, ["node", "attr"])


def sides(context: CellContext, state: State, sensitive: int) -> exp.Expr:
    """(node, attr, side, value, n): sensitive values on both sides of the best cuts."""
    tried: exp.Select | QualifiedName = state.in_round("best")
    if sensitive in context.counted:
        tried = query(
            "select b.* from best as b where not exists"
            " (select 1 from s where s.node = b.node and s.attr = b.attr)",
            {**at(state, "best"), "s": state.in_round(f"certain{sensitive}")},
        )
    placed = query(
        "select c.cell, b.node, b.attr, (:left)::int as side"
        " from cells as c join b on b.node = c.node",
        {"b": tried, **at(state, "cells")},
        left=is_left(context, state, "b"),
    )
    return query(
        "select p.node, p.attr, p.side, :value as value, sum(v.w)::bigint as n"
        " from p join v on v.cell = p.cell group by p.node, p.attr, p.side, :value",
        {"p": placed, "v": state.work(f"cellvalues{sensitive}")},
        value=col(f"s{sensitive}", "v"),
    )


def checked(context: CellContext, state: State) -> exp.Expr:
    """(node, attr, level, holds): whether both sides of the best cut satisfy all conditions."""
    tree = query("select b.node, b.attr, b.level from best as b", at(state, "best"))
    holding: list[exp.Expr] = []
    for j in context.counted:
        table = aliased(state.in_round(f"certain{j}"), f"s{j}")
        tree = tree.join(table, on=equal(["node", "attr"], f"s{j}", "b"), join_type="left")
    for requirement in context.conditions:
        histogram = state.in_round(f"sides{requirement.sensitive}")
        for measured in measures(requirement, histogram, ["node", "attr", "side"], state):
            alias = f"q{len(holding)}"
            held = both_sides(measured, requirement, ["node", "attr"])
            tree = tree.join(
                held.subquery(alias), on=equal(["node", "attr"], alias, "b"), join_type="left"
            )
            found = fragment(":n is not null", n=col("node", alias))
            if requirement.sensitive in context.counted:
                sure = col("node", f"s{requirement.sensitive}")
                found = fragment(":found or :s is not null", found=found, s=sure)
            holding.append(exp.paren(found))
    for number, requirement in enumerate(context.counting):
        alias, by = f"o{number}", ["node", "attr"]
        both = population.held(requirement, state, "counted", by).subquery(alias)
        tree = tree.join(both, on=equal(by, alias, "b"), join_type="left")
        holding.append(fragment(":n is not null", n=col("node", alias)))
    return tree.select(named(conjunction(holding), "holds"))


def hist(context: CellContext, state: State, sensitive: int) -> exp.Expr:
    """(node, attr, pos, value, w): records per position and sensitive value.

    In the strict variant only where the nearest cut was not good enough.
    """
    text = (
        "select x.node, x.attr, r.pos, :value as value, sum(:w)::bigint as w from x"
        " join ranked as r on r.node = x.node and r.attr = x.attr and r.v = x.v"
    )
    keys = " group by x.node, x.attr, r.pos, :value"
    if context.relaxed:
        return query(
            f"{text} and r.half = x.half{keys}",
            {"x": at(state, "ordered")["ordered"], **at(state, "ranked")},
            value=col(f"s{sensitive}", "x"),
            w=col("w", "x"),
        )
    failing = query("select k.* from checked as k where not k.holds", at(state, "checked"))
    cells = query(
        "select c.node, c.cell, k.attr, :key as v from cells as c join k on k.node = c.node",
        {"k": failing, **at(state, "cells")},
        key=context.key(state, "k"),
    )
    return query(
        f"{text} join s on s.cell = x.cell{keys}",
        {"x": cells, "s": state.work(f"cellvalues{sensitive}"), **at(state, "ranked")},
        value=col(f"s{sensitive}", "s"),
        w=col("w", "s"),
    )


def cuts(context: CellContext, state: State) -> exp.Select:
    """The cuts that satisfy everything, in the form of :func:`best`."""
    if context.relaxed or not (context.conditions or context.counting):
        return query("select b.* from best as b", at(state, "best"))
    names = ("node", "attr", "level", "rank", "cum", "thr", "mask")
    held = query(
        "select 1 from best as b join checked as k on k.node = b.node and k.attr = b.attr"
        " where k.holds",
        at(state, "best", "checked"),
    ).select(*[col(name, "b") for name in names], append=False)
    found = exp.select(*[col(name, "f") for name in names]).from_(
        aliased(state.in_round("searched"), "f")
    )
    return query(
        "select u.* from (select h.* from h union all select f.* from f) as u",
        {"h": held, "f": found},
    )
