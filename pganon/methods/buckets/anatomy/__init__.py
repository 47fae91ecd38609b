"""The method `anatomy`: its steps of a plan, and its form.

Xiao and Tao: Anatomy, simple and effective privacy preservation, VLDB 2006; here in one sort per
block (stripes), in blocks of similar quasi-identifiers, as small as they can be.

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

    starts    (piece, value, block, size, start)    where records of a value begin in their block

A block of n records has floor(n / l) groups. Its records, the most frequent values first, are
dealt out to them in turn: no value has more records than there are groups, so all values of a
group are different, and sizes differ by one at most. Which record of a value goes where is random.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.curve import numbered, piece_of
from pganon.encode.facts import weight_type
from pganon.encode.records import DRAW, PLACE
from pganon.encode.work import CODED, sensitive_values
from pganon.forms.stored_relations import repeated
from pganon.identifiers import QualifiedName, quote
from pganon.methods.buckets.anatomy.options import Anatomy
from pganon.methods.buckets.form import anatomized
from pganon.methods.buckets.invariance import (
    COUNTERFEITS,
    DEALT,
    InvarianceContext,
    counterfeits,
    invariant_steps,
    old_groups,
    others,
)
from pganon.methods.common.arrangement import Arrangement, arranged
from pganon.methods.common.base import Method
from pganon.methods.common.context import MethodContext
from pganon.methods.common.eligibility import ROUNDS, Eligibility
from pganon.methods.common.form.grouping import Grouping, record_columns
from pganon.methods.common.halves import Halves
from pganon.methods.common.pairs import paired
from pganon.methods.common.suppression import RELEASED
from pganon.privacy.base import Requirement
from pganon.privacy.frequency import AnatomyLDiversity
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import cast, col, fragment, named, num, query, stacked
from pganon.steps import Check, DropTables, Scope, State, Step, table
from pganon.steps.facts import Facts, count


@dataclass(frozen=True)
class AnatomyContext(MethodContext[Anatomy]):
    """A release with anatomy."""

    kind = Anatomy

    @property
    def requirement(self) -> Requirement:
        (requirement,) = self.spec.requirements
        return requirement

    @property
    def model(self) -> AnatomyLDiversity:
        model = self.requirement.model
        assert isinstance(model, AnatomyLDiversity)
        return model

    @property
    def eligibility(self) -> Eligibility:
        frequency = self.frequency(self.sensitive.index, self.model.l)
        return Eligibility(
            spec=self.spec,
            first=lambda s: s.work(CODED),
            keep=lambda s: [PLACE, *self.carried],
            conditions=lambda s: [frequency],
            model=self.model.name,
            order=DRAW,
        )

    @property
    def carried(self) -> list[str]:
        """Columns of `coded` that later steps read, beside the random order."""
        return [*record_columns(self.spec), self.value]

    @property
    def invariance(self) -> InvarianceContext:
        """Vectors are the codes of the one sensitive column."""
        return InvarianceContext(
            spec=self.spec,
            l=self.model.l,
            records=lambda s: s.work(CODED),
            order=DRAW,
            vector=self.value,
            vectors=lambda s: query(
                "select 1 from d", {"d": s.work(sensitive_values(self.sensitive.index))}
            ).select(named(col("code", "d"), self.value), append=False),
            shown=record_columns(self.spec),
            carried=self.carried,
        )

    def trimmed(self, state: State) -> bool:
        """Whether records were left out, so that places have gaps."""
        return state[ROUNDS] > 1

    def placed(self, state: State) -> QualifiedName:
        """Records that form new groups, with their places along the curve, 1 to the number of
        them."""
        if self.m_invariant or self.trimmed(state):
            return state.work("placed")
        return self.eligibility.kept(state)

    def dealt(self, state: State) -> int:
        """Number of the records of :meth:`placed`."""
        return state[DEALT] if self.m_invariant else state[RELEASED]

    def piece(self, state: State, table: str) -> exp.Expr:
        """The piece of the curve that a record is in, from 0."""
        return piece_of(col(PLACE, table), num(self.pieces(state)), num(max(self.dealt(state), 1)))

    def pieces(self, state: State) -> int:
        """Number of pieces, a power of two.

        Otherwise the halves of a node could be of any size, and the whole curve could be one
        block because of a few records at its end.
        """
        wanted = self.dealt(state) // max(self.options.block_size, self.model.l)
        return 1 << max(wanted.bit_length() - 1, 0)


def groups(context: AnatomyContext, state: State) -> exp.Select:
    """SELECT gid: the groups of all blocks, pairs of the block and a number in it."""
    blocks = query(
        "select l.block, sum(h.n)::bigint as size from h join l on l.piece = h.node group by 1",
        {"h": state.work("hist", round=0), "l": state.work("leaves")},
    )
    each = query(
        "select b.block, generate_series(0, b.size / :l - 1) as number from b",
        {"b": blocks},
        l=num(context.model.l),
    )
    pair = paired(col("block", "e"), col("number", "e"))
    new = query("select :pair as gid from e", {"e": each}, pair=pair)
    return stacked([new, old_groups(state)]) if context.m_invariant else new


def dealt(context: AnatomyContext, state: State, name: str, part: int, parts: int) -> exp.Select:
    """SELECT of the columns of every record, and of the group that it is dealt out to as `name`.

    A part are some of the blocks, as many pieces as any other part if blocks are small.
    """
    columns = record_columns(context.spec)
    placed = query(
        "select v.block, v.size,"
        " row_number() over (partition by v.block order by v.start, :draw) - 1 as place from p"
        " join v on v.piece = :piece and v.value = :value",
        {"p": context.placed(state), "v": state.work("starts")},
        draw=col(DRAW, "p"),
        piece=context.piece(state, "p"),
        value=col(context.value, "p"),
    ).select(*[col(column, "p") for column in columns])
    if parts > 1:
        first, end = (context.pieces(state) * bound // parts for bound in (part, part + 1))
        # No piece lies before its block. That spares looking for the blocks of many records.
        here = "v.block >= :first and v.block < :end and :piece >= :first"
        piece = context.piece(state, "p")
        placed = placed.where(fragment(here, first=num(first), end=num(end), piece=piece))
    group = fragment("d.place % (d.size / :l)", l=num(context.model.l))
    tree = query("select 1 from d", {"d": placed})
    new = tree.select(
        *[col(column, "d") for column in columns],
        named(paired(col("block", "d"), group), name),
        append=False,
    )
    if not context.m_invariant or part > 0:
        return new
    old = query("select 1 from l", {"l": state.work("listed")}).select(
        *[col(column, "l") for column in columns], named(col("gid", "l"), name), append=False
    )
    return stacked([new, old])


def _starts(state: State) -> exp.Expr:
    """The most frequent values of a block come first."""
    pieces = query(
        "select l.block, h.node as piece, h.value, h.n from h join l on l.piece = h.node",
        {"h": state.work("hist", round=0), "l": state.work("leaves")},
    )
    counted = query(
        "select p.block, p.value, :n as n from p group by p.block, p.value",
        {"p": pieces},
        n=cast(fragment("sum(p.n)"), weight_type(state)),
    )
    begun = query(
        "select c.block, c.value, (sum(c.n) over (partition by c.block))::bigint as size,"
        " (sum(c.n) over (partition by c.block order by c.n desc, c.value"
        " rows unbounded preceding) - c.n)::bigint as start from c",
        {"c": counted},
    )
    return query(
        "select p.piece, p.value, b.block, b.size, b.start from p"
        " join b on b.block = p.block and b.value = p.value",
        {"p": pieces, "b": begun},
    )


BLOCKS = count("blocks")


def block_steps(context: AnatomyContext) -> list[Step]:
    """From the eligible records to `placed` and `leaves`, the block of every piece."""
    halves = Halves(
        lambda s: query(
            "select :piece as node, :value as value, :n as n from p group by 1, 2",
            {"p": context.placed(s)},
            piece=context.piece(s, "p"),
            value=col(context.value, "p"),
            n=cast(fragment("count(*)"), weight_type(s)),
        ),
        lambda s: _undivided(context, s),
    )
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
        divided=fragment(rules[context.options.division], l=num(context.model.l)),
    )


FEW = 8
"""Pieces per block from which on groups are much wider than they could be."""


def warnings(spec: ReleaseSpec, facts: Facts) -> list[str]:
    """A warning where the public rule has made only a few large blocks, with the remedy."""
    context = AnatomyContext(spec)
    blocks, pieces = facts[BLOCKS], context.pieces(State(0, facts))
    whole = blocks == 1 and pieces > 1
    if context.options.division != "public" or not blocks or not (whole or pieces >= FEW * blocks):
        return []
    where = "one block" if blocks == 1 else f"{blocks} blocks"
    return [
        f"the groups follow the quasi-identifiers little or not at all: division: public leaves the"
        f" records in {where}, of up to {pieces}, because of the most frequent values of column"
        f" {quote(context.sensitive.column.name)}; a smaller l makes estimates better, and so does"
        " division: eligible, which lets readers learn something from where it divides"
    ]


def partition_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    """Steps from the encoded records to the blocks of the groups."""
    context = AnatomyContext(spec)
    first = (
        invariant_steps(context.invariance) if context.m_invariant else context.eligibility.steps()
    )
    kept = ["hist_0", "leaves", "placed", "listed", COUNTERFEITS]
    return (Scope("what the blocks were made from", [*first, *block_steps(context)], kept),)


BUCKETS = Grouping(
    groups=lambda spec, state, name: groups(AnatomyContext(spec), state),
    records=lambda spec, state, names, *part: dealt(AnatomyContext(spec), state, names[0], *part),
    duplicate_keys=lambda spec, state: [repeated(state.work("starts"), "piece", "value")],
    beside=lambda spec: [table("starts", "where the records of every value begin", _starts)],
    after=lambda spec: [
        DropTables(
            "tidy",
            "what is known from where values begin",
            lambda s: [s.work("leaves"), s.work("hist", round=0)],
        )
    ],
    parts=3,
    counterfeits=lambda spec, state: counterfeits(state) if spec.signatures else None,
)
"""No work table links records and groups: published columns are carried along the curve."""


def arrangement(spec: ReleaseSpec, state: State) -> Arrangement:
    """One QIT and one ST; a table of counterfeits beside them under m-invariance."""
    return arranged(spec, [spec.attributes], [spec.sensitive], counterfeits=spec.invariant)


METHOD = Method(
    Anatomy,
    anatomized(arrangement, groups="groups", buckets=BUCKETS, warnings=warnings),
    partition_steps,
)
