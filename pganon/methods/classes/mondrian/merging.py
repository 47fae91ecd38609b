"""Cuts that are undone until all classes together satisfy the models about them.

What a cut divided becomes one class again, which satisfies the other models as it did before the
cut. Of the innermost cuts that bring the release nearer, those are undone first that add the least
loss per record of the share; a round undoes as many as are needed, and at most a quarter of them.
If none is left, verification refuses the release.

    links      (node, cut, tl, tr, nl, nr, loss): the groups of all rounds, and where they went
    tree       (node, parent, start, n, loss): groups that were cut, and classes as minus their
               `gid`. The records of a group have the numbers from `start`, its left side first
    merged_r   (start, n, loss): the classes after r rounds
    chosen_r   (start, n, loss): the groups that become classes in the round
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.axis import LOSS_DECIMALS
from pganon.encode.extents import group_extents, weighted_loss
from pganon.forms.work import TREE
from pganon.identifiers import QualifiedName
from pganon.methods.classes.mondrian.context import CellContext
from pganon.methods.classes.mondrian.kept import target
from pganon.methods.common.pairs import paired
from pganon.methods.common.rounds.rounds import all_moves, all_nodes
from pganon.methods.common.rounds.rule import at
from pganon.privacy.release import ReleaseModel
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, fragment, named, num, query, stacked, union_all
from pganon.steps import Check, Loop, State, Step, table
from pganon.steps.facts import Fact, count, flag

PART = 4
"""A round undoes at most one of so many cuts: those around them then count with what was undone."""

LINKS = "links"
_ROUNDS = count("undone_rounds")
_ENDED = flag("undone_ended")


@dataclass(frozen=True)
class Undone:
    """The steps that undo cuts.

    Attributes:
        given: work table (gid, codes, [rid]) of what the cuts made.
        table: the same of the classes in the end.
    """

    spec: ReleaseSpec
    context: CellContext
    given: str
    table: str

    @property
    def models(self) -> list[ReleaseModel]:
        models = (requirement.model for requirement in self.spec.of_release)
        return [model for model in models if isinstance(model, ReleaseModel)]

    def after(self) -> tuple[Step, ...]:
        """What is read of the rounds before their tables are dropped."""
        return (
            table(LINKS, "groups of all rounds, and where they went", self._links),
            table(TREE, "groups and classes in the order of the cuts", self._tree),
        )

    def steps(self) -> tuple[Step, ...]:
        return (
            table("merged", "the classes that cuts made", self._classes, later=0),
            Loop(
                "undone",
                "undo cuts until all classes together satisfy the models about them",
                body=lambda number: self._round(),
                until=_ENDED,
                rounds=_ROUNDS,
                carries=["merged"],
            ),
            table(self.table, "the classes with what was undone", self._grouped),
        )

    # -- what was cut -------------------------------------------------------------------------

    def _links(self, state: State) -> exp.Expr:
        loss = exp.paren(weighted_loss(self.context.axes, state, "e"))
        return union_all(
            [
                query(
                    "select :node as node, m.attr is not null as cut, :tl as tl, :tr as tr,"
                    " m.nl, m.nr, (e.n * :loss)::float8 as loss"
                    " from m join e on e.node = m.node",
                    {"m": moves, "e": nodes},
                    node=paired(num(number), col("node", "m")),
                    tl=target(number, col("tl", "m")),
                    tr=target(number, col("tr", "m")),
                    loss=loss.copy(),
                )
                for number, (moves, nodes) in enumerate(
                    zip(all_moves(state), all_nodes(state), strict=True)
                )
            ]
        )

    def _tree(self, state: State) -> exp.Expr:
        links = state.work(LINKS)
        starts = query(
            "select :node as node, e.n, (sum(e.n) over (order by e.node) - e.n)::bigint as start"
            " from e",
            {"e": all_nodes(state)[0]},
            node=paired(num(0), col("node", "e")),
        )
        begun = self._reached(query("select r.node, r.n, r.start from r", {"r": starts}), links)
        begun = begun.select(named(fragment("null::bigint"), "parent"))
        sides = query(
            "select w.start + s.skipped as start, s.n, s.node, w.node as parent from walk as w"
            " join l on l.node = w.node and l.cut"
            " cross join lateral (values (l.tl, l.nl, 0::bigint), (l.tr, l.nr, l.nl))"
            " as s(node, n, skipped)",
            {"l": links},
        )
        moved = self._reached(sides, links).select(col("parent", "g"))
        own = group_extents(
            self.context.axes, state, state.work(self.given), ["gid"], weighted=False
        )
        lost = query(
            "select -e.gid as node, (:loss)::float8 as loss from e",
            {"e": own},
            loss=exp.paren(weighted_loss(self.context.axes, state, "e")),
        )
        return query(
            "select w.node, w.parent, w.start, w.n, coalesce(l.loss, w.n * o.loss) as loss"
            " from walk as w left join l on l.node = w.node left join o on o.node = w.node",
            {"l": links, "o": lost},
        ).with_("walk", as_=exp.union(begun, moved, distinct=False), recursive=True)

    def _reached(self, groups: exp.Select, links: QualifiedName) -> exp.Select:
        """SELECT node, start, n: the groups, past rounds in which they were not cut.

        A group that was tried again with all attributes was cut in that round, or is final.
        """
        return query(
            "select coalesce(b.tl, a.tl, g.node) as node, g.start::bigint as start,"
            " g.n::bigint as n from g"
            " left join a on a.node = g.node and not a.cut"
            " left join b on b.node = a.tl and not b.cut",
            {"g": groups, "a": links, "b": links},
        )

    def _classes(self, state: State) -> exp.Select:
        return query("select t.start, t.n, t.loss from t where t.node < 0", {"t": state.work(TREE)})

    # -- a round ------------------------------------------------------------------------------

    def _round(self) -> list[Step]:
        return [
            Check(
                "excess",
                "how many records the shares of the release are above their bounds",
                self._excess,
                gives=[_excess(number) for number in range(len(self.models))],
            ),
            table("chosen", "the cuts that are undone", self._chosen, later=0),
            Check(
                "undone",
                "whether a cut was undone",
                lambda s: query(
                    "select count(*) = 0 as undone_ended from chosen as c", at(s, "chosen")
                ),
                gives=[_ENDED],
            ),
            table(
                "merged",
                "the classes of the next round",
                self._merged,
                later=1,
                when=lambda s: not s[_ENDED],
            ),
        ]

    def _excess(self, state: State) -> exp.Select:
        tree = query("select 1 from merged as m", at(state, "merged"))
        excess = [
            exp.alias_(
                fragment(
                    "greatest(sum(:part) - div(sum(m.n) * :p, :q), 0)::bigint",
                    part=model.part(col("n", "m")),
                    p=num(model.limit.numerator),
                    q=num(model.limit.denominator),
                ),
                _excess(number).column,
            )
            for number, model in enumerate(self.models)
        ]
        return tree.select(*excess, append=False)

    def _chosen(self, state: State) -> exp.Select:
        """By the first model that is missed; what is undone for it is never worse for another."""
        missed = next((n for n in range(len(self.models)) if state[_excess(n)]), None)
        if missed is None:
            return query(
                "select m.start, m.n, m.loss from merged as m where false", at(state, "merged")
            )
        inner = query(
            "select o.*, lead(o.start) over (order by o.start, o.n desc) as following from o"
            " where o.gained > 0",
            {"o": self._offers(state, self.models[missed])},
        )
        ranked = query(
            "select i.start, i.n, i.loss, sum(i.gained) over w - i.gained as before,"
            " row_number() over w as place, count(*) over () as offered from i"
            " where i.following is null or i.following >= i.start + i.n"
            " window w as (order by round((i.growth / i.gained)::numeric, :digits), i.start)",
            {"i": inner},
            digits=num(LOSS_DECIMALS),
        )
        return query(
            "select r.start, r.n, r.loss from r"
            " where r.before < :excess and (r.place - 1) * :part < r.offered",
            {"r": ranked},
            excess=num(state[_excess(missed)]),
            part=num(PART),
        )

    def _offers(self, state: State, model: ReleaseModel) -> exp.Select:
        """SELECT start, n, loss, growth, gained: groups of several classes, as one class each."""
        merged = query(
            "select m.*, :part as part from merged as m",
            at(state, "merged"),
            part=model.part(col("n", "m")),
        )
        before = query(
            "select p.start, coalesce(sum(p.loss) over w, 0) as loss,"
            " coalesce(sum(p.part) over w, 0) as part from p"
            " window w as (order by p.start rows between unbounded preceding and 1 preceding)",
            {"p": merged},
        )
        whole = query(
            "select max(p.start + p.n) as start, sum(p.loss) as loss, sum(p.part) as part from p",
            {"p": merged.copy()},
        )
        ends = stacked([before, whole])
        return query(
            "select t.start, t.n, t.loss, t.loss - (b.loss - a.loss) as growth,"
            " b.part - a.part - :part as gained from t"
            " join a on a.start = t.start join b on b.start = t.start + t.n where t.node > 0",
            {"t": state.work(TREE), "a": ends, "b": ends.copy()},
            part=model.part(col("n", "t")),
        )

    def _merged(self, state: State) -> exp.Select:
        both = stacked(
            [
                query("select c.*, true as whole from chosen as c", at(state, "chosen")),
                query("select m.*, false as whole from merged as m", at(state, "merged")),
            ]
        )
        covered = query(
            "select u.*, max(case when u.whole then u.start + u.n end)"
            " over (order by u.start, u.whole desc rows unbounded preceding) as until from u",
            {"u": both},
        )
        return query(
            "select c.start, c.n, c.loss from c where c.whole or coalesce(c.until, 0) <= c.start",
            {"c": covered},
        )

    # -- what is released ---------------------------------------------------------------------

    def _grouped(self, state: State) -> exp.Select:
        """A class has the number of the first of those that it is made of."""
        classes = query(
            "select m.start, m.start as first, null::bigint as gid from m",
            {"m": state.work("merged", round=state[_ROUNDS] - 1)},
        )
        leaves = query(
            "select t.start, null::bigint as first, -t.node as gid from t where t.node < 0",
            {"t": state.work(TREE)},
        )
        placed = query(
            "select u.start, u.gid, max(u.first) over"
            " (order by u.start, u.gid nulls first rows unbounded preceding) as first from u",
            {"u": stacked([classes, leaves])},
        )
        tree = query(
            "select f.gid from d join p on p.gid = d.gid join f on f.start = p.first",
            {"d": state.work(self.given), "p": placed, "f": leaves.copy()},
        )
        names = [*self.context.codes, *self.context.kept]
        return tree.select(*[col(name, "d") for name in names])


def _excess(number: int) -> Fact[int]:
    """By how many records a share is above its bound."""
    return count(f"excess{number}", "undone_")
