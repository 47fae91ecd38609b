"""Records of values that are too frequent for any class, left out at random.

    kept_r      (node, codes, [sensitive codes], rid): the records of the parts after r rounds
    caps<j>_r   (node, cap): of the parts that miss a requirement on column j as one class, how
                many records of each value may stay

A part that satisfies the requirements as one class is released. Fewer records of its most frequent
values make entropy and the other shares grow, so the largest cap that is enough is found by
bisection: the models themselves measure the part with every count cut down to the cap. Which
records of a value stay is decided by their numbers, which follow a keyed hash of the records.

No cap helps where there are too few records or values. Such parts stay as they are, and are refused
or left out as a whole. Models that compare with the distribution of the source have no part here:
leaving out frequent values moves a part away from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.records import NUMBER
from pganon.encode.value_codes import valued
from pganon.encode.work import CODED
from pganon.identifiers import quote
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, col, equal, fragment, named, query, stacked
from pganon.steps import Check, Loop, State, Step, table
from pganon.steps.facts import count, flag

_ROUNDS = count("surplus_rounds")
_ENDED = flag("surplus_ended")
_EXCEEDING = count("exceeding", of="surplus_")


@dataclass(frozen=True)
class Surplus:
    """Rounds that leave records out until every part that can satisfies its requirements.

    Attributes:
        part: number of the part of a record `r`.
    """

    spec: ReleaseSpec
    part: Callable[[State], exp.Expr]

    def steps(self) -> list[Step]:
        return [
            Loop(
                "surplus",
                "leave out records of values that are too frequent for any class",
                body=lambda number: self._round(),
                until=_ENDED,
                rounds=_ROUNDS,
                carries=["kept"],
            )
        ]

    def _round(self) -> list[Step]:
        caps = [
            table(
                f"caps{j}",
                f"how many records of a value of {quote(self.spec.sensitive[j].column.name)} stay",
                lambda s, j=j: self._caps(s, j),
                later=0,
            )
            for j in self._columns
        ]
        return [
            *caps,
            Check(
                "exceeding",
                "parts with values that are too frequent",
                self._progress,
                gives=[_EXCEEDING, _ENDED],
            ),
            table(
                "kept",
                "records that stay",
                self._staying,
                later=1,
                when=lambda s: not s[_ENDED],
            ),
        ]

    @property
    def _columns(self) -> Sequence[int]:
        bounded = {r.sensitive for r in self.spec.requirements if r.bounds_frequency}
        return sorted(index for index in bounded if index is not None)

    def kept(self, state: State) -> exp.Select:
        """The records that stay, as :meth:`_records`."""
        return self._records(state, state[_ROUNDS] - 1)

    def _records(self, state: State, number: int) -> exp.Select:
        """(node, codes, sensitive codes, rid), before any round from the encoded records `r`."""
        names = [axis.code for axis in axes(self.spec.attributes)]
        names += [*[f"s{item.index}" for item in valued(self.spec)], NUMBER]
        tree = query("select 1 from r", {"r": state.work("kept", round=number)})
        node = col("node", "r")
        if number == 0:
            tree = query("select 1 from r", {"r": state.work(CODED)})
            node = named(self.part(state), "node")
        return tree.select(node, *[col(name, "r") for name in names], append=False)

    # -- how many stay ------------------------------------------------------------------------

    def _caps(self, state: State, index: int) -> exp.Select:
        counted = query(
            "select k.node, :value as value, count(*) as n from k group by k.node, 2",
            {"k": self._records(state, state.round)},
            value=col(f"s{index}", "k"),
        )
        missed = query(
            "select c.node, 0::bigint as lo, max(c.n) as hi from counted as c"
            " join o on o.node = c.node where not o.ok group by c.node",
            {"o": self._satisfied(index, query("select c.* from counted as c"))},
        )
        capped = query(
            "select c.node, c.value, least(c.n, (s.lo + s.hi) / 2) as n from counted as c"
            " where c.node = s.node"
        )
        halved = query(
            "select s.node, case when o.ok then (s.lo + s.hi) / 2 else s.lo end as lo,"
            " case when o.ok then s.hi else (s.lo + s.hi) / 2 end as hi"
            " from search as s cross join lateral (select x.ok from x) as o where s.hi - s.lo > 1",
            {"x": self._satisfied(index, capped)},
        )
        tree = query(
            "select s.node, s.lo as cap from search as s where s.hi - s.lo <= 1 and s.lo > 0"
        )
        return tree.with_("counted", as_=counted).with_(
            "search", as_=exp.union(missed, halved, distinct=False), recursive=True
        )

    def _satisfied(self, index: int, histogram: exp.Select) -> exp.Select:
        """(node, ok): whether it satisfies all requirements that bound frequencies."""
        parts = [
            query(
                "select m.node, :holds as holds from m",
                {"m": r.model.measure(histogram.copy(), ["node"])},
                holds=r.model.holds(col("measure", "m")),
            )
            for r in self.spec.requirements
            if r.sensitive == index and r.bounds_frequency
        ]
        return query(
            "select h.node, bool_and(h.holds) as ok from h group by h.node", {"h": stacked(parts)}
        )

    def _progress(self, state: State) -> exp.Select:
        parts = [
            query("select c.node from c", {"c": state.in_round(f"caps{j}")}) for j in self._columns
        ]
        return query(
            "select count(distinct c.node) as exceeding, count(*) = 0 as surplus_ended from c",
            {"c": stacked(parts)},
        )

    def _staying(self, state: State) -> exp.Select:
        tree = self._records(state, state.round)
        names = tree.named_selects
        ranked = query("select k.* from k", {"k": tree})
        for j in self._columns:
            place = fragment(
                "row_number() over (partition by k.node, :value order by :order)",
                value=col(f"s{j}", "k"),
                order=col(NUMBER, "k"),
            )
            ranked = ranked.select(named(place, f"place{j}"))
        stays = query("select 1 from p", {"p": ranked})
        for j in self._columns:
            caps = aliased(state.in_round(f"caps{j}"), f"m{j}")
            stays = stays.join(caps, on=equal(["node"], f"m{j}", "p"), join_type="left")
            stays = stays.where(
                fragment(
                    "coalesce(:place <= :cap, true)",
                    place=col(f"place{j}", "p"),
                    cap=col("cap", f"m{j}"),
                )
            )
        return stays.select(*[col(name, "p") for name in names], append=False)
