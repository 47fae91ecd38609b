"""Signatures of groups, and the vectors of groups of several sensitive columns.

completed   (grp, value)        several columns: the vectors of every group
grouped     (grp, value_set)    the signature of every group; NULL where its values are others
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.people import mark_from, mark_seed, population_secret
from pganon.forms.elements import of_vector_key, vector_key
from pganon.forms.links import LinkedRows
from pganon.history.invariance.version import InvariantVersion, members, shown
from pganon.sqltools import aliased, col, fragment, named, num, query, stacked
from pganon.steps import State


def completed(version: InvariantVersion, state: State) -> exp.Expr:
    """SELECT grp, value: vectors of the people of a group, and those of their earlier signature."""
    parts = [_vectors_of_people(version, state)]
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


def _vectors_of_people(version: InvariantVersion, state: State) -> exp.Select:
    """SELECT grp, value: the marks of people show which values of their group are theirs."""
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
    return tree.select(named(vector_key(keys), "value"))


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
