"""A first policy for a relation, with comments, for the steward to correct."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial

from pganon.catalog.combinations import (
    Dependency,
    Ranked,
    dependencies,
    ranking,
)
from pganon.catalog.hash_sample import HashedRows, hashed_rows
from pganon.catalog.model import Column, Relation
from pganon.catalog.statistics import Facts, all_of, column_facts
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.policy.guess import (
    Flag,
    Guess,
    fitted,
    flags,
    guess_role,
    is_persons_key,
    persons_key,
    persons_reference,
)
from pganon.policy.options import MethodOptions
from pganon.policy.ready import fits, ready
from pganon.policy.registry import Registry
from pganon.policy.vocabulary import whole_words
from pganon.policy.words import HIDDEN
from pganon.sqlfiles import Connection

DETERMINES = 0.95
"""From which dependency on the key of a person a column is taken to be about the person."""

DECIDES = 0.9
"""From which dependency a column is said to decide another one."""

MOST_SENSITIVE = 5
"""Sensitive columns for which it is measured which others decide them."""

LONGEST_CODE = 40
MANY_CODES = 20
"""Different values from which their form alone says what they are."""

MOST_OTHERS = 90
"""Columns that are measured beside another one."""


@dataclass(frozen=True)
class Observed:
    """Facts about a relation's columns; counts alone, of a sample of its rows.

    Attributes:
        person: columns of the key of people who have several records, perhaps none.
        why_not: why columns cannot be released.
    """

    relation: Relation
    facts: Mapping[str, Facts]
    guesses: Mapping[str, Guess]
    flags: Mapping[str, Flag]
    person: tuple[str, ...]
    why_not: Mapping[str, str]

    @property
    def has_rows(self) -> bool:
        return any(facts.rows for facts in self.facts.values())


@dataclass(frozen=True)
class FirstPolicy:
    """A policy that can be written: roles of columns, and what they say about each other.

    Attributes:
        guesses: fitted to the task.
        decided: dependencies between a sensitive column, `one`, and others.
    """

    observed: Observed
    task: str
    trusted: Sequence[str]
    guesses: Mapping[str, Guess]
    decided: Sequence[Dependency]
    ranked: Sequence[Ranked]


def first_policy(
    conn: Connection,
    relation: Relation,
    registry: Registry,
    task: str,
    trusted: Sequence[str] = (),
    root: type[MethodOptions] | None = None,
) -> FirstPolicy:
    """A first policy for a task; roles are guessed, and no value of a row is in it.

    Args:
        trusted: what the policy says under `trust`.
        root: the method for related tables, of which this is the one with a row per person.

    Raises:
        PreconditionError: no column can be released, or too few for the task.
        DatabaseError: the counts could not be computed.
    """
    method = root or registry.tasks[task][0]
    with observing(conn, relation, one_each=root is not None) as (observed, rows):
        guesses = fitted(observed.guesses, observed.facts, method, observed.flags, observed.person)
        if method.shows == "generalized":
            guesses = {n: _with_hierarchy(conn, observed, n, guess) for n, guess in guesses.items()}
        # Which columns that others may know decide a sensitive one, or follow from it.
        sensitive = [name for name, guess in guesses.items() if guess.role in HIDDEN]
        known = _known_to_others(observed, guesses)
        others = [name for name in known if name not in sensitive]
        return FirstPolicy(
            observed,
            task,
            trusted,
            guesses,
            [
                dependency
                for name in sensitive[:MOST_SENSITIVE]
                if rows and others
                for dependency in dependencies(rows, name, others[:MOST_OTHERS])
                if max(dependency.decided, dependency.decides) >= DECIDES
            ],
            ranking(rows, known) if rows and known and observed.has_rows else [],
        )


@contextmanager
def observing(
    conn: Connection, relation: Relation, *, one_each: bool = False
) -> Iterator[tuple[Observed, HashedRows | None]]:
    """What is seen of a relation, with rows to count: none under row-level security, which would
    hide some or raise.

    Raises:
        PreconditionError: no column can be released.
        DatabaseError: the counts could not be computed.
    """
    refused = {column.name: why for column in relation.columns if (why := why_not(column))}
    usable = [column for column in relation.columns if column.name not in refused]
    if not usable:
        raise PreconditionError(
            f"{relation.name} has no column that can be released",
            hint="columns need a supported type and SELECT for this role",
            code=ErrorCode.NO_COLUMNS,
        )
    counted = not relation.row_security
    with hashed_rows(conn, relation, usable) if counted else nullcontext() as rows:
        facts = column_facts(conn, relation, usable) if counted else {}
        person = () if one_each else _person(rows, usable, relation, facts)
        guesses = {
            column.name: guess_role(
                column, relation, person=column.name in person, facts=facts.get(column.name)
            )
            for column in usable
        }
        hiding = flags(usable)
        for name, flag in hiding.items():
            guesses[flag.name] = Guess(None, f"says for whom {name} is sensitive")
        yield Observed(relation, facts, guesses, hiding, person, refused), rows


def why_not(column: Column) -> str | None:
    """Why a column cannot be released."""
    if column.kind == "unsupported":
        return f"type {column.type_name} is not supported"
    if not column.readable:
        return "this role may not read it"
    if not column.name.isprintable():
        return "its name holds control characters"
    return None


def _person(
    rows: HashedRows | None,
    usable: Sequence[Column],
    relation: Relation,
    facts: Mapping[str, Facts],
) -> tuple[str, ...]:
    """The key of a person: a foreign key, else the finest column, if its name, the rest of the
    primary key or other columns say that it is one."""
    reference = persons_reference(usable, relation, facts)
    name = persons_key(usable, relation, facts)
    if reference or name is None or name in relation.primary_key:
        return reference or (() if name is None else (name,))
    keys = {*relation.unique, *relation.primary_key}
    others = [c.name for c in usable if c.name != name and c.name not in keys][:MOST_OTHERS]
    found = dependencies(rows, name, others) if rows else ()
    determined = sum(dependency.decided >= DETERMINES for dependency in found)
    return (name,) if is_persons_key(name, determined) else ()


def _with_hierarchy(conn: Connection, observed: Observed, name: str, guess: Guess) -> Guess:
    """The guess, with a ready hierarchy where all values of a sample are of one form: of the one
    that the name says, else of the only one."""
    column, facts = observed.relation.column(name), observed.facts.get(name)
    if guess.role != "quasi_identifying" or column is None or facts is None:
        return guess
    kinds = ("text", "bpchar", "citext", "integer")
    if not facts.present or facts.longest > LONGEST_CODE or column.kind not in kinds:
        return guess
    forms = {
        f"{key} {word}": form
        for key, words in ready().items()
        if key != "sources"
        for word, form in words.items()
    }
    found = all_of(
        conn,
        observed.relation,
        column,
        {word: partial(fits, form) for word, form in forms.items()},
    )
    called = [w for w in found if not whole_words(name).isdisjoint(forms[w]["names"].split())]
    if len(called) != 1 and (len(found) != 1 or facts.distinct < MANY_CODES):
        return guess
    key, word = (called if len(called) == 1 else found)[0].split()
    kept = {**guess.keys, "hierarchy": {key: word}}
    if column.is_number:
        kept = {"type": "categorical", **kept}
    return replace(guess, codes=False, keys=kept)


def _known_to_others(observed: Observed, guesses: Mapping[str, Guess]) -> list[str]:
    """Columns that are quasi-identifying, or may be."""
    hiding = {flag.name for flag in observed.flags.values()}
    roles = ("quasi_identifying", "quasi_sensitive", "semi_sensitive", None)
    return [n for n, guess in guesses.items() if guess.role in roles and n not in hiding]
