"""Columns of a source as they are, beside what they were and what policies say of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import yaml

from pganon.catalog.model import Relation
from pganon.policy.guess import guess_role
from pganon.policy.model import Policy
from pganon.policy.tables import EventTable, LookupTable


@dataclass(frozen=True)
class Retyped:
    """A column whose type is another one now."""

    name: str
    before: str
    now: str


@dataclass(frozen=True)
class ColumnDrift:
    """Changes of the columns since a version was made.

    Attributes:
        added: those that the policy does not mention.
    """

    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    retyped: tuple[Retyped, ...] = ()


def column_drift(
    before: Sequence[Mapping[str, str]], now: Relation, declared: Collection[str]
) -> ColumnDrift:
    """Columns that came, went or changed.

    Args:
        before: {name, type} of each.
        declared: names that the policy mentions.
    """
    was = {column["name"]: column["type"] for column in before}
    types = {column.name: column.type_name for column in now.columns}
    return ColumnDrift(
        tuple(name for name in types if name not in was and name not in declared),
        tuple(name for name in was if name not in types),
        tuple(
            Retyped(name, was[name], types[name])
            for name in types
            if name in was and was[name] != types[name]
        ),
    )


def mentioned(policy: Policy, table: str | None = None) -> set[str]:
    """Columns that a policy says something about, of its source or of a related table."""
    found = policy.tables.get(table or "")
    if isinstance(found, EventTable | LookupTable):
        return found.mentioned
    return {*policy.columns, *policy.individual_key}


def lines_to_add(relation: Relation, names: Collection[str], table: object = None) -> list[str]:
    """Lines for `columns:` of a policy, with a guess by the name of each column.

    Where the name says nothing the column is withheld, as it is without a line.

    Args:
        table: the related table, with roles of its own, or none where it has no people.
    """
    lines: list[str] = []
    for column in relation.columns:
        if column.name not in names:
            continue
        guess = guess_role(column, relation, facts=None)
        name = yaml.safe_dump(column.name, allow_unicode=True).splitlines()[0]
        role = guess.role or "identifying"
        why = guess.reason if guess.role else "no guess: as it is, it is withheld"
        if isinstance(table, EventTable) and role == "quasi_identifying":
            role = "insensitive"
        said = "{}  # published as it is" if isinstance(table, LookupTable) else ""
        lines.append(f"  {name}: {said or f'{{role: {role}}}  # {why}'}")
    return lines
