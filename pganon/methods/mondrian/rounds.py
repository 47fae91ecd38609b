"""Mondrian: top-down partitioning of weighted cells, all groups of a round in the same statements.

LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity, ICDE 2006; with the rules
that make it lose least:

- an attribute's cut is the allowable one nearest to balance, over all its values;
- values of a nominal attribute are ordered by their frequency in the group, ties by code;
- with a hierarchy, a cut separates children of the group's lowest common ancestor;
- `choose: width` takes the attribute with the largest normalized width that has an allowable cut;
  `choose: loss` takes, of the three widest that have one, the attribute whose cut leaves the least
  loss over all attributes, a tree counting as if all children of the group's ancestor were apart
  (its first cuts alone never pay). Ties go to the attribute that the policy names first.

A cut is allowable when both sides satisfy every requirement. In the strict variant equal values
stay together; in the relaxed one the value at the median is divided among both sides.

A round, on the active groups:

    tries   the attributes to try for each group, from what it covers
    ranked  the values in cutting order, with cumulative weight and what their cells cover: the one
            scan of the round in which cells are counted, unless there are very many attributes
    best    the cut nearest to balance for each try; where it misses a condition on sensitive
            values, `searched` has the nearest one that satisfies all
    halves  what both sides of the cuts that compete cover, from `ranked` or from the cells
    moves   what becomes of each group: cut, tried again with all attributes, or final
    cells   the cells with their group of the next round; `done` keeps those of final groups
    nodes   the groups of the next round with what they cover, from `halves`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.methods.mondrian import candidates, cuts
from pganon.methods.mondrian.halves import chosen, halves
from pganon.methods.mondrian.shape import Shape, at
from pganon.methods.pairs import paired
from pganon.sqltools import col, fragment, named, num, query, union_all
from pganon.steps import Check, CreateTable, DropTables, Repeat, State, Step
from pganon.steps.facts import RECORDS, Fact, count, flag

_FINISHED = flag("finished")
_ROUNDS = count("cut_rounds")

_TEMPORARY = (
    "tries",
    "ordered",
    "ranked",
    "best",
    "checked",
    "searched",
    "halves",
    "moves",
    "cells",
    "nodes",
)


@dataclass(frozen=True)
class Mondrian(Shape):
    """The rounds for one set of cells."""

    def steps(self) -> tuple[Step, ...]:
        """From `cells_0` and `nodes_0` (node, n, extents, again) to `grouped`."""
        return (
            Repeat(
                name="cut",
                purpose="cut every group where both sides keep all requirements",
                body=self.round,
                until=_FINISHED,
                bound=lambda state: 4 * state[RECORDS] + 8,
                rounds=_ROUNDS,
            ),
            CreateTable(
                "gather",
                "all final groups with their cells",
                lambda state: state.work("grouped"),
                self.gathered,
            ),
            DropTables(
                "tidy",
                "drop what the rounds left",
                lambda state: [
                    *[state.work("done", round=number) for number in _finishing(state)],
                    state.work("cells", round=state[_ROUNDS]),
                    state.work("nodes", round=state[_ROUNDS]),
                    *[state.work(f"cellvalues{j}") for j in self.sensitive],
                ],
            ),
        )

    def gathered(self, state: State) -> exp.Expr:
        """(gid, codes, [rid]): the group of every cell; gid says round and number in it."""
        return union_all(
            [
                query(
                    "select :pair as gid from done as d",
                    {"done": state.work("done", round=number)},
                    pair=paired(num(number), col("leaf", "d")),
                ).select(*[col(name, "d") for name in self.final_columns])
                for number in _finishing(state)
            ]
        )

    def round(self, number: int) -> Sequence[Step]:
        final = _final(number)
        return [
            *self._cutting(number),
            self._create(
                number,
                "halves",
                "both sides of the cuts that compete",
                lambda state: halves(self, state),
            ),
            self._create(number, "moves", "what becomes of every group", self.moves),
            Check(
                "progress",
                "groups still to be cut, and final ones",
                lambda state: query(
                    "select m.active, m.active = 0 as finished from m",
                    {"m": query(_PROGRESS, at(state, "moves"))},
                ).select(named(col("final", "m"), final.column)),
                gives=[count("active"), _FINISHED, final],
            ),
            # Without statistics: they are joined with tables that have one row per group and are
            # analyzed, which is what the planner goes by.
            CreateTable(
                "cells",
                "cells of the next groups",
                lambda state: state.work("cells", round=number + 1),
                lambda state: _clustered(self.assigned(state), number),
                analyze=False,
                every_round=not _clusters(number),
            ),
            CreateTable(
                "done",
                "cells of final groups",
                lambda state: state.work("done", round=number),
                self.finished,
                analyze=False,
                when=lambda state: state[final] > 0,
                every_round=True,
            ),
            self._create(number, "nodes", "groups of the next round", self.next_nodes, later=1),
            DropTables(
                "tidy",
                "drop the work tables of this round",
                lambda state: [
                    state.work(name, round=number)
                    for name in (
                        *_TEMPORARY,
                        *[
                            f"{name}{j}"
                            for j in self.sensitive
                            for name in ("certain", "sides", "hist")
                        ],
                    )
                ],
            ),
        ]

    def _create(
        self,
        number: int,
        name: str,
        purpose: str,
        select: Callable[[State], exp.Expr],
        *,
        analyze: bool = True,
        later: int = 0,
    ) -> CreateTable:
        return CreateTable(
            name,
            purpose,
            lambda state: state.work(name, round=number + later),
            select,
            analyze=analyze,
            every_round=True,
        )

    def _cutting(self, number: int) -> list[Step]:
        """The steps that find the cuts."""

        def create(name: str, purpose: str, select: Callable[..., exp.Expr], *given: int):
            return self._create(number, name, purpose, lambda state: select(self, state, *given))

        steps: list[Step] = [
            create("tries", "the attributes to try for every group", candidates.tries)
        ]
        if self.relaxed:
            steps.append(create("ordered", "records in cutting order", cuts.ordered))
        steps.append(create("ranked", "tried values in cutting order", cuts.ranked))
        hists = [
            create(f"hist{j}", "records per position and sensitive value", cuts.hist, j)
            for j in self.sensitive
        ]
        nearest = create("best", "the cut nearest to balance", cuts.best)
        if self.relaxed:
            return [*steps, *hists, nearest]
        steps.append(nearest)
        if self.conditions:
            steps += [
                create(
                    f"certain{j}", "cuts with a cell of values enough on each side", cuts.certain, j
                )
                for j in self.counted
            ]
            steps += [
                create(f"sides{j}", "sensitive values on both sides", cuts.sides, j)
                for j in self.sensitive
            ]
            steps.append(create("checked", "whether both sides hold", cuts.checked))
            steps += hists
            steps.append(create("searched", "the nearest cut that holds", cuts.searched))
        return steps

    # -- what becomes of the groups ---------------------------------------------------------

    def moves(self, state: State) -> exp.Expr:
        """(node, attr, level, thr, mask, cum, again, nl, nr, tl, tr): one row per group.

        tl and tr are the targets of both sides: a group of the next round if positive, a final
        group if negative. Groups that are not cut go to tl; with `again`, the next round tries
        them on all attributes.
        """
        decided = query(
            "select d.node, d.n, b.attr, b.level, b.thr, b.mask, b.cum,"
            " b.node is null and coalesce(t.more, false) as again,"
            " row_number() over (order by d.node) as number"
            " from nodes as d left join b on b.node = d.node"
            " left join t on t.node = d.node",
            {
                "b": chosen(self, state),
                "t": query(
                    "select t.node, t.more from tries as t where t.rank = 1", at(state, "tries")
                ),
                **at(state, "nodes"),
            },
        )
        sized = query(
            "select m.*, coalesce(m.cum, m.n) as nl, m.n - m.cum as nr from m", {"m": decided}
        )
        return query(
            "select z.node, z.attr, z.level, z.thr, z.mask, z.cum, z.again, z.nl, z.nr,"
            " ((case when (z.attr is not null and z.nl >= :twice) or z.again"
            " then 1 else -1 end) * (2 * z.number - 1))::int as tl,"
            " ((case when z.nr >= :twice then 1 else -1 end) * 2 * z.number)::int as tr from z",
            {"z": sized},
            twice=num(2 * self.minimum_size),
        )

    def assigned(self, state: State) -> exp.Select:
        """Every cell of an active group with its group after the moves."""
        target = fragment(
            "case when m.attr is null or :left then m.tl else m.tr end",
            left=exp.paren(cuts.is_left(self, state, "m")),
        )
        tree = query(
            "select :target as node from cells as c join moves as m on m.node = c.node",
            at(state, "cells", "moves"),
            target=target,
        ).select(*[col(name, "c") for name in (*self.cell_columns, "w")])
        return cuts.join_order(self, state, tree, "m")

    def finished(self, state: State) -> exp.Expr:
        """(leaf, codes, [rid]): cells of the groups that became final in this round."""
        return query(
            "select -c.node as leaf from c where c.node < 0",
            {"c": state.in_round("cells", 1)},
        ).select(*[col(name, "c") for name in self.final_columns])

    def next_nodes(self, state: State) -> exp.Expr:
        """(node, n, extents, again)"""
        names = ["n", *self.extents(state)]
        side = query(
            "select case when h.is_left then m.tl else m.tr end as node, m.again"
            " from moves as m join halves as h on h.node = m.node and h.attr = m.attr"
            " where case when h.is_left then m.tl else m.tr end > 0",
            at(state, "moves", "halves"),
        ).select(*[col(name, "h") for name in names])
        kept = query(
            "select m.tl as node, m.again from moves as m join nodes as h on h.node = m.node"
            " where m.again",
            at(state, "moves", "nodes"),
        ).select(*[col(name, "h") for name in names])
        return union_all([side, kept])


_PROGRESS = """
    select count(*) filter (where m.tl > 0) + count(*) filter (where m.tr > 0) as active,
    count(*) filter (where m.tl < 0) + count(*) filter (where m.tr < 0) as final from moves as m
"""


CLUSTERED = 3
"""Rounds between two in which cells are written group by group. The hash tables of later rounds
then meet the same groups one after another, which takes half the time; to sort every round would
cost more than it gains."""


def _clusters(number: int) -> bool:
    """Whether the cells of the round's groups are written group by group."""
    return number % CLUSTERED == CLUSTERED - 1


def _clustered(tree: exp.Select, number: int) -> exp.Select:
    return tree.order_by(num(1)) if _clusters(number) else tree


def _final(number: int) -> Fact[int]:
    """Number of groups that became final in a round."""
    return count(f"cut_final{number}")


def _finishing(state: State) -> list[int]:
    """Rounds in which groups became final."""
    return [n for n in range(state[_ROUNDS]) if state[_final(n)] > 0]
