"""Individuals of a source who are in earlier versions: checked before any work. Those who were
forgotten are left out.

    known_people       (key, person)   people of the source by key and digest
    forgotten_people   (key)           those of them who were forgotten
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from psycopg import sql
from sqlglot import exp

from pganon.catalog.keys import key_text_of
from pganon.catalog.model import Column, ExternalObjects
from pganon.encode.aliases import known_as, with_first_keys
from pganon.encode.people import FORGOTTEN, digest, identity, mark_of_forgotten, secret_of
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PreconditionError
from pganon.identifiers import QualifiedName, quote
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.population import Members, People
from pganon.sqltools import aliased, col, named, num, query, stacked
from pganon.steps import Check, CreateTable, State, Statement, Step
from pganon.steps.facts import count, counts

RETURNED = count("returned_people", assumed=0)
"""People who were forgotten and are in the source."""

RETURNED_RECORDS = count("returned_records", assumed=0)
"""Their records, which the snapshot has no longer."""

KNOWN = "known_people"
_RETURNED = "forgotten_people"

_TENTH = 10

Table = Callable[[State], QualifiedName]


def known_steps(spec: ReleaseSpec, people: People | None, table: Table) -> tuple[Step, ...]:
    """Nothing for people of whom no version knows.

    Args:
        table: a snapshot, from which the forgotten go.
    """
    if people is None or not people.asks:
        return ()
    steps = same_steps(spec, people, table)
    return (*steps, *(_forgotten(spec, people, table) if people.forgotten else ()))


def same_steps(
    spec: ReleaseSpec, people: People, table: Table, name: str = KNOWN
) -> tuple[Step, ...]:
    """Refuse people who are not whom the policy takes them to be.

    Args:
        name: of the table of people.
    """
    every = f"every_{name}"
    made = CreateTable(
        name,
        "people of the source, as versions know them",
        lambda s: s.work(name),
        lambda s: _people(spec, people, table(s)),
    )
    left_out = bool(people.beside) or (spec.where or spec.exclude) is not None
    filtered = people.others is not None and left_out
    whole = CreateTable(
        every,
        "people whom the policy leaves out, and of other sources of these versions, too",
        lambda s: s.work(every),
        lambda s: _everybody(spec, people, s),
        external=ExternalObjects((*spec.read, *people.beside)),
    )
    checks = [
        _check(table, f"{purpose}_{name}", held, problem)
        for table, purpose, held, problem in (
            (name, "still", people.newest, _still(spec)),
            (name, "same", people.same, _same(spec)),
            (every if filtered else name, "others", people.others, _known(spec, people)),
        )
        if held is not None
    ]
    return (made, *([whole] if filtered else []), *checks)


def _everybody(spec: ReleaseSpec, people: People, state: State) -> exp.Select:
    """Of sources as they are: a policy may ask for people of whom no version is."""
    columns = [spec.source.column(name) for name in spec.individual or spec.record_key]
    mine = tuple(column for column in columns if column is not None)

    def keys(source: QualifiedName, columns: Sequence[Column]) -> exp.Select:
        key = key_text_of(columns, "src")
        tree = exp.select(named(known_as(spec, key), "key")).from_(aliased(source, "src"))
        return with_first_keys(spec, state, tree, key)

    sources = {spec.source.name: mine, **people.beside}
    return query(
        "select distinct :person as person from k where k.key is not null",
        {"k": stacked([keys(*one) for one in sources.items()])},
        person=digest(col("key", "k"), secret_of(people.population)),
    )


def _people(spec: ReleaseSpec, people: People, table: QualifiedName) -> exp.Select:
    known = identity(spec)
    assert known is not None  # nobody is known without a key
    key = col(known, "t")
    tree = query("select :key as key from t where :key is not null", {"t": table}, key=key)
    tree = tree.distinct() if spec.individual else tree  # else everybody has one record
    return tree.select(named(digest(key, secret_of(people.population)), "person"))


_Problem = Callable[[Members, Mapping[str, Any]], PganonError | None]


def _check(name: str, purpose: str, held: Members, problem: _Problem) -> Check:
    def select(state: State) -> exp.Expr:
        members = [query("select m.member from m", {"m": table}) for table in held.tables]
        return query(
            "select (select count(*) from p) as people, count(*) as members,"
            " count(p.person) as present from m left join p on p.person = m.member",
            {
                "p": state.work(name),
                "m": query("select distinct a.member from a", {"a": stacked(members)}),
            },
        )

    return Check(
        purpose,
        f"how many of {held.label} are in the source",
        select,
        lambda row, state: problem(held, row),
        gives=counts("people", "members", "present", of=f"{purpose}_"),
    )


def _still(spec: ReleaseSpec) -> _Problem:
    def problem(held: Members, row: Mapping[str, Any]) -> PganonError | None:
        if _TENTH * row["present"] >= row["members"] or not row["people"]:
            return None  # of an empty source something else is said
        return _keys_changed(
            f"{row['present']} of the {row['members']} people of {held.label} are in"
            f" {spec.source.name}"
        )

    return problem


def _known(spec: ReleaseSpec, people: People) -> _Problem:
    names, hint = " and ".join(map(str, (spec.source.name, *people.beside))), _RENEWED
    if people.closed:
        key = ", ".join(map(quote, spec.individual or spec.record_key))
        closed = ", ".join(map(str, people.closed))
        hint = (
            f"earlier versions read {closed}: let this role read the keys there, to see that they"
            f" are as they were (GRANT SELECT ({key}) ON {closed}); {hint}"
        )

    def problem(held: Members, row: Mapping[str, Any]) -> PganonError | None:
        smaller = min(row["people"], row["members"])
        if _TENTH * row["present"] >= smaller:
            return None
        return _keys_changed(
            f"{row['present']} of the {row['people']} people of {names} are known from"
            f" {held.label} and all others that read one of its relations",
            hint,
        )

    return problem


_RENEWED = (
    "if their keys changed, name the old ones by `aliases`; if the people are others each time,"
    " write population: {renewed: true}"
)


def _keys_changed(what: str, hint: str = _RENEWED) -> PreconditionError:
    return PreconditionError(what, hint=hint, code=ErrorCode.KEYS_CHANGED)


def _same(spec: ReleaseSpec) -> _Problem:
    def problem(held: Members, row: Mapping[str, Any]) -> PganonError | None:
        smaller = min(row["people"], row["members"])
        if 2 * row["present"] >= smaller:
            return None
        keys = ", ".join(map(quote, spec.individual or spec.record_key))
        return PreconditionError(
            f"{spec.source.name} has the relations or rows of {held.label}, of whom"
            f" {row['present']} of {smaller} are known by {keys}",
            hint="tell people apart by the key that these have, or name the keys that changed by"
            " `aliases`",
            code=ErrorCode.POPULATION,
        )

    return problem


def nobody_forgotten(population: int, members: Table) -> Check:
    """Refuse a version with people who were forgotten since it was read, or whose population only
    its rows showed.

    Args:
        members: of the version.
    """

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        if not row["forgotten"]:
            return None
        return PreconditionError(
            f"{row['forgotten']} people of the version were forgotten",
            hint="run the release again; from a copy of a table that was released before, take"
            " them out",
            code=ErrorCode.FORGOTTEN,
        )

    return Check(
        "nobody forgotten",
        "whether people of the version were forgotten",
        lambda s: query(
            "select count(*) as forgotten from m join f on f.mark = :mark where f.population = :id",
            {"m": members(s), "f": FORGOTTEN},
            mark=mark_of_forgotten(col("member", "m"), population),
            id=num(population),
        ),
        problem,
        gives=[count("forgotten", "staged_")],
    )


def _forgotten(spec: ReleaseSpec, people: People, table: Table) -> tuple[Step, ...]:
    key = identity(spec)
    assert key is not None

    def returned(state: State) -> exp.Expr:
        return query(
            "select k.key from k join f on f.mark = :mark where f.population = :id",
            {"k": state.work(KNOWN), "f": FORGOTTEN},
            mark=mark_of_forgotten(col("person", "k"), people.population),
            id=num(people.population),
        )

    def counted(state: State) -> exp.Expr:
        return query(
            "select (select count(*) from r) as returned_people, count(*) as returned_records"
            " from t join r on r.key = :key",
            {"t": table(state), "r": state.work(_RETURNED)},
            key=col(key, "t"),
        )

    def leave_out(state: State) -> sql.Composed:
        return sql.SQL("DELETE FROM {t} AS t USING {r} AS r WHERE r.key = t.{key}").format(
            t=table(state).identifier,
            r=state.work(_RETURNED).identifier,
            key=sql.Identifier(key),
        )

    return (
        CreateTable(
            "forgotten", "people who were forgotten", lambda s: s.work(_RETURNED), returned
        ),
        Check("returned", "how many were forgotten", counted, gives=[RETURNED, RETURNED_RECORDS]),
        Statement(
            "leave out",
            "who was forgotten is left out",
            leave_out,
            when=lambda state: state[RETURNED] > 0,
        ),
    )
