"""Who was released before, and with which value set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from pganon.encode.people import digest, identity, mark, population_secret
from pganon.encode.records import DRAW, PLACE
from pganon.encode.work import CODED, sensitive_values
from pganon.errors import PganonError, PrivacyRefusal
from pganon.identifiers import quote
from pganon.methods.anatomy.shape import AnatomyShape
from pganon.published.elements import own_value, text_key
from pganon.spec.invariance import OUT, ValueSets
from pganon.sqltools import cast, col, computed_once, fragment, named, num, query, text
from pganon.steps import Check, CreateTable, State, Step
from pganon.steps.facts import count

CHANGED = "value_changed"
"""Code of a refusal: a person has another value than before."""


def survivor_steps(shape: AnatomyShape) -> list[Step]:
    return [
        CreateTable(
            "sets",
            "the values of every value set",
            lambda s: s.work("sets"),
            lambda s: _sets(shape, s),
        ),
        CreateTable(
            "returned",
            "records of people with a value set, and of newcomers",
            lambda s: s.work("returned"),
            lambda s: _returned(shape, s),
        ),
        Check(
            "values",
            "whether people have the values that they had",
            lambda s: query(
                "select count(*) filter (where r.other) as changed,"
                " count(*) filter (where r.vset is not null) as survivors from r",
                {"r": s.work("returned")},
            ),
            lambda row, state: _problem(shape, row),
            gives=[count("changed"), count("survivors")],
        ),
    ]


def known_sets(shape: AnatomyShape) -> ValueSets:
    found = shape.spec.value_sets
    assert found is not None
    return found


def _sets(shape: AnatomyShape, state: State) -> exp.Expr:
    values = query(
        "select d.code, :key as key from d",
        {"d": state.work(sensitive_values(shape.sensitive.index))},
        key=text_key(col("value", "d")),
    )
    # Of the default collation, which gives way to that of the column.
    return query(
        "select (dense_rank() over (order by s.value_set))::int as vset, s.value_set,"
        ' s.value collate "default" as key, d.code from s left join d on d.key = s.value',
        {"s": known_sets(shape).sets, "d": values},
    )


def _out() -> exp.Expr:
    return cast(text(OUT), "uuid")


def _returned(shape: AnatomyShape, state: State) -> exp.Expr:
    known = known_sets(shape)
    key = identity(shape.spec)
    assert key is not None
    secret = population_secret(state)
    names = list(dict.fromkeys([DRAW, PLACE, *shape.carried]))
    records = query("select 1 from c", {"c": state.work(CODED)}).select(
        *[col(name, "c") for name in names],
        named(digest(col(key, "c"), secret), "digest"),
        named(own_value(shape.sensitive, "c"), "told"),
        append=False,
    )
    people = query(
        "select p.person, :mark as mark, s.vset, c.value_set = :out as gone"
        " from p join c on c.cell = p.cell and c.value_set is not null"
        " left join (select distinct v.vset, v.value_set from v) as s on s.value_set = c.value_set",
        {"p": known.person, "c": known.cell, "v": state.work("sets")},
        mark=exp.Bracket(this=col("marks", "p"), expressions=[num(known.number - 1)]),
        out=_out(),
    )
    return query(
        "select k.vset, coalesce(k.gone, false) as gone,"
        " case when k.vset is not null then k.mark is distinct from :mark else false end as other"
        " from r left join k on k.person = r.digest",
        {"r": computed_once(records), "k": people},
        mark=mark(col("digest", "r"), col("told", "r"), secret),
    ).select(*[col(name, "r") for name in names])


def _problem(shape: AnatomyShape, row: Mapping[str, Any]) -> PganonError | None:
    if not row["changed"]:
        return None
    column = quote(shape.sensitive.column.name)
    return PrivacyRefusal(
        f"{row['changed']} people have another value in column {column} than in the version"
        " before; with refresh: invariant values do not change",
        observed=row["changed"],
        hint="leave these people out with `where`, or restore their values",
        code=CHANGED,
    )


def survivors(shape: AnatomyShape, state: State) -> exp.Select:
    """SELECT of the columns of `returned` of people who have a value set."""
    return query("select r.* from r where r.vset is not null", {"r": state.work("returned")})


def counted(rows: exp.Select, shape: AnatomyShape) -> exp.Select:
    """SELECT vset, code, n: records of each set by the code of their value."""
    return query(
        "select r.vset, :code as code, count(*) as n from r group by 1, 2",
        {"r": rows},
        code=col(shape.value, "r"),
    )


def fits(table: str, other: str) -> exp.Expr:
    """The same value of the same set; values that nobody has match nothing."""
    return fragment(f"{table}.vset = {other}.vset and {table}.code = {other}.code")
