"""People of a population whom the sides of cuts cover.

A side is measured by what its records cover, as if it were published. Whom a group does not cover
no part of it does, so people stay with the groups that cover them. Where labels overlap, both sides
of a cut may have a person.

    covered  (node, v<i>, m<i>, n)  people of groups by their values: twice the code, or a number
             between, of ordered values; else the code, 0 for NULL. m<i> is the level from which on
             a value that the source lacks has the label of the code
    boxes    (node, attr, side, n, extents, ..)  both sides of the best cuts
    counted  (node, attr, side, n, covered)      people whom they cover
    spans    (node, attr, pos, side, n, ..)      sides of all cuts, where the best misses a model
    around   (node, attr, pos, side, n, covered)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from pganon.encode.axis import Axis, NominalAxis, OrderedAxis, TreeAxis
from pganon.encode.work import POPULATION, place
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PreconditionError
from pganon.identifiers import quote
from pganon.methods.classes.mondrian.conditions import both_sides
from pganon.methods.classes.mondrian.context import CellContext
from pganon.methods.common.reachable import unreachable
from pganon.methods.common.rounds.rule import at
from pganon.privacy.base import Relation, Requirement
from pganon.privacy.population import with_presence
from pganon.resolved.model import Shown
from pganon.sqltools import aliased, col, computed_once, fragment, named, num, query, stacked
from pganon.steps import Check, State, Step, table
from pganon.steps.facts import Fact, count, flag, measure, or_null

_WIDE = count("wide", "population_", assumed=0)


def population_steps(context: CellContext) -> tuple[Step, ...]:
    """From `nodes_0` to the people whom its groups cover; refuses what these miss."""
    if not context.counting:
        return ()
    return (
        Check(
            "wide",
            "columns of too many values to look for people who have some of them",
            lambda s: exp.select(named(num(len(_wide(context, s))), _WIDE.column)),
            lambda row, s: _too_many_values(_wide(context, s), s),
            gives=[_WIDE],
        ),
        table("covered", "people whom the parts cover", lambda s: _first(context, s), later=0),
        Check(
            "reached",
            "what the parts reach beside the population",
            lambda s: _reached(context, s),
            lambda row, s: _unreachable(context, s),
            gives=[f(number) for number, _ in enumerate(context.counting) for f in (_least, _miss)],
        ),
    )


def _least(number: int) -> Fact[float | None]:
    return or_null(measure(f"reached{number}", "population_"))


def _miss(number: int) -> Fact[bool]:
    return flag(f"missed{number}", "population_", assumed=False)


def _wide(context: CellContext, state: State) -> list[NominalAxis]:
    return [a for a in context.axes if isinstance(a, NominalAxis) and not a.words(state)]


def _too_many_values(wide: Sequence[NominalAxis], state: State) -> PganonError | None:
    if not wide:
        return None
    return PreconditionError(
        f"column {quote(wide[0].attribute.column.name)} has {wide[0].size(state)} values, too many"
        " to look for people who have some of them",
        hint="add a hierarchy",
        code=ErrorCode.HIERARCHY,
    )


def _reached(context: CellContext, state: State) -> exp.Select:
    parts = counted(
        context, state, boxed(context, state, state.work("nodes", round=0)), ["node"], 0
    )
    tree = exp.select()
    for number, requirement in enumerate(context.counting):
        measured = requirement.model.measure(with_presence(parts.copy()), ["node"])
        row = query(
            "select w.measured::float8 as reached, w.failing > 0 as missed from w",
            {"w": requirement.model.worst(measured)},
        )
        tree = (
            tree.from_(aliased(row, f"r{number}"))
            if not number
            else tree.join(aliased(row, f"r{number}"), join_type="cross")
        )
        for name, fact in (("reached", _least), ("missed", _miss)):
            tree = tree.select(named(col(name, f"r{number}"), fact(number).column))
    return tree


def _unreachable(context: CellContext, state: State) -> PganonError | None:
    for number, requirement in enumerate(context.counting):
        reached = state[_least(number)]
        if state[_miss(number)] and reached is not None:
            return unreachable(
                requirement,
                reached,
                "any classes of these records",
                otherwise="or release other records",
            )
    return None


# -- people ------------------------------------------------------------------------------------


def _first(context: CellContext, state: State) -> exp.Select:
    """SELECT as `covered`: the people whom the parts cover."""
    tree = query("select p.n from p", {"p": state.work(POPULATION)})
    for axis in context.axes:
        value, alias = col(f"q{axis.index}", "p"), f"d{axis.index}"
        on = exp.EQ(this=col("value", alias), expression=value)
        spot = col("spot", alias)
        known = fragment(":spot is not null", spot=spot)
        if axis.has_null(state):
            known = exp.or_(known, fragment(":value is null", value=value.copy()))
        tree = tree.join(aliased(_spots(axis, state), alias), on=on, join_type="left").where(known)
        tree = tree.select(named(fragment("coalesce(:s, 0)", s=spot.copy()), f"v{axis.index}"))
        if isinstance(axis, TreeAxis):
            level = fragment("coalesce(:level, 0)", level=col("level", alias))
            tree = tree.select(named(level, f"m{axis.index}"))
    names = _values(context)
    cells = query("select sum(c.n)::bigint as n from c", {"c": tree})
    cells = cells.select(*[col(name, "c") for name in names])
    cells = cells.group_by(*[col(name, "c") for name in names])
    boxes = boxed(context, state, state.work("nodes", round=0))
    tree = query("select e.node, p.n from p", {"p": cells})
    tree = tree.join(aliased(boxes, "e"), on=_covers(context, state))
    return tree.select(*[col(name, "p") for name in names])


def _values(context: CellContext) -> list[str]:
    trees = [f"m{axis.index}" for axis in context.axes if isinstance(axis, TreeAxis)]
    return [*[f"v{axis.index}" for axis in context.axes], *trees]


def _spots(axis: Axis, state: State) -> exp.Select:
    """SELECT value, spot, [level]: of every value that a group may cover."""
    if isinstance(axis, TreeAxis):
        return query(
            "select t.value, t.code as spot, t.level from t where t.code is not null",
            {"t": state.work(place(axis.index))},
        )
    known = query("select d.value, d.code from d where d.code > 0", {"d": axis.dictionary(state)})
    if isinstance(axis, NominalAxis):
        return query("select d.value, d.code as spot from d", {"d": known})
    if axis.attribute.form is not Shown.RANGE:  # sets of released values
        return query(
            "select d.value, 2 * d.code as spot from d where d.code in (select :code from c)",
            {"d": known, "c": state.work("cells", round=0)},
            code=col(axis.code, "c"),
        )
    values = query(
        "select :value as value from p where :value is not null",
        {"p": state.work(POPULATION)},
        value=col(f"q{axis.index}", "p"),
    )
    both = stacked([values, query("select d.value from d", {"d": known.copy()})])
    every = query("select distinct u.value from u", {"u": both})
    return query(
        "select v.value, coalesce(2 * d.code, 2 * coalesce(max(d.code) over"
        " (order by v.value), 0) + 1) as spot from v left join d on d.value = v.value",
        {"v": every, "d": known},
    )


def following(context: CellContext, state: State) -> exp.Select:
    """SELECT as `covered`: people of the groups of the next round."""
    boxes = boxed(context, state, state.in_round("nodes", 1))
    tree = query(
        "select t.node, p.n from covered as p join moves as m on m.node = p.node"
        " cross join lateral (values (m.tl), (m.tr)) as t(node)",
        at(state, "covered", "moves"),
    )
    on = exp.and_(fragment("e.node = t.node"), _covers(context, state))
    tree = tree.join(aliased(boxes, "e"), on=on).where(fragment("t.node > 0"))
    return tree.select(*[col(name, "p") for name in _values(context)])


# -- what groups cover -------------------------------------------------------------------------


def boxed(context: CellContext, state: State, extents: Relation) -> exp.Select:
    """SELECT *, level<i>, first<i>, last<i>: the ancestors that groups show."""
    levels = query("select e.* from e", {"e": extents})
    ends: list[exp.Expr] = []
    for axis in context.axes:
        if isinstance(axis, TreeAxis):
            i = axis.index
            level = named(exp.paren(axis.level(state, "e")), f"level{i}")
            levels = levels.select(level, copy=False)
            first, last = axis.leaves(state, col(f"lo{i}", "e"), col(f"level{i}", "e"))
            ends += [named(first, f"first{i}"), named(last, f"last{i}")]
    tree = query("select e.* from e", {"e": computed_once(levels)})
    return computed_once(tree.select(*ends))


def _covers(context: CellContext, state: State) -> exp.Expr:
    """Condition: the box `e` covers the people `p`."""
    return exp.and_(*[_among(axis, state) for axis in context.axes])


def _among(axis: Axis, state: State) -> exp.Expr:
    i = axis.index
    value = col(f"v{i}", "p")
    if isinstance(axis, NominalAxis):
        case = exp.Case(this=fragment(":v >> 6", v=value))
        for word in range(axis.words(state)):
            bits = col(f"b{i}_{word}", "e")
            case = case.when(num(word), fragment("(:b >> (:v & 63)) & 1 = 1", b=bits, v=value))
        return exp.paren(case)
    if isinstance(axis, OrderedAxis):
        lo, hi = (fragment("2 * :c", c=col(f"{end}{i}", "e")) for end in ("lo", "hi"))
        among = fragment(":v between :lo and :hi", v=value, lo=lo, hi=hi)
    else:
        among = fragment(
            ":v between :first and :last and :m <= :level",
            v=value,
            first=col(f"first{i}", "e"),
            last=col(f"last{i}", "e"),
            m=col(f"m{i}", "p"),
            level=col(f"level{i}", "e"),
        )
    if not axis.has_null(state):
        return among
    missing = col(f"n{i}", "e")
    return exp.paren(
        fragment("case when :v = 0 then :n else :a end", v=value.copy(), n=missing, a=among)
    )


def counted(
    context: CellContext, state: State, boxes: Relation, by: Sequence[str], number: int | None
) -> exp.Select:
    """SELECT by, n, covered: the people whom boxes cover."""
    people = state.in_round("covered") if number is None else state.work("covered", round=number)
    keys = [col(name, "e") for name in (*by, "n")]
    tree = query("select coalesce(sum(p.n), 0)::bigint as covered from e", {"e": boxes})
    on = exp.and_(fragment("p.node = e.node"), _covers(context, state))
    tree = tree.join(aliased(people, "p"), on=on, join_type="left")
    return tree.select(*keys).group_by(*[key.copy() for key in keys])


# -- sides of cuts -----------------------------------------------------------------------------


def boxes(context: CellContext, state: State) -> exp.Select:
    side = fragment("(r.cum <= b.cum)::int")
    tree = query(
        "select r.node, r.attr, :side as side, sum(r.w)::bigint as n from ranked as r"
        " join best as b on b.node = r.node and b.attr = r.attr group by r.node, r.attr, :side",
        at(state, "ranked", "best"),
        side=side,
    )
    return boxed(context, state, tree.select(*_merged(context, state)))


def _merged(context: CellContext, state: State) -> list[exp.Expr]:
    return [item for axis in context.axes for item in axis.merged(state, "r")]


def spans(context: CellContext, state: State) -> exp.Select:
    failing = query(
        "select r.* from ranked as r join checked as k on k.node = r.node and k.attr = r.attr"
        " where not k.holds",
        at(state, "ranked", "checked"),
    )
    text = "select r.node, r.attr, r.pos, :side as side, (:n)::bigint as n, r.n as whole from r"
    sides = [
        query(text, {"r": each}, side=num(side), n=n).select(
            *[_over(item, frame) for item in _merged(context, state)]
        )
        for side, n, frame, each in (
            (0, col("cum", "r"), _UP_TO, failing),
            (1, fragment("r.n - r.cum"), _BEYOND, failing.copy()),
        )
    ]
    large = query(
        "select u.* from u where u.n >= :k and u.whole - u.n >= :k",
        {"u": stacked(sides)},
        k=num(context.minimum_size),
    )
    return boxed(context, state, large)


_UP_TO = {"start": "UNBOUNDED", "start_side": "PRECEDING", "end": "CURRENT ROW"}
_BEYOND = {"start": num(1), "start_side": "FOLLOWING", "end": "UNBOUNDED", "end_side": "FOLLOWING"}


def _over(item: exp.Expr, frame: Mapping[str, Any]) -> exp.Expr:
    """The aggregate over the values on one side of each."""
    window = exp.Window(
        this=item.this,
        partition_by=[col("node", "r"), col("attr", "r")],
        order=exp.Order(expressions=[exp.Ordered(this=col("pos", "r"))]),
        spec=exp.WindowSpec(kind="ROWS", **frame).copy(),
    )
    return named(window, item.alias)


def held(requirement: Requirement, state: State, table: str, by: Sequence[str]) -> exp.Select:
    """The `by` of which both sides satisfy a requirement beside the population."""
    each = with_presence(state.in_round(table))
    return both_sides(requirement.model.measure(each, [*by, "side"]), requirement, by)
