"""The cuts of a run by values, so that they divide people who come later; they stay private.

    cuts   (node, round, nulls, column_name, threshold, members, level, left_node, right_node)

node          of the groups before the first cut 1, 2, ..., else a pair of round and number
nulls         of these groups: the columns of nulls: own_class that are NULL in them
column_name   of the source, by which the group was cut; NULL where it was passed on or is final
threshold     text of the highest value on the left; NULL where only NULLs are there. Of a tree of
              ranges the upper end of the last range on the left, unless level is 0
members       texts on the left of a cut by frequency: values, or labels of children
level         of a tree: that of the children which the cut tells apart
left_node, right_node   where the sides went; minus the `gid` of a group: final
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import Axis, TreeAxis, axes
from pganon.encode.cuts import keeps_cuts
from pganon.identifiers import QualifiedName
from pganon.methods.classes.mondrian.context import CellContext
from pganon.methods.classes.mondrian.cuts import in_mask
from pganon.methods.common.pairs import paired
from pganon.methods.common.rounds.rounds import all_moves
from pganon.resolved.increments import CUTS
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, cast, col, fragment, named, num, query, scalar, text, union_all
from pganon.steps import CreateTable, State, Step, staged, table


def kept_steps(spec: ReleaseSpec, context: CellContext) -> tuple[Step, ...]:
    """The part "cuts" of a release."""
    cuts = staged(
        CUTS,
        "the cuts by values, for people who come later",
        lambda s: union_all(
            [_kept(spec, context, s, number, moves) for number, moves in enumerate(all_moves(s))]
        ),
        when=lambda s: keeps_cuts(spec, s),
    )
    trees = [axis for axis in context.axes if isinstance(axis, TreeAxis) and axis.by_frequency]
    return (*[_children_step(spec, axis) for axis in trees], cuts)


def _children_step(spec: ReleaseSpec, axis: TreeAxis) -> CreateTable:
    """(level, above, lo, label): what a cut of an ancestor tells apart; of a leaf that is itself.

    `above` and `lo` are the first leaves below the ancestor and below its child.
    """
    return table(
        f"children{axis.index}",
        "the children of every ancestor",
        lambda s: query(
            "select a.level, a.lo as above, t.lo, t.label from t"
            " join t as a on a.code = t.code and greatest(a.level - 1, 0) = t.level"
            " where t.code = t.lo",
            {"t": axis.table(s)},
        ),
        when=lambda s: keeps_cuts(spec, s),
    )


def _kept(spec: ReleaseSpec, context: CellContext, state: State, number: int, moves) -> exp.Select:
    """The cuts of one round."""

    def by_attribute(value, kind: str) -> exp.Expr:
        case = exp.Case(this=col("attr", "m"))
        for axis in context.axes:
            case.when(num(axis.index), value(axis), copy=False)
        return cast(exp.paren(case), kind)

    columns = {
        "node": paired(num(number), col("node", "m")),
        "round": num(number),
        "nulls": _nulls(spec, state) if number == 0 else fragment("null::text[]"),
        "column_name": by_attribute(lambda axis: text(axis.attribute.column.name), "text"),
        "threshold": by_attribute(_threshold, "text"),
        "members": by_attribute(lambda axis: _members(context, axis, state), "text[]"),
        "level": by_attribute(_below, "integer"),
        "left_node": target(number, col("tl", "m")),
        "right_node": target(number, col("tr", "m")),
    }
    return _joined(context, state, moves).select(
        *[named(value, name) for name, value in columns.items()], append=False
    )


def target(number: int, node: exp.Expr) -> exp.Expr:
    """A number of its own for every group that a round leaves: final ones are negative."""
    return fragment(
        "case when :node > 0 then :next else -(:gid) end",
        node=node,
        next=exp.paren(paired(num(number + 1), node.copy())),
        gid=exp.paren(paired(num(number), fragment("-:n", n=node.copy()))),
    )


def _nulls(spec: ReleaseSpec, state: State) -> exp.Expr:
    """The columns that are NULL in a part kept apart by its NULLs, from the part's number."""
    kept = [a for a in axes(spec.attributes) if a.attribute.nulls == "own_class"]
    kept = [axis for axis in kept if axis.has_null(state)]
    names = [
        fragment(
            "case when (m.node - 1) >> :bit & 1 = 1 then :name end",
            bit=num(bit),
            name=text(axis.attribute.column.name),
        )
        for bit, axis in sorted(enumerate(kept), key=lambda item: item[1].attribute.column.name)
    ]
    return fragment("array_remove(:names::text[], null)", names=exp.Array(expressions=names))


def _below(axis: Axis) -> exp.Expr:
    if not isinstance(axis, TreeAxis):
        return fragment("null::integer")
    return fragment("greatest(m.level - 1, 0)::integer")


def _joined(context: CellContext, state: State, moves: QualifiedName) -> exp.Select:
    """With what thresholds are read from, and labels. Joined: a dictionary may have as many values
    as there are records, and be asked for every cut."""
    tree = query("select 1 from m", {"m": moves})
    for axis in context.axes:
        i = num(axis.index)
        if axis.by_frequency:
            if isinstance(axis, TreeAxis):
                labels = aliased(_labels(context, axis, state, moves), f"l{axis.index}")
                on = fragment(f"m.attr = :i and l{axis.index}.node = m.node", i=i)
                tree = tree.join(labels, on=on, join_type="left")
            continue
        tables = {f"d{axis.index}": (axis.dictionary(state), "m.thr = :t.code and :t.code > 0")}
        if isinstance(axis, TreeAxis):
            same = "m.thr = :t.code and :t.level = m.level - 1"
            tables[f"t{axis.index}"] = (axis.table(state), same)
        for alias, (read, same) in tables.items():
            on = fragment(f"m.attr = :i and {same.replace(':t', alias)}", i=i.copy())
            tree = tree.join(aliased(read, alias), on=on, join_type="left")
    return tree


def _threshold(axis: Axis) -> exp.Expr:
    if axis.by_frequency:
        return fragment("null::text")
    value = fragment(":v::text", v=col("value", f"d{axis.index}"))
    if not isinstance(axis, TreeAxis):
        return value
    end = fragment(":v::text", v=col("upper", f"t{axis.index}"))
    return fragment("case when m.level > 1 then :end else :value end", end=end, value=value)


def _members(context: CellContext, axis: Axis, state: State) -> exp.Expr:
    if not axis.by_frequency:
        return fragment("null::text[]")
    if not isinstance(axis, TreeAxis):
        return scalar(
            query(
                "select array_agg(d.value::text order by d.code) from d where :left",
                {"d": axis.dictionary(state)},
                left=in_mask(context, state, col("mask", "m"), col("code", "d")),
            )
        )
    null = in_mask(context, state, col("mask", "m"), num(0))
    return fragment(
        "coalesce(:labels, '{}'::text[]) || case when :null then array[null::text]"
        " else '{}'::text[] end",
        labels=col("labels", f"l{axis.index}"),
        null=null,
    )


def _labels(context: CellContext, axis: TreeAxis, state: State, moves: QualifiedName) -> exp.Select:
    """SELECT node, labels: of the children on the left. The last of them, if there is one, says
    whose children the cut tells apart."""
    return query(
        "select m.node, array_agg(c.label order by c.lo) as labels from m"
        " join a on a.code = m.thr and a.level = m.level"
        " join c on c.level = a.level and c.above = a.lo"
        " where m.attr = :i and :left group by m.node",
        {"m": moves, "a": axis.table(state), "c": state.work(f"children{axis.index}")},
        i=num(axis.index),
        left=in_mask(context, state, col("mask", "m"), col("lo", "c")),
    )
