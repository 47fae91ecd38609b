"""Verification of related tables from what is published, and of pairs from counts of their owner.

Nothing of the work tables is read: `pganon verify` asks the same of a stored version.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sqlglot import exp

from pganon.encode.related import lookup_table, value_key
from pganon.forms.form import STRUCTURE, Tables
from pganon.methods.common.form.checks import offending_check
from pganon.methods.related.groups import within
from pganon.methods.related.links import shown_lookup
from pganon.methods.related.staging import (
    FREQUENT,
    Slice,
    frequent_part,
    group_part,
    paired,
    seconds_part,
    singles,
)
from pganon.privacy.base import share
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.tables import (
    EVENT_SHARE,
    GROUP_SIZE,
    HOLDERS,
    PEOPLE,
    Events,
    Partition,
    Related,
)
from pganon.sqltools import aliased, col, fragment, num, query, render, stacked, text
from pganon.steps.relations import CheckQuery

SAID = {
    GROUP_SIZE: "Values of tables are told of groups of at least {required} people.",
    HOLDERS: "Whoever knows that somebody has rows of {table} finds at least {required} people of"
    " the group who have.",
    EVENT_SHARE: "No value of {table} is held by over {percent} of the people of a group who have"
    " rows.",
    f"{HOLDERS}.pair": "Whoever knows the second of {table} in somebody's row finds at least"
    " {required} people of the group who have it in a pair that is shown.",
    f"{EVENT_SHARE}.pair": "Whoever knows {against} of somebody's row finds no pair of {table} that"
    " over {percent} of those people have.",
    f"{EVENT_SHARE}.members": "Of the people of a group who could have rows of {table}, at most"
    " {percent} have some.",
}


def checks(spec: ReleaseSpec, related: Related, tables: Tables) -> tuple[CheckQuery, ...]:
    return (
        offending_check(STRUCTURE, "tables", stacked(list(_broken(spec, related, tables)))),
        *[_size(spec, related, p, tables) for p in related.partitions],
        *[_holders(related, p, e, tables) for p in related.partitions for e in p.events],
        *_shares(related, tables),
        *[check for one in paired(related) for check in _of_pair(related, one, tables)],
    )


# -- how relations fit together --------------------------------------------------------------------


def _broken(spec: ReleaseSpec, related: Related, tables: Tables) -> Iterator[exp.Select]:
    """SELECTs of what does not fit, each of which is to have no row."""
    for p in related.partitions:
        yield _people(spec, p, tables)
        for events in p.events:
            holders = p.holders(events)
            more = [col(PEOPLE, "g")]
            alone = len(events.ways) == 1
            others = {e.index: p.holders(e) for e in p.events}
            more += [col(others[n], "g") for n in events.parents if alone and n in others]
            for most in more:
                yield query(
                    "select 1 as one from g where :h > :most",
                    {"g": tables[group_part(p)]},
                    h=col(holders, "g"),
                    most=most,
                )
    for one in (*singles(related), *paired(related)):
        p = related.partition_of(one.events)
        yield query(
            "select 1 as one from s where s.persons is null or s.persons < 1"
            " or not exists (select from g where :own = :of)",
            {"s": tables[one.part], "g": tables[group_part(p)]},
            own=col(p.number, "g"),
            of=col(p.number, "s"),
        )
        keys = [col(name, "s") for name in (p.number, *one.columns)]
        repeated = query("select 1 as one from s having count(*) > 1", {"s": tables[one.part]})
        yield repeated.group_by(*keys)
    for one in singles(related):
        yield _summed(related, one, tables)
        yield from _unnamed(spec, related, one, tables)
    for events in related.events:
        yield from _frequent(related, events, tables)
    for one in paired(related):
        yield from _parts_of_pair(related, one, tables)


def _people(spec: ReleaseSpec, p: Partition, tables: Tables) -> exp.Select:
    side, records, classes = "full", tables.get("records"), tables.get("classes")
    if records is None or classes is None:  # of a period: some of the groups that there are
        assert spec.growth is not None
        side = "right"
        records, classes = [
            stacked(
                [
                    query("select 1 from t", {"t": t}).select(
                        *[col(n, "t") for n in names], append=False
                    )
                    for t in spec.growth.tables_of(part)
                ]
            )
            for part, names in (("records", ["class_id"]), ("classes", ["class_id", p.number]))
        ]
    counted = query(
        "select :number as number, count(*) as n from r join c on c.class_id = r.class_id"
        " group by 1",
        {"r": records, "c": classes},
        number=col(p.number, "c"),
    )
    same = fragment(":number = c.number", number=col(p.number, "g"))
    tree = query("select 1 as one from c where c.n is distinct from g.people", {"c": counted})
    return tree.join(aliased(tables[group_part(p)], "g"), on=same, join_type=side)


def _summed(related: Related, one: Slice, tables: Tables) -> exp.Select:
    """Groups of which people with rows are fewer than have a value, or more than all together."""
    p = related.partition_of(one.events)
    counted = query(
        "select :number as number, max(s.persons) as most, sum(s.persons) as all from s group by 1",
        {"s": tables[one.part]},
        number=col(p.number, "s"),
    )
    holders = col(p.holders(one.events), "g")
    return query(
        "select 1 as one from g left join c on c.number = :number"
        ' where coalesce(c.most, 0) > :h or :h > coalesce(c."all", 0)',
        {"c": counted, "g": tables[group_part(p)]},
        number=col(p.number, "g"),
        h=holders,
    )


def _unnamed(
    spec: ReleaseSpec, related: Related, one: Slice, tables: Tables
) -> Iterator[exp.Select]:
    """Values that name no row of their lookup."""
    (item,) = one.items
    if item.lookup is None:
        return
    lookup = related.lookups[item.lookup]
    yield query(
        "select 1 as one from s where :v is not null"
        " and not exists (select from k where k.key = :named)",
        {"s": tables[one.part], "k": shown_lookup(spec, lookup, tables[lookup_table(lookup)])},
        v=col(item.published, "s"),
        named=value_key(item.column, col(item.published, "s")),
    )


def _frequent(related: Related, events: Events, tables: Tables) -> Iterator[exp.Select]:
    """Frequent values of which other numbers of people are told than groups have."""
    parts = [
        query(
            "select :name as name, (:value)::text as value, sum(s.persons) as persons from s"
            " group by 1, 2",
            {"s": tables[one.part]},
            name=text(one.items[0].published),
            value=col(one.items[0].published, "s"),
        )
        for one in singles(related)
        if one.events == events
    ]
    yield query(
        "select 1 as one from f left join s on s.name = f.column_name"
        " and s.value is not distinct from f.value where f.persons < :least"
        " or f.rows < f.persons or s.persons is distinct from f.persons",
        {"f": tables[frequent_part(events)], "s": stacked(parts)},
        least=num(FREQUENT),
    )


def _parts_of_pair(related: Related, one: Slice, tables: Tables) -> Iterator[exp.Select]:
    """Pairs of values that fewer people have than have both, and counts that do not fit."""
    assert one.pair is not None
    p = related.partition_of(one.events)
    first, second = one.items
    single = next(s for s in singles(related) if s.events == one.events and s.items == (first,))
    yield query(
        "select 1 as one from b left join x on :same where x.persons is null"
        " or b.persons > x.persons",
        {"b": tables[one.part], "x": tables[single.part]},
        same=_same(p.number, first.published, "b", "x"),
    )
    summed = query(
        "select :number as number, :y as y, max(b.persons) as most, sum(b.persons) as whole from b"
        " group by 1, 2",
        {"b": tables[one.part]},
        number=col(p.number, "b"),
        y=col(second.published, "b"),
    )
    yield query(
        "select 1 as one from s full join b on b.number = :number and b.y is not distinct from :y"
        " where coalesce(s.persons, -1) < coalesce(b.most, 0)"
        " or coalesce(s.persons, 0) > coalesce(b.whole, 0) or s.persons > s.whole",
        {"s": tables[seconds_part(one.pair)], "b": summed},
        number=col(p.number, "s"),
        y=col(second.published, "s"),
    )


def _same(number: str, value: str, left: str, right: str) -> exp.Expr:
    return fragment(
        ":a = :b and :x is not distinct from :y",
        a=col(number, left),
        b=col(number, right),
        x=col(value, left),
        y=col(value, right),
    )


# -- what is required ------------------------------------------------------------------------------


def _size(spec: ReleaseSpec, related: Related, p: Partition, tables: Tables) -> CheckQuery:
    """Of a period there may be nothing: it measures what is asked then."""
    worst = query(
        "select coalesce(min(g.people), :none) as measured,"
        " count(*) filter (where g.people < :m) as failing from g",
        {"g": tables[group_part(p)]},
        none=num(related.group_size) if spec.closes else exp.null(),
        m=num(related.group_size),
    )
    size = related.group_size
    return CheckQuery(GROUP_SIZE, "people", None, size, ">=", "", render(worst))


def _holders(related: Related, p: Partition, events: Events, tables: Tables) -> CheckQuery:
    """Nobody at all is enough, too: it measures what is asked."""
    worst = query(
        "select coalesce(min(:h) filter (where :h > 0), :k) as measured,"
        " count(*) filter (where :h is null or :h between 1 and :k - 1) as failing from g",
        {"g": tables[group_part(p)]},
        h=col(p.holders(events), "g"),
        k=num(related.k),
    )
    return CheckQuery(HOLDERS, "k", events.name, related.k, ">=", "", render(worst))


def _shares(related: Related, tables: Tables) -> Iterator[CheckQuery]:
    for one in singles(related):
        limit = one.items[0].limit
        if limit is None:
            continue
        p = related.partition_of(one.events)
        rows = query(
            "select s.persons as part, :h as whole from s join g on :own = :of",
            {"s": tables[one.part], "g": tables[group_part(p)]},
            h=col(p.holders(one.events), "g"),
            own=col(p.number, "g"),
            of=col(p.number, "s"),
        )
        yield _share(limit, f"{one.events.name}.{one.items[0].column.name}", rows)
    for p in related.partitions:
        for events in p.events:
            if events.membership is None:
                continue
            for one in events.candidates:
                whole = PEOPLE if one is None else p.holders(related.events[one])
                rows = query(
                    "select :h as part, :w as whole from g where :h > 0",
                    {"g": tables[group_part(p)]},
                    h=col(p.holders(events), "g"),
                    w=col(whole, "g"),
                )
                yield _share(events.membership, events.name, rows, whole)


def _of_pair(related: Related, one: Slice, tables: Tables) -> Iterator[CheckQuery]:
    """Who knows one of the values, or that there is a row, finds no other above the limit."""
    pairs = one.pair
    assert pairs is not None
    p, limit = related.partition_of(one.events), pairs.pair.limit
    first, second = one.items
    name = f"{one.events.name}.{first.column.name} + {second.column.name}"
    single = next(s for s in singles(related) if s.events == one.events and s.items == (first,))
    seconds = tables[seconds_part(pairs)]
    for part, known in ((tables[single.part], first), (seconds, second)):
        rows = query(
            "select b.persons as part, x.persons as whole from b left join x on :same",
            {"b": tables[one.part], "x": part},
            same=_same(p.number, known.published, "b", "x"),
        )
        yield _share(limit, name, rows, known.column.name)
    worst = query(
        "select coalesce(min(s.persons) filter (where s.persons > 0), :k) as measured,"
        " count(*) filter (where s.persons between 1 and :k - 1) as failing from s",
        {"s": seconds},
        k=num(related.k),
    )
    yield CheckQuery(HOLDERS, "k", name, related.k, ">=", "", render(worst))
    if second.limit is not None:
        rows = query(
            "select s.whole as part, :h as whole from s join g on :own = :of",
            {"s": seconds, "g": tables[group_part(p)]},
            h=col(p.holders(one.events), "g"),
            own=col(p.number, "g"),
            of=col(p.number, "s"),
        )
        yield _share(second.limit, f"{one.events.name}.{second.column.name}", rows)


def _share(limit: Fraction, column: str, rows: exp.Select, against: str = "") -> CheckQuery:
    """Of rows (part, whole); a whole that is missing is none."""
    worst = query(
        "select coalesce(max(:share), 0)::float8 as measured,"
        " count(*) filter (where (:within) is not true) as failing from r",
        {"r": rows},
        share=share(col("part", "r"), fragment("nullif(:w, 0)", w=col("whole", "r"))),
        within=within(col("part", "r"), limit, col("whole", "r")),
    )
    return CheckQuery(EVENT_SHARE, "beta", column, float(limit), "<=", against, render(worst))
