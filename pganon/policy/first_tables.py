"""A first policy for related tables: what leads to a table of people over foreign keys.

All rows are counted, joined to the people that they lead to. What a run would refuse is left out,
with the reason. No value leaves the server.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import psycopg
from psycopg.rows import dict_row
from sqlglot import exp

from pganon.catalog.introspect import read_relation, references
from pganon.catalog.keys import key_text_of
from pganon.catalog.model import Column, Reference, Relation
from pganon.catalog.statistics import Facts
from pganon.catalog.values import texts_of
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.identifiers import QualifiedName
from pganon.policy.guess import MANY_NUMBERS, Guess, guess_role
from pganon.policy.registry import Registry
from pganon.policy.scaffold import FirstPolicy, Observed, first_policy, observing, why_not
from pganon.policy.vocabulary import WORDS, whole_words, words
from pganon.server_errors import translate
from pganon.sqlfiles import Connection
from pganon.sqltools import (
    aliased,
    col,
    finished,
    fragment,
    materialized,
    named,
    num,
    query,
    render,
    scalar,
)

BETA = Fraction(9, 10)
GROUP_SIZE = 10
"""People of a group, by k."""

FEWEST = 2
"""People with rows that a group has on average, by k, unless few people have rows at all."""

TELLING = 10
"""People of another part expected to have a value, from which its lack there is no chance."""

REPEATS = 5
"""Rows per value, on average, from which a code says what happened, and names no row or person."""

_LEFT = "which is left out"
_NO_COLUMN = "no column of it is published"
_UNNAMED = "no published column names its rows"
_YEAR = {"hierarchy": {"date": ["quarter", "year"]}, "shown": 2}
_OTHERS = WORDS["people"] | WORDS["staff"]
_DIRECT = WORDS["direct"] - {"description", "url", "website"}
"""Without words of free texts that say nothing of people in a table without people."""


@dataclass(frozen=True)
class Around:
    """Tables that foreign keys connect with a table of people.

    Attributes:
        relations: those that may be read.
        keys: by table, the columns by which rows of others name its rows, if these find them.
        ways: of tables that lead to people, each after those that it leads to, but in circles.
        lookups: tables that these name, and that lead nowhere, by table and column that do.
        left: tables that are not released, and why.
        tied: tables of which one has rows only where another one has, though none leads over it.
    """

    root: Relation
    relations: dict[QualifiedName, Relation] = field(default_factory=dict)
    keys: dict[QualifiedName, tuple[str, ...]] = field(default_factory=dict)
    ways: dict[QualifiedName, list[Reference]] = field(default_factory=dict)
    lookups: dict[tuple[QualifiedName, str], QualifiedName] = field(default_factory=dict)
    left: dict[QualifiedName, str] = field(default_factory=dict)
    tied: set[QualifiedName] = field(default_factory=set)

    def columns(self, table: QualifiedName, names: Sequence[str]) -> list[Column]:
        found = [self.relations[table].column(name) for name in names]
        return [column for column in found if column is not None]


@dataclass(frozen=True)
class Events:
    """A table of events as it is proposed.

    Attributes:
        guesses: a role of events, or None; `references` among the keys is the name of a lookup.
        counts: of :func:`_counts`.
        bounded: by sensitive column, what was counted of it.
    """

    ways: Sequence[Reference]
    facts: Mapping[str, Facts]
    guesses: Mapping[str, Guess]
    counts: Mapping[str, int]
    bounded: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class FirstTables:
    """A policy about related tables that can be written.

    Attributes:
        method: its word.
        lookups: columns, as `guesses` of a policy.
        rare: tables that few people have rows in, and whether they have groups of their own.
        apart: a column of the root of which it was counted whether events tell it, if there is one.
        tells: sensitive values of events that only people have who share a value of it.
        kept_apart: whether groups can keep its values apart.
    """

    root: FirstPolicy
    method: str
    around: Around
    people: int
    group_size: int
    events: Mapping[QualifiedName, Events]
    lookups: Mapping[QualifiedName, Mapping[str, Guess]]
    rare: Mapping[QualifiedName, bool]
    apart: str | None
    tells: int
    kept_apart: bool


# -- the catalog -----------------------------------------------------------------------------------


def around(conn: Connection, root: Relation) -> Around:
    """What foreign keys lead to a table, at any depth, and what the tables on the way name.

    Raises:
        PreconditionError: nothing leads to it that may be read.
    """
    every = [one for one in references(conn) if one.source != one.target]
    found = Around(root)
    relations, keys, left = found.relations, found.keys, found.left

    def look(name: QualifiedName) -> None:
        try:
            relation = root if name == root.name else read_relation(conn, str(name))
        except PreconditionError as error:
            left[name] = error.message
            return
        if relation.row_security:
            left[name] = "row-level security applies to this role"
            return
        relations[name] = relation
        named_by = [one.keys for one in every if one.target == name]
        primary = [key for key in named_by if {*key} == {*relation.primary_key}]
        for key in (primary or named_by)[:1]:
            if all(_exact(one) and not one.nullable for one in found.columns(name, key)):
                keys[name] = key

    def usable(one: Reference) -> Iterator[Reference]:
        """In the order of the key, if columns may be read, and find it by its text."""
        key, names = keys.get(one.target, ()), dict(zip(one.keys, one.columns, strict=True))
        if one.source in relations and {*key} == {*names}:
            way = replace(one, keys=key, columns=tuple(names[name] for name in key))
            both = found.columns(one.source, way.columns), found.columns(one.target, key)
            if all(_exact(a) and texts_of(a) == texts_of(b) for a, b in zip(*both, strict=True)):
                yield way

    def shortened(way: Reference) -> Reference:
        """Over a key of several columns by which its rows lead on, such as that of enrolments of
        a student in a course: to the student at once, so that the course may be published.

        Rows without a course lead to the student, too, whom they name.
        """
        over = found.ways.get(way.target, ())
        if len(way.keys) == 1 or len(over) != 1 or not {*over[0].columns} <= {*way.keys}:
            return way
        found.tied.update((way.source, way.target))
        names = dict(zip(way.keys, way.columns, strict=True))
        columns = tuple(names[name] for name in over[0].columns)
        return replace(over[0], source=way.source, columns=columns)

    depth, reached = {root.name: 0}, [root.name]
    for name in reached:  # grows
        look(name)
        for one in (one for one in every if one.target == name and one.source not in depth):
            depth[one.source] = depth[name] + 1
            reached.append(one.source)
    ways = dict[QualifiedName, list[Reference]]()
    for name in (one for one in reached[1:] if one in relations):
        over = [one for one in every if one.source == name and one.target in depth]
        # A table that is farther may lead back. Of circles of equally far ones the first is left.
        ways[name] = [
            way for one in over if depth[one.target] <= depth[name] for way in usable(one)
        ]
        if not ways[name]:
            read = [one.target for one in over if one.target in relations]
            why = "by other columns than its key, or such as cannot be read" if read else _LEFT
            left[name] = f"leads over {read[0] if read else over[0].target}, {why}"

    def follow(name: QualifiedName) -> None:
        mine = ways.pop(name, [])
        for one in mine:
            follow(one.target)
        if mine:
            found.ways[name] = list(dict.fromkeys(map(shortened, mine)))

    for name in list(ways):
        follow(name)
    if root.name not in keys or not found.ways:
        raise _nothing(found)
    led_to = {root.name} | {way.target for mine in found.ways.values() for way in mine}
    for name in found.ways.keys() - led_to:
        keys.pop(name, None)
    looked = list(found.ways)
    for name in looked:  # grows, as lookups name others
        for one in (one for one in every if one.source == name and one.target not in depth):
            if one.target not in looked:
                look(one.target)
                looked.append(one.target)
                left.setdefault(one.target, _why_not_plain(found, one.target) or _UNNAMED)
            if left[one.target] == _UNNAMED:
                found.lookups.update({(name, way.columns[0]): way.target for way in usable(one)})
    return found


def _nothing(found: Around) -> PreconditionError:
    why = "".join(f"; {name}: {reason}" for name, reason in found.left.items())
    return PreconditionError(
        f"no table leads to {found.root.name} over foreign keys and can be released{why}",
        hint="name the table with a row per person; for that table alone leave --tables out",
        code=ErrorCode.REFERENCE,
    )


def _exact(column: Column) -> bool:
    """Whether its values may be read, and are found again by their texts."""
    named = column.readable and column.name.isprintable()
    return named and column.has_canonical_text and column.collation_deterministic


def _why_not_plain(around: Around, name: QualifiedName) -> str | None:
    """Why a table that is named is not published as it is, if it may be read; None if it is."""
    if name not in around.relations:
        return None
    *_, last = words(name.name) or [""]
    people = {last, last.removesuffix("s")} & _OTHERS - {"subject"}
    columns = [column.name for column in around.relations[name].columns]
    personal = [c for c in columns if not WORDS["personal"].isdisjoint(whole_words(c))]
    if people or personal:
        return "seems to be about other people than those of the release, by its " + (
            "name" if people else f"column {personal[0]}"
        )
    if name not in around.keys:
        return "its key may be NULL, cannot be read, or has a type in which equal values differ"
    if len(around.keys[name]) > 1:
        return "its key has several columns, and that of a table without people has one"
    return None


# -- rows ------------------------------------------------------------------------------------------


def _people(
    conn: Connection, around: Around, apart: str | None, hidden: Sequence[str]
) -> tuple[exp.Var, dict[str, Any]]:
    """Keys of people, with the part of them that would be kept apart; how many `people` there are,
    the `least` of a part, and the `fewest` values that a part has in a sensitive column."""
    root, fewest = around.root.name, [num(2)]
    part = fragment("'v'")
    if apart is not None:
        value = key_text_of(around.columns(root, [apart]), "r")
        part = fragment("coalesce('v' || :v, 'n')", v=value)
    everybody = query(
        "select :key as key, :key as person, :part as part, false as orphan from r",
        {"r": root},
        key=key_text_of(around.columns(root, around.keys[root]), "r"),
        part=part,
    )
    values = everybody
    for number, column in enumerate(around.columns(root, hidden)):
        values = values.select(named(key_text_of([column], "r"), f"v{number}"))
        fewest.append(fragment("count(distinct :v)", v=col(f"v{number}", "e")))
    each = query(
        "select count(*) as n, :fewest as fewest from e group by e.part",
        {"e": values},
        fewest=exp.func("least", *fewest),
    )
    whole = query(
        "select coalesce(sum(p.n), 0)::bigint as people, coalesce(min(p.n), 0) as least,"
        " coalesce(min(p.fewest), 2) as fewest from p",
        {"p": each},
    )
    return finished(everybody), _row(conn, whole, root)


def _linked(
    around: Around,
    linked: Mapping[QualifiedName, exp.Var],
    name: QualifiedName,
    ways: Sequence[Reference],
) -> exp.Select:
    """Rows with the person that they lead to, whether to nobody, or to several people."""
    tree = query("select from e", {"e": name})
    if name in around.keys:
        tree = tree.select(named(key_text_of(around.columns(name, around.keys[name]), "e"), "key"))
    people, orphan, several = list[exp.Expr](), list[exp.Expr](), list[exp.Expr]()
    for number, way in enumerate(ways):
        other = f"l{number}"
        given = key_text_of(around.columns(name, way.columns), "e")
        found = exp.EQ(this=col("key", other), expression=given)
        tree = tree.join(aliased(linked[way.target], other), on=found, join_type="left")
        person = col("person", other)
        orphan.append(
            fragment(
                ":key is not null and (:p is null or :o)",
                key=given.copy(),
                p=person,
                o=col("orphan", other),
            )
        )
        several += [fragment("coalesce(:a <> :b, false)", a=person, b=p) for p in people]
        people.append(person)
    parts = [col("part", f"l{number}") for number, _ in enumerate(ways)]
    person = exp.func("coalesce", *people)
    return tree.select(
        named(person, "person"),
        named(exp.func("coalesce", *parts), "part"),
        named(exp.or_(fragment(":p is null", p=person.copy()), *orphan), "orphan"),
        named(exp.or_(exp.false(), *several), "several"),
    )


def _counts(
    conn: Connection,
    around: Around,
    rows: exp.Select,
    name: QualifiedName,
    lookups: Mapping[str, QualifiedName | None],
) -> tuple[dict[str, int], dict[str, dict[str, Any]]]:
    """Of a table `read` rows, `orphans`, rows of `several` people, `holders`, `least` of a part.

    Of a column `most` people with a value, the largest `share` of a part that has one, `named`
    values, those of one person (`alone`), those that tell the part (`tells`), and those that name
    no row of its lookup (`unnamed`).
    """
    tree = query(
        "select count(*) as read, count(*) filter (where l.orphan) as orphans,"
        " count(*) filter (where l.several) as several,"
        " (select coalesce(sum(h.n), 0) from holding as h)::bigint as holders,"
        " (select min(h.n) from holding as h) as least from linked as l"
    )
    holding = query(
        "select l.part, count(distinct l.person) as n from linked as l where not l.orphan"
        " group by l.part"
    )
    for number, (column, lookup) in enumerate(lookups.items()):
        text = key_text_of(around.columns(name, [column]), "e")
        rows = rows.select(named(text, f"v{number}"))
        each = query(
            "select l.part, :v as v, count(distinct l.person) as n from linked as l"
            " where not l.orphan group by l.part, :v",
            v=col(f"v{number}", "l"),
        )
        whole = query(
            "select e.v, sum(e.n) as n, max(e.n::numeric / h.n) as share, count(*) as parts,"
            " min(h.n) as beside from e join holding as h on h.part = e.part group by e.v",
            {"e": each},
        )
        unnamed = num(0)
        if lookup is not None:
            key = key_text_of(around.columns(lookup, around.keys[lookup]), "k")
            found = query("select from k where :key = w.v", {"k": lookup}, key=key)
            unnamed = fragment(
                "count(*) filter (where w.v is not null and not :found)",
                found=exp.Exists(this=found),
            )
        measures = query(
            "select jsonb_build_object('most', max(w.n), 'share', max(w.share),"
            " 'named', count(w.v), 'alone', count(*) filter (where w.n = 1 and w.v is not null),"
            " 'tells', count(*) filter (where w.parts = 1 and w.n * (1 - w.beside / (select sum("
            "h.n) from holding as h)) >= :telling), 'unnamed', :unnamed) from w",
            {"w": whole},
            telling=num(TELLING),
            unnamed=unnamed,
        )
        tree = tree.select(named(scalar(measures), f"v{number}"))
    counts = _row(conn, materialized(tree, linked=rows, holding=holding), name)
    return counts, {column: counts.pop(f"v{number}") for number, column in enumerate(lookups)}


def _row(conn: Connection, tree: exp.Select, name: QualifiedName) -> dict[str, Any]:
    try:
        with conn.cursor(row_factory=dict_row) as cursor:
            found = cursor.execute(render(tree).encode()).fetchone()
    except psycopg.Error as error:
        raise translate(error, reads=[str(name)]) from None
    assert found is not None
    return found


# -- the proposal ----------------------------------------------------------------------------------


def first_tables(
    conn: Connection, around: Around, registry: Registry, task: str, trusted: Sequence[str] = ()
) -> FirstTables:
    """A first policy for a table of people and what leads to it; runs of it are not refused.

    Raises:
        PreconditionError: no column of the root, or no table of events, can be released.
        DatabaseError: rows could not be counted.
    """
    root = around.root.name
    k = next(int(model["k"]) for model in registry.tasks[task][1].about_all if "k" in model)
    method = registry.supporting("tables")[0]
    first = first_policy(conn, around.root, registry, task, trusted, registry.methods[method])
    known = [name for name, guess in first.guesses.items() if guess.role == "quasi_identifying"]
    sexes = [name for name in known if not WORDS["sexes"].isdisjoint(whole_words(name))]
    apart = sexes[0] if sexes else None
    hidden = [name for name, guess in first.guesses.items() if guess.role == "sensitive"]
    everybody, people = _people(conn, around, apart, hidden)
    linked, events = {root: everybody}, dict[QualifiedName, Events]()
    for name, declared in around.ways.items():
        ways = [way for way in declared if way.target in linked]
        if not ways:
            around.left[name] = f"leads over {declared[0].target}, {_LEFT}"
            continue
        rows = _linked(around, linked, name, ways)
        found = _events(conn, around, name, ways, rows, k)
        if isinstance(found, str):
            around.left[name] = found
        else:
            events[name], linked[name] = found, finished(rows)
    if not events:
        raise _nothing(around)
    size = min(GROUP_SIZE * k, people["people"])
    over = {way.target for one in events.values() for way in one.ways} | around.tied
    # Groups of a table's own hold where it is independent of the others.
    rare = {
        name: len(events) > 1 and name not in over and all(w.target == root for w in one.ways)
        for name, one in events.items()
        if one.counts["holders"] * size < FEWEST * k * people["people"]
    }
    bounded = [counted for one in events.values() for counted in one.bounded.values()]
    kept_apart = (
        people["least"] >= size
        and people["fewest"] > 1
        and all(one.counts["least"] >= k for one in events.values())
        and all(Fraction(str(one["share"])) <= BETA for one in bounded)
    )
    return FirstTables(
        root=first,
        method=method,
        around=around,
        people=people["people"],
        group_size=size,
        events=events,
        lookups=_published_lookups(around, events),
        rare=rare,
        apart=apart,
        tells=sum(one["tells"] for one in bounded),
        kept_apart=kept_apart,
    )


def _events(
    conn: Connection,
    around: Around,
    name: QualifiedName,
    ways: Sequence[Reference],
    rows: exp.Select,
    k: int,
) -> Events | str:
    """A table of events, or why there is none."""
    relation = around.relations[name]
    if all(map(why_not, relation.columns)):
        return _NO_COLUMN
    with observing(conn, relation) as (seen, _):
        guesses = {c: Guess(None, why) for c, why in seen.why_not.items()}
    guesses |= {c: _role(around, seen, c, guess) for c, guess in seen.guesses.items()}
    guesses = {c: guesses[c] for c in relation.column_names}
    referring = {
        column: guess.keys.get("references")
        for column, guess in guesses.items()
        if guess.role == "sensitive"
    }
    counts, bounded = _counts(conn, around, rows, name, referring)
    if counts["several"]:
        return f"shared_fact: {counts['several']} rows lead to two people each"
    if counts["holders"] < k:
        return f"too_few_holders: {counts['holders']} people have rows, and k is {k}"
    for column, counted in bounded.items():
        lookup = referring[column]
        if counted["unnamed"]:
            why = f"reference: {counted['unnamed']} values name no row of {lookup}"
            guesses[column] = Guess("identifying", why)
        elif lookup is not None and counted["alone"] * 2 > counted["named"]:
            why = f"lookup_people: most rows of {lookup} are of one person each"
            guesses[column] = Guess("identifying", why)
        elif counted["most"] > BETA * counts["holders"]:
            most = 100 * counted["most"] / counts["holders"]
            why = f"{most:.0f} % of the people with rows have one value, too many for event_share"
            guesses[column] = Guess(None, why)
    if not any(guess.role in ("sensitive", "insensitive") for guess in guesses.values()):
        return _NO_COLUMN
    kept = {n: counted for n, counted in bounded.items() if guesses[n].role == "sensitive"}
    return Events(ways, seen.facts, guesses, counts, kept)


def _role(around: Around, seen: Observed, name: str, guess: Guess) -> Guess:
    """The role of a column of events, from that of a table by itself."""
    relation, facts, parts = seen.relation, seen.facts.get(name), whole_words(name)
    (column,), key = around.columns(relation.name, [name]), around.keys.get(relation.name, ())
    targets = [one.table for one in relation.foreign_keys if name in one.columns]
    lookup = around.lookups.get((relation.name, name))
    if len(targets) == 1 and lookup is not None and name not in key:
        return Guess("sensitive", f"names rows of {lookup}", keys={"references": lookup})
    if targets:
        return Guess("identifying", f"names rows of {targets[0]}")
    if name in key:
        return Guess("identifying", "names its rows")
    if column.kind == "citext" or not column.collation_deterministic:
        return Guess("identifying", "equal values may be spelled differently")
    if len(relation.primary_key) > 1 and name in relation.primary_key:
        bare = replace(relation, primary_key=(), unique=frozenset())
        guess = guess_role(column, bare, facts=facts)
        if not (WORDS["occasions"] - WORDS["numbering"]).isdisjoint(words(name)):
            guess = Guess("quasi_identifying", "by its name")
        elif guess.role is None and column.is_number:
            guess = Guess("identifying", "part of the primary key, perhaps a number of rows")
    repeats = facts is not None and facts.present >= REPEATS * facts.distinct
    if "code" in parts and parts.isdisjoint(WORDS["direct"] | _OTHERS) and repeats:
        guess = Guess(None, "")
    if guess.role in ("identifying", "sensitive"):
        return guess
    if column.is_time:
        return Guess("insensitive", "the year; others may know it", keys=_YEAR)
    if guess.role == "quasi_identifying" and guess.reason != MANY_NUMBERS:
        return Guess("insensitive", f"others may know it, {guess.reason}")
    return Guess("sensitive", "no better guess, so nobody may learn it")


def _published_lookups(
    around: Around, events: Mapping[QualifiedName, Events]
) -> dict[QualifiedName, Mapping[str, Guess]]:
    """Lookups that events name, or lookups that these name, with their columns."""
    guesses = [guess for one in events.values() for guess in one.guesses.values()]
    wanted = [guess.keys["references"] for guess in guesses if "references" in guess.keys]
    found = dict[QualifiedName, Mapping[str, Guess]]()
    for name in wanted:  # grows
        if name in found:
            continue
        del around.left[name]
        relation, columns = around.relations[name], dict[str, Guess]()
        for column in relation.columns:
            target, reason = relation.refers_to(column.name), why_not(column)
            lookup = around.lookups.get((name, column.name))
            if reason is None and lookup is not None:
                wanted.append(lookup)
            elif reason is None and target is not None:
                reason = f"names rows of {target}"
            elif reason is None and not _DIRECT.isdisjoint(whole_words(column.name)):
                reason = "perhaps of a person, by its name"
            columns[column.name] = Guess("insensitive" if reason is None else None, reason or "")
        found[name] = columns
    return found
