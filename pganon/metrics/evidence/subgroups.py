"""The chance to find each record, and records with one value of a quasi-identifier.

A limit that everybody meets on average may be exceeded for those who are few. Counts of them are
told in steps of so many people as may be counted (`report.smallest`), as shares and totals beside
them would tell fewer by differences; so is the mean, as its digits would tell how many are in which
groups. A quantile has so many people on both of its sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from pganon.encode.axis import Axis, axes
from pganon.forms.form import Description
from pganon.identifiers import quote
from pganon.metrics.evidence.rare import SHOWN, hidden_first
from pganon.metrics.source import records
from pganon.policy.reporting import Limit, Reporting
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import cast, col, fragment, named, num, query
from pganon.steps import Check, State
from pganon.steps.facts import Fact, Facts, rows

QUANTILES = ("0.5", "0.9", "0.95", "0.99", "1")
"""Of the chances; the last one is the highest, and is told of all alone."""


def checks(spec: ReleaseSpec, description: Description) -> list[Check]:
    """From `mshown`: of all records, and by value of every column that the policy names."""
    if spec.policy.several_each:
        return []
    limits = spec.policy.report.accepted

    def of_all(state: State) -> exp.Select:
        each = query(
            "select m.n from m cross join lateral generate_series(1, m.n)",
            {"m": state.work("mshown")},
        )
        return _gathered(each, limits, [])

    def by_value(axis: Axis, state: State) -> exp.Select:
        found = query(
            "select :code as code, m.n from r join m on m.group_id = r.group_id",
            {
                "r": records(spec, description, ["group_id", axis.code], state),
                "m": state.work("mshown"),
            },
            code=col(axis.code, "r"),
        )
        counted = query(
            "select left(:value::text, 80) as label, d.code as key, count(*) as n,"
            " count(*) as first from r join d on d.code = r.code group by 1, 2",
            {"r": found, "d": axis.dictionary(state)},
            value=col("value", "d"),
        )
        hidden = hidden_first(counted, spec.policy.report.smallest, SHOWN)
        # Of those who are not named, it is not said which of them a record has.
        tree = query(
            "select h.hidden, case when not h.hidden then h.label end as label,"
            " case when not h.hidden then h.key end as key, h.place, r.n from r join h"
            " on h.key = r.code",
            {"r": found, "h": hidden},
        )
        return _gathered(tree, limits, ["hidden", "label", "key"])

    made = [Check("record_risk", "the chance to find each record", of_all, gives=[_fact("all")])]
    for axis in _asked(spec):
        made.append(
            Check(
                f"record_risk{axis.index}",
                f"the chance to find records by their {quote(axis.attribute.column.name)}",
                lambda s, axis=axis: by_value(axis, s),
                gives=[_fact(str(axis.index))],
            )
        )
    return made


def _asked(spec: ReleaseSpec) -> list[Axis]:
    """In the order of the policy's list."""
    names = spec.policy.report.subgroups
    found = {axis.attribute.column.name: axis for axis in axes(spec.attributes)}
    return [found[name] for name in names]


def _gathered(tree: exp.Select, limits: Sequence[Limit], by: Sequence[str]) -> exp.Select:
    """SELECT groups: [hidden, label, people, sum of chances, sizes at quantiles, above limits]."""
    quantiles = exp.Array(expressions=[exp.Literal.number(one) for one in QUANTILES])
    found = query(
        "select count(*) as people, sum(1.0 / r.n)::float8 as risk,"
        " percentile_disc(:quantiles) within group (order by r.n desc) as sizes from r",
        {"r": tree},
        quantiles=cast(quantiles, "float8[]"),
    )
    above = [
        fragment("count(*) filter (where r.n <= :largest)", largest=num(limit.largest))
        for limit in limits
    ]
    found = found.select(named(exp.Array(expressions=above), "above"))
    keys = [col(name, "r") for name in by]
    found = found.select(*keys).group_by(*[key.copy() for key in keys])
    if not by:
        found = found.select("false AS hidden", "NULL::text AS label", "0 AS key")
    return query(
        "select coalesce(jsonb_agg(jsonb_build_array(g.hidden, g.label, g.people, g.risk, g.sizes,"
        " g.above) order by g.hidden, g.people desc, g.key), '[]') as groups"
        " from g where g.people > 0",
        {"g": found},
    )


def _fact(name: str) -> Fact[Sequence[Any]]:
    return rows("groups", f"record_risk{name}_")


def documents(spec: ReleaseSpec, facts: Facts) -> dict[str, Any]:
    """As JSON: of all, and of each value; nothing where records may be several of one person."""
    if spec.policy.several_each:
        return {}
    asked, every = spec.policy.report, facts[_fact("all")]
    if not every or every[0][2] < asked.smallest:
        return {"record_risk": None, "subgroups": []}
    # Of a subgroup alone, the highest chance is that of one record.
    highest = 1 / every[0][4][-1]
    return {
        "record_risk": {"prosecutor": _told(every[0], asked, highest)},
        "subgroups": [
            {
                "column": axis.attribute.published,
                "value": row[1],
                "others": row[0],
                "prosecutor": _told(row, asked, highest),
            }
            for axis in _asked(spec)
            for row in facts[_fact(str(axis.index))]
        ],
    }


def _told(row: Sequence[Any], asked: Reporting, highest: float) -> dict[str, Any]:
    people, risk, sizes, above = row[2:]
    smallest = asked.smallest
    told = _stepped(people, smallest)
    quantiles = {
        f"p{100 * float(name):g}": 1 / size
        if min(float(name), 1 - float(name)) * people >= smallest
        else None
        for name, size in zip(QUANTILES[:-1], sizes, strict=False)
    }
    return {
        "people": told,
        "mean": _stepped(risk, smallest * highest) / told,
        **quantiles,
        "above": {
            limit.name: _stepped(n, smallest) / told
            for limit, n in zip(asked.accepted, above, strict=True)
        },
    }


def _stepped(number: float, step: float) -> float:
    return round(number / step) * step
