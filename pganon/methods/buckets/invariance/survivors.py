"""Signatures of the individuals that earlier versions released."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from pganon.encode.people import digest, identity, mark, population_secret
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PrivacyRefusal
from pganon.forms.elements import own_value
from pganon.identifiers import quote
from pganon.methods.buckets.invariance.context import InvarianceContext
from pganon.resolved.invariance import OUT
from pganon.sqltools import cast, chain, col, computed_once, fragment, named, query, text
from pganon.steps import Check, State, Step, table
from pganon.steps.facts import count


def survivor_steps(context: InvarianceContext) -> list[Step]:
    """From the encoded records to `sets` and `returned`; refuses changed values."""
    return [
        table("sets", "the values of every signature", lambda s: _sets(context, s)),
        table(
            "returned",
            "records of people with a signature, and of newcomers",
            lambda s: _returned(context, s),
        ),
        Check(
            "values",
            "whether people have the values that they had",
            lambda s: query(
                "select count(*) filter (where r.other) as changed,"
                " count(*) filter (where r.vset is not null) as survivors from r",
                {"r": s.work("returned")},
            ),
            lambda row, state: _problem(context, row),
            gives=[count("changed"), count("survivors")],
        ),
    ]


def _sets(context: InvarianceContext, state: State) -> exp.Expr:
    # Of the default collation, which gives way to that of the column.
    return query(
        "select (dense_rank() over (order by s.value_set))::int as vset, s.value_set,"
        ' s.value collate "default" as key, d.code from s left join d on d.key = s.value',
        {"s": context.signatures.values, "d": context.keyed(state)},
    )


def _returned(context: InvarianceContext, state: State) -> exp.Expr:
    signatures = context.signatures
    key = identity(context.spec)
    assert key is not None
    secret = population_secret(state)
    values = {f"told{place}": item for place, item in enumerate(context.items)}
    records = query("select 1 from c", {"c": context.records(state)}).select(
        *[col(name, "c") for name in context.columns],
        named(digest(col(key, "c"), secret), "digest"),
        *[named(own_value(item, "c"), name) for name, item in values.items()],
        append=False,
    )
    marks = [f"mark{place}" for place in range(signatures.columns)]
    people = query(
        "select p.person, s.vset, p.value_set = :out as gone from p"
        " left join (select distinct v.vset, v.value_set from v) as s on s.value_set = p.value_set",
        {"p": signatures.people, "v": state.work("sets")},
        out=cast(text(OUT), "uuid"),
    ).select(*[col(name, "p") for name in marks])
    other = [
        fragment(
            ":had is distinct from :has",
            had=col(name, "k"),
            has=mark(col("digest", "r"), col(value, "r"), secret),
        )
        for name, value in zip(marks, values, strict=True)
    ]
    return query(
        "select k.vset, coalesce(k.gone, false) as gone,"
        " case when k.vset is not null then :other else false end as other"
        " from r left join k on k.person = r.digest",
        {"r": computed_once(records), "k": people},
        other=chain(exp.Or, other),
    ).select(*[col(name, "r") for name in context.columns])


def _problem(context: InvarianceContext, row: Mapping[str, Any]) -> PganonError | None:
    if not row["changed"]:
        return None
    names = [quote(item.column.name) for item in context.items]
    columns = f"column {names[0]}" if len(names) == 1 else f"one of the columns {', '.join(names)}"
    return PrivacyRefusal(
        f"{row['changed']} people have another value in {columns} than in the version"
        " before; with refresh: invariant values do not change",
        observed=row["changed"],
        hint="leave these people out with `where`, or restore their values",
        code=ErrorCode.VALUE_CHANGED,
    )


def survivors(state: State) -> exp.Select:
    """SELECT of the rows of `returned` with a signature."""
    return query("select r.* from r where r.vset is not null", {"r": state.work("returned")})


def counted(rows: exp.Select, context: InvarianceContext) -> exp.Select:
    """SELECT vset, code, n: records by signature and vector."""
    return query(
        "select r.vset, :code as code, count(*) as n from r group by 1, 2",
        {"r": rows},
        code=context.vector_of("r"),
    )


def fits(table: str, other: str) -> exp.Expr:
    """Condition: the same vector of the same signature; vectors without a record match nothing."""
    return fragment(f"{table}.vset = {other}.vset and {table}.code = {other}.code")
