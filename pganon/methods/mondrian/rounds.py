"""Mondrian: top-down partitioning of weighted cells, all groups of a round in the same statements.

LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity, ICDE 2006; with the rules
that make it lose least:

- an attribute's cut is the allowable one nearest to balance, over all its values;
- values of a nominal attribute are ordered by their frequency in the group, ties by code;
- with a hierarchy, a cut separates children of the group's lowest common ancestor;
- `choose: width` tries the attribute with the largest normalized width first and, where it has
  no allowable cut, the others by width; `choose: loss` takes the attribute whose cut leaves the
  least loss over all attributes. Ties go to the attribute that the policy names first.

A cut is allowable when both sides satisfy every requirement. In the strict variant equal values
stay together; in the relaxed one the value at the median is divided among both sides.

A round, on the active groups:

    tries   the attributes to try for each group, from one aggregate over the cells
    hist    records per tried value (and sensitive value, where a requirement asks)
    ranked  the values in cutting order, with cumulative weight
    best    the allowable cut nearest to balance for each try, if any
    moves   what becomes of each group: cut, tried again with its other attributes, or final
    done    the cells of final groups; `cells` of the next round has all others
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.axis import Axis, group_extents, weighted_loss
from pganon.identifiers import QualifiedName
from pganon.methods.mondrian.conditions import allowed_cuts
from pganon.plan.sqltools import cast, col, fragment, named, num, query, union_all
from pganon.plan.steps import Check, CreateTable, DropTables, Repeat, State, Step
from pganon.privacy.base import Requirement

LOSS_DECIMALS = 9
"""Losses of two cuts that differ less count as equal, so that ties do not hang on rounding."""

_TEMPORARY = ("tries", "hist", "ranked", "best", "moves", "cells", "nodes", "ordered")


@dataclass(frozen=True)
class Mondrian:
    """The rounds for one set of cells.

    Attributes:
        axes: the quasi-identifiers.
        requirements: what both sides of a cut must satisfy.
        sensitive: indexes of the sensitive columns that requirements need, as columns `s<j>`.
        minimum_size: fewest records of any class.
        choose: "width" or "loss".
        relaxed: whether one value may be divided; cells are then single records with `rid`.
    """

    axes: tuple[Axis, ...]
    requirements: tuple[Requirement, ...]
    sensitive: tuple[int, ...]
    minimum_size: int
    choose: str
    relaxed: bool

    @property
    def codes(self) -> list[str]:
        return [axis.code for axis in self.axes]

    @property
    def values(self) -> list[str]:
        return [f"s{j}" for j in self.sensitive]

    @property
    def cell_columns(self) -> list[str]:
        """Columns of a cell besides its group and weight."""
        return [*self.codes, *self.values, *(["rid"] if self.relaxed else [])]

    @property
    def final_columns(self) -> list[str]:
        """Columns of a cell of a final group besides the group."""
        return [*self.codes, *(["rid"] if self.relaxed else [])]

    def steps(self) -> tuple[Step, ...]:
        """From `cells_0` (node, codes, values, w) and `nodes_0` (node, n, failed) to `grouped`."""
        return (
            Repeat(
                name="cut",
                purpose="cut every group where both sides keep all requirements",
                body=self.round,
                until="finished",
                bound=lambda state: 4 * state.count("records") + 8,
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
                    state.work(name, round=number)
                    for number in range(state.count("cut_rounds") + 1)
                    for name in ("done", "cells", "nodes")
                ],
            ),
        )

    def gathered(self, state: State) -> exp.Expression:
        """(gid, codes, [rid]): the group of every cell; gid says round and number in it."""
        return union_all(
            [
                query(
                    "select (:round::bigint << 32) + d.leaf as gid from done as d",
                    {"done": state.work("done", round=number)},
                    round=num(number),
                ).select(*[col(name, "d") for name in self.final_columns])
                for number in range(state.count("cut_rounds"))
            ]
        )

    def round(self, number: int) -> Sequence[Step]:
        def create(name: str, purpose: str, select, *, analyze: bool = True, later: int = 0):
            return CreateTable(
                name,
                purpose,
                lambda state: state.work(name, round=number + later),
                select,
                analyze=analyze,
            )

        steps: list[Step] = [
            create("tries", "extents of every group; the attributes to try", self.tries)
        ]
        if self.relaxed:
            steps.append(create("ordered", "records in cutting order", self.ordered))
        if self.relaxed or self.sensitive:
            steps.append(create("hist", "records per tried and sensitive value", self.hist))
        steps += [
            create("ranked", "tried values in cutting order", self.ranked, analyze=False),
            create("best", "the allowable cut nearest to balance", self.best),
            create("moves", "what becomes of every group", self.moves),
            create("done", "cells of final groups", self._assignment(True), analyze=False),
            create("cells", "cells of the next groups", self._assignment(False), later=1),
            create("nodes", "groups of the next round", self.next_nodes, later=1),
            Check(
                "progress",
                "groups still to be cut",
                lambda state: query(
                    "select count(*) as active, count(*) = 0 as finished from t",
                    {"t": state.work("nodes", round=number + 1)},
                ),
            ),
            DropTables(
                "tidy",
                "drop the work tables of this round",
                lambda state: [state.work(name, round=number) for name in _TEMPORARY],
            ),
        ]
        return steps

    def _at(self, state: State, *names: str) -> dict[str, QualifiedName | exp.Select]:
        return {name: state.work(name, round=state.round) for name in names}

    # -- which attributes to try ------------------------------------------------------------

    def tries(self, state: State) -> exp.Expression:
        """(node, n, attr, level, rank, more): attributes with something to gain, widest first."""
        extents = group_extents(self.axes, state, self._at(state, "cells")["cells"], ["node"])
        rows = [
            query(
                "select :attr::smallint as attr, :level::smallint as level,"
                " :loss::float8 as loss, :weight::float8 as weight",
                attr=num(axis.index),
                level=exp.paren(axis.level(state, "e")),
                loss=exp.paren(axis.loss(state, "e")),
                weight=exp.Literal.number(repr(axis.attribute.weight)),
            )
            for axis in self.axes
        ]
        lateral = exp.Lateral(
            this=exp.Subquery(this=union_all(rows)),
            alias=exp.TableAlias(this=exp.to_identifier("a")),
        )
        wide = query(
            "select e.node, e.n, d.failed, a.attr, a.level,"
            " row_number() over (partition by e.node order by a.loss * a.weight desc, a.attr)"
            " as rank, count(*) over (partition by e.node) > 1 as more"
            " from e join nodes as d on d.node = e.node",
            {"e": extents, **self._at(state, "nodes")},
        )
        wide = wide.join(lateral, join_type="cross").where(fragment("a.loss > 0"))
        tree = query(
            "select w.node, w.n, w.attr, w.level, w.rank::smallint as rank, w.more from w",
            {"w": wide},
        )
        if self.choose == "loss":
            return tree
        return tree.where(
            fragment("case when w.failed is null then w.rank = 1 else w.attr <> w.failed end")
        )

    # -- where to cut them ------------------------------------------------------------------

    def _by_attribute(
        self, attr: exp.Expression, value: Callable[[Axis], exp.Expression]
    ) -> exp.Expression:
        case = exp.Case(this=attr.copy())
        for axis in self.axes:
            case = case.when(num(axis.index), value(axis))
        return case

    def _key(self, state: State, table: str) -> exp.Expression:
        """What a cell shows on the attribute of a try in `table`."""
        return self._by_attribute(
            col("attr", table),
            lambda axis: cast(
                exp.paren(axis.key(state, col(axis.code, "c"), col("level", table))), "integer"
            ),
        )

    def _order(self, table: str, weight: str) -> exp.Expression:
        """Sort key of values: falling frequency for nominal attributes, else code order."""
        return self._by_attribute(
            col("attr", table),
            lambda axis: exp.Neg(this=col(weight, table)) if axis.by_frequency else col("v", table),
        )

    def _shown(self, state: State) -> exp.Select:
        """(node, attr, n, v, w, [values], [rid]): every cell's value on every tried attribute."""
        extra = [*self.values, *(["rid"] if self.relaxed else [])]
        return query(
            "select c.node, t.attr, t.n, :key as v, c.w"
            " from cells as c join tries as t on t.node = c.node",
            self._at(state, "cells", "tries"),
            key=self._key(state, "t"),
        ).select(*[col(name, "c") for name in extra])

    def ordered(self, state: State) -> exp.Expression:
        """Relaxed only: records in cutting order and their half at the exact median.

        Records of one value are told apart by `rid`, a random number: whoever is on which side
        depends on nothing that is known about them.
        """
        weighed = query(
            "select k.*, sum(k.w) over (partition by k.node, k.attr, k.v) as vw from k",
            {"k": self._shown(state)},
        )
        placed = query(
            "select q.*, row_number() over (partition by q.node, q.attr"
            " order by :order, q.v, q.rid) as place from q",
            {"q": weighed},
            order=self._order("q", "vw"),
        )
        return query("select p.*, (p.place * 2 > p.n)::int as half from p", {"p": placed})

    def hist(self, state: State) -> exp.Select:
        """(node, attr, v, half, values.., w): records per tried and sensitive value."""
        if self.relaxed:
            tree = query(
                "select x.node, x.attr, x.v, x.half, sum(x.w)::bigint as w from x",
                {"x": self._at(state, "ordered")["ordered"]},
            )
            keys = ["node", "attr", "v", "half", *self.values]
        else:
            tree = query(
                "select x.node, x.attr, x.v, 0 as half, sum(x.w)::bigint as w from x",
                {"x": self._shown(state)},
            )
            keys = ["node", "attr", "v", *self.values]
        tree = tree.select(*[col(name, "x") for name in self.values])
        return tree.group_by(*[col(name, "x") for name in keys])

    def ranked(self, state: State) -> exp.Expression:
        """(node, attr, v, half, level, rank, n, more, w, pos, cum): one row per value (half)."""
        if self.relaxed or self.sensitive:
            values = query(
                "select h.node, h.attr, h.v, h.half, sum(h.w)::bigint as w from hist as h"
                " group by h.node, h.attr, h.v, h.half",
                self._at(state, "hist"),
            )
        else:
            values = self.hist(state)
        weight = "w"
        if self.relaxed:
            weight = "vw"
            values = query(
                "select g.*, sum(g.w) over (partition by g.node, g.attr, g.v) as vw from g",
                {"g": values},
            )
        return query(
            "select g.node, g.attr, g.v, g.half, t.level, t.rank, t.n, g.w,"
            " row_number() over (partition by g.node, g.attr order by :order, g.v, g.half) as pos,"
            " sum(g.w) over (partition by g.node, g.attr order by :order, g.v, g.half"
            " rows unbounded preceding)::bigint as cum"
            " from g join tries as t on t.node = g.node and t.attr = g.attr",
            {"g": values, **self._at(state, "tries")},
            order=self._order("g", weight),
        )

    def best(self, state: State) -> exp.Expression:
        """(node, attr, level, rank, n, cum, thr, mask): the cut of every try that has one.

        A cut in code order is kept as its last value on the left, one by frequency as the bit
        mask of the values on the left; the relaxed variant uses `cum`, the records on the left.
        """
        tables = self._at(state, "ranked", "hist")
        allowed = query(
            "select r.node, r.attr, r.level, r.rank, r.n, r.cum, r.pos, r.v from ranked as r"
            " where r.cum >= :k and r.n - r.cum >= :k",
            tables,
            k=num(self.minimum_size),
        )
        for number, requirement in enumerate(self.requirements):
            if requirement.sensitive is None:
                continue  # a bound on the size, which minimum_size already is
            alias = f"q{number}"
            cuts = allowed_cuts(requirement, tables["ranked"], tables["hist"], state)
            allowed = allowed.join(
                cuts.subquery(alias),
                on=exp.and_(
                    *[
                        exp.EQ(this=col(name, alias), expression=col(name, "r"))
                        for name in ("node", "attr", "pos")
                    ]
                ),
            )
        nearest = query(
            "select distinct on (a.node, a.attr) a.node, a.attr, a.level, a.rank, a.n, a.cum,"
            " a.pos, a.v as thr from a"
            " order by a.node, a.attr, abs(2 * a.cum - a.n), a.pos",
            {"a": allowed},
        )
        if self.relaxed or not any(axis.by_frequency for axis in self.axes):
            return query("select b.*, null::varbit as mask from b", {"b": nearest})
        mask = self._by_attribute(
            col("attr", "b"),
            lambda axis: (
                fragment(
                    "set_bit(repeat('0', :size)::varbit, r.v, 1)", size=num(axis.size(state) + 1)
                )
                if axis.by_frequency
                else fragment("null::varbit")
            ),
        )
        return query(
            "select b.node, b.attr, b.level, b.rank, b.n, b.cum, b.pos, b.thr,"
            " bit_or(:mask) as mask"
            " from b join ranked as r on r.node = b.node and r.attr = b.attr and r.pos <= b.pos"
            " group by b.node, b.attr, b.level, b.rank, b.n, b.cum, b.pos, b.thr",
            {"b": nearest, "ranked": tables["ranked"]},
            mask=mask,
        )

    def _is_left(self, state: State, table: str) -> exp.Expression:
        """Whether a cell `c` lies on the left of the cut in `table`."""

        def side(axis: Axis) -> exp.Expression:
            key = axis.key(state, col(axis.code, "c"), col("level", table))
            if axis.by_frequency:
                return fragment("get_bit(:m, :k) = 1", m=col("mask", table), k=key)
            return fragment(":k <= :t", k=key, t=col("thr", table))

        if self.relaxed:
            return fragment("o.place <= :cum", cum=col("cum", table))
        return self._by_attribute(col("attr", table), side)

    def _join_order(self, state: State, tree: exp.Select, table: str) -> exp.Select:
        if not self.relaxed:
            return tree
        ordered = exp.alias_(state.work("ordered", round=state.round).table, "o", table=True)
        same = fragment(
            "o.node = c.node and o.rid = c.rid and o.attr = :attr", attr=col("attr", table)
        )
        return tree.join(ordered, on=same, join_type="left")

    # -- what becomes of the groups ---------------------------------------------------------

    def _chosen(self, state: State) -> exp.Select:
        """(node, attr, level, thr, mask, cum): the one cut of every group that has any."""
        best = self._at(state, "best")
        if self.choose == "width":
            return query(
                "select distinct on (b.node) b.* from best as b order by b.node, b.rank", best
            )
        sides = query(
            "select b.node, b.attr, c.w, :left as is_left"
            " from cells as c join best as b on b.node = c.node",
            {**best, **self._at(state, "cells")},
            left=exp.paren(self._is_left(state, "b")),
        ).select(*[col(name, "c") for name in self.codes])
        sides = self._join_order(state, sides, "b")
        extents = group_extents(self.axes, state, sides, ["node", "attr", "is_left"])
        left_over = query(
            "select e.node, e.attr, round(sum(e.n * :loss)::numeric, :digits) as loss from e"
            " group by e.node, e.attr",
            {"e": extents},
            loss=exp.paren(weighted_loss(self.axes, state, "e")),
            digits=num(LOSS_DECIMALS),
        )
        return query(
            "select distinct on (b.node) b.* from best as b"
            " join l on l.node = b.node and l.attr = b.attr order by b.node, l.loss, b.attr",
            {**best, "l": left_over},
        )

    def moves(self, state: State) -> exp.Expression:
        """(node, attr, level, thr, mask, cum, failed, nl, nr, tl, tr): one row per group.

        tl and tr are the targets of both sides: a group of the next round if positive, a final
        group if negative. Groups that are not cut go to tl; `failed` is then the attribute that
        was tried in vain, if others remain.
        """
        decided = query(
            "select d.node, d.n, b.attr, b.level, b.thr, b.mask, b.cum,"
            " case when :retry and b.node is null and d.failed is null and t.more then t.attr end"
            " as failed,"
            " row_number() over (order by d.node) as number"
            " from nodes as d left join b on b.node = d.node"
            " left join t on t.node = d.node",
            {
                "b": self._chosen(state),
                "t": query(
                    "select t.node, t.attr, t.more from tries as t where t.rank = 1",
                    self._at(state, "tries"),
                ),
                **self._at(state, "nodes"),
            },
            # By loss, all attributes were tried at once and nothing is left to try.
            retry=exp.Boolean(this=self.choose == "width"),
        )
        sized = query(
            "select m.*, coalesce(m.cum, m.n) as nl, m.n - m.cum as nr from m", {"m": decided}
        )
        return query(
            "select z.node, z.attr, z.level, z.thr, z.mask, z.cum, z.failed, z.nl, z.nr,"
            " ((case when (z.attr is not null and z.nl >= :twice) or z.failed is not null"
            " then 1 else -1 end) * (2 * z.number - 1))::int as tl,"
            " ((case when z.nr >= :twice then 1 else -1 end) * 2 * z.number)::int as tr from z",
            {"z": sized},
            twice=num(2 * self.minimum_size),
        )

    def _assignment(self, final: bool) -> Callable[[State], exp.Expression]:
        def select(state: State) -> exp.Expression:
            target = fragment(
                "case when m.attr is null or :left then m.tl else m.tr end",
                left=exp.paren(self._is_left(state, "m")),
            )
            columns = self.final_columns if final else [*self.cell_columns, "w"]
            tree = query(
                "select :target as target from cells as c join moves as m on m.node = c.node",
                self._at(state, "cells", "moves"),
                target=target,
            ).select(*[col(name, "c") for name in columns])
            tree = self._join_order(state, tree, "m")
            outer = exp.select(
                named(fragment("-x.target" if final else "x.target"), "leaf" if final else "node"),
                *[col(name, "x") for name in columns],
            ).from_(tree.subquery("x"))
            outer = outer.where(fragment("x.target < 0" if final else "x.target > 0"))
            # Cells that differ in sensitive values only are one cell of the class.
            return outer.distinct() if final and self.sensitive and not self.relaxed else outer

        return select

    def next_nodes(self, state: State) -> exp.Expression:
        """(node, n, failed)"""
        moves = self._at(state, "moves")
        return union_all(
            [
                query(
                    "select m.tl as node, m.nl as n, m.failed from moves as m where m.tl > 0", moves
                ),
                query(
                    "select m.tr as node, m.nr as n, null::smallint as failed"
                    " from moves as m where m.tr > 0",
                    moves,
                ),
            ]
        )
