"""Arrays by code of the sensitive value."""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.work import sensitive_values
from pganon.forms.work import QI_CELLS
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import query, scalar
from pganon.steps import State


def shares(spec: ReleaseSpec, state: State) -> exp.Expr:
    """Of all sensitive values in the source."""
    (item,) = spec.sensitive
    tree = query(
        "select array_agg(d.share order by d.code) from"
        " (select v.code, v.n::float8 / sum(v.n) over () as share from v) as d",
        {"v": state.work(sensitive_values(item.index))},
    )
    return scalar(tree)


def whole_arrays(state: State, codes: exp.Select, weights: exp.Select) -> exp.Select:
    """(cell, weights) of all cells from (cell, value, w), where values without weight have no row.

    Args:
        codes: relation (code) of all values, from 1 without gaps.
    """
    return query(
        "select x.cell, array_agg(coalesce(g.w, 0) order by x.value) as weights from"
        " (select q.cell, d.code as value from q cross join d) as x"
        " left join g on g.cell = x.cell and g.value = x.value group by x.cell",
        {"q": state.work(QI_CELLS), "d": codes, "g": weights},
    )
