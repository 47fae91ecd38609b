"""What classes of several rounds of recoding show.

A class shows, of every quasi-identifier, the released values that are below its label. So no two of
them show the same: a record that fits what a class shows fits its labels, and would have been
released with it.

below<i>   (code, level, lo, hi)  the released values below the labels of every released value
shown      (gid, extents)         what the classes show
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import Axis, NominalAxis, OrderedAxis, TreeAxis, axes
from pganon.encode.extents import group_extents, released_below
from pganon.forms.stored_relations import numbers
from pganon.forms.work import GROUPED
from pganon.identifiers import QualifiedName
from pganon.methods.classes.full_domain import facts
from pganon.policy.options import CLASS_ID
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, col, fragment, named, num, query
from pganon.steps import State, Step, table

SHOWN = "shown"


def shown_steps(spec: ReleaseSpec) -> list[Step]:
    """What the classes of `grouped` show."""
    trees = [axis for axis in axes(spec.attributes) if isinstance(axis, TreeAxis)]
    return [
        *[
            table(
                f"below{axis.index}",
                "released values below every label",
                lambda s, axis=axis: released_below(axis, s, s.work(GROUPED)),
            )
            for axis in trees
        ],
        table(SHOWN, "what classes show", lambda s: _shown(spec, s)),
    ]


def _below(axis: Axis, state: State) -> QualifiedName:
    return state.work(f"below{axis.index}")


def _shown(spec: ReleaseSpec, state: State) -> exp.Select:
    """SELECT gid, extents."""
    every = axes(spec.attributes)
    own = group_extents(every, state, state.work(GROUPED), ["gid"], weighted=False)
    tree = query(
        "select x.gid from x join p on p.gid = x.gid", {"x": own, "p": state.work("passing")}
    )
    wide: dict[str, exp.Expr] = {}
    for place, axis in enumerate(every):
        level = _level(state, place)
        if isinstance(axis, TreeAxis):
            alias = f"b{axis.index}"
            on = [
                exp.EQ(this=col("code", alias), expression=col(f"lo{axis.index}", "x")),
                exp.EQ(this=col("level", alias), expression=exp.paren(level)),
            ]
            tree = tree.join(
                aliased(_below(axis, state), alias), on=exp.and_(*on), join_type="left"
            )
            for end in ("lo", "hi"):
                # Where there is no value nothing is joined, and the class keeps its own.
                shown = fragment(
                    "coalesce(:wide, :own)",
                    wide=col(end, alias),
                    own=col(f"{end}{axis.index}", "x"),
                )
                wide[f"{end}{axis.index}"] = shown
        else:
            for name, value in widened(axis, state).items():
                own_value = col(name, "x")
                wide[name] = fragment(
                    "case when :level > 0 then :wide else :own end",
                    level=exp.paren(level),
                    wide=value,
                    own=own_value,
                )
    names = [name for name in own.named_selects if name != "gid"]
    return tree.select(*[named(wide.get(name, col(name, "x")), name) for name in names])


def _level(state: State, place: int) -> exp.Expr:
    """The level of a quasi-identifier in the round of a class `p`."""
    case = exp.Case(this=col("place", "p"))
    for number, (node, _) in enumerate(facts.taken(state)):
        case = case.when(num(number), num(node[place]))
    return case


def widened(axis: Axis, state: State) -> dict[str, exp.Expr]:
    """Extents of a class `x` that shows all released values of a column without a hierarchy.

    They are those of all classes. NULL is not among these values: a class says of itself whether it
    has it.
    """
    i = axis.index
    if isinstance(axis, OrderedAxis):
        ends = {"lo": "min", "hi": "max"}
        values = fragment(":hi > 0", hi=col(f"hi{i}", "x"))
        return {
            f"{end}{i}": fragment(
                f"case when :some then {extreme}(:v) filter (where :some) over () else :v end",
                some=values,
                v=col(f"{end}{i}", "x"),
            )
            for end, extreme in ends.items()
        }
    assert isinstance(axis, NominalAxis)
    words = [f"b{i}_{word}" for word in range(axis.words(state))]
    some = exp.or_(
        *[
            fragment(":b & :mask <> 0", b=col(name, "x"), mask=num(-2 if place == 0 else -1))
            for place, name in enumerate(words)
        ]
    )
    return {
        name: fragment(
            "case when :some then (bit_or(:b) over () & :mask) | (:b & :own) else :b end",
            some=exp.paren(some.copy()),
            b=col(name, "x"),
            mask=num(-2 if place == 0 else -1),
            own=num(1 if place == 0 else 0),
        )
        for place, name in enumerate(words)
    }


def extents_of_classes(spec: ReleaseSpec, state: State, extents: exp.Select) -> exp.Select:
    """SELECT class_id, extents: what the published classes show."""
    names = [name for name in extents.named_selects if name != CLASS_ID]
    return query(
        "select n.class_id from s join n on n.gid = s.gid",
        {"s": state.work(SHOWN), "n": numbers(state, CLASS_ID)},
    ).select(*[col(name, "s") for name in names])
