"""Risk from a reader who knows which sensitive values occur together, under independent buckets.

A value v of a person's bucket is weighted by how well it fits the values of the person's buckets in
the other tables: f(v) times, for every other column, the mean lift of v with the values there,
lift(v, y) = P(v, y) / (P(v) P(y)) over the records of the source. The likeliest value's share of
the weights is the local informed risk. It ignores the other members of the buckets, so the exact
posterior may be higher. If all tables have the same buckets, there is no such risk.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.forms.elements import own_value
from pganon.forms.form import Relations
from pganon.methods.buckets.form.verification import histogram_of
from pganon.methods.common.arrangement import Arrangement
from pganon.policy.options import GROUP_ID
from pganon.privacy.rows import Relation
from pganon.resolved.model import Sensitive
from pganon.sqltools import col, fragment, named, query


def elsewhere(arrangement: Arrangement, item: Sensitive) -> list[Sensitive]:
    """Sensitive columns with other buckets than the given column."""
    partition = arrangement.table_of(item.index).partition
    return [s for t in arrangement.sensitive if t.partition != partition for s in t.sensitive]


def informed(
    arrangement: Arrangement, item: Sensitive, tables: Relations, records: Relation
) -> exp.Select:
    """SELECT one row: `informed`, the highest risk of a record; NULL if no column is elsewhere.

    Args:
        records: with the values `v<j>` that occur together.
    """
    others = elsewhere(arrangement, item)
    if not others:
        return query("select null::float8 as informed")
    tree = query("select h.value from q", {"q": _links(arrangement, tables)})
    weight: exp.Expr = fragment("h.n::float8")
    tree = tree.join(
        histogram_of(arrangement, tables, item)[1].subquery("h"),
        on=_same_bucket(arrangement, item, "h"),
    )
    for other in others:
        alias = f"m{other.index}"
        on = exp.and_(
            _same_bucket(arrangement, other, alias),
            exp.EQ(this=col("value", alias), expression=col("value", "h")),
        )
        met = _met(arrangement, item, other, tables, records)
        tree = tree.join(met.subquery(alias), on=on, join_type="left")
        weight = fragment(":w * coalesce(:met, 0)", w=weight, met=col("met", alias))
    links = list(arrangement.bearing.groups)
    tree = tree.select(*[col(name, "q") for name in links], named(weight, "w"))
    risks = query("select max(w.w) / nullif(sum(w.w), 0) as risk from w", {"w": tree})
    risks = risks.group_by(*[col(name, "w") for name in links])
    return query("select max(r.risk) as informed from r", {"r": risks})


def _links(arrangement: Arrangement, tables: Relations) -> exp.Select:
    """SELECT of the buckets of records; the same buckets make records indistinguishable."""
    bearing = arrangement.bearing
    tree = query("select distinct 1 from b", {"b": tables[bearing.part]})
    return tree.select(*[col(name, "b") for name in bearing.groups], append=False)


def _same_bucket(arrangement: Arrangement, item: Sensitive, alias: str) -> exp.Expr:
    link = arrangement.table_of(item.index).partition
    return exp.EQ(this=col(GROUP_ID, alias), expression=col(link, "q"))


def _met(
    arrangement: Arrangement,
    item: Sensitive,
    other: Sensitive,
    tables: Relations,
    records: Relation,
) -> exp.Select:
    """SELECT (group_id, value, met): mean lift of a value with the values of a bucket elsewhere."""
    pairs = query(
        "select :v as value, :y as other from c",
        {"c": records},
        v=own_value(item, "c"),
        y=own_value(other, "c"),
    )
    lifts = query(
        "select p.value, p.other, count(*)::float8"
        " * sum(count(*)) over ()"
        " / (sum(count(*)) over (partition by p.value) * sum(count(*)) over (partition by p.other))"
        " as lift from p group by p.value, p.other",
        {"p": pairs},
    )
    shares = query(
        "select h.group_id, h.value, h.n::float8 / sum(h.n) over (partition by h.group_id) as share"
        " from h",
        {"h": histogram_of(arrangement, tables, other)[1]},
    )
    return query(
        "select s.group_id, l.value, sum(s.share * l.lift) as met from s"
        " join l on l.other = s.value group by s.group_id, l.value",
        {"s": shares, "l": lifts},
    )
