"""What bounds and own values of a cell come to, by column.

    measured  (id, col, size, most, fewest, certain, past, past_own, varied, ..)

`most` is the largest bound, `fewest` the number of own values, `certain` whether everybody must
have the same value; `past` and `past_own` are the same of values that people had earlier. `varied`
is the number of values that each of them may as well have, where people keep value sets; else NULL.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.guard.model import Version
from pganon.guard.own import past, varieties
from pganon.sqltools import aliased, col, fragment, num, query
from pganon.steps import CreateTable, State, Step


def measured_step(version: Version) -> Step:
    return CreateTable(
        "guard measured",
        "the worst that is possible in every cell",
        lambda s: version.work(s, "measured"),
        lambda s: _measured(version, s),
    )


def with_measures(
    version: Version, state: State, cells: exp.Select
) -> tuple[exp.Select, list[str]]:
    """A SELECT from the cells `c`, beside what is measured of each column, and the aliases of that.

    It has a row per cell, and no values for columns of which nothing was published.
    """
    aliases = [f"m{number}" for number, _ in enumerate(version.columns, start=1)]
    for number, alias in enumerate(aliases, start=1):
        same = fragment(
            ":id = c.id and :col = :number",
            id=col("id", alias),
            col=col("col", alias),
            number=num(number),
        )
        table = aliased(version.work(state, "measured"), alias)
        cells = cells.join(table, on=same, join_type="left")
    return cells, aliases


def _measured(version: Version, state: State) -> exp.Select:
    tree = query(
        "select s.id, s.col, s.size, w.most, :varied as varied,"
        " case when w.is_own then w.possible"
        " when w.most is not null then coalesce(o.own, 1) end as fewest,"
        " coalesce(w.least = s.size, false) as certain,"
        " case when s.past > s.size then s.size else s.past end as past,"
        " :past_own as past_own, s.whole, s.known, s.old_floor,"
        " w.most is not null and not s.before as fresh"
        " from s left join w on w.cell = s.id and w.col = s.col"
        " left join o on o.cell = s.id and o.col = s.col",
        {
            "s": version.work(state, "standings"),
            "w": version.staged(state, "value"),
            "o": varieties(version, state),
        },
        varied=_varied(version),
        past_own=fragment(_PAST_OWN if version.memory else "null::bigint"),
    )
    if version.memory is None:
        return tree
    had = query(
        "select o.cell, o.col, count(*) as own from o group by o.cell, o.col",
        {"o": past(version, version.memory, state)},
    )
    same = fragment("l.cell = s.id and l.col = s.col")
    return tree.join(aliased(had, "l"), on=same, join_type="left", copy=False)


def _varied(version: Version) -> exp.Expr:
    """All values of the set are possible for each of its people, so none was ruled out."""
    numbers = version.kept_numbers
    if not numbers:
        return fragment("null::bigint")
    among = exp.In(this=col("col", "s"), expressions=[num(number) for number in numbers])
    return fragment("case when :among then w.possible end", among=among)


_PAST_OWN = """
    least(
        case when s.old_past_own is not null and s.divided then 1 else s.old_past_own end,
        case when s.before and s.changed then coalesce(l.own, 1) end)
"""
"""Of people who changed: what a divided cell had earlier is not known of its parts."""
