"""Sensitive values: how common they are in groups, beside all people of the release.

everyvalue<j>   (value, n, total)   a row per group and value: n of the `total` records have it
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlglot import exp

from pganon.forms.form import Histogram, Relations
from pganon.identifiers import quote
from pganon.metrics.evidence.merging import merged
from pganon.metrics.evidence.people import Individuals, holders, of_values
from pganon.metrics.evidence.rare import SHOWN, hidden_first
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import aliased, col, equal, fragment, named, num, query
from pganon.steps import Check, CreateTable, State, Step
from pganon.steps.facts import Fact, Facts, count, measure, or_null, rows

STEPS = 20
"""Ranges that shares of a group are counted in; each is 5 % wide."""

TIMES = (100, 50, 20, 10, 5)
"""Least multiples that are told of a value that is not shown."""


def chains(
    spec: ReleaseSpec,
    histogram: Histogram,
    tables: Callable[[State], Relations],
    individuals: Individuals | None = None,
) -> list[list[Step]]:
    """Steps for every sensitive column.

    Args:
        individuals: how people are counted, where the histogram has some of them several times.
    """

    def chain(item: Sensitive) -> list[Step]:
        table = CreateTable(
            f"every_value{item.index}",
            f"values of {quote(item.published)} in every group",
            lambda s: _table(item, s),
            lambda s: _values(spec, histogram, tables, item, individuals, s),
        )

        def held(state: State) -> exp.Select | None:
            if individuals is None:
                return of_values(spec, item, state)
            pairs = individuals.held(spec, tables(state), item)
            return holders(query("select p.person, p.value as key from p", {"p": pairs}))

        smallest = spec.policy.report.smallest
        several = individuals is not None
        highest = _highest_check(item, smallest, held, several=several)
        return [table, _common_check(item), highest]

    return [chain(item) for item in spec.sensitive]


def documents(spec: ReleaseSpec, facts: Facts) -> list[dict[str, Any]]:
    """Of every sensitive column that enough people have in groups, as JSON."""
    smallest = spec.policy.report.smallest
    shown = [item for item in spec.sensitive if sum(_people(item, facts)) >= smallest]
    return [_document(item, facts, smallest) for item in shown]


def _people(item: Sensitive, facts: Facts) -> list[int]:
    return [facts[_common(item, place)] for place in range(STEPS)]


def _document(item: Sensitive, facts: Facts, smallest: int) -> dict[str, Any]:
    people = _people(item, facts)
    hidden = facts[_hidden(item)]
    most = facts[_hidden_times(item)]
    values = facts[_highest(item)]
    return {
        "column": item.published,
        "of": "all" if item.hidden is None else "hidden",
        "most": facts[_most(item)],
        "mean": facts[_mean(item)],
        "bins": [
            {
                "from": first / STEPS,
                "to": (last + 1) / STEPS,
                "people": sum(people[first : last + 1]),
            }
            for first, last in merged(people, smallest)
        ],
        "values": [
            {"value": value, "share": share, "highest": highest} for value, share, highest in values
        ],
        "others": {
            "values": hidden,
            "share": facts[_hidden_share(item)],
            "times_over": next((times for times in TIMES if most > times), None),
        }
        if hidden
        else None,
    }


def _table(item: Sensitive, state: State):
    return state.work(f"everyvalue{item.index}")


def _values(
    spec: ReleaseSpec,
    histogram: Histogram,
    tables: Callable[[State], Relations],
    item: Sensitive,
    individuals: Individuals | None,
    state: State,
) -> exp.Select:
    by, counted = histogram(spec, state, tables(state), item)
    tree = query("select h.value, h.n from h", {"h": counted})
    keys = [col(name, "h") for name in by]
    total: exp.Expr = exp.Window(
        this=exp.Sum(this=col("n", "h")), partition_by=[key.copy() for key in keys]
    )
    if individuals is not None:
        everybody = aliased(individuals.totals(spec, tables(state)), "t")
        tree, total = tree.join(everybody, on=equal(by, "t", "h")), fragment("t.total::numeric")
    number = exp.Window(
        this=exp.func("row_number", dialect="postgres"),
        partition_by=[key.copy() for key in keys],
        order=exp.Order(expressions=[exp.Ordered(this=col("n", "h"), desc=True)]),
    )
    return tree.select(named(total, "total"), named(number, "place"))


def _common_check(item: Sensitive) -> Check:
    """How common the commonest value of a group is, by people."""

    def select(state: State) -> exp.Expr:
        # A share on a border counts below it, where that of the requirement is.
        steps = query(
            "select (ceil(v.n * :steps / v.total) - 1)::int as step, max(v.n / v.total) as most,"
            " sum(v.n) as n, sum(v.total) as total from v where v.place = 1 group by 1",
            {"v": _table(item, state)},
            steps=num(STEPS),
        )
        tree = query(
            "select max(s.most)::float8 as most, (sum(s.n) / sum(s.total))::float8 as mean from s",
            {"s": steps},
        )
        people = "coalesce(sum(s.total) filter (where s.step = :n), 0)::bigint"
        return tree.select(
            *[
                named(fragment(people, n=num(number)), _common(item, number).column)
                for number in range(STEPS)
            ]
        )

    return Check(
        f"commonest{item.index}",
        f"how common the commonest value of {quote(item.published)} is in groups",
        select,
        gives=[_most(item), _mean(item), *[_common(item, number) for number in range(STEPS)]],
    )


def _highest_check(
    item: Sensitive,
    smallest: int,
    held: Callable[[State], exp.Select | None],
    *,
    several: bool,
) -> Check:
    """The highest share of every value in a group, beside its share of all people."""

    def select(state: State) -> exp.Expr:
        table, people = _table(item, state), held(state)
        by_value = query(
            "select v.value, sum(v.n) as n, max(v.n / v.total) as highest from v group by v.value",
            {"v": table},
        )
        counted = query(
            "select b.value as label, b.value as key, :n as n, :first as first, b.highest,"
            " b.n / e.n as share, :part / e.n as part"
            " from b cross join (select sum(v.total) as n from v where v.place = 1) as e",
            {"b": by_value, "v": table},
            **_counted(people, several=several),
        )
        if people is not None:
            on = fragment("h.key = b.value")
            counted = counted.join(aliased(people, "h"), on=on, join_type="left")
        return query(
            "select coalesce(jsonb_agg(jsonb_build_array(case when r.label = '' then null"
            " else substr(r.label, 2, :longest) end, round(r.share, 6), round(r.highest, 6))"
            " order by r.place desc) filter (where not r.hidden), '[]') as values,"
            " count(*) filter (where r.hidden) as others,"
            " coalesce(sum(r.part) filter (where r.hidden), 0)::float8 as others_share,"
            " coalesce(max(r.highest / r.share) filter (where r.hidden), 0)::float8 as others_times"
            " from r",
            {"r": hidden_first(counted, smallest, SHOWN)},
            longest=num(80),
        )

    return Check(
        f"highest{item.index}",
        f"highest share of every value of {quote(item.published)} in a group",
        select,
        gives=[_highest(item), _hidden(item), _hidden_share(item), _hidden_times(item)],
    )


def _counted(people: exp.Select | None, *, several: bool) -> dict[str, exp.Expr]:
    """People with a value, and its part of the share that rare values have together."""
    if people is None:
        return {name: col("n", "b") for name in ("n", "first", "part")}
    found = {name: fragment(f"coalesce(h.{name}, 0)") for name in ("n", "first")}
    return {**found, "part": found["first"].copy() if several else col("n", "b")}


def _common(item: Sensitive, place: int) -> Fact[int]:
    return count(f"people{place}", f"commonest{item.index}_")


def _most(item: Sensitive) -> Fact[float | None]:
    """None where all show their value, or none is published."""
    return or_null(measure("most", f"commonest{item.index}_"), 1.0)


def _mean(item: Sensitive) -> Fact[float | None]:
    return or_null(measure("mean", f"commonest{item.index}_"), 1.0)


def _highest(item: Sensitive) -> Fact[Sequence[Any]]:
    return rows("values", f"highest{item.index}_")


def _hidden(item: Sensitive) -> Fact[int]:
    return count("others", f"highest{item.index}_")


def _hidden_share(item: Sensitive) -> Fact[float]:
    return measure("others_share", f"highest{item.index}_")


def _hidden_times(item: Sensitive) -> Fact[float]:
    return measure("others_times", f"highest{item.index}_")
