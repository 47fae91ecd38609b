"""Blocks of records with similar quasi-identifiers, as small as the policy's rule allows.

    placed       (place, draw, ..)    records of new groups, if they are not all

Records lie along a curve, which is cut into pieces of as many records, and into halves of halves
of them (:mod:`pganon.methods.common.halves`). A node of that tree is divided

- `division: public`: if its most frequent value has at most 1/l of the records of its smaller
  half. Both halves are eligible then, wherever the value lies. Records per value of a node can be
  read off the release, since no group reaches over its border. So all possible assignments
  of values give the same blocks, and the blocks disclose nothing.
- `division: eligible`: if both halves are eligible. Blocks are smaller. But a reader who
  computes the tree learns of a node that stays whole that one of its halves is not eligible.
  The smaller the halves, the more that discloses.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.curve import numbered
from pganon.encode.facts import weight_type
from pganon.encode.records import DRAW, PLACE
from pganon.methods.buckets.anatomy.context import AnatomyContext
from pganon.methods.buckets.invariance import others
from pganon.methods.common.halves import Halves
from pganon.sqltools import cast, col, fragment, named, num, query
from pganon.steps import Check, State, Step, table
from pganon.steps.facts import count

BLOCKS = count("blocks")


def block_steps(context: AnatomyContext) -> list[Step]:
    """From the eligible records to `placed` and `leaves`, the block of every piece."""
    halves = Halves(lambda s: _histogram(context, s), lambda s: _undivided(context, s))
    return [
        table(
            "placed",
            "places along the curve without those that lie elsewhere or are left out",
            lambda s: _renumbered(context, s),
            when=lambda s: context.m_invariant or context.trimmed(s),
        ),
        *halves.steps(),
        Check(
            "blocks",
            "number of blocks",
            lambda s: query(
                "select count(distinct l.block) as blocks from l", {"l": s.work("leaves")}
            ),
            gives=[BLOCKS],
        ),
    ]


def _histogram(context: AnatomyContext, state: State) -> exp.Expr:
    return query(
        "select :piece as node, :value as value, :n as n from p group by 1, 2",
        {"p": context.placed(state)},
        piece=context.piece(state, "p"),
        value=col(context.value, "p"),
        n=cast(fragment("count(*)"), weight_type(state)),
    )


def _renumbered(context: AnatomyContext, state: State) -> exp.Expr:
    """New consecutive places, which disclose nothing of records outside new groups."""
    columns = [DRAW, *context.carried]
    new = (
        others(context.invariance, state)
        if context.m_invariant
        else context.eligibility.kept(state)
    )
    tree = query("select 1 from k", {"k": new})
    return tree.select(
        *[col(name, "k") for name in columns],
        named(numbered([col(PLACE, "k")]), PLACE),
        append=False,
    )


def _undivided(context: AnatomyContext, state: State) -> exp.Select:
    """SELECT node: nodes of the next level that stay whole by the policy's rule."""
    halves = query(
        "select c.node >> 1 as node, min(c.n) as least,"
        " bool_and(c.most * :l <= c.n) as eligible from"
        " (select h.node, sum(h.n) as n, max(h.n) as most from h group by h.node) as c group by 1",
        {"h": state.work("hist", round=state.round)},
        l=num(context.model.l),
    )
    merged = query(
        "select h.node, max(h.n) as most from h group by h.node",
        {"h": state.work("hist", round=state.round + 1)},
    )
    rules = {"public": "m.most * :l <= c.least", "eligible": "c.eligible"}
    return query(
        "select c.node from c join m on m.node = c.node where not :divided",
        {"c": halves, "m": merged},
        divided=fragment(rules[context.division], l=num(context.model.l)),
    )
