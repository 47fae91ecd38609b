"""Value sets: of whom all values that a group has were published, again and again the same (T4).

Where all values of a group are different, a person is only in groups with one set of values, and
values do not change, people and groups with one set are a system of their own: renaming the values
of the set maps its worlds onto each other. So the posterior is uniform on the set, whatever is
known of who is there, for every belief that no renaming inside sets changes (Xiao and Tao 2007).
That needs every version that publishes the column; then sets count, and not cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from pganon.errors import PrivacyRefusal
from pganon.guard import work
from pganon.guard.arrays import element
from pganon.guard.model import Version
from pganon.identifiers import quote
from pganon.spec.invariance import OUT
from pganon.sqltools import cast, fragment, num, query, stacked, text
from pganon.steps import Check, CreateTable, State, Step
from pganon.steps.facts import count

CODE = "value_sets"


def kept_number(version: Version) -> int | None:
    """The number of the column whose value sets people keep."""
    return version.columns.index(version.kept) + 1 if version.kept else None


def set_after(version: Version) -> exp.Expr:
    """SQL: the value set of a cell `q`, given that of its group in `v` and that so far in `q`.

    Who was left out by a method that read values stays out: nobody must wait for other values.
    """
    if not version.kept:
        return fragment("null::uuid")
    if not version.keeps_sets:
        return fragment("q.old_value_set")
    return fragment(
        "case when q.grp > 0 then v.value_set when q.grp < 0 and q.old_value_set is null then :out"
        " else q.old_value_set end",
        out=cast(text(OUT), "uuid"),
    )


def sets_of_groups(version: Version, state: State) -> exp.Select:
    """SELECT grp, value_set of a version that keeps sets: a digest of the values of its groups."""
    number = kept_number(version)
    assert number is not None
    return query(
        "select l.grp, s.value_set from l join s on s.link = l.link where l.col = :number",
        {
            "l": state.work(work.links(version.part)),
            "s": _sets_of_links(version, state, number),
        },
        number=num(number),
    )


def _sets_of_links(version: Version, state: State, number: int) -> exp.Select:
    return query(
        "select h.link, :digest as value_set from h where h.col = :number group by h.link",
        {"h": state.work(work.histogram(version.part))},
        digest=fragment(_DIGEST),
        number=num(number),
    )


_DIGEST = (
    "encode(substr(sha256(convert_to("
    'jsonb_agg(h.value order by h.value collate "C")::text'
    ", 'UTF8')), 1, 16), 'hex')::uuid"
)


def kept_sets(version: Version) -> tuple[Step, ...]:
    """The values of every set that people have, for the memory."""
    if not version.kept:
        return ()
    return (
        CreateTable(
            "guard set",
            "the values of every value set, for the memory",
            lambda s: version.staged(s, "set"),
            lambda s: _kept_sets(version, s),
        ),
    )


def _kept_sets(version: Version, state: State) -> exp.Expr:
    number = kept_number(version)
    parts: list[exp.Select] = []
    if version.memory is not None and version.memory.sets is not None:
        parts.append(query("select s.value_set, s.value from s", {"s": version.memory.sets}))
    if number is not None and version.keeps_sets:
        new = query(
            "select s.value_set, h.value from h join s on s.link = h.link where h.col = :number",
            {
                "h": state.work(work.histogram(version.part)),
                "s": _sets_of_links(version, state, number),
            },
            number=num(number),
        )
        parts.append(new)
    return query("select distinct u.value_set, u.value from u", {"u": stacked(parts)})


def value_set_steps(version: Version) -> tuple[Step, ...]:
    """Refuse groups in which people would have other values than before, whatever is accepted."""
    number = kept_number(version)
    if number is None or not version.keeps_sets:
        return ()

    def select(state: State) -> exp.Expr:
        return query(
            "select coalesce(sum(c.size) filter (where c.grp > 0"
            " and c.old_value_set <> c.value_set), 0)::bigint as strangers,"
            " coalesce(sum(c.size) filter (where c.known and :changed), 0)::bigint"
            " as converts from c",
            {"c": version.work(state, "cells")},
            changed=element("changed", "c", number),
        )

    return (
        Check(
            "guard value sets",
            "whether people are in groups with the values that they had",
            select,
            lambda row, state: _problem(version, row),
            gives=[count(f"{name}", f"guard{version.number}_") for name in _COUNTED],
        ),
    )


_COUNTED = ("strangers", "converts")


def _problem(version: Version, row: Mapping[str, Any]) -> PrivacyRefusal | None:
    people = row["strangers"] + row["converts"]
    if not people:
        return None
    return PrivacyRefusal(
        f"{people} people would not keep the value set of column {quote(str(version.kept))} that"
        " they were released with",
        required=0,
        observed=people,
        hint="another version about the same people may have been published meanwhile; run the"
        " release again",
        code=CODE,
    )
