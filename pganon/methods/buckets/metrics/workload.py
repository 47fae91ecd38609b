"""Random queries: counts of records with quasi-identifiers and a sensitive value of some kind.

mqueries    see :mod:`pganon.metrics.queries`
<relation>_cells    (a<p>, key<p>, cell, groups.., size, n)   rows of a relation of
                    quasi-identifiers by the codes that queries are about, which `cell` numbers; of
                    the last QIT without `size`
<relation>_matches  (query, item, cell)       cells that match
<relation>_shares   (query, group_id, n)      share of a bucket that matches what is asked of it;
                    no row: nothing matches, or nothing is asked
mreached    (query, item, number, links.., n)   records of the last QIT that match, by buckets;
            `number` is the bucket of the sensitive table that the query is about
mheld       (a<p>, item, group_id, size, key<p>, value, n)   rows of the sensitive tables; a<p> and
            key<p> where one of them has quasi-identifiers
mestimate   (query, n)   matching records times the shares of what matches in their buckets
mworlds     (query, variance, lower, upper)   where these alone decide

Of the n records of a bucket, b match the predicates on quasi-identifiers and a match the one on
the sensitive column: two conditions of an estimate. Buckets are independent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.forms.match_counts import both, call, exact
from pganon.forms.request import Workload
from pganon.identifiers import QualifiedName
from pganon.methods.buckets.metrics.parts import Part, Parts, PartsOf
from pganon.metrics import boxes
from pganon.metrics.answers import bounds_step, error_step
from pganon.metrics.draws import predicates
from pganon.metrics.keys import (
    about,
    all_match,
    among,
    asked,
    code_asked,
    codes,
    distinct,
    keyed,
    keys,
    matches,
    same,
    summed,
)
from pganon.metrics.queries import exact_step, query_steps
from pganon.metrics.source import cell_number
from pganon.metrics.workload import share_step
from pganon.policy.options import GROUP_ID
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import aliased, col, fragment, named, query, stacked
from pganon.steps import Check, CreateTable, State, Step, table
from pganon.steps.facts import measure, or_null

# -- deviations and bounds -------------------------------------------------------------------------


DEVIATION = or_null(measure("workload_deviation"))
"""None where more than one random assignment decides whether a record matches."""


def _worlds(state: State) -> exp.Expr:
    having = query(
        "select q.query, q.item, t.group_id, t.size, sum(t.n) as a from q"
        " join t on t.item = q.item where :value group by 1, 2, 3, 4",
        {"q": state.work("mqueries"), "t": state.work("mheld")},
        value=matches("value", "", "t"),
    )
    size = col("size", "h")
    found = both(size, [exact(size, col("a", "h")), exact(size, col("n", "r"))])
    return query(
        "select h.query, sum(:variance) as variance, sum(:fewest) as lower, sum(:most) as upper"
        " from h join r on r.query = h.query and r.item = h.item and r.number = h.group_id"
        " group by h.query",
        {"h": having, "r": state.work("mreached")},
        fewest=found.fewest,
        most=found.most,
        variance=call("count_variance", n=size, **vars(found)),
    )


# -- answers from the published relations ----------------------------------------------------------


def estimate_steps(parts: PartsOf, places: int) -> list[Step]:
    """Steps for every relation that the arrangement may have."""
    most = parts(State(0))
    tables = [part.work for part in most.every if not part.box]
    return [
        *[step for work in tables for step in _share_steps(parts, work, places)],
        *([share_step(axes(most.boxes), places)] if most.boxes else []),
        table(
            "workload_reached",
            "published records that match, by bucket",
            lambda s: _reached(parts(s), places, s),
            into="mreached",
        ),
        table(
            "workload_held",
            "published sensitive values that queries are about",
            lambda s: _held(parts(s), places, s),
            into="mheld",
        ),
        table(
            "workload_estimate",
            "answers from the published relations",
            lambda s: stacked(
                [_of_table(parts(s), part, places, s) for part in parts(s).sensitive_tables]
            ),
            into="mestimate",
        ),
    ]


def _share_steps(parts: PartsOf, work: str, places: int) -> list[Step]:
    def among_them(of: Callable[[Parts], Iterable[Part]]) -> Callable[[State], list[Part]]:
        return lambda s: [part for part in of(parts(s)) if part.work == work]

    beside = among_them(lambda p: p.beside_any)
    celled = among_them(lambda p: [p.linking, *p.beside_any])
    return [
        CreateTable(
            f"workload_{work[1:]}_cells",
            "published cells that queries are about",
            lambda s: _table(celled(s)[0], "cells", s),
            lambda s: _cells(parts(s), celled(s)[0], places, s),
            when=lambda s: bool(celled(s)),
        ),
        CreateTable(
            f"workload_{work[1:]}_matches",
            "cells that match what queries ask for",
            lambda s: _table(celled(s)[0], "matches", s),
            lambda s: _matching(celled(s)[0], places, s),
            when=lambda s: bool(celled(s)),
        ),
        CreateTable(
            f"workload_{work[1:]}_shares",
            "shares of buckets that match",
            lambda s: _table(beside(s)[0], "shares", s),
            lambda s: _shares(beside(s)[0], places, s),
            when=lambda s: bool(beside(s)),
        ),
    ]


def _table(part: Part, of: str, state: State) -> QualifiedName:
    return state.work(f"{part.work}_{of}")


def _cells(parts: Parts, part: Part, places: int, state: State) -> exp.Expr:
    names = asked(places)
    columns = [*part.groups, *(() if part == parts.linking else ("size",))]
    tree = query(
        "select t.n from q cross join t",
        {"q": distinct(state.work("mqueries"), names), "t": state.work(part.work)},
    )
    if part != parts.linking:
        tree = tree.where(about(part.attributes, places, "q"))
    tree = tree.select(*[col(name, "q") for name in names], *[col(name, "t") for name in columns])
    tree = keyed(tree, codes(part.attributes, places, "q", "t"))
    cell = [*names, *keys(places)]
    rows = {"c": summed(tree, [*cell, *columns])}
    return query("select c.* from c", rows).select(named(cell_number(cell, "c"), "cell"))


def _matching(part: Part, places: int, state: State) -> exp.Select:
    """(query, item, cell): matches are computed once per cell, not in every bucket."""
    cell = ["cell", *asked(places), *keys(places)]
    return query(
        "select q.query, q.item, c.cell from q join c on :same and :all",
        {"q": state.work("mqueries"), "c": distinct(_table(part, "cells", state), cell)},
        same=same(asked(places), "c"),
        all=all_match(places, "c"),
    )


def _shares(part: Part, places: int, state: State) -> exp.Expr:
    return query(
        "select m.query, c.group_id, sum(c.n / c.size) as n from m join c on c.cell = m.cell"
        " group by m.query, c.group_id",
        {"m": _table(part, "matches", state), "c": _table(part, "cells", state)},
    )


def _asks(items: tuple[Sensitive, ...]) -> exp.Expr:
    """Condition: the query `q` is about one of these columns."""
    return among(col("item", "q"), [item.index for item in items])


def _reached(parts: Parts, places: int, state: State) -> exp.Expr:
    links = list(dict.fromkeys(other.link for other in parts.beside_any))
    if parts.boxes:
        asking = state.work("mqueries")
        cells = boxes.matching(parts.linking.work, parts.linking.groups, state)
        matched = fragment("c.query = q.query")
    else:
        asking, cells = (
            _table(parts.linking, "matches", state),
            _table(parts.linking, "cells", state),
        )
        matched = fragment("c.cell = q.cell")
    trees = [
        query(
            "select q.query, q.item, :number as number, c.n from q join c on :matched where :mine",
            {"q": asking, "c": cells},
            number=col(part.link, "c"),
            matched=matched,
            mine=_asks(part.sensitive),
        ).select(*[col(name, "c") for name in links])
        for part in parts.sensitive_tables
    ]
    return stacked([summed(tree, ["query", "item", "number", *links]) for tree in trees])


def _names(parts: Parts, places: int) -> list[str]:
    """Columns on which all queries that a row of a sensitive table answers agree."""
    quasi = any(part.attributes for part in parts.sensitive_tables)
    return [*(asked(places) if quasi else ()), "item"]


def _held(parts: Parts, places: int, state: State) -> exp.Expr:
    names = _names(parts, places)
    trees: list[exp.Select] = []
    for part in parts.sensitive_tables:
        tree = query(
            "select t.group_id, t.size, t.n from q cross join t where :mine",
            {"q": distinct(state.work("mqueries"), names), "t": state.work(part.work)},
            mine=_asks(part.sensitive),
        ).select(*[col(name, "q") for name in names], code_asked(part.sensitive, "t"))
        cells = codes(part.attributes, places, "q", "t") if len(names) > 1 else []
        columns = [*names, GROUP_ID, "size", *keys(len(cells)), "value"]
        trees.append(summed(keyed(tree, cells), columns))
    return stacked(trees)


def _of_table(parts: Parts, part: Part, places: int, state: State) -> exp.Select:
    """(query, n) of queries on a column of a sensitive table."""
    names = _names(parts, places)
    share: exp.Expr = fragment("r.n * t.n / t.size")
    tree = query(
        "select r.query from r join t on t.group_id = r.number and t.item = r.item"
        " join q on q.query = r.query where :mine and :same and :all and :value group by r.query",
        {"r": state.work("mreached"), "q": state.work("mqueries"), "t": state.work("mheld")},
        mine=_asks(part.sensitive),
        same=same(names, "t"),
        all=all_match(places, "t") if len(names) > 1 else exp.true(),
        value=matches("value", "", "t"),
    )
    for number, other in enumerate(parts.tables_beside(part)):
        alias = f"o{number}"
        # The rows of `tree` with a match in another relation, weighted by its matching share.
        on = fragment(
            ":query = r.query and :number = :link",
            query=col("query", alias),
            number=col(GROUP_ID, alias),
            link=col(other.link, "r"),
        )
        shares = aliased(_table(other, "shares", state), alias)
        untouched = exp.not_(exp.paren(about(other.attributes, places, "q")))
        kept = exp.or_(untouched, fragment(":matched is not null", matched=col("query", alias)))
        tree = tree.join(shares, on=on, join_type="left").where(exp.paren(kept))
        share = fragment(":s * coalesce(:o, 1)", s=share, o=col("n", alias))
    return tree.select(named(exp.Sum(this=share), "n"))


def steps(spec: ReleaseSpec, parts: PartsOf, workload: Workload) -> list[Step]:
    """From a workload to the facts of its errors."""
    places = predicates(len(spec.attributes), workload)

    def one(state: State) -> bool:
        """Whether a single assignment decides, so that the deviation and bounds are known."""
        return not parts(state).beside()

    return [
        *query_steps(spec, workload, placed=bool(parts(State(0)).boxes)),
        exact_step(spec, workload, "msource"),
        *estimate_steps(parts, places),
        error_step("n"),
        table("workload_worlds", "what answers may be", _worlds, into="mworlds", when=one),
        Check(
            "workload_deviation",
            "how far answers may be from the truth by chance",
            lambda s: (
                query(
                    "select avg(sqrt(coalesce(v.variance, 0)) / e.n) as workload_deviation from e"
                    " left join v on v.query = e.query where e.n > 0",
                    {"e": s.work("mexact"), "v": s.work("mworlds")},
                )
                if one(s)
                else query("select null as workload_deviation")
            ),
            gives=[DEVIATION],
        ),
        bounds_step(lambda s: s.work("mworlds") if one(s) else None),
    ]
