"""Pairs of columns: which values of the first are shown beside those of the second.

A value x is open in a group if of its people, and of those with y beside an open value, at most the
share may have both, and enough have y. Others close, until nothing changes.

    pairs<q>    (grp, person, x, y)   facts of a pair
    both<q>     (grp, x, y, n, nx)    people with both values, and with the first
    open<q>_r   (grp, x)              the open values after r rounds
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from pganon.forms.work import class_groups
from pganon.methods.related.groups import within
from pganon.methods.related.links import rows_table
from pganon.resolved.tables import Events, Pair, Related
from pganon.sqltools import col, num, query
from pganon.steps import Check, Loop, State, Step, table
from pganon.steps.facts import Fact, count, flag


@dataclass(frozen=True)
class OpenPairs:
    """The steps for one pair, by its number among all."""

    related: Related
    events: Events
    pair: Pair
    number: int

    @property
    def rounds(self) -> Fact[int]:
        return count(f"pair_rounds{self.number}")

    @property
    def ended(self) -> Fact[bool]:
        return flag("ended", f"pair{self.number}_")

    def steps(self) -> Iterator[Step]:
        q = self.number
        yield table(f"pairs{q}", "values of one row, by person", self._pairs)
        yield table(f"both{q}", "people with both values", self._both)
        yield table(
            f"open{q}",
            "the values that others may be shown beside",
            lambda s: query("select distinct b.grp, b.x from b", {"b": s.work(f"both{q}")}),
            later=0,
        )
        yield Loop(
            f"pair{q}",
            "close values beside which others would tell too much",
            body=lambda number: self._round(),
            until=self.ended,
            rounds=self.rounds,
            carries=[f"open{q}"],
        )

    def _pairs(self, state: State) -> exp.Select:
        return query(
            "select distinct g.grp, r.person, :x as x, :y as y from r join g on g.gid = r.gid",
            {
                "r": rows_table(state, self.events),
                "g": state.work(class_groups(self.related.partition_of(self.events).index)),
            },
            x=col(f"k{self.pair.first.index}", "r"),
            y=col(f"k{self.pair.second.index}", "r"),
        )

    def _both(self, state: State) -> exp.Select:
        pairs = state.work(f"pairs{self.number}")
        both = query(
            "select p.grp, p.x, p.y, count(*) as n from p group by p.grp, p.x, p.y", {"p": pairs}
        )
        first = query(
            "select p.grp, p.x, count(distinct p.person) as n from p group by p.grp, p.x",
            {"p": pairs},
        )
        return query(
            "select b.grp, b.x, b.y, b.n, f.n as nx from b join f on f.grp = b.grp and f.x = b.x",
            {"b": both, "f": first},
        )

    def _round(self) -> list[Step]:
        q = self.number
        return [
            table(f"open{q}", "the values that stay open", self._open, later=1),
            Check(
                f"closed{q}",
                "whether a value closed",
                lambda s: query(
                    "select (select count(*) from a) = (select count(*) from b) as ended",
                    {"a": s.in_round(f"open{q}"), "b": s.in_round(f"open{q}", 1)},
                ),
                gives=[self.ended],
            ),
        ]

    def _open(self, state: State) -> exp.Select:
        opened = state.in_round(f"open{self.number}")
        limit, k = self.pair.limit, num(self.related.k)
        seconds = query(
            "select p.grp, p.y, count(distinct p.person) as n from p"
            " join o on o.grp = p.grp and o.x = p.x group by p.grp, p.y",
            {"p": state.work(f"pairs{self.number}"), "o": opened},
        )
        return query(
            "select o.grp, o.x from o join b on b.grp = o.grp and b.x = o.x"
            " join s on s.grp = b.grp and s.y = b.y group by o.grp, o.x"
            " having bool_and(:first and :second and s.n >= :k)",
            {"o": opened, "b": state.work(f"both{self.number}"), "s": seconds},
            first=within(col("n", "b"), limit, col("nx", "b")),
            second=within(col("n", "b"), limit, col("n", "s")),
            k=k,
        )

    def opened(self, state: State) -> exp.Select:
        """SELECT grp, x: the values that are open in the end."""
        last = state.work(f"open{self.number}", round=state[self.rounds])
        return query("select o.grp, o.x from o", {"o": last})

    def seconds(self, state: State) -> exp.Select:
        """SELECT grp, y, whole, n: people with a value, and with an open pair of it."""
        pairs = state.work(f"pairs{self.number}")
        return query(
            "select p.grp, p.y, count(distinct p.person) as whole,"
            " count(distinct case when o.x is not null then p.person end) as n from p"
            " left join o on o.grp = p.grp and o.x = p.x group by p.grp, p.y",
            {"p": pairs, "o": self.opened(state)},
        )


def open_pairs(related: Related) -> list[OpenPairs]:
    """All pairs, in the order of their tables."""
    pairs = [(events, pair) for events in related.events for pair in events.pairs]
    return [OpenPairs(related, *one, number) for number, one in enumerate(pairs)]
