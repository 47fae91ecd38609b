"""Sensitive values: how common they are in groups, beside all people of the release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlglot import exp

from pganon.forms.form import Histogram, Relations
from pganon.identifiers import quote
from pganon.metrics.evidence.merging import merged
from pganon.metrics.evidence.rare import SHOWN, hidden_first
from pganon.privacy.rows import grouped
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import col, fragment, named, num, query
from pganon.steps import Check, State, Step
from pganon.steps.facts import Fact, Facts, count, measure, rows

Counted = tuple[Sequence[str], exp.Select]
"""As :data:`pganon.forms.form.Histogram` gives them: columns of groups, and n records of a group
with a value."""

STEPS = 20
"""Ranges that shares of a group are counted in; each is 5 % wide."""

TIMES = (100, 50, 20, 10, 5)
"""Least multiples that are told of a value that is not shown."""


def chains(
    spec: ReleaseSpec, histogram: Histogram, tables: Callable[[State], Relations]
) -> list[list[Step]]:
    """Steps for every sensitive column."""

    def chain(item: Sensitive) -> list[Step]:
        def counted(state: State) -> Counted:
            return histogram(spec, state, tables(state), item)

        return [
            _common_check(item, counted),
            _highest_check(item, counted, spec.policy.report.smallest),
        ]

    return [chain(item) for item in spec.sensitive]


def document(item: Sensitive, facts: Facts, smallest: int) -> dict[str, Any]:
    """Of one sensitive column, as JSON."""
    people = [facts[_common(item, place)] for place in range(STEPS)]
    hidden = facts[_hidden(item)]
    most = facts[_hidden_times(item)]
    values = facts[_highest(item)]
    return {
        "column": item.published,
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


def _common_check(item: Sensitive, counted: Callable[[State], Counted]) -> Check:
    """How common the commonest value of a group is, by people."""

    def select(state: State) -> exp.Expr:
        by, histogram = counted(state)
        of_group = query("select max(h.n) as n, sum(h.n) as total from h", {"h": histogram})
        # A share on a border counts below it, where that of the requirement is.
        steps = query(
            "select (ceil(v.n * :steps / v.total) - 1)::int as step, max(v.n / v.total) as most,"
            " sum(v.n) as n, sum(v.total) as total from v group by 1",
            {"v": grouped(of_group, by, "h")},
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


def _highest_check(item: Sensitive, counted: Callable[[State], Counted], smallest: int) -> Check:
    """The highest share of every value in a group, beside its share of all people."""

    def select(state: State) -> exp.Expr:
        by, histogram = counted(state)
        total = exp.Window(
            this=exp.Sum(this=col("n", "h")), partition_by=[col(name, "h") for name in by]
        )
        values = query("select h.value, h.n from h", {"h": histogram})
        by_value = query(
            "select v.value, sum(v.n) as n, max(v.n / v.total) as highest from v group by v.value",
            {"v": values.select(named(total, "total"))},
        )
        shares = query(
            "select b.value as label, b.n, b.highest, b.n / sum(b.n) over () as share from b",
            {"b": by_value},
        )
        return query(
            "select coalesce(jsonb_agg(jsonb_build_array(case when r.label = '' then null"
            " else substr(r.label, 2, :longest) end, round(r.share, 6), round(r.highest, 6))"
            " order by r.place desc) filter (where not r.hidden), '[]') as values,"
            " count(*) filter (where r.hidden) as others,"
            " coalesce(sum(r.share) filter (where r.hidden), 0)::float8 as others_share,"
            " coalesce(max(r.highest / r.share) filter (where r.hidden), 0)::float8 as others_times"
            " from r",
            {"r": hidden_first(shares, smallest, SHOWN)},
            longest=num(80),
        )

    return Check(
        f"highest{item.index}",
        f"highest share of every value of {quote(item.published)} in a group",
        select,
        gives=[_highest(item), _hidden(item), _hidden_share(item), _hidden_times(item)],
    )


def _common(item: Sensitive, place: int) -> Fact[int]:
    return count(f"people{place}", f"commonest{item.index}_")


def _most(item: Sensitive) -> Fact[float]:
    return measure("most", f"commonest{item.index}_")


def _mean(item: Sensitive) -> Fact[float]:
    return measure("mean", f"commonest{item.index}_")


def _highest(item: Sensitive) -> Fact[Sequence[Any]]:
    return rows("values", f"highest{item.index}_")


def _hidden(item: Sensitive) -> Fact[int]:
    return count("others", f"highest{item.index}_")


def _hidden_share(item: Sensitive) -> Fact[float]:
    return measure("others_share", f"highest{item.index}_")


def _hidden_times(item: Sensitive) -> Fact[float]:
    return measure("others_times", f"highest{item.index}_")
