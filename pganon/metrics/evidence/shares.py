"""Sensitive values: how common they are in groups, beside all people of the release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

from sqlglot import exp

from pganon.forms.confidential import several_in_earlier, share_told
from pganon.forms.shape import Histogram, Relations
from pganon.identifiers import quote
from pganon.metrics.evidence.merging import merged
from pganon.metrics.evidence.people import Individuals, fewest, holders, of_values
from pganon.metrics.evidence.rare import SHOWN, hidden_first
from pganon.privacy.rows import over
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
            parts: dict[str, exp.Select] = {}
            totals = None
            if individuals is None:
                held = of_values(spec, item, state)
            else:
                pairs = individuals.held(spec, tables(state), item)
                held = holders(query("select p.person, p.value as key from p", {"p": pairs}))
                parts["totals"] = individuals.totals(spec, tables(state))
                totals = query("select t.* from totals as t")
            parts["shares"] = _shares(values, by, totals, _missing(spec, item))
            highest = _highest_shares(held, totals, smallest)
            tree = query(
                "select c.*, v.* from c cross join v", {"c": _commonest(item), "v": highest}
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


def _shares(
    values: exp.Select, by: Sequence[str], totals: exp.Select | None, missing: Sequence[str | None]
) -> exp.Select:
    """SELECT value, step, n, highest, most, commonest, total: a row per value and range of shares.

    `n` people of groups have the value, in none a higher share than `highest`. The last three are
    of groups, each of which is with one of its values: the highest share of a commonest value, and
    how many have it, of how many. `step` is the range of that share, NULL of groups' other values.

    Args:
        values: SELECT (columns of the group, value, n), in the order of groups, which one reading
            is enough for.
        by: columns of groups.
        totals: SELECT (columns of the group, total), where values have some of them several times.
        missing: values that no group has in common.
    """
    most = over(fragment("max(h.n)"), by)
    if missing:
        # Keys of values, as of `pganon.forms.elements.text_key`.
        keys = [text("" if one is None else f"={one}") for one in missing]
        shown = fragment(
            'max(h.n) filter (where h.value collate "C" <> all(:keys))',
            keys=exp.Array(expressions=keys),
        )
        most = fragment("coalesce(:most, 0)", most=over(shown, by))
    rows = query("select h.value, h.n from h", {"h": values})
    total = over(fragment("sum(h.n)"), by)
    if totals is not None:
        rows = rows.join(aliased(totals, "t"), on=equal(by, "t", "h"))
        total = fragment("t.total::numeric")
    number = over(fragment("row_number()"), by)
    rows = rows.select(named(total, "total"), named(most, "most"), named(number, "number"))
    # A share on a border counts below it, where that of the requirement is.
    return query(
        "select r.value, case when r.number = 1"
        " then greatest(ceil(r.most * :steps / r.total) - 1, 0)::int end as step,"
        " sum(r.n) as n, max(r.n / r.total) as highest, max(r.most / r.total) as most,"
        " sum(r.most) as commonest, sum(r.total) as total from r group by 1, 2",
        {"r": rows},
        steps=num(STEPS),
    )


def _commonest(item: Sensitive) -> exp.Select:
    """How common the commonest value of a group is, by people."""
    tree = query(
        "select max(s.most)::float8 as most, (sum(s.commonest) / sum(s.total))::float8 as mean"
        " from shares as s where not s.step is null"
    )
    people = "coalesce(sum(s.total) filter (where s.step = :n), 0)::bigint"
    return tree.select(
        *[
            named(fragment(people, n=num(number)), fact.column)
            for number, fact in enumerate(_facts(item)[:STEPS])
        ]
    )


def _highest_shares(
    held: exp.Select | None, totals: exp.Select | None, smallest: int
) -> exp.Select:
    """The highest share of every value in a group, beside its share of all people.

    Args:
        held: as :func:`pganon.metrics.evidence.people.holders`, where people may have several.
    """
    by_value = query(
        "select s.value, sum(s.n) as n, max(s.highest) as highest from shares as s group by s.value"
    )
    # People with a value, and its part of the share that rare values have together.
    people: dict[str, exp.Expr] = {name: col("n", "b") for name in ("n", "first", "part")}
    if held is not None:
        people |= {name: fragment(f"coalesce(h.{name}, 0)") for name in ("n", "first")}
    everybody = fragment("sum(b.n) over ()")
    if totals is not None:
        people["part"] = people["first"].copy()
        everybody = scalar(query("select sum(t.total)::numeric from t", {"t": totals}))
    shares = query(
        "select b.value as label, b.value as key, :n as n, :first as first, b.highest,"
        " b.n / :everybody as share, :part / :everybody as part from b",
        {"b": by_value},
        everybody=everybody,
        **people,
    )
    if held is not None:
        on = fragment("h.key = b.value")
        shares = shares.join(aliased(held, "h"), on=on, join_type="left")
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
