"""Priors estimated from the source: shares of the sensitive values in the cells of a coarse grid.

    coarse_cells   (cell, coarse)              the coarse cell of every cell
    coarse_values  (coarse, value, n)

A coarse cell has intervals of equal width for numbers and dates, and ancestors on a level for
leaves of a hierarchy. Other values and NULL stand by themselves. Some pseudo-records with the
distribution of the whole are added to every coarse cell.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import Axis, OrderedAxis, TreeAxis, axes
from pganon.encode.work import sensitive_values
from pganon.forms.work import QI_CELLS
from pganon.methods.background.arrays import shares
from pganon.policy.knowledge import Cells
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, fragment, named, num, query
from pganon.steps import State, Step, table


def coarse_steps(spec: ReleaseSpec, cells: Cells) -> list[Step]:
    """From `value_cells` to `cell_weights`."""
    return [
        table(
            "coarse_cells",
            "the cell of a coarse grid that every combination is in",
            lambda s: _coarse(spec, cells, s),
        ),
        table(
            "coarse_values",
            "records by coarse cell and sensitive value",
            lambda s: query(
                "select c.coarse, v.value, sum(v.n)::float8 as n from v"
                " join c on c.cell = v.cell group by c.coarse, v.value",
                {"v": s.work("value_cells"), "c": s.work("coarse_cells")},
            ),
        ),
        table(
            "cell_weights",
            "weights of the sensitive values in every cell",
            lambda s: _weights(spec, cells, s),
            inline=True,
        ),
    ]


def _coarse(spec: ReleaseSpec, cells: Cells, state: State) -> exp.Expr:
    parts = [
        exp.Ordered(this=exp.paren(_part(axis, cells, state))) for axis in axes(spec.attributes)
    ]
    number = exp.Window(this=fragment("dense_rank()"), order=exp.Order(expressions=parts))
    tree = query("select q.cell from q", {"q": state.work(QI_CELLS)})
    return tree.select(named(number, "coarse"))


def _part(axis: Axis, cells: Cells, state: State) -> exp.Expr:
    """Part of the attribute that a value is in; -1 is that of NULL."""
    name, code = axis.attribute.column.name, col(axis.code, "q")
    if isinstance(axis, TreeAxis):
        return axis.ancestor(state, code, num(min(cells.level_of(name), axis.levels(state))))
    if not isinstance(axis, OrderedAxis):
        return code
    # A position is a quotient of floats: 0.29 * 100 is meant to be 29.
    return fragment(
        "case when :c = 0 then -1 else least(floor(round((:p * :k)::numeric, 9)), :k - 1) end",
        c=code,
        p=axis.position(state, code),
        k=num(cells.intervals_of(name)),
    )


def _weights(spec: ReleaseSpec, cells: Cells, state: State) -> exp.Expr:
    (item,) = spec.sensitive
    weights = query(
        "select x.coarse, array_agg(coalesce(v.n, 0) + :a * :shares[x.value] order by x.value)"
        " as weights from"
        " (select c.coarse, d.code as value from (select distinct c.coarse from c) as c"
        " cross join d) as x"
        " left join v on v.coarse = x.coarse and v.value = x.value group by x.coarse",
        {
            "c": state.work("coarse_cells"),
            "d": state.work(sensitive_values(item.index)),
            "v": state.work("coarse_values"),
        },
        a=exp.Literal.number(repr(cells.pseudo_records)),
        shares=shares(spec, state),
    )
    return query(
        "select c.cell, w.weights from c join w on w.coarse = c.coarse",
        {"c": state.work("coarse_cells"), "w": weights},
    )
