"""How many people of a cell can have a value, given what every version published (T2).

    bounds    (cell, col, value, own, at_least, at_most, ..)   the memory's, before any round
    worst     (cell, col, most, least, possible, own, elsewhere)
    measured  (id, col, size, most, fewest, certain, past, past_own, varied, ..)

`most` is the largest bound, `fewest` the number of own values, `certain` whether everybody must
have the same value; `past` and `past_own` are the same of values that people had earlier. `varied`
is the number of values that each of them may as well have, where people keep value sets; else NULL.
Where `own` is NULL, :mod:`pganon.guard.own` says how many people do have a value, if it is known.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from pganon.guard.keys import published
from pganon.guard.model import Memory, Version
from pganon.guard.own import STAYS, different, exact_columns, past, varieties
from pganon.guard.propagation import final_bounds, first_bounds, limit
from pganon.sqltools import aliased, col, fragment, named, num, query, stacked
from pganon.steps import CreateTable, State, Step


def bounds_step(version: Version) -> Step:
    return CreateTable(
        "guard bounds",
        "how many people of a cell can have a value",
        lambda s: first_bounds(version, s),
        lambda s: _bounds(version, s),
        sampled=True,
        alone=True,
    )


def worst_step(version: Version) -> Step:
    return CreateTable(
        "guard worst",
        "the largest bounds of every cell",
        lambda s: version.work(s, "worst"),
        lambda s: _worst(version, s),
        alone=True,
    )


def measured_step(version: Version) -> Step:
    return CreateTable(
        "guard measured",
        "the worst that is possible in every cell",
        lambda s: version.work(s, "measured"),
        lambda s: _measured(version, s),
    )


def _bounds(version: Version, state: State) -> exp.Select:
    parts = [_first(version, state)]
    if version.memory is not None:
        parts.append(_again(version, version.memory, state))
    return stacked(parts)


def _first(version: Version, state: State) -> exp.Select:
    """Of columns whose present value is published for the first time: those of the group."""
    tree = query(
        "select s.id as cell, s.col, h.value, case when s.alone then h.n end as own,"
        " 0 as at_least, least(h.n, s.size)::integer as at_most"
        " from s join h on h.col = s.col and h.link = s.link where s.now and not s.same",
        {"s": version.work(state, "standings"), "h": published(version, state)},
    )
    return _constrained(version, tree, origin="-s.id")


def _again(version: Version, memory: Memory, state: State) -> exp.Select:
    """Of those who have the same value as before, or are in no group of the column: what was
    possible and is in the group, too, if there is one."""
    tree = query(
        "select s.id as cell, s.col, v.value,"
        " case when s.alone then h.n when :stays then v.own end as own,"
        " case when s.whole then v.at_least else 0 end as at_least,"
        " least(v.at_most, h.n, s.size)::integer as at_most"
        " from s join v on v.cell = s.cell and v.col = s.col"
        " left join h on h.link = s.link and h.value = v.value"
        " where s.before and not s.changed and (h.n is not null or not s.now)",
        {
            "s": version.work(state, "standings"),
            "v": memory.value,
            "h": published(version, state),
        },
        stays=fragment(STAYS),
    )
    return _constrained(version, tree, origin="s.cell", sums=_SUMS)


_SUMS = {
    # Who changed may have had any share of what the cell has at least.
    "least": "case when not s.mixed then v.at_least end",
    "most": "v.at_most",
}
_NO_SUMS = {"least": "null::integer", "most": "null::integer"}


def _constrained(
    version: Version, tree: exp.Select, origin: str, sums: Mapping[str, str] = _NO_SUMS
) -> exp.Select:
    """With what rounds of propagation read: all that rows of bounds may add up to."""
    if limit(version) == 0:
        return tree
    columns = {"size": "s.size::integer", "origin": origin, **sums, "link": "s.link", "n": "h.n"}
    found = [named(fragment(text), name) for name, text in columns.items()]
    exact = fragment("case when :exact then h.n end", exact=exact_columns(version, "s"))
    return tree.select(*found, named(exact, "exact"), copy=False)


def _worst(version: Version, state: State) -> exp.Select:
    """`own` is the number of own values, unless that is found `elsewhere`."""
    return query(
        "select b.cell, b.col, max(b.at_most) as most, count(*) as possible,"
        " count(*) filter (where b.own > 0) as own, bool_or(b.own is null) as elsewhere,"
        " max(b.at_least) as least from b"
        " where b.at_most > 0 group by b.cell, b.col",
        {"b": final_bounds(version, state)},
    )


def _measured(version: Version, state: State) -> exp.Select:
    tree = query(
        "select s.id, s.col, s.size, w.most, :varied as varied,"
        " case when w.elsewhere then coalesce(o.own, 1) else w.own end as fewest,"
        " coalesce(w.least = s.size, false) as certain,"
        " case when s.past > s.size then s.size else s.past end as past,"
        " :past_own as past_own, s.whole, s.known, s.old_floor,"
        " w.most is not null and not s.before as fresh"
        " from s left join w on w.cell = s.id and w.col = s.col"
        " left join o on o.cell = s.id and o.col = s.col",
        {
            "s": version.work(state, "standings"),
            "w": version.work(state, "worst"),
            "o": varieties(version, state),
        },
        varied=_varied(version),
        past_own=fragment(_PAST_OWN if version.memory else "null::bigint"),
    )
    if version.memory is None:
        return tree
    had = different(past(version, version.memory, state))
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
