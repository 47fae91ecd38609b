"""Records that final classes may leave out, and the gain of each; see the module `outliers`."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.axis import LOSS_DECIMALS
from pganon.encode.extents import weighted_loss
from pganon.methods.classes.mondrian.context import CellContext
from pganon.methods.common.rounds.rule import at
from pganon.sqltools import col, named, num, query, stacked
from pganon.steps import State


@dataclass(frozen=True)
class Offers:
    """Offers of final classes that pay.

    Attributes:
        price: what a record that is left out costs, from 0 to 1: the loss of a record that shows
            nothing is 1.
    """

    context: CellContext
    price: float

    def beyond(self, state: State) -> exp.Select:
        """(node, attr, pos, is_left, n, cuts, extents): what classes keep on either side."""
        left = query(
            "select r.node, r.attr, r.pos, true as is_left, r.cum as n, r.cum < r.n as cuts"
            " from ranked as r",
            at(state, "ranked"),
        )
        right = query(
            "select r.node, r.attr, r.pos, false as is_left, (r.n - r.cum + r.w)::bigint as n,"
            " r.pos > 1 as cuts from ranked as r",
            at(state, "ranked"),
        )
        sides = [
            side.select(*[_running(item, descending=side is right) for item in self._merged(state)])
            for side in (left, right)
        ]
        return stacked(sides).where(col("cuts", "u"))

    def _merged(self, state: State) -> list[exp.Expr]:
        if not self.context.covers:
            return []
        return [item for axis in self.context.axes for item in axis.merged(state, "r")]

    def offers(self, state: State) -> exp.Select:
        """(node, attr, level, pos, is_left, gain, less, worth, made): those of this round, and the
        earlier ones of classes that have not changed."""
        parts = [self._whole(state)]
        if self.context.covers:
            parts.append(self._parts(state))
        worth = query(
            "select x.*, round((x.gain / x.less)::numeric, :digits) as worth, :round as made"
            " from x",
            {"x": stacked(parts)},
            digits=num(LOSS_DECIMALS),
            round=num(state.round),
        )
        paying = query("select y.* from y where y.worth > 0", {"y": worth})
        if state.round == 0:
            return paying
        before = query(
            "select b.* from b where not exists (select 1 from o where o.node = b.node)",
            {"b": state.in_round("offers", -1), "o": state.in_round("chosen", -1)},
        )
        return stacked([before, paying])

    def _lost(self, state: State) -> exp.Select:
        """The classes with their `loss`, that of all their records together."""
        loss = exp.paren(weighted_loss(self.context.axes, state, "e"))
        return query(
            "select e.*, e.n * :loss as loss from nodes as e", at(state, "nodes"), loss=loss
        )

    def _whole(self, state: State) -> exp.Select:
        return query(
            "select l.node, null::smallint as attr, null::smallint as level, null::integer as pos,"
            " null::boolean as is_left, l.loss - :price * l.n as gain, l.n as less from l",
            {"l": self._lost(state)},
            price=self._price,
        )

    def _parts(self, state: State) -> exp.Select:
        """Counts that cannot be added up are taken to be those of the whole class."""
        kept = query(
            "select b.*, l.n as whole, l.loss as before, t.level from beyond as b"
            " join l on l.node = b.node join tries as t on t.node = b.node and t.attr = b.attr"
            " where b.n >= :k",
            {"l": self._lost(state), **at(state, "beyond", "tries")},
            k=num(self.context.minimum_size),
        )
        counted = [axis for axis in self.context.axes if not axis.merged(state, "r")]
        kept = kept.select(
            *[col(item.alias, "l") for axis in counted for item in axis.extent(state, "c")]
        )
        return query(
            "select k.node, k.attr, k.level, k.pos, k.is_left,"
            " k.before - k.n * :loss - :price * (k.whole - k.n) as gain, k.whole - k.n as less"
            " from k",
            {"k": kept},
            loss=exp.paren(weighted_loss(self.context.axes, state, "k")),
            price=self._price,
        )

    @property
    def _price(self) -> exp.Expr:
        """In the units of losses: that of all attributes is the sum of their weights."""
        weights = sum(axis.attribute.weight for axis in self.context.axes)
        return exp.Literal.number(repr(float(self.price) * weights))


def _running(item: exp.Expr, *, descending: bool) -> exp.Expr:
    """The aggregate over all values from the first or the last one on."""
    order = exp.Ordered(this=col("pos", "r"), desc=descending)
    window = exp.Window(
        this=item.this.copy(),
        partition_by=[col("node", "r"), col("attr", "r")],
        order=exp.Order(expressions=[order]),
    )
    return named(window, item.alias)
