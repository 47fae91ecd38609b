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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from pganon.encode.people import mark_from, mark_seed, population_secret
from pganon.error_codes import ErrorCode
from pganon.errors import PrivacyRefusal
from pganon.forms.elements import of_vector_key, vector_key
from pganon.forms.links import LinkedRows
from pganon.history.model import GroupTables
from pganon.identifiers import QualifiedName, quote
from pganon.resolved.invariance import OUT, Signatures
from pganon.sqltools import aliased, cast, chain, col, fragment, named, num, query, stacked, text
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


# Signatures of groups, and the vectors of groups of several sensitive columns.
#
# completed   (grp, value)        several columns: the vectors of every group
# grouped     (grp, value_set)    the signature of every group; NULL where its values are others


def completed(version: InvariantVersion, state: State) -> exp.Expr:
    """SELECT grp, value: vectors of the people of a group, and those of their earlier signature."""
    secret = population_secret(state)
    seeded = query(
        "select n.*, :seed as seed from n where n.grp > 0",
        {"n": members(version, state)},
        seed=mark_seed(col("person", "n"), secret),
    )
    tree = query("select n.grp from n", {"n": seeded})
    keys: list[exp.Expr] = []
    for place, _ in enumerate(version.columns):
        alias = f"o{place}"
        on = fragment(
            ":grp = n.grp and :at = :place and :value_mark = :mark",
            grp=col("grp", alias),
            at=col("place", alias),
            place=num(place),
            value_mark=mark_from(col("seed", "n"), col("value", alias)),
            mark=col(f"mark{place}", "n"),
        )
        tree = tree.join(aliased(shown(version, state), alias), on=on)
        keys.append(col("value", alias))
    parts = [tree.select(named(vector_key(keys), "value"))]
    if version.earlier is not None:
        had = query(
            "select n.grp, min(p.value_set::text)::uuid as value_set from n"
            " join p on p.person = n.person where n.grp > 0 group by n.grp",
            {"n": members(version, state), "p": version.earlier.people},
        )
        parts.append(
            query(
                "select h.grp, s.value from h join s on s.value_set = h.value_set",
                {"h": had, "s": version.earlier.values},
            )
        )
    return query("select distinct u.grp, u.value from u", {"u": stacked(parts)})


def grouped(version: InvariantVersion, state: State) -> exp.Select:
    """SELECT grp, value_set: a digest of the values of a group, if it shows exactly these."""
    if version.is_one:
        return query(
            "select g.grp, :digest as value_set from g group by g.grp",
            {"g": shown(version, state)},
            digest=fragment(_DIGEST),
        )
    vectors = {"g": state.work("completed")}
    parts = [
        query(
            "select g.grp, :at as place, :value as value from g",
            vectors,
            at=num(place),
            value=of_vector_key(place, len(version.columns), col("value", "g")),
        )
        for place, _ in enumerate(version.columns)
    ]
    wanted = query(
        "select u.grp, u.place, :list as list from u group by u.grp, u.place",
        {"u": stacked(parts)},
        list=fragment(_LIST, value=col("value", "u")),
    )
    seen = query(
        "select s.grp, s.place, :list as list, max(s.n) as most from s group by s.grp, s.place",
        {"s": shown(version, state)},
        list=fragment(_LIST, value=col("value", "s")),
    )
    fitting = query(
        "select s.grp, bool_and(s.most = 1 and s.list is not distinct from t.list) as fits"
        " from s left join t on t.grp = s.grp and t.place = s.place group by s.grp",
        {"s": seen, "t": wanted},
    )
    digests = query(
        "select g.grp, :digest as digest from g group by g.grp", vectors, digest=fragment(_DIGEST)
    )
    return query(
        "select f.grp, case when f.fits then d.digest end as value_set from f"
        " left join d on d.grp = f.grp",
        {"f": fitting, "d": digests},
    )


_LIST = 'jsonb_agg(:value order by :value collate "C")'

_DIGEST = (
    "encode(substr(sha256(convert_to("
    'jsonb_agg(g.value order by g.value collate "C")::text'
    ", 'UTF8')), 1, 16), 'hex')::uuid"
)


def odd_rows(version: InvariantVersion, table: LinkedRows, state: State) -> exp.Select:
    """SELECT grp: groups whose rows are not those of their vectors."""
    names = version.columns
    keys = [of_vector_key(names.index(n), len(names), col("value", "g")) for n in table.names]
    wanted = query(
        "select g.grp, :value as value from g",
        {"g": state.work("completed")},
        value=vector_key(keys),
    )
    shown = query("select r.link as grp, r.value from r", {"r": table.rows})
    return query(
        "select coalesce(s.grp, w.grp)::bigint as grp from s"
        " full join w on w.grp = s.grp and w.value = s.value where s.grp is null or w.grp is null",
        {"s": shown, "w": wanted},
    )


@dataclass(frozen=True)
class InvariantVersion:
    """An m-invariant version.

    Attributes:
        columns: names of the columns, in their order in a vector.
        marks: their places, from 1, among the marks of members.
        links: the same among the columns of histograms.
        earlier: the signatures that people had before; None if none had any.
        histogram: `col` integer, `link` bigint, `value` text, `n` bigint: published values.
        rows: of sensitive tables of several columns.
    """

    columns: tuple[str, ...]
    marks: tuple[int, ...]
    links: tuple[int, ...]
    tables: Callable[[State], GroupTables]
    histogram: Callable[[State], QualifiedName]
    earlier: Signatures | None
    rows: Callable[[State], Sequence[LinkedRows]]

    @property
    def is_one(self) -> bool:
        return len(self.columns) == 1


def members(version: InvariantVersion, state: State) -> exp.Select:
    """SELECT person, grp, mark0, ..: the group and the marks of everybody."""
    marks = [named(fragment(f"m.marks[{n}]"), f"mark{i}") for i, n in enumerate(version.marks)]
    return query(
        "select m.member as person, (:n)::bigint as grp from m",
        {"m": version.tables(state).members},
        n=col(version.tables(state).link, "m"),
    ).select(*marks)


def shown(version: InvariantVersion, state: State) -> exp.Select:
    """SELECT place, grp, value, n: published values of the columns, which are counted from 0."""
    parts = [
        query(
            "select :place as place, h.link as grp, h.value, h.n from h where h.col = :number",
            {"h": version.histogram(state)},
            place=num(place),
            number=num(number),
        )
        for place, number in enumerate(version.links)
    ]
    return stacked(parts)
