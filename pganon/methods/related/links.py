"""Whose rows the rows of related tables are, and what can be wrong with that.

linked<n>   (key, person, orphan, leaves, several, v<j>)   every row of table n: the key of its
            person; whether it leads to nobody, is left out with what it leads to, or leads to
            several people
people      (person, key, gid)      everybody who is released, with a number and the class
rows<n>     (gid, person, k<j>, s<j>)   rows of people who are released: codes of the published
            values, from 1, of which NULL is one, and these values
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlglot import exp

from pganon.catalog.values import equal_key
from pganon.encode.related import EVERYBODY, events_table, lookup_table, value_key
from pganon.encode.work import CODED, codes_of
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PreconditionError
from pganon.forms.elements import text_key
from pganon.forms.growing import ROW_MARKS
from pganon.forms.work import GROUPED, class_groups
from pganon.hierarchies import hierarchy_steps
from pganon.identifiers import QualifiedName, first_few, quote
from pganon.resolved.increments import WHOLE
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.periods import END, LATE, PERIOD, START, closes
from pganon.resolved.tables import Events, Item, Lookup, Related
from pganon.sqltools import (
    aliased,
    col,
    equal,
    fragment,
    in_one_row,
    named,
    num,
    query,
    scalar,
    stacked,
    text,
    total,
)
from pganon.steps import Check, State, Step, table
from pganon.steps.facts import Fact, count

PEOPLE = "people"

TODAY = fragment("now()")
"""The instant at which a run begins."""


def linked_table(state: State, events: Events) -> QualifiedName:
    return state.work(f"linked{events.index}")


def rows_table(state: State, events: Events) -> QualifiedName:
    return state.work(f"rows{events.index}")


def link_steps(spec: ReleaseSpec, related: Related) -> tuple[Step, ...]:
    """Rows find their people, or the run is refused."""
    return (
        *_keys(related),
        *[
            table(
                f"linked{e.index}",
                f"whose the rows of {e.name} are",
                lambda s, e=e: _linked(spec, related, s, e),
            )
            for e in related.events
        ],
        _links(related),
    )


_LENGTHS = {
    "month": ("1 month", "YYYY-MM"),
    "quarter": ("3 months", 'YYYY-"Q"Q'),
    "year": ("1 year", "YYYY"),
}
"""How long periods are, and how they are called."""


def period_step(spec: ReleaseSpec) -> tuple[Check, ...]:
    """Which period is over: before rows are read, so that none comes too late to be there.

    What was over once still is where periods became longer.
    """
    every = spec.related.every if spec.related is not None else None
    if every is None:
        return ()
    until = spec.growth.until if spec.growth is not None else None
    length, form = _LENGTHS[every]

    def select(state: State) -> exp.Select:
        days = query(
            "select :until::date as until, date_trunc(:every, :today)::date as today",
            every=text(every),
            today=TODAY.copy(),
            until=text(until) if until else exp.null(),
        )
        begun = query(
            "select case when d.until < d.today then d.until end as start,"
            " greatest(d.until, d.today) as day from d",
            {"d": days},
        )
        return query(
            "select b.start::text as period_start, coalesce((date_trunc(:every, b.start)"
            " + :length::interval)::date, b.day)::text as period_end,"
            " coalesce(to_char(b.start, :form), 'before ' || b.day) as period from b",
            {"b": begun},
            every=text(every),
            length=text(length),
            form=text(form),
        )

    gives = [START, END, PERIOD]
    return (Check("periods", "which period is over", select, gives=gives),)


def lookup_steps(spec: ReleaseSpec, related: Related) -> tuple[Step, ...]:
    return (_lookups(spec, related),) if related.lookups else ()


def mark_steps(spec: ReleaseSpec, related: Related) -> tuple[Step, ...]:
    """What rows everybody has, by which it is seen whose are others later."""

    def select(state: State) -> exp.Select:
        each = [
            query(
                "select l.person, hashtextextended(:row::text, 0)::numeric as mark from l"
                " where not l.orphan and not l.leaves",
                {"l": linked_table(state, e)},
                row=exp.func("jsonb_build_array", num(e.index), *_texts(e)),
            )
            for e in related.lasting
        ]
        return query(
            "select m.person, sum(m.mark) as rows from m group by m.person", {"m": stacked(each)}
        )

    marks = table(ROW_MARKS, "what rows everybody has", select)
    late = Check(
        "late",
        "rows that came after their period was published",
        lambda s: query(
            "select greatest(:found - :before, 0)::bigint as late_rows",
            found=num(0) if closes(s) else _rows_of_members(spec, s, related),
            before=num(sum(one.rows for one in spec.growth.increments) if spec.growth else 0),
        ),
        gives=[LATE],
    )
    timed = spec.grows and related.every is not None
    return (*([marks] if related.lasting else []), *([late] if timed else []))


def _rows_of_members(spec: ReleaseSpec, state: State, related: Related) -> exp.Expr:
    """How many rows of tables with periods the people of a version have in those."""
    each = [
        query(
            "select l.person from l where not l.orphan and not l.leaves"
            " and exists (select from p where p.individual = l.person)",
            {"l": linked_table(state, related.events[number]), "p": members(spec, state)},
        )
        for number in sorted(related.timed)
    ]
    return scalar(query("select count(*) from r", {"r": stacked(each)}))


def _texts(events: Events) -> list[exp.Expr]:
    return [text_key(equal_key(i.column, col(f"v{i.index}", "l"))) for i in events.items]


def row_steps(spec: ReleaseSpec, related: Related) -> tuple[Step, ...]:
    """When classes are made, or there were some before."""
    steps: list[Step] = [table(PEOPLE, "everybody's class", lambda s: _people(spec, s))]
    for events in related.events:
        for item in events.items:
            steps += _trees(spec, events, item)
        steps.append(
            table(
                f"rows{events.index}",
                f"rows of {events.name} of people who are released",
                lambda s, e=events: _rows(s, e),
            )
        )
    return tuple(steps)


# -- keys ------------------------------------------------------------------------------------------


def _counts(numbers: Iterable[int], *names: str) -> list[Fact[int]]:
    return [count(f"{name}{n}", "tables_", assumed=0) for n in numbers for name in names]


def _keys(related: Related) -> tuple[Check, ...]:
    """Whether keys that rows name are there once."""
    keyed = [(e.name, events_table(e)) for e in related.events if e.key]
    keyed += [(one.name, lookup_table(one)) for one in related.lookups]

    def select(state: State) -> exp.Select:
        counted = (
            "select count(t.key) - count(distinct t.key) as repeats,"
            " count(*) - count(t.key) as nulls from t"
        )
        each = [query(counted, {"t": state.work(name)}) for _, name in keyed]
        return in_one_row(enumerate(each))

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        for number, (name, _) in enumerate(keyed):
            if row[f"repeats{number}"]:
                return PreconditionError(
                    f"the key of {quote(name)} is there again in {row[f'repeats{number}']} rows, so"
                    " it does not say which row others name",
                    hint="name the columns of a primary key",
                    code=ErrorCode.KEY_REPEATED,
                )
            if row[f"nulls{number}"]:
                return PreconditionError(
                    f"the key of {quote(name)} is NULL in {row[f'nulls{number}']} rows",
                    hint="name the columns of a primary key",
                    code=ErrorCode.KEY_NULL,
                )
        return None

    gives = _counts(range(len(keyed)), "repeats", "nulls")
    purpose = "whether keys are there once"
    return (Check("keys", purpose, select, problem, gives=gives),) if keyed else ()


def _linked(spec: ReleaseSpec, related: Related, state: State, events: Events) -> exp.Select:
    tree = query("select e.key from e", {"e": state.work(events_table(events))})
    people: list[exp.Expr] = []
    orphan: list[exp.Expr] = []
    leaves: list[exp.Expr] = [fragment("not e.stays")]
    if events.period is not None:
        start, end = state.facts.get(START), state[END]
        leaves.append(fragment("coalesce(e.period >= :end::date, true)", end=text(end)))
        leaves += [fragment("e.period < :start::date", start=text(start))] if start else []
    for number, way in enumerate(events.ways):
        name, named_row = f"l{number}", col(f"w{number}", "e")
        if way.table is None:
            others = query(
                "select distinct k.key, k.key as person, false as orphan, false as leaves from k"
                " where k.key is not null",
                {"k": state.work(EVERYBODY)},
            )
        else:
            others = query(
                "select l.key, l.person, l.orphan, l.leaves from l",
                {"l": state.work(f"linked{way.table}")},
            )
        found = fragment(":l.key = :w".replace(":l", name), w=named_row)
        tree = tree.join(aliased(others, name), on=found, join_type="left")
        people.append(col("person", name))
        orphan.append(
            fragment(
                ":w is not null and (:key is null or :orphan)",
                w=named_row.copy(),
                key=col("key", name),
                orphan=col("orphan", name),
            )
        )
        leaves.append(fragment("coalesce(:leaves, false)", leaves=col("leaves", name)))
    person = exp.func("coalesce", *people) if len(people) > 1 else people[0]
    several = [
        fragment(":one <> :other", one=one.copy(), other=other.copy())
        for number, one in enumerate(people)
        for other in people[:number]
    ]
    nobody = fragment(":p is null", p=person.copy())
    dated = [col("key", f"l{n}") for n, way in enumerate(events.ways) if way.table in related.timed]
    if dated and events.period is None:  # what it belongs to says when it was
        missing = [fragment(":key is null", key=key) for key in dated]
        leaves.append(exp.and_(exp.not_(nobody.copy()), *missing))
    values = [col(f"v{item.index}", "e") for item in events.items]
    return tree.select(
        named(person, "person"),
        named(exp.or_(nobody, *orphan), "orphan"),
        named(exp.or_(*leaves), "leaves"),
        named(fragment("coalesce(:s, false)", s=exp.or_(*several)), "several")
        if several
        else named(exp.false(), "several"),
        *values,
    )


def _links(related: Related) -> Check:
    """How many rows lead to nobody, or to several people."""

    def select(state: State) -> exp.Select:
        counted = (
            "select count(*) filter (where l.orphan and not l.leaves) as orphans,"
            " count(*) filter (where l.several) as several from l"
        )
        each = [(e.index, query(counted, {"l": linked_table(state, e)})) for e in related.events]
        return in_one_row(each)

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        for e in related.events:
            several, orphans = row[f"several{e.index}"], row[f"orphans{e.index}"]
            if several:
                return PreconditionError(
                    f"{several} rows of {quote(e.name)} lead to two people each: what is said of"
                    " both of them cannot be counted as of one",
                    hint="leave one of the references out, or make a view with a row for each",
                    code=ErrorCode.SHARED_FACT,
                )
            if orphans and not e.leaves_orphans_out:
                return PreconditionError(
                    f"{orphans} rows of {quote(e.name)} lead to nobody: their references are NULL,"
                    " or name no row",
                    hint="correct them, or leave them out with orphans: leave_out",
                    code=ErrorCode.ORPHANS,
                )
        return None

    gives = _counts([e.index for e in related.events], "orphans", "several")
    return Check("links", "whether every row leads to one person", select, problem, gives=gives)


# -- lookups ---------------------------------------------------------------------------------------


def _referring(related: Related) -> list[tuple[Events, Item]]:
    return [(e, item) for e in related.events for item in e.items if item.lookup is not None]


def _lookups(spec: ReleaseSpec, related: Related) -> Check:
    """Whether values name rows of lookups, and whether these are not people after all: of the few
    who are added to a version alone most lookups would seem to be."""
    referring = _referring(related)

    def select(state: State) -> exp.Select:
        changed = [(one.index, _changed_rows(spec, state, one)) for one in related.lookups]
        referred = [(n, _named_rows(spec, state, related, *one)) for n, one in enumerate(referring)]
        return in_one_row([*changed, *referred])

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        for number, (events, item) in enumerate(referring):
            name = related.lookups[item.lookup or 0].name
            column = f"{quote(item.column.name)} of {quote(events.name)}"
            if row[f"unnamed{number}"]:
                return PreconditionError(
                    f"{column} names no row of {quote(name)} in {row[f'unnamed{number}']} rows",
                    hint="correct them, or remove references from the column",
                    code=ErrorCode.REFERENCE,
                )
            if row[f"alone{number}"]:
                return PreconditionError(
                    f"more than half of the rows of {quote(name)} that {column} names are of one"
                    " person each, as beds and addresses are; people: none does not hold of it",
                    hint="leave the table out, and declare what of it is wanted as a column",
                    code=ErrorCode.LOOKUP_PEOPLE,
                )
        return None

    gives = _counts(range(len(referring)), "unnamed", "alone", "few")
    gives += _counts([one.index for one in related.lookups], "changed")
    return Check("lookups", "whether lookups are about nobody", select, problem, gives=gives)


def _named_rows(
    spec: ReleaseSpec, state: State, related: Related, events: Events, item: Item
) -> exp.Select:
    """How many rows name nothing, whether most of what is named is of one person alone, and how
    much is of few; of a period, as of new people, most would seem to be."""
    mine = members(spec, state) if spec.closes else state.work(CODED)
    everybody = state.work(WHOLE if spec.grows else CODED)
    missing = query(
        "select count(*) from r where r.key is not null"
        " and not exists (select from k where k.key = r.key)",
        {
            "r": _keys_of(state, events, item, mine),
            "k": state.work(lookup_table(related.lookups[item.lookup or 0])),
        },
    )
    each = query(
        "select r.person, r.key from r where r.key is not null group by r.person, r.key",
        {"r": _keys_of(state, events, item, everybody)},
    )
    if spec.closes:
        each = each.where(exp.false())
    people = query("select e.key, count(*) as people from e group by e.key", {"e": each})
    return query(
        "select :missing as unnamed, (count(*) filter (where e.people = 1) * 2 > count(*))::int"
        " as alone, count(*) filter (where e.people < :k) as few from e",
        {"e": people},
        missing=scalar(missing),
        k=num(related.k),
    )


def _keys_of(
    state: State, events: Events, item: Item, people: QualifiedName | exp.Select
) -> exp.Select:
    """SELECT person, key: what the rows of people name in a lookup."""
    return query(
        "select l.person, :key as key from l where not l.orphan and not l.leaves"
        " and exists (select from c where c.individual = l.person)",
        {"l": linked_table(state, events), "c": people},
        key=value_key(item.column, col(f"v{item.index}", "l")),
    )


def shown_lookup(spec: ReleaseSpec, lookup: Lookup, *added: QualifiedName) -> exp.Select:
    """SELECT key, c<j>..: the rows that a version shows to which the run adds, and these."""
    earlier = spec.growth.tables_of(lookup_table(lookup)) if spec.growth is not None else ()
    shown = [named(col(name, "t"), f"c{n}") for n, (_, name) in enumerate(lookup.columns)]
    key = next(name for column, name in lookup.columns if column == lookup.key)
    shown.append(named(value_key(lookup.key, col(key, "t")), "key"))
    each = [query("select 1 from t", {"t": one}) for one in (*earlier, *added)]
    return stacked([one.select(*[c.copy() for c in shown], append=False) for one in each])


def _changed_rows(spec: ReleaseSpec, state: State, lookup: Lookup) -> exp.Select:
    """How many of these are no more as they are shown."""
    if not spec.grows:
        return query("select 0 as changed")
    names = [f"c{number}" for number, _ in enumerate(lookup.columns)]
    same = [fragment(":a is not distinct from :b", a=col(n, "t"), b=col(n, "e")) for n in names]
    return query(
        "select count(*) as changed from e"
        " where not exists (select from t where t.key = e.key and :same)",
        {"e": shown_lookup(spec, lookup), "t": state.work(lookup_table(lookup))},
        same=exp.and_(*same),
    )


def others_in_lookups(spec: ReleaseSpec, state: State) -> exp.Select:
    """SELECT how many rows of lookups a version that grows does not show as they are, or at all."""
    found: list[exp.Expr] = [num(0)]
    for one in spec.related.lookups if spec.related is not None else ():
        new = query(
            "select count(*) from t where not exists (select from e where e.key = t.key)",
            {"t": state.work(lookup_table(one)), "e": shown_lookup(spec, one)},
        )
        found += [scalar(new), scalar(_changed_rows(spec, state, one))]
    return exp.select(named(total(found), "others"))


def lookup_warnings(spec: ReleaseSpec, found: Mapping[str, Any]) -> Iterator[str]:
    """Of lookups with rows that few people have to do with, or that are others than a version
    shows."""
    related = spec.related
    assert related is not None
    for lookup in related.lookups:
        if changed := found.get(f"tables_changed{lookup.index}"):
            yield (
                f"{changed} rows of {quote(lookup.name)} changed or went; the version shows them"
                " as they were"
            )
    few = [
        f"{quote(related.lookups[item.lookup or 0].name)} ({found.get(f'tables_few{number}')})"
        for number, (_, item) in enumerate(_referring(related))
        if found.get(f"tables_few{number}")
    ]
    if few:
        yield (
            f"rows of tables with people: none that fewer than {related.k} people have to do with"
            f" are published as they are: {first_few(few)}"
        )


# -- rows ------------------------------------------------------------------------------------------


def everybody_released(spec: ReleaseSpec) -> exp.Select:
    """SELECT member, gid: people of the version that the run adds to, with their classes."""
    assert spec.growth is not None
    each = [
        query("select m.member, m.class_id as gid from m where m.marks is not null", {"m": one})
        for one in spec.growth.tables_of("members")
    ]
    return stacked(each)


def members(spec: ReleaseSpec, state: State) -> exp.Select:
    """SELECT individual, gid: those of them who are in the source."""
    return query(
        "select w.individual, m.gid from w join m on m.member = w.person",
        {"w": state.work(WHOLE), "m": everybody_released(spec)},
    )


def _people(spec: ReleaseSpec, state: State) -> exp.Select:
    if spec.closes:
        return query(
            "select (row_number() over (order by m.individual))::int as person,"
            " m.individual as key, m.gid from m",
            {"m": members(spec, state)},
        )
    tree = query(
        "select (row_number() over (order by c.individual))::int as person,"
        " c.individual as key, g.gid from c",
        {"c": state.work(CODED)},
    )
    grouped = aliased(state.work(GROUPED), "g")
    return tree.join(grouped, on=equal(codes_of(spec), "g", "c"))


def _trees(spec: ReleaseSpec, events: Events, item: Item) -> list[Step]:
    """The labels of a column that is published on a level of its hierarchy."""
    if item.hierarchy is None:
        return []
    name = f"e{events.index}_{item.index}"
    present = table(
        f"leaves{name}",
        f"values of {quote(item.column.name)} that need an ancestor",
        lambda s: query(
            "select :v as value, count(*) as n from l where :v is not null group by 1",
            {"l": linked_table(s, events)},
            v=col(f"v{item.index}", "l"),
        ),
    )
    tree = hierarchy_steps(
        *(name, item.hierarchy, lambda s: s.work(f"leaves{name}"), item.leaf_kind),
        *(spec.base_dir, quote(item.column.name)),
    )
    level = Check(
        f"level{name}",
        f"whether the hierarchy of {quote(item.column.name)} has the level that is shown",
        lambda s: query(
            "select count(*) filter (where cardinality(t.labels) <= :level) as low from t",
            {"t": s.work(f"tree_{name}")},
            level=num(item.level),
        ),
        lambda row, s: (
            PreconditionError(
                f"the hierarchy of {quote(item.column.name)} of {quote(events.name)} has no level"
                f" {item.level}",
                hint="choose a lower level as shown",
                code=ErrorCode.HIERARCHY,
            )
            if row["low"]
            else None
        ),
        gives=[count("low", f"tables_{name}_", assumed=0)],
    )
    return [present, *tree, level]


def _rows(state: State, events: Events) -> exp.Select:
    mine = query(
        "select p.gid, p.person from l join p on p.key = l.person"
        " where not l.orphan and not l.leaves",
        {"l": linked_table(state, events), "p": state.work(PEOPLE)},
    )
    for item in events.items:
        value = col(f"v{item.index}", "l")
        shown: exp.Expr = value
        if item.hierarchy is not None:
            name = f"t{item.index}"
            tree = aliased(state.work(f"tree_e{events.index}_{item.index}"), name)
            same = exp.EQ(this=col("value", name), expression=value.copy())
            mine = mine.join(tree, on=same, join_type="left")
            shown = fragment(f"{name}.labels[{item.level + 1}]")
        mine = mine.select(named(shown, f"s{item.index}"))
    tree = query("select m.gid, m.person from m", {"m": mine})
    for item in events.items:
        ranked = fragment("(dense_rank() over (order by :s))::int", s=col(f"s{item.index}", "m"))
        tree = tree.select(named(ranked, f"k{item.index}"), col(f"s{item.index}", "m"))
    return tree


def released_people(
    spec: ReleaseSpec, state: State, related: Related, events: Events
) -> QualifiedName | exp.Select:
    """SELECT individual: people who are in groups of a table."""
    if not spec.tests_once:
        return state.work(CODED)
    return query(
        "select p.key as individual from p join g on g.gid = p.gid",
        {
            "p": state.work(PEOPLE),
            "g": state.work(class_groups(related.partition_of(events).index)),
        },
    )


def values_of(state: State, events: Events, item: Item) -> exp.Select:
    """SELECT k, s: the published value of every code of a column."""
    return query(
        "select distinct :k as k, :s as s from r",
        {"r": rows_table(state, events)},
        k=col(f"k{item.index}", "r"),
        s=col(f"s{item.index}", "r"),
    )
