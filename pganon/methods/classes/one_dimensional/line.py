"""Cells along a line, in blocks.

    behind    (place, attribute)   attributes whose digits go behind all others, in turn
    added     (attribute, word, code, adds)   what a value adds to the number of a record
    line      (unit, node, piece, codes, w, [cell])
    blocks_r  (node, piece, block)       after r rounds; blocks are numbered along the line

Cells are numbered along the line as units, part by part. In the relaxed variant the units of
searches are records, those of a cell in the order of their draws. A block that misses a
requirement as a whole is joined with the next one of its part, the last one with the one before. A
part satisfies every requirement as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from pganon.encode import facts
from pganon.encode.axis import Axis, axes
from pganon.encode.records import DRAW, NUMBER, TIMES
from pganon.encode.value_codes import valued
from pganon.encode.work import CODED
from pganon.methods.classes.cells import surplus_of
from pganon.methods.classes.mondrian.conditions import measures
from pganon.methods.classes.one_dimensional.search.conditions import COUNTERS
from pganon.privacy.base import Requirement
from pganon.privacy.rows import Relation
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import (
    col,
    fragment,
    named,
    num,
    query,
    scalar,
    stacked,
    total,
)
from pganon.steps import Check, Loop, Search, State, Step, table
from pganon.steps.facts import count, flag

BLOCK = 60_000
"""Units of a block, about; a cell is never in two of them."""

WORDS = count("words", of="line_")
"""Bigints that the number of a record along the line takes."""

BLOCKS = count("blocks", of="line_", assumed=4)
_MISSING = count("missing", of="line_", assumed=0)
_JOINED = flag("joined", of="line_")
_ROUNDS = count("line_rounds")

BEHIND, ADDED, LINE = "behind", "added", "line"


@dataclass(frozen=True)
class Line:
    """The line of a release.

    Attributes:
        relaxed: whether every unit of a search is one record.
    """

    spec: ReleaseSpec
    relaxed: bool

    def steps(self, *before: Search) -> list[Step]:
        """From `cells_0` to :data:`LINE` and its blocks.

        Args:
            before: make :data:`ADDED`.
        """
        return [
            *before,
            table(LINE, "cells in the order of the line", self._line),
            table("blocks", "pieces of the line", self._blocks, later=0),
            Loop(
                "join",
                "join blocks that miss a requirement as a whole with the next one",
                body=lambda number: self._round(),
                until=_JOINED,
                rounds=_ROUNDS,
                carries=["blocks"],
            ),
        ]

    @property
    def axes(self) -> tuple[Axis, ...]:
        return axes(self.spec.attributes)

    @property
    def sensitive(self) -> list[int]:
        """Sensitive columns whose values requirements tell apart."""
        return [item.index for item in valued(self.spec)]

    @property
    def identity(self) -> list[str]:
        """The column of a unit that says which cell it is, where values of cells are told apart."""
        return ["cell"] if self.sensitive else []

    @property
    def codes(self) -> list[str]:
        """Columns with the codes of a unit."""
        return [axis.code for axis in self.axes]

    @property
    def draw(self) -> str:
        """Column of :meth:`records`: orders those of a cell at random, in the relaxed variant."""
        return NUMBER if self.spec.numbers_records else DRAW

    def records(self, state: State) -> Relation:
        """The encoded records, of which some may have been left out already; a row of each."""
        if self.spec.leaves_surplus_out:
            return surplus_of(self.spec).kept(state)
        if not self.spec.counted:
            return state.work(CODED)
        each = "select 1 as times from c cross join lateral generate_series(1, c.times)"
        names = [name for name in CODED.columns(self.spec, state) if name != TIMES]
        tree = query(each, {"c": state.work(CODED)})
        return tree.select(*[col(name, "c") for name in names])

    @property
    def searches_order(self) -> bool:
        """Whether digits go by another order than that of their cost."""
        return any(requirement.model.needs_reference for requirement in self.spec.requirements)

    # -- the line -----------------------------------------------------------------------------

    def _line(self, state: State) -> exp.Select:
        keyed = query("select c.node, c.w from c", {"c": state.work("cells", round=0)})
        keyed = keyed.select(*[col(name, "c") for name in (*self.codes, *self.identity)])
        keyed = keyed.select(
            *[named(self._word(state, word), f"h{word}") for word in range(state[WORDS])]
        )
        order = [col(f"h{word}", "k") for word in range(state[WORDS])]
        size, sizes = "row_number()", "count(*)"
        if self.relaxed:
            size, sizes = "sum(k.w)", "sum(c.w)"
        sizes = query(
            "select c.node, :units as units from c group by c.node",
            {"c": state.work("cells", round=0)},
            units=fragment(sizes),
        )
        ordered = exp.Order(expressions=[exp.Ordered(this=item.copy()) for item in order])
        within = exp.Window(this=fragment(size), partition_by=[col("node", "k")], order=ordered)
        along = exp.Window(
            this=fragment("row_number()"),
            order=exp.Order(
                expressions=[exp.Ordered(this=item.copy()) for item in (col("node", "k"), *order)]
            ),
        )
        # Units of a block: fewer where many sensitive values are compared with those of all.
        counted = [
            state[facts.value_count(r.sensitive)] + 1
            for r in self.spec.requirements
            if r.sensitive is not None and r.model.needs_reference
        ]
        return query(
            "select (:along - 1)::integer as unit, k.node,"
            " ((:within - 1) * greatest((z.units + :size / 2) / :size, 1) / z.units)::integer"
            " as piece, k.w from k join z on z.node = k.node",
            {"k": keyed, "z": sizes},
            along=along,
            within=within,
            size=num(max(min(BLOCK, *[COUNTERS // n for n in counted]), 1) if counted else BLOCK),
        ).select(*[col(name, "k") for name in (*self.codes, *self.identity)])

    def _word(self, state: State, word: int) -> exp.Expr:
        def of(axis: Axis) -> exp.Expr:
            values = query(
                "select array_agg(a.adds order by a.code) from a"
                " where a.attribute = :i and a.word = :word",
                {"a": state.work(ADDED)},
                word=num(word),
                i=num(axis.index),
            )
            return fragment(":a[:c + 1]", a=scalar(values), c=col(axis.code, "c"))

        return total([of(axis) for axis in self.axes])

    # -- blocks -------------------------------------------------------------------------------

    def _blocks(self, state: State) -> exp.Select:
        pieces = query("select distinct l.node, l.piece from l", {"l": state.work(LINE)})
        return query(
            "select p.node, p.piece,"
            " (row_number() over (order by p.node, p.piece) - 1)::integer as block from p",
            {"p": pieces},
        )

    def _round(self) -> list[Step]:
        return [
            table(
                "missing",
                "blocks that miss a requirement as a whole",
                self._missing,
                later=0,
                inline=True,
            ),
            Check(
                "missing",
                "how many there are",
                lambda s: query(
                    "select (select count(distinct b.block) from b) as blocks, count(*) as missing,"
                    " count(*) = 0 as joined from m",
                    {"b": s.in_round("blocks"), "m": s.in_round("missing")},
                ),
                gives=[BLOCKS, _MISSING, _JOINED],
            ),
            table(
                "blocks",
                "blocks after joining",
                self._joined,
                later=1,
                when=lambda s: not s[_JOINED],
            ),
        ]

    def _missing(self, state: State) -> exp.Select:
        parts = [
            query(
                "select m.block from m where not :holds",
                {"m": measured},
                holds=requirement.model.holds(col("measure", "m")),
            )
            for requirement in self.spec.measured
            for measured in measures(
                requirement, self._histogram(requirement, state), ["block"], state
            )
        ]
        return query("select distinct x.block from x", {"x": stacked(parts)})

    def _histogram(self, requirement: Requirement, state: State) -> exp.Select:
        value, tables = num(0), {"l": state.work(LINE), "b": state.in_round("blocks")}
        text = "select b.block, :value as value, sum(l.w)::bigint as n from l"
        if requirement.model.needs_values:
            text = (
                "select b.block, :value as value, sum(v.w)::bigint as n"
                " from l join v on v.cell = l.cell"
            )
            tables["v"] = state.work(f"cellvalues{requirement.sensitive}")
            value = col(f"s{requirement.sensitive}", "v")
        return query(
            f"{text} join b on b.node = l.node and b.piece = l.piece group by b.block, 2",
            tables,
            value=value,
        )

    def blocks(self, state: State) -> exp.Select:
        """SELECT block and columns of :data:`LINE`: the units of every block."""
        return query(
            "select b.block, l.* from l join b on b.node = l.node and b.piece = l.piece",
            {"l": state.work(LINE), "b": state.work("blocks", round=state[_ROUNDS] - 1)},
        )

    def _joined(self, state: State) -> exp.Select:
        each = query(
            "select distinct b.node, b.block,"
            " exists (select 1 from m where m.block = b.block) as misses from b",
            {"b": state.in_round("blocks"), "m": state.in_round("missing")},
        )
        begins = query(
            "select e.block, not coalesce(lag(e.misses) over w, false)"
            " and (lag(e.block) over w is null or lead(e.block) over w is not null or not e.misses)"
            " as begins from e window w as (partition by e.node order by e.block)",
            {"e": each},
        )
        number = query(
            "select g.block, (sum(g.begins::int) over (order by g.block) - 1)::integer as joined"
            " from g",
            {"g": begins},
        )
        return query(
            "select b.node, b.piece, j.joined as block from b join j on j.block = b.block",
            {"b": state.in_round("blocks"), "j": number},
        )
