"""Extents and loss of groups of records, over all quasi-identifiers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from pganon.encode.axis import Axis, TreeAxis
from pganon.identifiers import QualifiedName
from pganon.sqltools import col, fragment, named, num, query, total
from pganon.steps import State


def group_extents(
    axes: Sequence[Axis],
    state: State,
    cells: exp.Select | QualifiedName,
    by: Sequence[str],
    *,
    weighted: bool = True,
) -> exp.Select:
    """SELECT by.., [n], extents: size and extents of every group of a relation with codes."""
    keys = [col(name, "c") for name in by]
    columns = [named(fragment("sum(c.w)::bigint"), "n")] if weighted else []
    columns += [extent for axis in axes for extent in axis.extent(state, "c")]
    tree = query("select 1 from c", {"c": cells}).select(*keys, *columns, append=False)
    return tree.group_by(*[key.copy() for key in keys])


def weighted_loss(
    axes: Sequence[Axis],
    state: State,
    table: str,
    tried: exp.Expr | None = None,
    lost: Callable[[Axis, State, str], exp.Expr] = lambda axis, state, table: axis.loss(
        state, table
    ),
) -> exp.Expr:
    """Sum over the attributes of weight times NCP, from extent columns in `table`.

    Trees are left out of the rows that try to cut them, where `tried` is the attribute's number.
    """
    losses: list[exp.Expr] = []
    for axis in axes:
        loss: exp.Expr = exp.paren(lost(axis, state, table), copy=False)
        if tried is not None and isinstance(axis, TreeAxis):
            mine = fragment(":tried = :i", tried=tried, i=num(axis.index))
            loss = exp.paren(exp.Case().when(mine, num(0)).else_(loss))
        losses.append(
            fragment(
                ":loss * :weight",
                loss=loss,
                weight=exp.Literal.number(repr(axis.attribute.weight)),
            )
        )
    return total(losses)


def released_below(axis: TreeAxis, state: State, released: QualifiedName) -> exp.Select:
    """SELECT code, level, lo, hi: the nodes above every released leaf, by such leaves alone.

    Args:
        released: a relation with the codes of all that is released.
    """
    return query(
        "select t.code, t.level, min(t.code) over (partition by t.level, t.lo) as lo,"
        " max(t.code) over (partition by t.level, t.lo) as hi"
        " from t where t.code in (select :code from g)",
        {"t": axis.table(state), "g": released},
        code=col(axis.code, "g"),
    )
