"""Classes that show the same quasi-identifiers, made one."""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import Axis, NominalAxis, TreeAxis
from pganon.encode.extents import group_extents
from pganon.encode.work import codes_of
from pganon.identifiers import QualifiedName
from pganon.methods.classes.one_dimensional.line import Line
from pganon.sqltools import aliased, col, equal, fragment, named, query
from pganon.steps import State


def one_of_equal(line: Line, state: State, classes: QualifiedName) -> exp.Select:
    """SELECT gid, codes: the cells of classes, of which equal ones have one number.

    In the relaxed variant with `unit`, `before` and `w`, and those in no class.

    Args:
        classes: (gid, codes, w, [unit, before]).
    """
    covered = group_extents(line.axes, state, classes, ["gid"], weighted=False)
    covered = covered.select(
        *[
            _listed(axis)
            for axis in line.axes
            if isinstance(axis, NominalAxis) and not axis.words(state)
        ]
    )
    shown = [item for axis in line.axes for item in _shown(axis, state)]
    first = exp.Window(this=fragment("min(e.gid)"), partition_by=shown)
    numbers = query("select e.gid, :first as one from e", {"e": covered}, first=first)
    tree = query("select n.one as gid from c", {"c": classes})
    tree = tree.join(
        aliased(numbers, "n"), on=equal(["gid"], "n", "c"), join_type="left" if line.relaxed else ""
    )
    names = [*codes_of(line.spec), *(["unit", "before", "w"] if line.relaxed else [])]
    return tree.select(*[col(name, "c") for name in names])


def _listed(axis: Axis) -> exp.Expr:
    code = col(axis.code, "c")
    return named(fragment("array_agg(distinct :c order by :c)", c=code), f"held{axis.index}")


def _shown(axis: Axis, state: State) -> list[exp.Expr]:
    """Columns of a class `e` that say what it shows of an attribute."""
    i = axis.index
    if isinstance(axis, NominalAxis):
        words = [f"b{i}_{word}" for word in range(axis.words(state))]
        return [col(name, "e") for name in words or [f"held{i}"]]
    null = [col(f"n{i}", "e")] if axis.has_null(state) else []
    lo, hi = col(f"lo{i}", "e"), col(f"hi{i}", "e")
    if not isinstance(axis, TreeAxis):
        return [lo, hi, *null]
    level = exp.paren(axis.level(state, "e"))
    node = fragment(
        "case when :hi = 0 then 0 else :node end", hi=hi, node=axis.ancestor(state, lo, level)
    )
    shown = fragment("case when :hi = 0 then 0 else :level end", hi=hi.copy(), level=level.copy())
    return [node, shown, *null]
