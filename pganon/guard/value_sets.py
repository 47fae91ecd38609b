"""Value sets: of whom all values that a group has were published, again and again the same (T4).

Where all values of a group are different, a person is only in groups with one set of values, and
values do not change, people and groups with one set are a system of their own: renaming the values
of the set maps its worlds onto each other. So the posterior is uniform on the set, whatever is
known of who is there, for every belief that no renaming inside sets changes (Xiao and Tao 2007).
That needs every version that publishes the column; then sets count, and not cells.

Of several columns the set is one of vectors, what people have in all of them, since readers may
know which values go together: then it is vectors that are renamed. Published tables need not tell
vectors. Those of a group are what its people have, and what else is in the set that they had
before; its published values must be those of these vectors.

    completed   (grp, value)        several columns: the vectors of every group
    grouped     (grp, value_set)    the value set of every group; none where its values are others
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlglot import exp

from pganon.errors import PrivacyRefusal
from pganon.guard import work
from pganon.guard.arrays import element
from pganon.guard.model import Version
from pganon.guard.vectors import completed_vectors, odd_rows
from pganon.identifiers import QualifiedName, quote
from pganon.published.elements import of_vector_key
from pganon.published.linked import LinkedRows
from pganon.spec.invariance import OUT
from pganon.sqltools import (
    cast,
    chain,
    col,
    fragment,
    num,
    query,
    stacked,
    text,
)
from pganon.steps import Check, CreateTable, State, Step
from pganon.steps.facts import count

CODE = "value_sets"


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
        out=_out(),
    )


def _out() -> exp.Expr:
    return cast(text(OUT), "uuid")


def sets_of_groups(version: Version, state: State) -> QualifiedName:
    """Table (grp, value_set) of a version that keeps sets."""
    return version.work(state, "grouped")


def group_steps(version: Version) -> tuple[Step, ...]:
    """The value sets of the groups of a version that keeps them."""
    if not version.keeps_sets:
        return ()
    completed = CreateTable(
        "guard completed",
        "what people of a group have, and may have, in all columns together",
        lambda s: version.work(s, "completed"),
        lambda s: completed_vectors(version, s),
    )
    grouped = CreateTable(
        "guard grouped",
        "the value set of every group",
        lambda s: version.work(s, "grouped"),
        lambda s: _grouped(version, s),
    )
    return (grouped,) if len(version.kept or ()) == 1 else (completed, grouped)


def _shown(version: Version, state: State) -> exp.Select:
    """SELECT grp, col, value, n: published values of the columns."""
    return query(
        "select l.grp, h.col, h.value, h.n from l join h on h.col = l.col and h.link = l.link"
        " where :among",
        {
            "l": state.work(work.links(version.part)),
            "h": state.work(work.histogram(version.part)),
        },
        among=exp.In(this=col("col", "h"), expressions=[num(n) for n in version.kept_numbers]),
    )


def _grouped(version: Version, state: State) -> exp.Select:
    """A digest of the values of a group, if these are what it shows."""
    if len(version.kept or ()) == 1:
        return query(
            "select g.grp, :digest as value_set from g group by g.grp",
            {"g": _shown(version, state)},
            digest=fragment(_DIGEST),
        )
    vectors = {"g": version.work(state, "completed")}
    parts = [
        query(
            "select g.grp, :number as col, :value as value from g",
            vectors,
            number=num(number),
            value=of_vector_key(place, len(version.kept or ()), col("value", "g")),
        )
        for place, number in enumerate(version.kept_numbers)
    ]
    told = query(
        "select u.grp, u.col, :list as list from u group by u.grp, u.col",
        {"u": stacked(parts)},
        list=fragment(_LIST, value=col("value", "u")),
    )
    seen = query(
        "select s.grp, s.col, :list as list, max(s.n) as most from s group by s.grp, s.col",
        {"s": _shown(version, state)},
        list=fragment(_LIST, value=col("value", "s")),
    )
    fitting = query(
        "select s.grp, bool_and(s.most = 1 and s.list is not distinct from t.list) as fits"
        " from s left join t on t.grp = s.grp and t.col = s.col group by s.grp",
        {"s": seen, "t": told},
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
            analyze=False,  # see pganon.forms.members.members_step
        ),
    )


def _kept_sets(version: Version, state: State) -> exp.Expr:
    parts: list[exp.Select] = []
    if version.memory is not None and version.memory.sets is not None:
        parts.append(query("select s.value_set, s.value from s", {"s": version.memory.sets}))
    if version.keeps_sets:
        one = len(version.kept or ()) == 1
        values = _shown(version, state) if one else version.work(state, "completed")
        new = query(
            "select s.value_set, v.value from v join s on s.grp = v.grp"
            " where s.value_set is not null",
            {"v": values, "s": sets_of_groups(version, state)},
        )
        parts.append(new)
    return query("select distinct u.value_set, u.value from u", {"u": stacked(parts)})


def value_set_steps(version: Version) -> tuple[Step, ...]:
    """Refuse groups in which people would have other values than before, whatever is accepted."""
    if not version.keeps_sets:
        return ()
    changed = chain(exp.Or, [element("changed", "c", number) for number in version.kept_numbers])

    def select(state: State) -> exp.Expr:
        return query(
            "select coalesce(sum(c.size) filter (where c.known and :changed or c.grp > 0"
            " and (c.value_set is null or c.old_value_set <> c.value_set)), 0)::bigint"
            " as strangers from c",
            {"c": version.work(state, "cells")},
            changed=exp.paren(changed.copy()),
        )

    return (
        Check(
            "guard value sets",
            "whether people are in groups with the values that they had",
            select,
            lambda row, state: _problem(version, row),
            gives=[count("strangers", f"guard{version.number}_")],
        ),
    )


def row_steps(version: Version, rows: Callable[[State], Sequence[LinkedRows]]) -> tuple[Step, ...]:
    """Refuse values of different columns that stand in one row and are no vector's.

    Where all values of a group but one are nobody's, they would tell which is somebody's.
    """
    if not version.keeps_sets or len(version.kept or ()) == 1:
        return ()

    def select(state: State) -> exp.Expr:
        found = [odd_rows(version, table, state) for table in rows(state)]
        if not found:
            return query("select 0::bigint as strangers")
        return query(
            "select coalesce(sum(c.size), 0)::bigint as strangers from c"
            " where c.grp in (select o.grp from o)",
            {"c": version.work(state, "cells"), "o": stacked(found)},
        )

    return (
        Check(
            "guard rows",
            "whether rows of several columns are of vectors that people have, or may have",
            select,
            lambda row, state: _problem(version, row),
            gives=[count("strangers", f"guard{version.number}_rows_")],
        ),
    )


def _problem(version: Version, row: Mapping[str, Any]) -> PrivacyRefusal | None:
    people = row["strangers"]
    if not people:
        return None
    names = [quote(name) for name in version.kept or ()]
    columns = f"column {names[0]}" if len(names) == 1 else f"columns {', '.join(names)}"
    return PrivacyRefusal(
        f"{people} people would not keep the value set of {columns} that they were released with",
        required=0,
        observed=people,
        hint="another version about the same people may have been published meanwhile; run the"
        " release again",
        code=CODE,
    )
