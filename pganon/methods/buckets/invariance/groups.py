"""Groups with old signatures: the j-th records of every list, and counterfeits."""

from __future__ import annotations

from sqlglot import exp

from pganon.forms.elements import of_text_key, of_vector_key
from pganon.methods.buckets.invariance.context import InvarianceContext
from pganon.methods.buckets.invariance.survivors import counted, fits, survivors
from pganon.methods.common.pairs import paired
from pganon.sqltools import col, fragment, named, query, stacked
from pganon.steps import State, Step, table

COUNTERFEITS = "counterfeit_values"


def list_steps(context: InvarianceContext) -> list[Step]:
    """From `taken` to `fillers`, `listed` and counterfeits."""
    return [
        table(
            "fillers", "newcomers with the set that they take over", lambda s: _fillers(context, s)
        ),
        table(
            "listed",
            "the groups of all people with an old signature",
            lambda s: _listed(context, s),
        ),
        table(
            COUNTERFEITS,
            "values of these groups that nobody has",
            lambda s: _counterfeits(context, s),
        ),
    ]


def old_groups(state: State) -> exp.Select:
    """SELECT gid: the groups with old signatures, each once."""
    return query("select distinct l.gid from l", {"l": state.work("listed")})


def counterfeits(state: State) -> exp.Select:
    """SELECT gid, v<j>: a row per counterfeit vector of a group."""
    return query("select c.* from c", {"c": state.work(COUNTERFEITS)})


def _fillers(context: InvarianceContext, state: State) -> exp.Expr:
    """New records and the free places for them, both in the order of the curve.

    Where there are too few new records, the random numbers of the signatures decide which places
    are filled.
    """
    places = query(
        "select avg(s.place) as place, s.vset from s group by s.vset",
        {"s": survivors(state)},
    )
    free = query(
        "select n.vset, n.code, m.place, row_number() over"
        " (partition by n.code order by n.vset, i.number) as turn from n join m on m.vset = n.vset"
        " cross join lateral generate_series(n.have + 1, n.groups) as i(number)",
        {"n": state.work("needed"), "m": places},
    )
    filled = query(
        "select f.vset, f.code,"
        " row_number() over (partition by f.code order by f.place, f.turn) as number"
        " from f join t on t.code = f.code and f.turn <= t.n",
        {"f": free, "t": state.work("taken")},
    )
    new = query(
        "select row_number() over (partition by :code order by n.place) as number from n"
        " join t on t.code = :code and n.turn <= t.n",
        {"n": state.work("newcomers"), "t": state.work("taken")},
        code=context.vector_of("n"),
    ).select(*[col(name, "n") for name in context.columns])
    return query(
        "select f.vset from n join f on f.code = :code and f.number = n.number",
        {"n": new, "f": filled},
        code=context.vector_of("n"),
    ).select(*[col(name, "n") for name in context.columns])


def _people(context: InvarianceContext, state: State) -> exp.Select:
    """Surviving and new records with their signatures."""
    columns = ["vset", *context.columns]
    parts = [survivors(state), query("select f.* from f", {"f": state.work("fillers")})]
    chosen = [
        query("select 1 from p", {"p": part}).select(
            *[col(name, "p") for name in columns], append=False
        )
        for part in parts
    ]
    return stacked(chosen)


def _listed(context: InvarianceContext, state: State) -> exp.Expr:
    listed = query(
        "select p.*, row_number() over (partition by p.vset, :code order by p.place) as number"
        " from p",
        {"p": _people(context, state)},
        code=context.vector_of("p"),
    )
    columns = dict.fromkeys([*context.shown, context.vector])
    return query(
        "select l.vset, :gid as gid from l", {"l": listed}, gid=_gid("l", col("number", "l"))
    ).select(*[col(name, "l") for name in columns])


def _gid(table: str, number: exp.Expr) -> exp.Expr:
    """Numbers below those of new groups, which are not negative."""
    return fragment("-1 - :pair", pair=paired(col("vset", table), number))


def _counterfeits(context: InvarianceContext, state: State) -> exp.Expr:
    items = context.items
    have = counted(query("select l.* from l", {"l": state.work("listed")}), context)
    missing = query(
        "select n.vset, n.key, i.number from n left join h on :same"
        " cross join lateral generate_series(coalesce(h.n, 0) + 1, n.groups) as i(number)",
        {"n": state.work("needed"), "h": have},
        same=fits("n", "h"),
    )
    return query(
        "select :gid as gid from m", {"m": missing}, gid=_gid("m", col("number", "m"))
    ).select(
        *[
            named(
                of_text_key(item, of_vector_key(place, len(items), col("key", "m"))),
                f"v{item.index}",
            )
            for place, item in enumerate(items)
        ]
    )
