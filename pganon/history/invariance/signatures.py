"""Steps that check an m-invariant version and keep the signatures of its people (T4).

A signature is the set of values that all groups of a person have, in every version.

Where all values of a group are different, a person is only in groups with one set of values, and
values do not change, people and groups with one signature can be looked at apart from all others.
Renaming the values of the signature maps its possible worlds onto each other. So the posterior is
uniform on the signature, for every belief that no such renaming changes (Xiao and Tao 2007).

Of several columns it is a set of vectors, the values of a person in all of them, since readers may
know which values go together. Published tables need not disclose vectors. Those of a group are the
vectors of its people, and all others of their signature; its published values must be theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from pganon.error_codes import ErrorCode
from pganon.errors import PrivacyRefusal
from pganon.history.invariance.groups import completed, grouped, odd_rows
from pganon.history.invariance.version import InvariantVersion, members, shown
from pganon.identifiers import quote
from pganon.resolved.invariance import OUT
from pganon.sqltools import cast, chain, col, fragment, named, query, stacked, text
from pganon.steps import Check, CreateTable, State, Step
from pganon.steps.facts import count

SIGNATURES, SIGNATURE_VALUES = "value_sets", "values_of_sets"
"""Staged tables: see :class:`pganon.resolved.invariance.Signatures`."""


def signature_steps(version: InvariantVersion) -> tuple[Step, ...]:
    """Refuse groups in which people would have other values than before.

    A policy cannot accept such groups.
    """
    vectors = CreateTable(
        "completed",
        "what people of a group have, and may have, in all columns together",
        lambda s: s.work("completed"),
        lambda s: completed(version, s),
    )
    return (
        *(() if version.is_one else (vectors,)),
        CreateTable(
            "value sets of groups",
            "the signature of every group",
            lambda s: s.work("value_set_of"),
            lambda s: grouped(version, s),
        ),
        Check(
            "value sets",
            "whether people are in groups with the values that they had",
            lambda s: _strangers(version, s),
            lambda row, state: _problem(version, row),
            gives=[count("strangers", "value_sets_")],
        ),
        *(() if version.is_one else (_rows_check(version),)),
        CreateTable(
            SIGNATURES,
            "the signature of everybody",
            lambda s: s.stage(SIGNATURES),
            lambda s: _people(version, s),
            analyze=False,  # see pganon.methods.common.form.members.members_step
        ),
        CreateTable(
            SIGNATURE_VALUES,
            "the values of every signature",
            lambda s: s.stage(SIGNATURE_VALUES),
            lambda s: _sets(version, s),
            analyze=False,
        ),
    )


def _beside(version: InvariantVersion, state: State) -> exp.Select:
    """SELECT person, grp, value_set, old, mark0, .., had0, ..: people then and now."""
    places = range(len(version.columns))
    now = query(
        "select n.*, g.value_set from n left join g on g.grp = n.grp",
        {"n": members(version, state), "g": state.work("value_set_of")},
    )
    if version.earlier is None:
        nothing = [named(fragment("null::bigint"), f"had{place}") for place in places]
        return query("select n.*, null::uuid as old from n", {"n": now}).select(*nothing)
    had = [named(col(f"mark{place}", "p"), f"had{place}") for place in places]
    marks = [named(col(f"mark{place}", "n"), f"mark{place}") for place in places]
    return query(
        "select coalesce(n.person, p.person) as person, coalesce(n.grp, 0) as grp, n.value_set,"
        " p.value_set as old from n full join p on p.person = n.person",
        {"n": now, "p": version.earlier.people},
    ).select(*marks, *had)


def _strangers(version: InvariantVersion, state: State) -> exp.Expr:
    places = range(len(version.columns))
    changed = [fragment(f"b.had{p} is not null and b.mark{p} <> b.had{p}") for p in places]
    return query(
        "select count(*) filter (where b.value_set is null or b.old <> b.value_set or :changed)"
        " as strangers from b where b.grp > 0",
        {"b": _beside(version, state)},
        changed=chain(exp.Or, changed),
    )


def _people(version: InvariantVersion, state: State) -> exp.Expr:
    """SELECT person, value_set, mark0, ..: the signature of everybody.

    People left out by a method that reads values stay out: nobody must wait for others.
    """
    places = range(len(version.columns))
    marks = [
        named(fragment(f"case when b.grp > 0 then b.mark{p} else b.had{p} end"), f"mark{p}")
        for p in places
    ]
    tree = query(
        "select b.person, case when b.grp > 0 then b.value_set when b.grp < 0 and b.old is null"
        " then :out else b.old end as value_set from b",
        {"b": _beside(version, state)},
        out=cast(text(OUT), "uuid"),
    ).select(*marks)
    return query("select p.* from p where p.value_set is not null", {"p": tree})


def _sets(version: InvariantVersion, state: State) -> exp.Expr:
    values = shown(version, state) if version.is_one else state.work("completed")
    parts = [
        query(
            "select s.value_set, v.value from v join s on s.grp = v.grp"
            " where s.value_set is not null",
            {"v": values, "s": state.work("value_set_of")},
        )
    ]
    if version.earlier is not None:
        parts.append(query("select s.value_set, s.value from s", {"s": version.earlier.values}))
    return query("select distinct u.value_set, u.value from u", {"u": stacked(parts)})


def _rows_check(version: InvariantVersion) -> Check:
    """Refuse rows of several columns whose values are of no vector of the group.

    Where all values of a group but one are counterfeits, such rows would disclose the real one.
    """

    def select(state: State) -> exp.Expr:
        odd = [odd_rows(version, table, state) for table in version.rows(state)]
        if not odd:
            return query("select 0::bigint as strangers")
        return query(
            "select count(*) as strangers from n where n.grp in (select o.grp from o)",
            {"n": members(version, state), "o": stacked(odd)},
        )

    return Check(
        "value sets in rows",
        "whether rows of several columns are of vectors that people have, or may have",
        select,
        lambda row, state: _problem(version, row),
        gives=[count("strangers", "value_sets_rows_")],
    )


def _problem(version: InvariantVersion, row: Mapping[str, Any]) -> PrivacyRefusal | None:
    people = row["strangers"]
    if not people:
        return None
    names = [quote(name) for name in version.columns]
    columns = f"column {names[0]}" if len(names) == 1 else f"columns {', '.join(names)}"
    return PrivacyRefusal(
        f"{people} people would not keep the signature of {columns} that they were released with",
        required=0,
        observed=people,
        hint="another version about the same people may have been published meanwhile; run the"
        " release again",
        code=ErrorCode.VALUE_SETS,
    )
