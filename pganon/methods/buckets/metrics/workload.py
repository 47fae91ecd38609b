"""Random queries: counts of records with quasi-identifiers and a sensitive value of some kind.

mqueries    see :mod:`pganon.metrics.queries`
mpart<p>_.. see :mod:`pganon.metrics.parts`
mreached    (query, item, number, links.., n)   records of the last QIT that match, by buckets;
            `number` is the bucket of the sensitive table that the query is about
mestimate   (query, n)   matching records times the shares of what matches in their buckets
mworlds     (query, variance, lower, upper)   where these alone decide

Of the n records of a bucket, b match the predicates on quasi-identifiers and a match the one on
the sensitive column: two conditions of an estimate. Buckets are independent.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.forms.match_counts import both, call, exact
from pganon.forms.request import Workload
from pganon.forms.shape import linking
from pganon.metrics import boxes
from pganon.metrics.answers import bounds_step, error_step
from pganon.metrics.draws import predicates
from pganon.metrics.keys import among, summed
from pganon.metrics.parts import (
    Part,
    Parts,
    PartsOf,
    beside,
    match_steps,
    values,
)
from pganon.metrics.queries import exact_step, query_steps
from pganon.metrics.workload import share_step
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, col, fragment, named, query, stacked
from pganon.steps import Check, State, Step, table
from pganon.steps.facts import measure, or_null

DEVIATION = or_null(measure("workload_deviation"))
"""None where more than one random assignment decides whether a record matches."""


def steps(spec: ReleaseSpec, parts: PartsOf, workload: Workload) -> list[Step]:
    """From a workload to the facts of its errors."""
    places = predicates(len(spec.attributes), workload)
    boxed = tuple(a for part in parts(State(0)) if part.box for a in part.attributes)

    def one(state: State) -> bool:
        """Whether a single assignment decides, so that the deviation and bounds are known."""
        return not beside(parts(state))

    return [
        *query_steps(spec, workload, placed=bool(boxed)),
        exact_step(spec, workload, "msource"),
        *match_steps(parts, places),
        *([share_step(axes(boxed), places)] if boxed else []),
        table(
            "workload_reached",
            "published records that match, by bucket",
            lambda s: _reached(parts(s), s),
            into="mreached",
        ),
        table(
            "workload_estimate",
            "answers from the published relations",
            lambda s: stacked([_of_table(parts(s), part, places, s) for part in values(parts(s))]),
            into="mestimate",
        ),
        error_step("n"),
        table(
            "workload_worlds",
            "what answers may be",
            lambda s: _worlds(parts(s), s),
            into="mworlds",
            when=one,
        ),
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


def _beside(parts: Parts, asked: Part | None = None) -> list[Part]:
    """Those relations of the release; records are reached by boxes."""
    return [part for part in beside(parts, asked) if not part.box]


def _reached(parts: Parts, state: State) -> exp.Expr:
    last = linking(parts)
    links = list(dict.fromkeys(other.link for other in _beside(parts)))
    boxed = [part for part in parts if part.box]
    found = boxes.matching(last.work, last.groups, state) if boxed else last.matched(state)
    trees = [
        query(
            "select c.query, c.item, :number as number, c.n from c where :mine",
            {"c": found},
            number=col(part.link, "c"),
            mine=_asks(part, "c"),
        ).select(*[col(name, "c") for name in links])
        for part in values(parts)
    ]
    return stacked([summed(tree, ["query", "item", "number", *links]) for tree in trees])


def _asks(part: Part, table: str) -> exp.Expr:
    """Condition: a query is about a sensitive column of the relation."""
    return among("item", table, [item.index for item in part.sensitive])


def _of_table(parts: Parts, part: Part, places: int, state: State) -> exp.Select:
    """(query, n) of queries on a column of a sensitive table."""
    share: exp.Expr = fragment("r.n * t.n / t.size")
    tree = query(
        "select r.query from r join t on t.query = r.query and t.number = r.number"
        " join q on q.query = r.query where :mine group by r.query",
        {
            "r": state.work("mreached"),
            "t": part.matched(state),
            "q": state.work("mqueries"),
        },
        mine=_asks(part, "r"),
    )
    for number, other in enumerate(_beside(parts, part)):
        alias = f"o{number}"
        # The rows of `tree` with a match in another relation, weighted by its matching share.
        on = fragment(
            ":query = r.query and :number = :link",
            query=col("query", alias),
            number=col("number", alias),
            link=col(other.link, "r"),
        )
        shares = aliased(other.matched(state), alias)
        untouched = exp.not_(exp.paren(other.cells(places).about("q")))
        kept = exp.or_(untouched, fragment(":matched is not null", matched=col("query", alias)))
        tree = tree.join(shares, on=on, join_type="left").where(exp.paren(kept))
        one = fragment(":n / :size", n=col("n", alias), size=col("size", alias))
        share = fragment(":s * coalesce(:o, 1)", s=share, o=one)
    return tree.select(named(exp.Sum(this=share), "n"))


def _worlds(parts: Parts, state: State) -> exp.Expr:
    shares = [query("select t.* from t", {"t": part.matched(state)}) for part in values(parts)]
    size = col("size", "h")
    found = both(size, [exact(size, col("n", "h")), exact(size, col("n", "r"))])
    return query(
        "select h.query, sum(:variance) as variance, sum(:fewest) as lower, sum(:most) as upper"
        " from h join r on r.query = h.query and r.number = h.number group by h.query",
        {"h": stacked(shares), "r": state.work("mreached")},
        fewest=found.fewest,
        most=found.most,
        variance=call("count_variance", n=size, **vars(found)),
    )
