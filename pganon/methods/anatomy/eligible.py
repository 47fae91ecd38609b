"""Whether a table can be anatomized, and which records have to stay home so that it can.

    frequency   (value, n)                  records per sensitive value
    kept        (rid, value, c<i>)          records that are released

The table is eligible when no value has more than 1/l of the records: groups of l different
values exist then, and only then (Xiao and Tao 2006, property 1). With `on_infeasible: suppress`
as few records as possible are left out: of every value at most c are kept, c being the largest
number for which sum of min(f, c) >= l * c. With the values in falling order of frequency that is
the minimum over h < l of (sum of f beyond the h-th) / (l - h), rounded down.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from pganon.errors import PganonError, PrivacyRefusal
from pganon.identifiers import quote
from pganon.methods.anatomy.shape import Shape
from pganon.methods.cells import nothing_left, suppression_problem
from pganon.plan.sqltools import col, fragment, named, num, query
from pganon.plan.steps import Check, CreateTable, State, Step


def eligible_steps(shape: Shape) -> list[Step]:
    return [
        CreateTable(
            "frequency",
            "records per sensitive value",
            lambda s: s.work("frequency"),
            lambda s: query(
                "select :v as value, count(*) as n from c group by 1",
                {"c": s.work("coded")},
                v=col(shape.value, "c"),
            ),
        ),
        Check(
            "eligible",
            "whether any value is too frequent",
            lambda s: _eligibility(shape, s),
            lambda row, state: _not_eligible(shape, row, state),
        ),
        CreateTable(
            "kept",
            "records that are released",
            lambda s: s.work("kept"),
            lambda s: _kept(shape, s),
        ),
        Check(
            "suppressed",
            "records left out, held against the limit",
            lambda s: query(
                "select count(*) as released, :records - count(*) as suppressed from k",
                {"k": s.work("kept")},
                records=num(s.count("records")),
            ),
            lambda row, state: suppression_problem(shape.spec, row, state),
        ),
    ]


_CAP = """
    select min(floor((r.total - r.before) / (:l - r.rank + 1)))::bigint as cap
    from (
        select row_number() over w as rank, sum(f.n) over w - f.n as before,
            sum(f.n) over () as total from f
        window w as (order by f.n desc, f.value)
    ) as r
    where r.rank <= :l
"""


def _eligibility(shape: Shape, state: State) -> exp.Expr:
    """One row: `most_frequent`, records `counted`, the largest l `reachable`, and c as `cap`."""
    frequency = {"f": state.work("frequency")}
    return query(
        "select t.most_frequent, t.counted,"
        " floor(t.counted / t.most_frequent)::bigint as reachable,"
        " case when t.most_frequent * :l <= t.counted then t.most_frequent"
        " when t.different < :l then 0 else c.cap end as cap"
        " from (select max(f.n) as most_frequent, sum(f.n) as counted, count(*) as different"
        " from f) as t cross join c",
        {**frequency, "c": query(_CAP, frequency, l=num(shape.model.l))},
        l=num(shape.model.l),
    )


def _not_eligible(shape: Shape, row: Mapping[str, Any], state: State) -> PganonError | None:
    l = shape.model.l  # noqa: E741 (the field's own letter)
    if row["most_frequent"] is not None and row["most_frequent"] * l <= row["counted"]:
        return None
    if shape.spec.policy.on_infeasible == "suppress" and row["cap"]:
        return None  # the limit on suppressed records decides
    if row["most_frequent"] is None:
        return nothing_left(state)
    frequent, counted, reachable = row["most_frequent"], row["counted"], row["reachable"]
    hint = f"require at most l = {reachable}" if reachable > 1 else "choose another column"
    if row["cap"]:
        hint += ", or leave records out with on_infeasible: suppress and a suppression_limit"
    return PrivacyRefusal(
        f"not eligible: column {quote(shape.sensitive.column.name)}: its most frequent value has"
        f" {frequent} of {counted} records, l = {l} allows at most {counted // l}",
        model=shape.model.name,
        required=l,
        observed=reachable,
        hint=hint,
        code="infeasible",
    )


def _kept(shape: Shape, state: State) -> exp.Expr:
    columns = [
        col("rid", "c"),
        named(col(shape.value, "c"), "value"),
        *[col(code, "c") for code in shape.codes],
    ]
    tree = exp.select(*columns).from_(
        exp.alias_(state.work("coded").table, "c", table=True, quoted=True)
    )
    if state.count("most_frequent") == state.count("cap"):
        return tree
    ranked = tree.select(
        named(
            fragment("row_number() over (partition by :v order by c.rid)", v=col(shape.value, "c")),
            "place",
        )
    )
    return query(
        "select r.rid, r.value from r where r.place <= :cap",
        {"r": ranked},
        cap=num(state.count("cap")),
    ).select(*[col(code, "r") for code in shape.codes])
