"""A first policy for related tables: what leads to a table of people over foreign keys.

All rows are counted, joined to the people that they lead to. What a run would refuse is left out,
with the reason. No value leaves the server.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import psycopg
from psycopg.rows import dict_row
from sqlglot import exp

from pganon.catalog.introspect import Connection, read_relation, references
from pganon.catalog.model import Column, Reference, Relation
from pganon.catalog.statistics import Facts
from pganon.catalog.values import equal_key, stored, texts_of
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.identifiers import QualifiedName
from pganon.policy.guess import Guess, guess_role
from pganon.policy.registry import Registry
from pganon.policy.scaffold import FirstPolicy, Observed, first_policy, observing
from pganon.policy.vocabulary import (
    DIRECT,
    NUMBERING,
    OCCASIONS,
    PEOPLE,
    PERSONAL,
    SEXES,
    STAFF,
    whole_words,
    words,
)
from pganon.server_errors import translate
from pganon.sqltools import (
    aliased,
    cast,
    col,
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
_YEAR = {"hierarchy": {"date": ["quarter", "year"]}, "shown": 2}
_TOLD = frozenset({"description", "url", "website"})
"""Words of free texts that say nothing of people in a table without people."""


@dataclass(frozen=True)
class Around:
    """Tables that foreign keys connect with a table of people.

    Attributes:
        keys: by table, the columns by which rows of others name its rows.
        ways: of tables that lead to people, each after those that it leads to, but in circles.
        lookups: tables that these name, and that lead nowhere, with all that name them.
        left: tables that are not released, and why.
    """

    root: Relation
    relations: Mapping[QualifiedName, Relation]
    keys: Mapping[QualifiedName, tuple[str, ...]]
    ways: Mapping[QualifiedName, Sequence[Reference]]
    lookups: Mapping[QualifiedName, Sequence[Reference]]
    left: dict[QualifiedName, str]


@dataclass
class Events:
    """A table of events as it is proposed.

    Attributes:
        counts: of :func:`_counts`.
        guesses: a role of events, or None; `references` among the keys is the name of a lookup.
    """

    relation: Relation
    ways: Sequence[Reference]
    counts: Mapping[str, Any]
    guesses: Mapping[str, Guess]
    facts: Mapping[str, Facts]
    own: bool = False


@dataclass(frozen=True)
class FirstTables:
    """A policy about related tables that can be written.

    Attributes:
        method: its word.
        lookups: columns, as `guesses` of a policy.
        apart: a column of the root of which it was counted whether events tell it, if there is one.
        tells: sensitive values of events that only people have who share a value of it.
        kept_apart: whether groups can keep its values apart.
    """

    root: FirstPolicy
    method: str
    around: Around
    people: int
    k: int
    group_size: int
    events: Mapping[QualifiedName, Events]
    lookups: Mapping[QualifiedName, Mapping[str, Guess]]
    apart: str | None
    tells: int
    kept_apart: bool


# -- the catalog -----------------------------------------------------------------------------------


def around(conn: Connection, root: Relation) -> Around:
    """What foreign keys lead to a table, at any depth, and what the tables on the way name.

    Raises:
        PreconditionError: the table has no key, or nothing leads to it.
    """
    every = [one for one in references(conn) if one.source != one.target]
    keys: dict[QualifiedName, tuple[str, ...]] = {}
    relations, left = {root.name: root}, dict[QualifiedName, str]()

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
            keys[name] = key

    depth, reached = {root.name: 0}, [root.name]
    for name in reached:  # grows
        look(name)
        for one in (one for one in every if one.target == name and one.source not in depth):
            depth[one.source] = depth[name] + 1
            reached.append(one.source)
    ways: dict[QualifiedName, list[Reference]] = {}
    for name in (one for one in reached[1:] if one in relations):
        over = [one for one in every if one.source == name and one.target in depth]
        # A table that is farther may lead back. Of circles of equally far ones the first is left.
        near = [one for one in over if depth[one.target] <= depth[name]]
        ways[name] = [one for one in near if _usable(one, relations, keys)]
        if not ways[name]:
            read = [one.target for one in over if one.target in relations]
            why = "by other columns than its key, or such as cannot be read" if read else _LEFT
            left[name] = f"leads over {read[0] if read else over[0].target}, {why}"
    lookups: dict[QualifiedName, list[Reference]] = {}
    naming = [name for name in ways if ways[name]]
    for name in naming:  # grows, as lookups name others
        for one in (one for one in every if one.source == name and one.target not in depth):
            if one.target not in lookups:
                lookups[one.target] = []
                naming.append(one.target)
                look(one.target)
            lookups[one.target].append(one)
    if not naming:
        raise _nothing(root.name, left)
    in_order = {name: ways[name] for name in _in_order(ways) if ways[name]}
    return Around(root, relations, keys, in_order, lookups, left)


def _nothing(root: QualifiedName, left: Mapping[QualifiedName, str]) -> PreconditionError:
    why = "".join(f"; {name}: {reason}" for name, reason in left.items())
    return PreconditionError(
        f"no table leads to {root} over foreign keys and can be released{why}",
        hint="name the table with a row per person; for that table alone leave --tables out",
        code=ErrorCode.REFERENCE,
    )


def _usable(
    way: Reference,
    relations: Mapping[QualifiedName, Relation],
    keys: Mapping[QualifiedName, tuple[str, ...]],
) -> bool:
    """Whether its columns may be read, and are found again by their texts."""
    target = relations.get(way.target)
    if target is None or {*way.keys} != {*keys[way.target]}:
        return False
    pairs = zip(
        map(relations[way.source].column, way.columns), map(target.column, way.keys), strict=True
    )
    return all(
        one is not None and other is not None and not other.nullable and _names_rows(one, other)
        for one, other in pairs
    )


def _names_rows(one: Column, other: Column) -> bool:
    exact = all(
        c.readable and c.has_canonical_text and c.collation_deterministic for c in (one, other)
    )
    return exact and texts_of(one) == texts_of(other)


def _in_order(ways: Mapping[QualifiedName, Sequence[Reference]]) -> Iterator[QualifiedName]:
    """Each after the tables that it leads to."""
    done: set[QualifiedName] = set()

    def above(name: QualifiedName) -> Iterator[QualifiedName]:
        if name not in done and name in ways:
            done.add(name)
            for one in ways[name]:
                yield from above(one.target)
            yield name

    for name in ways:
        yield from above(name)


# -- rows ------------------------------------------------------------------------------------------


def _text(column: Column | None, table: str) -> exp.Expr:
    """The text by which a value is found again."""
    assert column is not None
    return cast(exp.paren(equal_key(column, stored(column, col(column.name, table)))), "text")


def _texts(relation: Relation, names: Sequence[str], table: str) -> exp.Expr:
    texts = [_text(relation.column(name), table) for name in names]
    return texts[0] if len(texts) == 1 else exp.func("row", *texts)


def _everybody(root: Relation, key: Sequence[str], apart: str | None) -> exp.Select:
    """Keys and persons, with the part of them that would be kept apart."""
    part = (
        fragment("coalesce('v' || :v, 'n')", v=_text(root.column(apart), "r"))
        if apart
        else fragment("'v'")
    )
    tree = query("select from r", {"r": root.name}).where(
        exp.and_(*[fragment(":c is not null", c=col(name, "r")) for name in key])
    )
    for number, name in enumerate(key):
        tree = tree.select(named(_text(root.column(name), "r"), f"k{number}"))
    person = _texts(root, key, "r")
    return tree.select(
        named(person, "person"),
        named(part, "part"),
        named(exp.false(), "orphan"),
        named(exp.false(), "several"),
    )


def _linked(
    relation: Relation,
    ways: Sequence[Reference],
    keys: Mapping[QualifiedName, tuple[str, ...]],
    linked: Mapping[QualifiedName, exp.Select],
    values: Sequence[str],
) -> exp.Select:
    """Rows with the person that they lead to, whether to nobody, or to several people."""
    tree = query("select from e", {"e": relation.name})
    for number, name in enumerate(keys.get(relation.name, ())):
        tree = tree.select(named(_text(relation.column(name), "e"), f"k{number}"))
    people, parts, several = list[exp.Expr](), list[exp.Expr](), list[exp.Expr]()
    orphan: list[exp.Expr] = []
    for number, way in enumerate(ways):
        other = f"l{number}"
        found = [
            exp.EQ(
                this=col(f"k{keys[way.target].index(key)}", other),
                expression=_text(relation.column(name), "e"),
            )
            for name, key in zip(way.columns, way.keys, strict=True)
        ]
        tree = tree.join(aliased(linked[way.target], other), on=exp.and_(*found), join_type="left")
        given = [fragment(":c is not null", c=col(name, "e")) for name in way.columns]
        orphan.append(
            exp.and_(
                *given,
                fragment(":p is null or :o", p=col("person", other), o=col("orphan", other)),
            )
        )
        several += [
            fragment("coalesce(:a <> :b, false)", a=col("person", other), b=p.copy())
            for p in people
        ]
        several.append(fragment("coalesce(:s, false)", s=col("several", other)))
        people.append(col("person", other))
        parts.append(col("part", other))
    person = exp.func("coalesce", *people)
    nobody = fragment(":p is null", p=person.copy())
    for number, name in enumerate(values):
        tree = tree.select(named(_text(relation.column(name), "e"), f"v{number}"))
    return tree.select(
        named(person, "person"),
        named(exp.func("coalesce", *parts), "part"),
        named(exp.or_(nobody, *orphan), "orphan"),
        named(exp.or_(*several), "several"),
    )


def _counts(
    conn: Connection,
    rows: exp.Select,
    reads: Sequence[QualifiedName],
    values: Sequence[str],
    lookups: Mapping[str, tuple[Relation, str]],
) -> dict[str, Any]:
    """Of a table `read` rows, `orphans`, rows of `several` people, `holders`, `least` of a part.

    Of a column, by its number, `most` people with a value, the largest `share` of a part that has
    one, `values`, those of one person (`alone`), those that tell the part (`tells`), and those that
    name no row of its lookup (`unnamed`).
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
    for number, name in enumerate(values):
        value = col(f"v{number}", "l")
        each = query(
            "select l.part, :v as v, count(distinct l.person) as n from linked as l"
            " where not l.orphan group by l.part, :v",
            v=value,
        )
        whole = query(
            "select e.v, sum(e.n) as n, max(e.n::numeric / h.n) as share, count(*) as parts,"
            " min(h.n) as beside from e join holding as h on h.part = e.part group by e.v",
            {"e": each},
        )
        measures = query(
            "select jsonb_build_object('most', max(w.n), 'share', max(w.share),"
            " 'values', count(*), 'named', count(w.v),"
            " 'alone', count(*) filter (where w.n = 1 and w.v is not null),"
            " 'tells', count(*) filter (where w.parts = 1 and w.n * (1 - w.beside / (select sum("
            "h.n) from holding as h)) >= :telling), 'unnamed', :unnamed) from w",
            {"w": whole},
            telling=num(TELLING),
            unnamed=_unnamed(*lookups[name]) if name in lookups else num(0),
        )
        tree = tree.select(named(scalar(measures), f"v{number}"))
    made = render(materialized(tree, linked=rows, holding=holding))
    return _row(conn, made, reads)


def _unnamed(lookup: Relation, key: str) -> exp.Expr:
    """How many of the values `w.v` name no row of a lookup."""
    named_rows = query(
        "select from k where :key = w.v", {"k": lookup.name}, key=_text(lookup.column(key), "k")
    )
    return fragment(
        "count(*) filter (where w.v is not null and not :found)",
        found=exp.Exists(this=named_rows),
    )


def _row(conn: Connection, statement: str, reads: Sequence[QualifiedName]) -> dict[str, Any]:
    try:
        with conn.cursor(row_factory=dict_row) as cursor:
            found = cursor.execute(statement.encode()).fetchone()
    except psycopg.Error as error:
        raise translate(error, reads=list(map(str, reads))) from None
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
    start = registry.tasks[task][1]
    k = next(int(model["k"]) for model in start.about_all if "k" in model)
    method = registry.supporting("tables")[0]
    first = first_policy(conn, around.root, registry, task, trusted, registry.methods[method])
    root, left = around.root, around.left
    apart = next(
        (
            name
            for name, guess in first.guesses.items()
            if guess.role == "quasi_identifying" and not SEXES.isdisjoint(whole_words(name))
        ),
        None,
    )
    everybody = _everybody(root, around.keys[root.name], apart)
    hidden = [name for name, guess in first.guesses.items() if guess.role == "sensitive"]
    people = _parts(conn, root, everybody, hidden)
    plain = {name: _lookup(around, name) for name in around.lookups}
    linked, events = {root.name: everybody}, dict[QualifiedName, Events]()
    for name, declared in around.ways.items():
        ways = [way for way in declared if way.target in linked]
        if not ways:
            left[name] = f"leads over {declared[0].target}, {_LEFT}"
            continue
        found = _events(conn, around, name, ways, linked, plain, k)
        if isinstance(found, str):
            left[name] = found
            continue
        events[name] = found
        linked[name] = _linked(found.relation, ways, around.keys, linked, ())
    if not events:
        raise _nothing(root.name, left)
    size = min(GROUP_SIZE * k, people["people"])
    over = {way.target for one in events.values() for way in one.ways}
    rare = {
        name
        for name, one in events.items()
        if one.counts["holders"] * size < FEWEST * k * people["people"]
    }
    for name in rare:
        # Groups of a table's own hold where it is independent of the others.
        alone = name not in over and all(w.target == root.name for w in events[name].ways)
        events[name].own = alone and len(events) > 1
    bounded = [
        one.counts[f"v_{column}"]
        for one in events.values()
        for column, guess in one.guesses.items()
        if guess.role == "sensitive"
    ]
    good = (
        people["least"] >= size
        and people["values"] > 1
        and all(one.counts["least"] >= k for one in events.values())
        and all(Fraction(str(one["share"])) <= BETA for one in bounded)
    )
    tells = sum(one["tells"] for one in bounded)
    lookups = _published_lookups(conn, around, events, plain)
    return FirstTables(
        first, method, around, people["people"], k, size, events, lookups, apart, tells, good
    )


def _parts(
    conn: Connection, root: Relation, everybody: exp.Select, hidden: Sequence[str]
) -> dict[str, Any]:
    """People, the fewest of a part, and the fewest values that a part has in a sensitive column."""
    tree = everybody.copy()
    for number, name in enumerate(hidden):
        tree = tree.select(named(_text(root.column(name), "r"), f"v{number}"))
    counted = [
        exp.Count(this=exp.Distinct(expressions=[col(f"v{number}", "e")]))
        for number, _ in enumerate(hidden)
    ]
    each = query("select count(*) as n from e group by e.part", {"e": tree}).select(
        named(exp.func("least", num(2), *counted), "values")
    )
    text = "select coalesce(sum(p.n), 0)::bigint as people, coalesce(min(p.n), 0) as least,"
    whole = query(f"{text} coalesce(min(p.values), 2) as values from p", {"p": each})
    return _row(conn, render(whole), [root.name])


def _events(
    conn: Connection,
    around: Around,
    name: QualifiedName,
    ways: Sequence[Reference],
    linked: Mapping[QualifiedName, exp.Select],
    plain: Mapping[QualifiedName, str | None],
    k: int,
) -> Events | str:
    """A table of events, or why there is none."""
    relation = around.relations[name]
    with observing(conn, relation) as (seen, _):
        guesses = {c: Guess(None, why) for c, why in seen.why_not.items()}
        guesses |= dict(_roles(around, seen, plain))
    lookups = {
        column: (around.relations[lookup], around.keys[lookup][0])
        for column, guess in guesses.items()
        if (lookup := guess.keys.get("references")) is not None
    }
    bounded = [column for column, guess in guesses.items() if guess.role == "sensitive"]
    rows = _linked(relation, ways, around.keys, linked, bounded)
    counts = _counts(conn, rows, [name, *linked], bounded, lookups)
    if counts["several"]:
        return f"shared_fact: {counts['several']} rows lead to two people each"
    if counts["holders"] < k:
        return f"too_few_holders: {counts['holders']} people have rows, and k is {k}"
    for number, column in enumerate(bounded):
        counted = counts[f"v_{column}"] = counts.pop(f"v{number}")
        if column in lookups and counted["unnamed"]:
            why = f"reference: {counted['unnamed']} values name no row of {lookups[column][0].name}"
            guesses[column] = Guess("identifying", why)
        elif column in lookups and counted["alone"] * 2 > counted["named"]:
            why = f"lookup_people: most rows of {lookups[column][0].name} are of one person each"
            guesses[column] = Guess("identifying", why)
        elif counted["most"] > BETA * counts["holders"]:
            most = 100 * counted["most"] / counts["holders"]
            why = f"{most:.0f} % of the people with rows have one value, too many for event_share"
            guesses[column] = Guess(None, why)
    if not any(guess.role in ("sensitive", "insensitive") for guess in guesses.values()):
        return "no column of it is published"
    return Events(relation, ways, counts, guesses, seen.facts)


def _roles(
    around: Around, seen: Observed, plain: Mapping[QualifiedName, str | None]
) -> Iterator[tuple[str, Guess]]:
    """Roles of columns of events, from those of a table by itself."""
    relation = seen.relation
    key = {*around.keys.get(relation.name, ())}
    lookups = {
        one.columns[0]: target
        for target, naming in around.lookups.items()
        for one in naming
        if one.source == relation.name and plain[target] is None and one.keys == around.keys[target]
    }
    bare = replace(relation, primary_key=(), unique=frozenset())
    for name, guess in seen.guesses.items():
        column = relation.column(name)
        assert column is not None
        targets = [key.table for key in relation.foreign_keys if name in key.columns]
        lookup = lookups.get(name)
        if len(targets) == 1 and lookup is not None and name not in key:
            other = around.relations[lookup].column(around.keys[lookup][0])
            if other is not None and _names_rows(column, other):
                yield (
                    name,
                    Guess("sensitive", f"names rows of {lookup}", keys={"references": lookup}),
                )
                continue
        if targets:
            yield name, Guess("identifying", f"names rows of {targets[0]}")
            continue
        if name in key or column.kind == "citext" or not column.collation_deterministic:
            why = "names its rows" if name in key else "equal values may be spelled differently"
            yield name, Guess("identifying", why)
            continue
        if len(relation.primary_key) > 1 and name in relation.primary_key:
            guess = guess_role(column, bare, facts=seen.facts.get(name))
            if not (OCCASIONS - NUMBERING).isdisjoint(words(name)):
                guess = Guess("quasi_identifying", "by its name")
            elif guess.role is None and column.is_number:
                guess = Guess("identifying", "part of the primary key, perhaps a number of rows")
        facts = seen.facts.get(name)
        parts = whole_words(name)
        repeats = facts is not None and facts.present >= REPEATS * facts.distinct
        if "code" in parts and parts.isdisjoint(DIRECT | PEOPLE | STAFF) and repeats:
            guess = Guess(None, "")
        if guess.role == "identifying":
            yield name, Guess("identifying", guess.reason)
        elif column.is_time and guess.role != "sensitive":
            yield name, Guess("insensitive", "the year; others may know it", keys=_YEAR)
        elif guess.role == "quasi_identifying":
            yield name, Guess("insensitive", f"others may know it, {guess.reason}")
        else:
            why = (
                guess.reason
                if guess.role == "sensitive"
                else "no better guess, so nobody may learn it"
            )
            yield name, Guess("sensitive", why)


def _lookup(around: Around, name: QualifiedName) -> str | None:
    """Why a table that is named is not published as it is; None if it is."""
    relation = around.relations.get(name)
    if relation is None:
        return around.left[name]
    *_, last = words(name.name) or [""]
    people = {last, last.removesuffix("s")} & (PEOPLE | STAFF) - {"subject"}
    personal = [c.name for c in relation.columns if not PERSONAL.isdisjoint(whole_words(c.name))]
    if people or personal:
        return "seems to be about other people than those of the release, by its " + (
            "name" if people else f"column {personal[0]}"
        )
    key = around.keys[name]
    if len(key) != 1:
        return "its key has several columns, and that of a table without people has one"
    column = relation.column(key[0])
    if column is None or column.nullable or not _names_rows(column, column):
        return "its key may be NULL, cannot be read, or has a type in which equal values differ"
    return None


def _published_lookups(
    conn: Connection,
    around: Around,
    events: Mapping[QualifiedName, Events],
    plain: Mapping[QualifiedName, str | None],
) -> dict[QualifiedName, Mapping[str, Guess]]:
    """Lookups that events name, or lookups that these name, with their columns."""
    wanted = [
        g.keys["references"]
        for one in events.values()
        for g in one.guesses.values()
        if "references" in g.keys
    ]
    found: dict[QualifiedName, Mapping[str, Guess]] = {}
    for name in wanted:  # grows
        if name in found:
            continue
        relation = around.relations[name]
        guesses: dict[str, Guess] = {}
        for column in relation.columns:
            named_rows = relation.refers_to(column.name)
            if named_rows is not None and plain.get(named_rows, "") is None:
                wanted.append(named_rows)
                guesses[column.name] = Guess("insensitive", "")
            elif named_rows is not None:
                guesses[column.name] = Guess(None, f"names rows of {named_rows}")
            elif not (DIRECT - _TOLD).isdisjoint(whole_words(column.name)):
                guesses[column.name] = Guess(None, "perhaps of a person, by its name")
            elif column.kind == "unsupported" or not column.readable:
                guesses[column.name] = Guess(None, "cannot be read, or published")
            else:
                guesses[column.name] = Guess("insensitive", "")
        found[name] = guesses
    for name, why in plain.items():
        if name not in found:
            around.left.setdefault(name, why or "no published column names its rows")
    return found
