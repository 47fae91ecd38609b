"""The steps of the rounds, and what becomes of groups; see :mod:`pganon.methods.common.rounds`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.encode.extents import group_extents
from pganon.encode.facts import weight_type
from pganon.identifiers import QualifiedName
from pganon.methods.common.pairs import paired
from pganon.methods.common.rounds.rule import CutRule, at, round_table
from pganon.sqltools import cast, col, equal, fragment, named, num, query, union_all
from pganon.steps import Check, CreateTable, Loop, State, Step, table
from pganon.steps.facts import Fact, count, flag


def shown(rule: CutRule, state: State, *carried: str) -> exp.Select:
    """(node, attr, n, v, w, codes, carried): every cell with its value on every tried attribute."""
    return query(
        "select c.node, t.attr, t.n, :key as v, c.w"
        " from cells as c join tries as t on t.node = c.node",
        at(state, "cells", "tries"),
        key=rule.key(state, "t"),
    ).select(*[col(name, "c") for name in (*rule.codes, *carried)])


def order(rule: CutRule, table: str, weight: str) -> exp.Expr:
    """Sort key of values: falling frequency or the key itself."""
    return rule.by_attribute(
        col("attr", table),
        lambda axis: (
            exp.Neg(this=col(weight, table)) if rule.by_frequency(axis) else col("v", table)
        ),
    )


def ranked(rule: CutRule, state: State) -> exp.Expr:
    """(node, attr, v, w, n, pos, cum, [extents]): one row per value; see :func:`in_order`."""
    values = query(
        "select x.node, x.attr, x.v, :w as w from x group by x.node, x.attr, x.v",
        {"x": shown(rule, state)},
        w=total_weight(state, "x"),
    )
    return in_order(rule, state, values, "w")


def in_order(
    rule: CutRule, state: State, values: exp.Select, weight: str, parts: Sequence[str] = ()
) -> exp.Select:
    """Values with their position and cumulative weight, and what their cells cover.

    The extents are those of its cells on all attributes: enough for the extents of either
    side of any cut.

    Args:
        values: aggregates over cells `x`, by group, attribute, value and its parts.
        weight: column with the weight of a whole value.
        parts: columns by which a value is divided.
    """
    covered = rule.axes if rule.covers else ()
    extents = [item for axis in covered for item in axis.extent(state, "x")]
    by = [col("node", "g"), col("attr", "g")]
    placed = [order(rule, "g", weight), col("v", "g"), *[col(part, "g") for part in parts]]
    window = exp.Window(
        partition_by=by, order=exp.Order(expressions=[exp.Ordered(this=item) for item in placed])
    )
    tree = query(
        "select g.node, g.attr, g.v, g.w, t.n, :pos::int as pos, :cum::bigint as cum"
        " from g join tries as t on t.node = g.node and t.attr = g.attr",
        {"g": values.select(*extents), **at(state, "tries")},
        pos=exp.paren(_over(fragment("row_number()"), window)),
        cum=exp.paren(_over(fragment("sum(g.w)"), window, rows=True)),
    )
    extra = [*[item.alias for item in extents], *parts]
    return tree.select(*[col(name, "g") for name in extra])


def _over(aggregate: exp.Expr, window: exp.Window, *, rows: bool = False) -> exp.Window:
    tree = window.copy()
    tree.set("this", aggregate)
    if rows:
        tree.set("spec", exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING"))
    return tree


def total_weight(state: State, table: str) -> exp.Expr:
    return cast(fragment("sum(:w)", w=col("w", table)), weight_type(state))


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


SIDE = ("node", "attr", "is_left")


def halves(rule: CutRule, state: State) -> exp.Expr:
    """(node, attr, is_left, n, extents, [side columns]): both sides of these cuts."""
    tree = query(
        "select r.node, r.attr, r.cum <= b.cum as is_left, sum(r.w)::bigint as n"
        " from ranked as r join b on b.node = r.node and b.attr = r.attr"
        " group by r.node, r.attr, r.cum <= b.cum",
        {"b": rule.competing(state, rule.cuts(state)), **at(state, "ranked")},
    )
    merged = [axis for axis in rule.axes if rule.covers and axis.merged(state, "r")]
    tree = tree.select(*[item for axis in merged for item in axis.merged(state, "r")])
    tree = tree.select(*rule.side_columns(state))
    counted = [axis for axis in rule.axes if axis not in merged]
    if not counted:
        return tree
    return (
        query("select m.* from m", {"m": tree})
        .join(_counted(rule, state, counted).subquery("k"), on=equal(SIDE, "k", "m"))
        .select(*[col(item.alias, "k") for axis in counted for item in axis.extent(state, "c")])
    )


def _counted(rule: CutRule, state: State, counted: list[Axis]) -> exp.Select:
    """(node, attr, is_left, extents) of attributes whose extents `ranked` does not have."""
    side = exp.paren(rule.is_left(state, "b"))
    tree = query(
        "select b.node, b.attr, :left as is_left from cells as c join b on b.node = c.node",
        {"b": rule.competing(state, rule.cuts(state)), **at(state, "cells")},
        left=side,
    )
    tree = rule.with_place(state, tree, "b")
    tree = tree.select(*[item for axis in counted for item in axis.extent(state, "c")])
    return tree.group_by(col("node", "b"), col("attr", "b"), side.copy())


_FINISHED = flag("finished")
_ROUNDS = count("cut_rounds")


def start_step(axes: Sequence[Axis]) -> CreateTable:
    """The groups that cells start in, from `cells_0`."""
    return table(
        "nodes",
        "the parts to start from",
        lambda s: group_extents(axes, s, s.work("cells", round=0), ["node"]).select(
            named(exp.false(), "again")
        ),
        later=0,
    )


@dataclass(frozen=True)
class CutRounds:
    """The rounds for one set of cells.

    Attributes:
        purpose: when a group is cut, for who reads the plan.
        table: the work table that holds the groups in the end.
        after: steps that read what became of the groups of all rounds, by :func:`all_moves`.
        keeps_nodes: whether they read what the groups covered, too, by :func:`all_nodes`.
        most: rounds end when no group that could be cut has more records; `beside` cuts the rest.
        beside: steps that read the cells and groups that are :func:`remaining` then.
        groups_beside: SELECT of the groups that these made, with the columns of the table.
    """

    rule: CutRule
    purpose: str
    table: str = "grouped"
    after: tuple[Step, ...] = ()
    keeps_nodes: bool = False
    most: int = 0
    beside: tuple[Step, ...] = ()
    groups_beside: Callable[[State], exp.Select] | None = None

    def steps(self) -> tuple[Step, ...]:
        """From `cells_0` and `nodes_0` to (gid, codes, [kept columns]), the group of every cell.

        The fact `cut_rounds` holds how many rounds there were.
        """
        read = ["moves", *(["nodes"] if self.keeps_nodes else [])] if self.after else []
        carried = ["cells", "nodes", *[made.name for made in self.rule.following()]]
        return (
            Loop(
                "cut",
                self.purpose,
                body=self.round,
                until=_FINISHED,
                rounds=_ROUNDS,
                carries=[name for name in carried if name not in read],
                keeps=["done", *read],
            ),
            *self.beside,
            table("gather", "all final groups with their cells", self.gathered, into=self.table),
            *self.after,
        )

    def gathered(self, state: State) -> exp.Expr:
        """(gid, codes, [kept columns]); gid says round and number in it."""
        parts = [
            query(
                "select :pair as gid from done as d",
                {"done": state.work("done", round=number)},
                pair=paired(num(number), col("leaf", "d")),
            ).select(*[col(name, "d") for name in self._final_columns])
            for number in range(state[_ROUNDS])
            if state[_final(number)] > 0
        ]
        return union_all([*parts, *([self.groups_beside(state)] if self.groups_beside else [])])

    @property
    def _final_columns(self) -> list[str]:
        return [*self.rule.codes, *self.rule.kept]

    # -- a round ------------------------------------------------------------------------------

    def round(self, number: int) -> Sequence[Step]:
        final = _final(number)
        return [
            round_table("tries", "the attributes to try for every group", self._of_rule(tries)),
            *self.rule.cutting(),
            round_table("halves", "both sides of the cuts that compete", self._of_rule(halves)),
            round_table("moves", "what becomes of every group", self.moves),
            Check(
                "progress",
                "groups still to be cut, and final ones",
                lambda state: query(
                    "select m.active, :finished as finished from m",
                    {"m": query(_PROGRESS, at(state, "moves"))},
                    finished=self._finished(state),
                ).select(named(col("final", "m"), final.column)),
                gives=[count("active"), _FINISHED, final],
            ),
            # Without statistics: they are joined with tables that have one row per group and are
            # analyzed, which is what the planner goes by.
            table(
                "cells",
                "cells of the next groups",
                lambda state: _clustered(self.assigned(state), number),
                later=1,
                analyze=False,
                every_round=not _clusters(number),
            ),
            table(
                "done",
                "cells of final groups",
                self.finished,
                later=0,
                analyze=False,
                when=lambda state: state[final] > 0,
                every_round=True,
                inline=True,
            ),
            round_table("nodes", "groups of the next round", self.next_nodes, later=1),
            *self.rule.following(),
        ]

    def _of_rule(self, select: Callable[[CutRule, State], exp.Expr]):
        return lambda state: select(self.rule, state)

    def _finished(self, state: State) -> exp.Expr:
        if not self.most:
            return fragment("m.active = 0")
        larger = query(
            "select 1 from moves as m where (m.tl > 0 and m.nl > :most)"
            " or (m.tr > 0 and m.nr > :most)",
            at(state, "moves"),
            most=num(self.most),
        )
        return exp.not_(exp.Exists(this=larger))

    # -- what becomes of the groups -----------------------------------------------------------

    def moves(self, state: State) -> exp.Expr:
        """(node, attr, cut columns, again, nl, nr, tl, tr): one row per group.

        tl and tr are the targets of both sides: a group of the next round if positive, a final
        group if negative. Groups that are not cut go to tl; with `again`, the next round tries
        them on all attributes.
        """
        names = self.rule.cut_columns
        decided = query(
            "select d.node, d.n, b.attr,"
            " b.node is null and coalesce(t.more, false) as again,"
            " row_number() over (order by d.node) as number"
            " from nodes as d left join b on b.node = d.node"
            " left join t on t.node = d.node",
            {"b": self.rule.chosen(state), "t": self.rule.untried(state), **at(state, "nodes")},
        ).select(*[col(name, "b") for name in names])
        sized = query(
            "select m.*, coalesce(m.cum, m.n) as nl, m.n - m.cum as nr from m", {"m": decided}
        )
        return query(
            "select z.node, z.attr, z.again, z.nl, z.nr,"
            " ((case when (z.attr is not null and z.nl >= :twice) or z.again"
            " then 1 else -1 end) * (2 * z.number - 1))::int as tl,"
            " ((case when z.nr >= :twice then 1 else -1 end) * 2 * z.number)::int as tr from z",
            {"z": sized},
            twice=num(2 * self.rule.minimum_size),
        ).select(*[col(name, "z") for name in names])

    def assigned(self, state: State) -> exp.Select:
        """Every cell of an active group with its group after the moves."""
        target = fragment(
            "case when m.attr is null or :left then m.tl else m.tr end",
            left=exp.paren(self.rule.is_left(state, "m")),
        )
        tree = query(
            "select :target as node from cells as c join moves as m on m.node = c.node",
            at(state, "cells", "moves"),
            target=target,
        ).select(*[col(name, "c") for name in (*self.rule.codes, *self.rule.carried, "w")])
        return self.rule.with_place(state, tree, "m")

    def finished(self, state: State) -> exp.Expr:
        """(leaf, codes, [kept columns]): cells of the groups that became final in this round."""
        return query(
            "select -c.node as leaf from c where c.node < 0",
            {"c": state.in_round("cells", 1)},
        ).select(*[col(name, "c") for name in self._final_columns])

    def next_nodes(self, state: State) -> exp.Expr:
        """(node, n, extents, again)"""
        names = ["n", *self.rule.extents(state)]
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


def all_moves(state: State) -> list[QualifiedName]:
    """Tables of the moves of the groups in every round; see :meth:`CutRounds.moves`."""
    return [state.work("moves", round=number) for number in range(state[_ROUNDS])]


def all_nodes(state: State) -> list[QualifiedName]:
    """Tables of the groups that could be cut in every round, with what they cover."""
    return [state.work("nodes", round=number) for number in range(state[_ROUNDS])]


def remaining(state: State) -> tuple[QualifiedName, QualifiedName]:
    """The cells and the groups that could be cut after the last round."""
    cells, nodes = (state.work(name, round=state[_ROUNDS]) for name in ("cells", "nodes"))
    return cells, nodes


def rounds_of(state: State) -> int:
    """How many rounds there were."""
    return state[_ROUNDS]
