"""The chance to find each record, and records with one value of a quasi-identifier.

Of who knows that somebody is in the source (the prosecutor) and, where the people whom a class
covers are counted in a population or by weights, of who does not (the journalist).

A limit that everybody meets on average may be exceeded for those who are few. Counts of them are
told in steps of so many people as may be counted (`report.smallest`), as shares and totals beside
them would tell fewer by differences; so is the mean, as its digits would tell how many are in which
groups. A quantile has so many people on both of its sides, however many the steps leave possible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from pganon.encode.axis import Axis, axes
from pganon.forms.form import Description
from pganon.identifiers import quote
from pganon.metrics.evidence.merging import stepped
from pganon.metrics.evidence.rare import SHOWN, hidden_first
from pganon.metrics.source import records
from pganon.policy.reporting import Limit, Reporting
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, cast, col, fragment, named, num, query
from pganon.steps import Check, State, WorkTable
from pganon.steps.facts import Fact, Facts, rows

ATTACKERS = ("prosecutor", "journalist")

QUANTILES = ("0.5", "0.9", "0.95", "0.99", "1")
"""Of the chances; the last one is the highest, and is told of all alone."""


def checks(
    spec: ReleaseSpec, description: Description, covered: WorkTable[ReleaseSpec] | None
) -> list[Check]:
    """From `mshown`: of all records, and by value of every column that the policy names.

    Args:
        covered: table (class_id, covered): how many people of the population every class covers.
    """
    if spec.policy.several_each:
        return []
    limits = spec.policy.report.accepted
    attackers = ATTACKERS if covered else ATTACKERS[:1]

    def classes(state: State) -> exp.Select:
        """SELECT the group, its records, and for every attacker of how many a guess picks one."""
        found = query(
            "select m.group_id, m.n, m.n as prosecutor from m", {"m": state.work("mshown")}
        )
        if covered is None:
            return found
        return found.select("greatest(1, o.covered) AS journalist").join(
            aliased(state.work(covered), "o"),
            on=exp.EQ(this=col("class_id", "o"), expression=col("group_id", "m")),
        )

    def of_all(state: State) -> exp.Select:
        each = query(
            "select m.* from m cross join lateral generate_series(1, m.n)", {"m": classes(state)}
        )
        return _gathered(each, attackers, limits, [])

    def by_value(axis: Axis, state: State) -> exp.Select:
        found = query(
            "select :code as code, m.* from r join m on m.group_id = r.group_id",
            {
                "r": records(spec, description, ["group_id", axis.code], state),
                "m": classes(state),
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
            " case when not h.hidden then h.key end as key, h.place, r.* from r join h"
            " on h.key = r.code",
            {"r": found, "h": hidden},
        )
        return _gathered(tree, attackers, limits, ["hidden", "label", "key"])

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


def _gathered(
    tree: exp.Select, attackers: Sequence[str], limits: Sequence[Limit], by: Sequence[str]
) -> exp.Select:
    """SELECT groups: [hidden, label, people, and by attacker the sum of chances, how many people
    one is picked of at quantiles, and people above limits]."""
    quantiles = exp.Array(expressions=[exp.Literal.number(one) for one in QUANTILES])
    found = query("select count(*) as people from r", {"r": tree})
    told: list[exp.Expr] = []
    for name in attackers:
        among = col(name, "r")
        above = [
            fragment("count(*) filter (where :n <= :largest)", n=among, largest=num(limit.largest))
            for limit in limits
        ]
        figures = fragment(
            "jsonb_build_array(sum(1.0 / :n)::float8,"
            " percentile_disc(:quantiles) within group (order by :n desc), :above)",
            n=among.copy(),
            quantiles=cast(quantiles.copy(), "float8[]"),
            above=exp.Array(expressions=above),
        )
        told += [exp.Literal.string(name), figures]
    found = found.select(named(exp.func("jsonb_build_object", *told), "attackers"))
    keys = [col(name, "r") for name in by]
    found = found.select(*keys).group_by(*[key.copy() for key in keys])
    if not by:
        found = found.select("false AS hidden", "NULL::text AS label", "0 AS key")
    return query(
        "select coalesce(jsonb_agg(jsonb_build_array(g.hidden, g.label, g.people, g.attackers)"
        " order by g.hidden, g.people desc, g.key), '[]') as groups from g where g.people > 0",
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
    highest = {name: 1 / found[1][-1] for name, found in every[0][3].items()}
    return {
        "record_risk": _told(every[0], asked, highest),
        "subgroups": [
            {
                "column": axis.attribute.published,
                "value": row[1],
                "others": row[0],
                **_told(row, asked, highest),
            }
            for axis in _asked(spec)
            for row in facts[_fact(str(axis.index))]
        ],
    }


def _told(
    row: Sequence[Any], asked: Reporting, highest: Mapping[str, float]
) -> dict[str, dict[str, Any] | None]:
    """By attacker; None: people of a population are not counted."""
    _, _, people, attackers = row
    smallest = asked.smallest
    told = stepped(people, smallest)
    # Which of them is told says no more of how many people there are.
    least = told - smallest / 2
    found: dict[str, dict[str, Any] | None] = dict.fromkeys(ATTACKERS)
    for name, (risk, sizes, above) in attackers.items():
        quantiles = {
            f"p{100 * float(at):g}": 1 / size
            if min(float(at), 1 - float(at)) * least >= smallest
            else None
            for at, size in zip(QUANTILES[:-1], sizes, strict=False)
        }
        found[name] = {
            "people": told,
            # Nobody's chance is 0.
            "mean": stepped(risk, smallest * highest[name]) / told or None,
            **quantiles,
            "above": {
                limit.name: stepped(n, smallest) / told
                for limit, n in zip(asked.accepted, above, strict=True)
            },
        }
    return found
