"""The relations of related tables, staged.

groups<p>    (number, people, holders..)   of a partition
slice<n>     (number, value, persons)      values of a column, NULL among them
pair<q>      (number, x, y, persons)       values of two columns of one row
seconds<q>   (number, y, whole, persons)   people with y, and with an open pair of it; private
frequent<n>  (column_name, value, persons, rows)   frequent values of a table, of all people
lookup<l>    rows of a table without people
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from pganon.encode.related import lookup_table, rows_read
from pganon.errors import PganonError, Unbalanced
from pganon.forms.stored_relations import drawn_numbers, key_step, numbers, stored
from pganon.forms.work import class_groups
from pganon.identifiers import first_few, quote
from pganon.methods.related.groups import HOLDING, grouped_facts, held_table
from pganon.methods.related.links import (
    everybody_released,
    linked_table,
    released_people,
    shown_lookup,
    values_of,
)
from pganon.methods.related.pairs import OpenPairs, open_pairs
from pganon.policy.options import CLASS_ID
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.periods import PERIOD as NAMED
from pganon.resolved.tables import (
    PEOPLE,
    PERIOD,
    PERSONS,
    Events,
    Item,
    Lookup,
    Partition,
    Related,
    slice_part,
)
from pganon.sqltools import (
    aliased,
    cast,
    col,
    fragment,
    in_one_row,
    named,
    num,
    query,
    scalar,
    stacked,
    text,
)
from pganon.sqltools import total as total_of
from pganon.steps import Check, CreateTable, State, Step
from pganon.steps.facts import count
from pganon.steps.relations import DATA_SCHEMA, PRIVATE_SCHEMA, StoredRelation

FREQUENT = 10
"""Fewest people with a value of whom rows are counted."""


@dataclass(frozen=True)
class Slice:
    """A relation of the values of one column, or of a pair.

    Attributes:
        part: of the stored relation.
        view: part of the release.
        columns: published ones, with the values.
    """

    part: str
    view: str
    events: Events
    items: tuple[Item, ...]
    pair: OpenPairs | None = None

    @property
    def columns(self) -> list[str]:
        return [item.published for item in self.items]


def singles(related: Related) -> list[Slice]:
    found = [(e, item) for e in related.events for item in e.slices]
    return [
        Slice(f"slice{number}", slice_part(e, item), e, (item,))
        for number, (e, item) in enumerate(found)
    ]


def paired(related: Related) -> list[Slice]:
    return [
        Slice(
            f"pair{one.number}",
            slice_part(one.events, one.pair.first, one.pair.second),
            one.events,
            (one.pair.first, one.pair.second),
            one,
        )
        for one in open_pairs(related)
    ]


def group_part(partition: Partition) -> str:
    return f"groups{partition.index}"


def frequent_part(events: Events) -> str:
    return f"frequent{events.index}"


def seconds_part(one: OpenPairs) -> str:
    return f"seconds{one.number}"


def relations(related: Related, state: State) -> tuple[StoredRelation, ...]:
    """All of them but those of the root; parts that views read come first."""
    shown = [group_part(p) for p in related.partitions]
    shown += [one.part for one in (*singles(related), *paired(related))]
    shown += [frequent_part(e) for e in related.events]
    shown += [lookup_table(one) for one in related.lookups]
    private = [seconds_part(one) for one in open_pairs(related)]
    parts = [(part, DATA_SCHEMA) for part in shown]
    return stored(state, [*parts, *[(part, PRIVATE_SCHEMA) for part in private]])


def number_steps(related: Related) -> tuple[Step, ...]:
    """Random numbers of the groups, before classes are staged."""
    return tuple(
        drawn_numbers(
            lambda s, p=p: query(
                "select distinct g.grp as gid from g", {"g": s.work(class_groups(p.index))}
            ),
            f"random numbers for {p.part}",
            class_groups(p.index).name,
        )
        for p in related.partitions
    )


def staging_steps(spec: ReleaseSpec, related: Related) -> Iterator[Step]:
    """After the classes of the root are staged."""
    for p in related.partitions:
        yield _staged(
            group_part(p), f"people and holders of {p.part}", lambda s, p=p: _groups(spec, s, p)
        )
        yield key_step(group_part(p), p.number)
    for one in singles(related):
        yield _staged(
            one.part, f"values of {one.view}", lambda s, o=one: _single(spec, s, related, o)
        )
    for one in paired(related):
        yield _staged(
            one.part, f"values of {one.view}", lambda s, o=one: _paired(spec, s, related, o)
        )
    for pairs in open_pairs(related):
        yield replace(
            _staged(
                seconds_part(pairs),
                "people with the second of a pair, whom readers cannot count",
                lambda s, one=pairs: _seconds(s, related, one),
            ),
            analyze=False,  # everybody would see how many rows it has
        )
    for events in related.events:
        yield _staged(
            frequent_part(events),
            f"frequent values of {events.name}",
            lambda s, e=events: _frequent(spec, s, related, e),
        )
    for lookup in related.lookups:
        yield _staged(
            lookup_table(lookup),
            f"rows of {lookup.name}",
            lambda s, one=lookup: _lookup(spec, s, one),
        )
    yield balance_step(spec, related)


def balance_step(spec: ReleaseSpec, related: Related) -> Check:
    """Every row that was read is of somebody who is released, of nobody, or left out; and whoever
    has a value is counted once, in one group."""

    def select(state: State) -> exp.Select:
        return in_one_row((e.index, _wrong(spec, state, related, e)) for e in related.events)

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        wrong = [quote(e.name) for e in related.events if row[f"wrong{e.index}"]]
        if not wrong:
            return None
        return Unbalanced(
            f"people and values that were read of {first_few(wrong)} are not those that are staged"
        )

    gives = [count(f"wrong{e.index}", "tables_", assumed=0) for e in related.events]
    purpose = "every row is of somebody who is released, of nobody, or left out"
    return Check("balance_of_tables", purpose, select, problem, gives=gives)


def _wrong(spec: ReleaseSpec, state: State, related: Related, events: Events) -> exp.Select:
    """SELECT how many numbers are not as they are to be."""
    linked = linked_table(state, events)
    kept = query(
        "select count(*) as people, coalesce(sum(k.n), 0) as rows from k",
        {
            "k": query(
                "select l.person, count(*) as n from l where not l.orphan and not l.leaves"
                " and exists (select from c where c.individual = l.person) group by l.person",
                {"l": linked, "c": released_people(spec, state, related, events)},
            )
        },
    )
    p = related.partition_of(events)
    held = fragment("coalesce(sum(:h), 0)", h=col(p.holders(events), "g"))
    equal = [
        (num(state[rows_read(events)]), scalar(query("select count(*) from l", {"l": linked}))),
        (
            col("people", "k"),
            scalar(query("select :n as n from g", {"g": state.stage(group_part(p))}, n=held)),
        ),
    ]
    each = query(
        "select f.item, count(*) as people, sum(f.n) as rows from f group by f.item",
        {"f": grouped_facts(state, related, events)},
    )
    found = query("select 1 from f", {"f": each})
    for one in singles(related):
        if one.events != events:
            continue
        n = one.items[0].index
        mine = fragment("f.item = :item", item=num(n))
        rows = fragment("coalesce(sum(f.rows) filter (where :mine), 0)", mine=mine)
        people = fragment("coalesce(sum(f.people) filter (where :mine), 0)", mine=mine.copy())
        found = found.select(named(rows, f"rows{n}"), named(people, f"people{n}"))
        shown = query(
            "select coalesce(sum(s.persons), 0) as n from s", {"s": state.stage(one.part)}
        )
        equal.append((col(f"rows{n}", "f"), col("rows", "k")))
        equal.append((col(f"people{n}", "f"), scalar(shown)))
    wrong = total_of([fragment("(:a <> :b)::int", a=a, b=b) for a, b in equal])
    return query("select :n as wrong from k cross join f", {"k": kept, "f": found}, n=wrong)


def _staged(part: str, purpose: str, select) -> CreateTable:
    return CreateTable(part, purpose, lambda s: s.stage(part), select)


def _numbers(state: State, partition: Partition) -> exp.Select:
    """SELECT gid, grp, number: the group of every class, and its published number."""
    name = class_groups(partition.index).name
    return query(
        "select g.gid, g.grp, :number as number from g join d on d.gid = g.grp",
        {"g": state.work(class_groups(partition.index)), "d": numbers(state, name)},
        number=col(name, "d"),
    )


def _period(spec: ReleaseSpec, state: State, *events: Events) -> list[exp.Expr]:
    """The period of tables that have any, as a column."""
    assert spec.related is not None
    if spec.related.timed.isdisjoint(one.index for one in events):
        return []
    return [named(cast(text(state[NAMED]), "text"), PERIOD)]


def whole_partition(spec: ReleaseSpec, partition: Partition) -> Partition:
    """With the tables that a run leaves out which adds a period."""
    assert spec.related is not None
    return next(p for p in spec.related.partitions if p.number == partition.number)


def _groups(spec: ReleaseSpec, state: State, partition: Partition) -> exp.Select:
    everybody = state.stage("records")
    if spec.closes:
        everybody = query("select m.gid as class_id from m", {"m": everybody_released(spec)})
    of_class = query(
        "select g.number, count(*) as people from r join n on n.class_id = r.class_id"
        " join g on g.gid = n.gid group by g.number",
        {
            "r": everybody,
            "n": numbers(state, CLASS_ID),
            "g": _numbers(state, partition),
        },
    )
    tree = query("select 1 from p", {"p": of_class})
    every = whole_partition(spec, partition).events
    columns = [named(col("number", "p"), partition.number), *_period(spec, state, *every)]
    columns.append(named(col("people", "p"), PEOPLE))
    for events in every:
        if events not in partition.events:
            columns.append(named(fragment("null::bigint"), partition.holders(events)))
            continue
        name = f"h{events.index}"
        holding = query(
            "select g.number, sum(h.n)::bigint as n from h join g on g.gid = h.gid"
            " where h.item = :holding group by g.number",
            {"h": held_table(state, events), "g": _numbers(state, partition)},
            holding=num(HOLDING),
        )
        same = exp.EQ(this=col("number", name), expression=col("number", "p"))
        tree = tree.join(aliased(holding, name), on=same, join_type="left")
        held = fragment("coalesce(:n, 0)::bigint", n=col("n", name))
        columns.append(named(held, partition.holders(events)))
    return tree.select(*columns, append=False).order_by(col("number", "p"))


def _single(spec: ReleaseSpec, state: State, related: Related, one: Slice) -> exp.Select:
    (item,) = one.items
    counted = query(
        "select g.grp, f.k as x, sum(f.n)::bigint as persons from f join g on g.gid = f.gid"
        " where f.item = :item group by g.grp, f.k",
        {
            "f": held_table(state, one.events),
            "g": state.work(class_groups(related.partition_of(one.events).index)),
        },
        item=num(item.index),
    )
    period = _period(spec, state, one.events)
    return _values(state, related, one.events, counted, {"x": item}, [PERSONS], period)


def _paired(spec: ReleaseSpec, state: State, related: Related, one: Slice) -> exp.Select:
    pairs = one.pair
    assert pairs is not None
    counted = query(
        "select b.grp, b.x, b.y, b.n as persons from b join o on o.grp = b.grp and o.x = b.x",
        {"b": state.work(f"both{pairs.number}"), "o": pairs.opened(state)},
    )
    codes = dict(zip("xy", one.items, strict=True))
    period = _period(spec, state, one.events)
    return _values(state, related, one.events, counted, codes, [PERSONS], period)


def _seconds(state: State, related: Related, one: OpenPairs) -> exp.Select:
    counted = query("select s.grp, s.y, s.whole, s.n as persons from s", {"s": one.seconds(state)})
    return _values(state, related, one.events, counted, {"y": one.pair.second}, ["whole", PERSONS])


def _values(
    state: State,
    related: Related,
    events: Events,
    counted: exp.Select,
    codes: Mapping[str, Item],
    counts: Sequence[str],
    period: Sequence[exp.Expr] = (),
) -> exp.Select:
    """Counts by group and codes, with published numbers and values, in the order of these."""
    p = related.partition_of(events)
    name = class_groups(p.index).name
    tree = query(
        "select 1 from c join d on d.gid = c.grp", {"c": counted, "d": numbers(state, name)}
    )
    order, shown = [col(name, "d")], [named(col(name, "d"), p.number), *period]
    for code, item in codes.items():
        values = aliased(values_of(state, events, item), f"v{code}")
        same = exp.EQ(this=col("k", f"v{code}"), expression=col(code, "c"))
        tree = tree.join(values, on=same)
        order.append(col(code, "c"))
        shown.append(named(col("s", f"v{code}"), item.published))
    shown += [col(count, "c") for count in counts]
    return tree.select(*shown, append=False).order_by(*order)


def _frequent(spec: ReleaseSpec, state: State, related: Related, events: Events) -> exp.Select:
    values = [
        query(
            "select :item as item, :name as column_name, v.k, :value as value from v",
            {"v": values_of(state, events, item)},
            item=num(item.index),
            name=cast(text(item.published), "text"),
            value=cast(col("s", "v"), "text"),
        )
        for item in events.slices
    ]
    tree = query(
        "select 1 from f join v on v.item = f.item and v.k = f.k",
        {"f": _told(grouped_facts(state, related, events)), "v": stacked(values)},
    )
    shown = [col("column_name", "v"), col("value", "v"), col(PERSONS, "f"), col("rows", "f")]
    tree = tree.select(*_period(spec, state, events), *shown, append=False)
    return tree.order_by(col("column_name", "v"), col("k", "v"))


def _told(each: exp.Select) -> exp.Select:
    """SELECT item, k, persons, rows: the values of which rows may be told, by rows of value and
    person.

    What is left of all rows, which another column may tell, is of as many people, too: the rarest
    frequent values go unless that of the others is.
    """
    enough = fragment("count(*) >= :least and max(n) * 2 <= sum(n)", least=num(FREQUENT))
    counted = query(
        "select e.item, e.k, count(*) as persons, sum(e.n)::bigint as rows, max(e.n) as most,"
        " :enough as frequent from e group by e.item, e.k",
        enough=enough,
    )
    others = query(
        "select e.item, e.person, sum(e.n) as n from e join c on c.item = e.item and c.k = e.k"
        " where not c.frequent group by e.item, e.person"
    )
    rest = query(
        "select o.item, max(n) as most, sum(n) as rows, :enough as enough from o group by o.item",
        {"o": others},
        enough=enough.copy(),
    )
    gone = query(
        "select c.item, c.k, c.persons, c.rows, coalesce(r.enough, true) as enough,"
        " (coalesce(r.most, 0) + sum(c.most) over w) * 2"
        " <= coalesce(r.rows, 0) + sum(c.rows) over w as hidden"
        " from c left join r on r.item = c.item where c.frequent"
        " window w as (partition by c.item order by c.rows, c.k)",
        {"r": rest},
    )
    known = query(
        "select g.item, g.k, g.persons, g.rows, g.enough or bool_or(g.hidden) over"
        " (partition by g.item order by g.rows, g.k"
        " rows between unbounded preceding and 1 preceding) as told from g",
        {"g": gone},
    )
    tree = query("select t.item, t.k, t.persons, t.rows from t where t.told", {"t": known})
    return tree.with_("e", as_=each).with_("c", as_=counted)


def _lookup(spec: ReleaseSpec, state: State, lookup: Lookup) -> exp.Select:
    """Of a version that grows the rows that it does not show yet."""
    columns = [
        named(col(f"c{number}", "t"), name) for number, (_, name) in enumerate(lookup.columns)
    ]
    rows = {"t": state.work(lookup_table(lookup))}
    tree = query("select 1 from t", rows)
    if spec.grows:
        tree = query(
            "select 1 from t where not exists (select from e where e.key = t.key)",
            {**rows, "e": shown_lookup(spec, lookup)},
        )
    return tree.select(*columns, append=False).order_by(col("key", "t"))
