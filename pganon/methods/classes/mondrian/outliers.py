"""Outliers that are left out of final classes, within `suppression_limit`.

A class may be left out as a whole, or what lies beyond a value of one attribute, if the others
still satisfy every requirement. That pays where

    loss before - loss after > price * records left out

the loss of a class being the sum of its records'. The gain per record decides, best first. A round
takes half of what the limit still allows, since a class that was cut may gain as much again. At
price 1 a record that is left out counts as in GCP, which never grows.

    cells_r     the cells of the classes after r rounds
    nodes_r     what those classes cover that are examined: all at first, then those just changed
    tries_r     the attributes to try for every class, ranked_r their values in cutting order
    beyond_r    (node, attr, pos, is_left, n, extents): what a class keeps up to `pos` on its left,
                or from `pos` on its right
    offers_r    (node, attr, level, pos, is_left, gain, less, worth, made): what pays, of all
                classes; `attr` is NULL for a whole class, `less` is the number of records that are
                left out, `made` the round whose positions these are
    outliers_r  the best offer of every class, chosen_r those that requirements and the limit allow
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.extents import group_extents
from pganon.identifiers import QualifiedName
from pganon.methods.classes.leaving import outliers_allowed
from pganon.methods.classes.mondrian.conditions import measures
from pganon.methods.classes.mondrian.context import CellContext
from pganon.methods.classes.mondrian.gains import Offers
from pganon.methods.common.rounds.rounds import ranked, tries
from pganon.methods.common.rounds.rule import at
from pganon.methods.common.suppression import suppressed_check
from pganon.privacy.base import Requirement
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, col, equal, fragment, named, num, query, stacked
from pganon.steps import Check, Loop, State, Step, table
from pganon.steps.facts import count, flag

DIVIDED = "divided"
"""Work table (gid, codes, carried columns, w): the cells of all classes."""

_ROUNDS = count("outlier_rounds")
_ENDED = flag("outliers_ended")
_TAKEN = count("left_out", of="outliers_")
_BUDGET = count("allowed", of="outliers_")


@dataclass(frozen=True)
class Outliers:
    """Rounds that leave records out of final classes.

    Attributes:
        table: work table (gid, codes, [rid]) of what stays.
    """

    spec: ReleaseSpec
    offers: Offers
    table: str

    @property
    def context(self) -> CellContext:
        return self.offers.context

    def steps(self) -> tuple[Step, ...]:
        """From :data:`DIVIDED` to the table."""
        return (
            Check(
                "outliers",
                "how many records may be left out",
                lambda s: query(
                    "select :n::bigint as allowed", n=num(outliers_allowed(self.spec, s))
                ),
                gives=[_BUDGET],
            ),
            table("cells", "the cells of all classes", self._cells, later=0),
            table("nodes", "what the classes cover", self._nodes, later=0),
            Loop(
                "outliers",
                "leave out what makes classes wide, within the limit",
                body=lambda number: self._round(),
                until=_ENDED,
                rounds=_ROUNDS,
                carries=["cells", "nodes", "offers", "chosen"],
                keeps=["ranked"],
            ),
            table(self.table, "the cells that are released", self._grouped),
            suppressed_check(self.spec, self._last, fragment("coalesce(sum(t.w), 0)::bigint")),
        )

    def _last(self, state: State) -> QualifiedName:
        return state.work("cells", round=state[_ROUNDS])

    # -- a round ------------------------------------------------------------------------------

    def _round(self) -> list[Step]:
        return [
            table("tries", "the attributes to try for every class", self._of(tries), later=0),
            table("ranked", "tried values in cutting order", self._of(ranked), later=0),
            table("beyond", "what classes keep on either side", self.offers.beyond, later=0),
            table("offers", "what may be left out and pays", self.offers.offers, later=0),
            table("outliers", "what every class gains most by", self._best, later=0),
            table("chosen", "those that requirements and the limit allow", self._chosen, later=0),
            Check(
                "left_out",
                "records left out in this round",
                self._progress,
                gives=[_TAKEN, _BUDGET, _ENDED],
            ),
            table(
                "cells", "cells that stay", lambda s: _staying(self.context, s, "chosen"), later=1
            ),
            table("nodes", "what changed classes cover", self._changed, later=1),
        ]

    def _of(self, select: Callable[[CellContext, State], exp.Expr]):
        return lambda state: select(self.context, state)

    def _cells(self, state: State) -> exp.Select:
        names = [*self.context.codes, *self.context.carried, "w"]
        return query("select d.gid as node from d", {"d": state.work(DIVIDED)}).select(
            *[col(name, "d") for name in names]
        )

    def _nodes(self, state: State) -> exp.Select:
        return self._covering(state, state.work("cells", round=0))

    def _changed(self, state: State) -> exp.Select:
        changed = query(
            "select c.* from c join chosen as o on o.node = c.node",
            {"c": state.in_round("cells", 1), **at(state, "chosen")},
        )
        return self._covering(state, changed)

    def _covering(self, state: State, cells: exp.Select | QualifiedName) -> exp.Select:
        extents = group_extents(self.context.axes, state, cells, ["node"])
        return extents.select(named(exp.false(), "again"))

    def _grouped(self, state: State) -> exp.Select:
        names = [*self.context.codes, *(["rid"] if self.context.relaxed else [])]
        return query("select c.node as gid from c", {"c": self._last(state)}).select(
            *[col(name, "c") for name in names]
        )

    # -- what is left out ---------------------------------------------------------------------

    def _best(self, state: State) -> exp.Select:
        """The most gain per record; of equal ones that with the fewest records."""
        return query(
            "select distinct on (y.node) y.* from offers as y where y.less <= :most"
            " order by y.node, y.worth desc, y.less, y.attr, y.pos, y.is_left",
            at(state, "offers"),
            most=num(state[_BUDGET]),
        )

    def _chosen(self, state: State) -> exp.Select:
        tree = query("select o.* from outliers as o", at(state, "outliers"))
        conditions = self.context.conditions
        for number, held in enumerate(
            held for one in conditions for held in self._satisfying(one, state)
        ):
            alias = f"q{number}"
            tree = tree.join(held.subquery(alias), on=equal(["node"], alias, "o"), join_type="left")
            tree = tree.where(fragment("o.attr is null or :n is not null", n=col("node", alias)))
        return query(
            "select s.* from (select a.*, sum(a.less) over (order by a.worth desc, a.node"
            " rows unbounded preceding) as so_far from a) as s"
            " where s.so_far <= greatest(:half, s.less)",
            {"a": tree},
            half=num(state[_BUDGET] // 2),
        )

    def _satisfying(self, requirement: Requirement, state: State) -> list[exp.Select]:
        """The classes of which what stays satisfies the requirement."""
        value = f"s{requirement.sensitive}"
        staying = _staying(self.context, state, "outliers", changed=True)
        if self.context.relaxed:
            text, tables = "select k.node, :v as value, sum(k.w)::bigint as n from k", {}
            held = col(value, "k")
        else:
            text = (
                "select k.node, :v as value, sum(v.w)::bigint as n from k join v on v.cell = k.cell"
            )
            tables = {"v": state.work(f"cellvalues{requirement.sensitive}")}
            held = col(value, "v")
        histogram = query(f"{text} group by k.node, 2", {"k": staying, **tables}, v=held)
        return [
            query(
                "select m.node from m where :holds",
                {"m": measured},
                holds=requirement.model.holds(col("measure", "m")),
            )
            for measured in measures(requirement, histogram, ["node"], state)
        ]

    def _progress(self, state: State) -> exp.Select:
        taken = query(
            "select coalesce(sum(c.less), 0)::bigint as left_out from chosen as c",
            at(state, "chosen"),
        )
        return query(
            "select t.left_out, :most - t.left_out as allowed,"
            " t.left_out in (0, :most) as outliers_ended from t",
            {"t": taken},
            most=num(state[_BUDGET]),
        )


def _staying(
    context: CellContext, state: State, table: str, *, changed: bool = False
) -> exp.Select:
    """SELECT the cells that stay when what is in `table` is left out.

    Args:
        changed: those of the classes in the table alone.
    """
    names = ["node", *context.codes, *context.carried, "w"]
    tree = query("select 1 from cells as c", at(state, "cells"))
    tree = tree.select(*[col(name, "c") for name in names], append=False)
    out = aliased(state.in_round(table), "o")
    tree = tree.join(out, on=equal(["node"], "o", "c"), join_type="" if changed else "left")
    places = [
        query(
            "select :round as made, r.node, r.attr, r.v, r.pos from r",
            {"r": state.work("ranked", round=number)},
            round=num(number),
        )
        for number in range(state.round + 1)
    ]
    place = fragment(
        "r.made = o.made and r.node = c.node and r.attr = o.attr and r.v = :key",
        key=context.key(state, "o"),
    )
    tree = tree.join(aliased(stacked(places), "r"), on=place, join_type="left")
    stays = "case when o.is_left then r.pos <= o.pos else r.pos >= o.pos end"
    return tree.where(fragment(f"{'' if changed else 'o.node is null or '}{stays}"))
