"""Which attributes to try for each active group."""

from __future__ import annotations

from sqlglot import exp

from pganon.methods.common.rounds.rule import CutRule, at
from pganon.sqltools import col, fragment, named, num, query
from pganon.steps import State

_WIDEST = """
    select x.node, x.n, x.attr, x.level, x.rank, x.available > x.tried as more
    from (
        select r.*,
        case when r.again then r.available when r.n < :small then least(r.available, :several)
        else :candidates end as tried
        from (
            select l.node, l.n, l.again, a.attr, a.level,
            (row_number() over (partition by l.node order by :widest desc, a.attr))::smallint
            as rank,
            (count(*) over (partition by l.node))::smallint as available
            from l cross join lateral (select v.* from attributes as v) as a where a.loss > 0
        ) as r
    ) as x where x.rank <= x.tried
"""

SMALL = 4
"""A group of fewer times the fewest records of a class is tried on more attributes at once: some
of the widest have no allowable cut there, and a second try of others takes a round."""

SEVERAL = 12
"""Attributes that such a group is tried on."""


def tries(rule: CutRule, state: State) -> exp.Expr:
    """(node, n, attr, level, rank, more): the widest attributes, as many as can compete.

    A group that is tried again gets all of them, widest first, as the ones before did not
    decide the cut. `more` says whether some are left out.
    """
    # (node, n, again, l<i>, level<i>): weighted loss and level of every active group.
    tree = query("select e.node, e.n, e.again from nodes as e", at(state, "nodes"))
    for axis in rule.axes:
        loss = fragment(
            ":loss::float8 * :weight::float8",
            loss=exp.paren(rule.loss(axis, state, "e")),
            weight=exp.Literal.number(repr(axis.attribute.weight)),
        )
        level = fragment(":level::smallint", level=exp.paren(rule.level(axis, state, "e")))
        columns = named(loss, f"l{axis.index}"), named(level, f"level{axis.index}")
        tree.select(*columns, copy=False)
    # Without the offset the planner would merge this query with the one around it, which names
    # every loss several times, and compute it as often.
    return query(
        _WIDEST,
        {"l": tree.offset(0), "attributes": _rows(rule)},
        small=num(SMALL * rule.minimum_size),
        several=num(SEVERAL),
        candidates=num(rule.candidates),
        widest=rule.rank(col("loss", "a")),
    )


def _rows(rule: CutRule) -> exp.Select:
    """Lateral rows (attr, level, loss), one per attribute, of the losses in `l`."""
    values = exp.Values(
        expressions=[
            exp.Tuple(
                expressions=[
                    fragment(":i::smallint", i=num(axis.index)),
                    col(f"level{axis.index}", "l"),
                    col(f"l{axis.index}", "l"),
                ]
            )
            for axis in rule.axes
        ],
        alias=exp.TableAlias(
            this=exp.to_identifier("v"),
            columns=[exp.to_identifier(name) for name in ("attr", "level", "loss")],
        ),
    )
    return exp.select("v.attr", "v.level", "v.loss").from_(values)
