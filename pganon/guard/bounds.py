"""How many people of a cell can have a value, given what every version published (T2).

    bounds    (cell, col, value, is_own, at_least, at_most, ..)   where rounds follow
    value     (cell, col, ..)                                     the memory's, packed

Where bounds do not say how many people do have a value, :mod:`pganon.guard.own` does, if it is
known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from pganon.guard.keys import published
from pganon.guard.model import Memory, Version
from pganon.guard.own import STAYS, exact_columns
from pganon.guard.packed import Relation, bounds_rows, packed_bounds, remembered_bounds
from pganon.guard.propagation import final_bounds, first_bounds, limit, propagation_steps
from pganon.sqltools import fragment, named, query, stacked
from pganon.steps import CreateTable, State, Step


def bounds_steps(version: Version) -> tuple[Step, ...]:
    """Without rounds a row per cell and column is made at once."""
    if limit(version) == 0:
        return (_value_step(version, lambda s: _packed(version, s)),)
    return (
        CreateTable(
            "guard bounds",
            "how many people of a cell can have a value, before any round",
            lambda s: first_bounds(version, s),
            lambda s: _bounds(version, s),
            alone=True,
        ),
        *propagation_steps(version),
        _value_step(version, lambda s: packed_bounds(final_bounds(version, s))),
    )


def _value_step(version: Version, select: Callable[[State], exp.Select]) -> Step:
    return CreateTable(
        "guard value",
        "how many people of a cell can have a value, for the memory",
        lambda s: version.staged(s, "value"),
        select,
        sampled=True,
        alone=True,
    )


def _bounds(version: Version, state: State) -> exp.Select:
    parts = [_first(version, state)]
    if version.memory is not None:
        parts.append(_again(version, version.memory, state))
    return stacked(parts)


def _first(version: Version, state: State) -> exp.Select:
    """Of columns whose present value is published for the first time: those of the group."""
    tree = query(
        "select s.id as cell, s.col, h.value, s.alone as is_own,"
        " 0 as at_least, least(h.n, s.size)::integer as at_most"
        " from s join h on h.col = s.col and h.link = s.link where s.now and not s.same",
        {"s": version.work(state, "standings"), "h": _published_rows(version, state)},
    )
    return _constrained(version, tree, origin="-s.id")


def _again(version: Version, memory: Memory, state: State) -> exp.Select:
    """Of those who have the same value as before, or are in no group of the column: what was
    possible and is in the group, too, if there is one."""
    tree = query(
        "select s.id as cell, s.col, v.value,"
        " s.alone or v.is_own and :stays as is_own,"
        " case when s.whole then v.at_least else 0 end as at_least,"
        " least(v.at_most, h.n, s.size)::integer as at_most"
        " from s join v on v.cell = s.cell and v.col = s.col"
        " left join h on h.link = s.link and h.value = v.value"
        " where s.before and not s.changed and (h.n is not null or not s.now)",
        {
            "s": version.work(state, "standings"),
            "v": bounds_rows(remembered_bounds(memory)),
            "h": _published_rows(version, state),
        },
        stays=fragment(STAYS),
    )
    return _constrained(version, tree, origin="s.cell", sums=_SUMS)


def _published_rows(version: Version, state: State) -> exp.Select:
    """SELECT col, link, value, n."""
    return query(
        "select h.col, h.link, unnest(h.values) as value, unnest(h.n) as n from h",
        {"h": published(version, state)},
    )


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


def _packed(version: Version, state: State) -> exp.Select:
    """The same as :func:`_bounds`, in one row per cell and column."""
    tables: dict[str, Relation] = {
        "s": version.work(state, "standings"),
        "h": published(version, state),
    }
    parts = [query(_FIRST, tables)]
    if version.memory is not None:
        tables["v"] = remembered_bounds(version.memory)
        stays = {"stays": fragment(STAYS)}
        parts += [query(_NOT_NOW, tables, **stays), query(_BOTH, tables, **stays)]
    return stacked(parts)


_FIRST = """
    select s.id as cell, s.col, s.size::integer as size, least(h.most, s.size)::integer as most,
        0 as least, cardinality(h.values) as possible, s.alone as is_own, h.values, h.n as at_most,
        null::integer[] as at_least
    from s join h on h.col = s.col and h.link = s.link
    where s.now and not s.same
"""
_NOT_NOW = """
    select s.id as cell, s.col, least(v.size, s.size)::integer as size,
        least(v.most, s.size)::integer as most, case when s.whole then v.least else 0 end as least,
        v.possible, v.is_own and :stays as is_own, v.values, v.at_most,
        case when s.whole then v.at_least end as at_least
    from s join v on v.cell = s.cell and v.col = s.col
    where s.before and not s.changed and not s.now
"""
_BOTH = """
    select s.id as cell, s.col, least(v.size, s.size)::integer as size,
        least(x.most, v.size, s.size)::integer as most,
        case when s.whole then x.least else 0 end as least, x.possible,
        s.alone or v.is_own and :stays as is_own, x.values, x.at_most,
        case when s.whole and v.at_least is not null then x.at_least end as at_least
    from s join v on v.cell = s.cell and v.col = s.col
        join h on h.col = s.col and h.link = s.link
        cross join lateral (
            select max(least(o.at_most, n.n)) as most, coalesce(max(o.at_least), 0) as least,
                count(*)::integer as possible, array_agg(o.value) as values,
                array_agg(least(o.at_most, n.n)) as at_most, array_agg(o.at_least) as at_least
            from (
                select unnest(v.values) as value, unnest(v.at_most) as at_most,
                    unnest(v.at_least) as at_least
            ) as o
            join (select unnest(h.values) as value, unnest(h.n) as n) as n on n.value = o.value
        ) as x
    where s.same and x.most is not null
"""
