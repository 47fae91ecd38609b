"""Versions that were published before, entering the memory again in their order.

A version remembers how it entered at first: links, columns, rules, rounds of propagation. Its
members and histograms say the rest, so that the memory comes out as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from pganon.encode.people import POPULATION, digest
from pganon.guard import work
from pganon.guard.combinations import compared_sets
from pganon.guard.model import Memory, Version
from pganon.guard.rules import rule_of
from pganon.guard.steps import guard_steps
from pganon.guard.told import Told, columns_after, told_steps
from pganon.guard.told_values import told_values
from pganon.identifiers import QualifiedName
from pganon.sqltools import col, fragment, named, num, query
from pganon.steps import CreateTable, State, Step


@dataclass(frozen=True)
class Entered:
    """A version as it entered the memory.

    Attributes:
        members, histogram: its private tables; no histogram where none was kept.
        guard: `links`, `columns`, `several`, `rules`, `rounds`, `strongest`, `bounded`,
            `invariant`. One that
            was published before this was kept has its members under their keys: `plain`.
    """

    members: QualifiedName
    histogram: QualifiedName | None
    guard: Mapping[str, Any]

    def told(self, members: QualifiedName, histogram: QualifiedName) -> Told:
        """What it tells, by these tables."""
        return Told(
            members=members,
            histogram=histogram,
            links=tuple(self.guard["links"]),
            columns=tuple((name, link) for name, link in self.guard["columns"]),
            several=self.guard["several"],
        )


def population_by_id(population: int) -> Callable[[State], exp.Select]:
    """SELECT of its secret."""

    def secret(state: State) -> exp.Select:
        return query(
            "select p.secret from p where p.id = :id", {"p": POPULATION}, id=num(population)
        )

    return secret


def replayed(entered: Entered, memory: Memory | None, number: int) -> Version:
    """What the version adds to the memory before it, the one of this number in the run."""
    guard = entered.guard
    names = [name for name, _ in guard["columns"]]
    return Version(
        columns=columns_after(memory.columns if memory else (), names),
        published=frozenset(names),
        rules=tuple(rule_of(rule) for rule in guard["rules"]),
        memory=memory,
        bounded=frozenset(guard["bounded"]),
        invariant=tuple(guard.get("invariant") or ()),
        unknown=bool(guard.get("plain")),
        several=guard["several"],
        scattered=guard["several"] or len(guard["links"]) > 1,
        republication="allow",
        strongest=guard["strongest"],
        rounds=guard["rounds"],
        part=number,
        number=number,
    )


def replay_steps(
    entered: Entered, version: Version, secret: Callable[[State], exp.Select]
) -> tuple[Step, ...]:
    """The new memory; nothing is judged."""
    guard = entered.guard
    steps: list[Step] = []
    if guard.get("plain"):
        steps.append(
            CreateTable(
                "guard_told members",
                "members by digests",
                lambda s: _digested(s, version),
                lambda s: _digests(entered, secret(s)),
            )
        )
    if entered.histogram is None:
        steps.append(
            CreateTable(
                "guard_told values",
                "no histogram is kept",
                lambda s: _nothing(s, version),
                lambda s: query(
                    "select 1 as col, 1::bigint as link, ''::text as value, 1::bigint as n"
                    " where false"
                ),
            )
        )

    def tell(state: State) -> Told:
        members = _digested(state, version) if guard.get("plain") else entered.members
        return entered.told(members, entered.histogram or _nothing(state, version))

    return (
        *steps,
        *told_steps(tell, version, plain=not version.scattered),
        *_unknown(version),
        *guard_steps(version, told_values(tell, version, secret)),
    )


def _digested(state: State, version: Version) -> QualifiedName:
    return state.work(f"told_members{version.part}")


def _nothing(state: State, version: Version) -> QualifiedName:
    return state.work(f"told_values{version.part}")


def key_of_plain(guard: Mapping[str, Any], table: str) -> exp.Expr:
    """SQL: the key of a member that has no digest; parts of a key are texts."""
    if guard.get("parts", 1) == 1:
        return col("member", table)
    return fragment(
        "(select jsonb_agg(e.part) from jsonb_array_elements_text(:m::jsonb) as e(part))::text",
        m=col("member", table),
    )


def _digests(entered: Entered, secret: exp.Select) -> exp.Select:
    """Members under their keys, as the digests of now."""
    tree = query(
        "select :person as member, '{}'::bigint[] as marks from m",
        {"m": entered.members},
        person=digest(key_of_plain(entered.guard, "m"), secret),
    )
    return tree.select(*[col(link, "m") for link in entered.guard["links"]])


def _unknown(version: Version) -> Sequence[Step]:
    """What models compare cells with; nobody asks for what they find."""
    return [
        _no_combinations(version, number, len(names))
        for number, names in enumerate(compared_sets(version), start=1)
    ]


def _no_combinations(version: Version, number: int, width: int) -> Step:
    values = [named(fragment("null::text"), f"v{place}") for place in range(1, width + 1)]
    return CreateTable(
        f"guard_existing{number}",
        "no combinations are compared with",
        lambda s: s.work(work.existing(version.part, number)),
        lambda s: exp.select(*values).where(exp.false()),
    )
