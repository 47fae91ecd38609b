"""Sensitive values: how common they are in groups, beside all people of the release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from sqlglot import exp

from pganon.forms.confidential import several_in_earlier, share_told
from pganon.forms.shape import Histogram, Relations
from pganon.identifiers import quote
from pganon.metrics.evidence.merging import merged
from pganon.metrics.evidence.people import Individuals, fewest, holders, of_values
from pganon.metrics.evidence.rare import SHOWN, hidden_first
from pganon.privacy.rows import grouped
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import (
    aliased,
    col,
    equal,
    fragment,
    materialized,
    named,
    num,
    query,
    scalar,
    text,
)
from pganon.steps import Check, State, Step
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
        def select(state: State) -> exp.Select:
            by, values = histogram(spec, state, tables(state), item)
            parts = {"counted": values}
            found = _Counted(by, query("select c.* from counted as c"), _missing(spec, item))
            if individuals is None:
                found = replace(found, held=of_values(spec, item, state))
            else:
                pairs = individuals.held(spec, tables(state), item)
                held = holders(query("select p.person, p.value as key from p", {"p": pairs}))
                parts["totals"] = individuals.totals(spec, tables(state))
                found = replace(found, held=held, totals=query("select t.* from totals as t"))
            tree = query(
                "select c.*, v.* from c cross join v",
                {"c": _commonest(item, found), "v": _highest_shares(found, smallest)},
            )
            return materialized(tree, **parts)

        check = Check(
            f"shares{item.index}",
            f"how common values of {quote(item.published)} are in groups",
            select,
            gives=_facts(item),
        )
        return [check]

    smallest = spec.policy.report.smallest
    if individuals is None and several_in_earlier(spec):
        return []
    return [chain(item) for item in spec.sensitive]


def documents(spec: ReleaseSpec, facts: Facts) -> list[dict[str, Any]]:
    """Of every sensitive column that enough people have in groups, as JSON."""
    smallest = fewest(spec, facts)
    if smallest == inf:
        return []
    shown = [item for item in spec.sensitive if sum(_people(item, facts)) >= smallest]
    return [_document(spec, item, facts, smallest) for item in shown]


def _missing(spec: ReleaseSpec, item: Sensitive) -> Sequence[str | None]:
    return spec.policy.report.missing.get(item.column.name, ())


def _people(item: Sensitive, facts: Facts) -> list[int]:
    return [facts[fact] for fact in _facts(item)[:STEPS]]


def _document(spec: ReleaseSpec, item: Sensitive, facts: Facts, smallest: float) -> dict[str, Any]:
    people = _people(item, facts)
    read = {fact.column: facts[fact] for fact in _facts(item)}
    hidden, mean, most = (read[name] for name in ("others", "mean", "others_times"))
    missing = _missing(spec, item)
    return {
        "column": item.published,
        "of": "all" if item.hidden is None else "hidden",
        **({"missing": list(missing)} if missing else {}),
        "most": read["most"],
        "mean": None if mean is None else share_told(mean, sum(people), smallest),
        "bins": [
            {
                "from": first / STEPS,
                "to": (last + 1) / STEPS,
                "people": sum(people[first : last + 1]),
            }
            for first, last in merged(people, smallest)
        ],
        "values": [
            {"value": value, "share": share, "highest": highest}
            for value, share, highest in read["values"]
        ],
        "others": {
            "values": hidden,
            "share": read["others_share"],
            "times_over": next((times for times in TIMES if most > times), None),
        }
        if hidden
        else None,
    }


@dataclass(frozen=True)
class _Counted:
    """How many people of groups have a value.

    Attributes:
        by: columns of groups.
        values: SELECT (columns of the group, value, n).
        missing: those that no group has in common.
        held: as :func:`pganon.metrics.evidence.people.holders`, where people may have several.
        totals: SELECT (columns of the group, total), where values have some of them several times.
    """

    by: Sequence[str]
    values: exp.Select
    missing: Sequence[str | None] = ()
    held: exp.Select | None = None
    totals: exp.Select | None = None

    def groups(self) -> exp.Select:
        """SELECT n, total: people of a group with its commonest value, and all of them."""
        most = query("select :n as n, sum(h.n) as total from h", {"h": self.values}, n=self._most())
        most = grouped(most, self.by, "h")
        if self.totals is None:
            return most
        tree = query("select h.n, t.total::numeric as total from h", {"h": most})
        return tree.join(aliased(self.totals, "t"), on=equal(self.by, "t", "h"))

    def _most(self) -> exp.Expr:
        if not self.missing:
            return fragment("max(h.n)")
        # Keys of values, as of `pganon.forms.elements.text_key`.
        keys = [text("" if one is None else f"={one}") for one in self.missing]
        return fragment(
            'coalesce(max(h.n) filter (where h.value collate "C" <> all(:missing)), 0)',
            missing=exp.Array(expressions=keys),
        )

    def shares(self) -> exp.Select:
        """SELECT value, n, total: a row per group and value."""
        tree = query("select h.value, h.n from h", {"h": self.values})
        if self.totals is not None:
            tree = tree.join(aliased(self.totals, "t"), on=equal(self.by, "t", "h"))
            return tree.select(fragment("t.total::numeric as total"))
        keys = [col(name, "h") for name in self.by]
        total = exp.Window(this=exp.Sum(this=col("n", "h")), partition_by=keys)
        return tree.select(named(total, "total"))

    def everybody(self) -> exp.Expr:
        """People of all groups, beside values `b`."""
        if self.totals is None:
            return fragment("sum(b.n) over ()")
        return scalar(query("select sum(t.total)::numeric from t", {"t": self.totals}))

    def people(self) -> dict[str, exp.Expr]:
        """People with a value `b`, and its part of the share that rare values have together."""
        if self.held is None:
            return {name: col("n", "b") for name in ("n", "first", "part")}
        found = {name: fragment(f"coalesce(h.{name}, 0)") for name in ("n", "first")}
        return {**found, "part": col("n", "b") if self.totals is None else found["first"].copy()}


def _commonest(item: Sensitive, found: _Counted) -> exp.Select:
    """How common the commonest value of a group is, by people."""
    # A share on a border counts below it, where that of the requirement is.
    steps = query(
        "select greatest(ceil(v.n * :steps / v.total) - 1, 0)::int as step,"
        " max(v.n / v.total) as most, sum(v.n) as n, sum(v.total) as total from v group by 1",
        {"v": found.groups()},
        steps=num(STEPS),
    )
    tree = query(
        "select max(s.most)::float8 as most, (sum(s.n) / sum(s.total))::float8 as mean from s",
        {"s": steps},
    )
    people = "coalesce(sum(s.total) filter (where s.step = :n), 0)::bigint"
    return tree.select(
        *[
            named(fragment(people, n=num(number)), fact.column)
            for number, fact in enumerate(_facts(item)[:STEPS])
        ]
    )


def _highest_shares(found: _Counted, smallest: int) -> exp.Select:
    """The highest share of every value in a group, beside its share of all people."""
    by_value = query(
        "select v.value, sum(v.n) as n, max(v.n / v.total) as highest from v group by v.value",
        {"v": found.shares()},
    )
    shares = query(
        "select b.value as label, b.value as key, :n as n, :first as first, b.highest,"
        " b.n / :everybody as share, :part / :everybody as part from b",
        {"b": by_value},
        everybody=found.everybody(),
        **found.people(),
    )
    if found.held is not None:
        on = fragment("h.key = b.value")
        shares = shares.join(aliased(found.held, "h"), on=on, join_type="left")
    return query(
        "select coalesce(jsonb_agg(jsonb_build_array(case when r.label = '' then null"
        " else substr(r.label, 2, :longest) end, round(r.share, 6), round(r.highest, 6))"
        " order by r.place desc) filter (where not r.hidden), '[]') as values,"
        " count(*) filter (where r.hidden) as others,"
        " coalesce(sum(r.part) filter (where r.hidden), 0)::float8 as others_share,"
        " coalesce(max(r.highest / r.share) filter (where r.hidden), 0)::float8 as others_times"
        " from r",
        {"r": hidden_first(shares, smallest, SHOWN)},
        longest=num(80),
    )


def _facts(item: Sensitive) -> list[Fact[Any]]:
    """People by how common the commonest value of their group is, first; `most` and `mean` are None
    where all show their value, or none is published."""
    of = f"shares{item.index}_"
    return [
        *[count(f"people{place}", of) for place in range(STEPS)],
        *[or_null(measure(name, of), 1.0) for name in ("most", "mean")],
        *[rows("values", of), count("others", of)],
        *[measure(name, of) for name in ("others_share", "others_times")],
    ]
