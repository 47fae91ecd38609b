"""Removed individuals: people of a version who are not in the source any more.

    gone      (person, number)   removed individuals, with their groups
    leaving   (number)           the groups that the run withdraws

A group is withdrawn as a whole, with all of its people, so that no remaining row stands out.
Presence in the source alone decides who was removed, never a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PrivacyRefusal
from pganon.forms.facts import LEAVING, leaving_of
from pganon.forms.work import LEAVING_GROUPS
from pganon.resolved.increments import WHOLE, Growth, all_rows
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, fragment, named, num, query, scalar, stacked, unparsed
from pganon.steps import Check, CreateTable, State, Step
from pganon.steps.facts import count

REMOVED = count("left_people", assumed=0)
"""People in groups that were shown so far, who are not in the source any more."""

LEAVING_PEOPLE = count("leaving_people", assumed=0)
LEAVING_RECORDS = count("leaving_records", assumed=0)
"""People in the groups that are withdrawn, and their records."""

_GONE = "gone"


def removed_steps(spec: ReleaseSpec, growth: Growth, weights: tuple[str, ...]) -> list[Step]:
    """Steps that count removed individuals and list the groups to be withdrawn.

    Args:
        weights: see :class:`~pganon.forms.form.PublishedForm`.
    """
    if growth.version is None:
        return []
    return [
        CreateTable(
            _GONE,
            "people of the version who left",
            lambda s: s.work(_GONE),
            lambda s: query(
                "select m.person, m.number from m left join w on w.person = m.person"
                " where w.person is null",
                {"m": shown_members(growth), "w": s.work(WHOLE)},
            ),
        ),
        CreateTable(
            "leaving",
            "groups that go with them",
            lambda s: s.work(LEAVING_GROUPS),
            lambda s: _leaving(spec, s),
        ),
        Check(
            "leavers",
            "how many left, and what goes with them",
            lambda s: _counted(s, growth, weights),
            lambda row, state: _problem(spec, growth, row),
            gives=[
                *(REMOVED, LEAVING, LEAVING_PEOPLE, LEAVING_RECORDS),
                *[leaving_of(place) for place in range(len(growth.increments))],
            ],
        ),
    ]


def shown_members(growth: Growth) -> exp.Select:
    """SELECT person, number, marks: people in groups of the version; number may be NULL."""
    number = fragment("null::bigint") if growth.number is None else col(growth.number, "t")
    each = [
        query(
            "select t.member as person, (:number)::bigint as number, t.marks from t"
            " where t.marks is not null",
            {"t": table},
            number=number.copy(),
        )
        for table in growth.tables_of("members")
    ]
    if growth.withdrawn is None:
        return stacked(each)
    return query(
        "select m.* from m left join g on g.number = m.number where g.number is null",
        {"m": stacked(each), "g": growth.withdrawn},
    )


def _leaving(spec: ReleaseSpec, state: State) -> exp.Expr:
    groups = query("select distinct g.number::integer as number from g", {"g": state.work(_GONE)})
    return groups if spec.policy.leavers == "withdraw" else groups.where(exp.false())


def _counted(state: State, growth: Growth, weights: tuple[str, ...]) -> exp.Expr:
    leaving = state.work(LEAVING_GROUPS)
    people = query(
        "select count(distinct m.person) as people from m join l on l.number = m.number",
        {"m": shown_members(growth), "l": leaving},
    )
    tree = query(
        "select (select count(distinct g.person) from g) as left_people,"
        " (select count(*) from l) as leaving, p.people as leaving_people,"
        " r.records as leaving_records from p cross join r",
        {"g": state.work(_GONE), "l": leaving, "p": people, "r": _records(state, growth, weights)},
    )
    before = 0
    for place, increment in enumerate(growth.increments):  # whose numbers follow each other
        mine = query(
            "select count(*) from l where l.number > :before and l.number <= :last",
            {"l": leaving},
            before=num(before),
            last=num(increment.numbered),
        )
        tree = tree.select(named(scalar(mine), leaving_of(place).column), copy=False)
        before = increment.numbered
    return tree


def _records(state: State, growth: Growth, weights: tuple[str, ...]) -> exp.Select:
    """SELECT records: number of records of the groups to be withdrawn, by the first view."""
    if growth.number is None:
        return query("select 0::bigint as records")
    shown = {column.name for column in growth.views[0].columns}
    weight = next((col(name, "v") for name in weights if name in shown), num(1))
    return query(
        "select coalesce(round(sum(:weight)), 0)::bigint as records from v"
        " join l on l.number = :group",
        {"v": unparsed(all_rows(growth.increments, 0)), "l": state.work(LEAVING_GROUPS)},
        weight=weight,
        group=col(growth.number, "v"),
    )


def _problem(spec: ReleaseSpec, growth: Growth, row: Mapping[str, Any]) -> PganonError | None:
    """Refuse to withdraw everything: people with new keys look like removed ones."""
    if row["leaving"] == 0 or row["leaving_records"] < growth.shown:
        return None
    return PrivacyRefusal(
        f"every group of version {growth.version} of the release has somebody who is not in"
        f" {spec.source.name} any more; all {growth.shown} records would be withdrawn",
        required=1,
        observed=0,
        hint="if that is so, `pganon drop` takes the release away; else see whether people have"
        " the keys that they had",
        code=ErrorCode.NOBODY_LEFT,
    )
