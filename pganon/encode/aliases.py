"""People whose key changed: records under a later key are of the person with the first one.

alias_pairs   (key, earlier)   as the relation of the policy has them
aliases       (pganon_key, pganon_first)   the first key of everybody who has a later one
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from pganon.catalog.keys import key_text_of
from pganon.catalog.model import Column, ExternalObjects, Relation
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.identifiers import quote
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.population import NEW, OLD
from pganon.sqltools import aliased, col, fragment, named, num, query
from pganon.steps import Check, CreateTable, State, Step
from pganon.steps.facts import counts

PAIRS, ALIASES = "alias_pairs", "aliases"

KEY, FIRST = "pganon_key", "pganon_first"
"""Columns of the table, no names that a condition on the source could have without its table."""

LONGEST = 100
"""Keys that one person may have had, one after the other."""

_FAULTS = {
    "several": "{n} keys have several earlier ones",
    "shared": "{n} keys have several later ones",
    "unnamed": f"{{n}} pairs have no key in {OLD} or {NEW}",
    "endless": f"{{n}} keys follow one another in a circle, or more than {LONGEST} of them",
}


def alias_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    """Read which keys are of the same people; nothing where the policy names none."""
    relation = spec.aliases
    if relation is None:
        return ()
    return (
        CreateTable(
            "alias pairs",
            "read which keys are of the same people",
            lambda s: s.work(PAIRS),
            lambda s: _pairs(spec, relation),
            external=ExternalObjects((relation.name,)),
        ),
        CreateTable(
            "aliases",
            "the first key of people who have had several",
            lambda s: s.work(ALIASES),
            _roots,
        ),
        Check(
            "aliases",
            "whether every person has one first key",
            _faults,
            lambda row, s: _problem(relation, row),
            gives=counts(*_FAULTS, of="alias_"),
        ),
    )


def with_first_keys(spec: ReleaseSpec, state: State, tree: exp.Select, key: exp.Expr) -> exp.Select:
    """The select with the table of aliases joined, for :func:`known_as`."""
    if spec.aliases is None:
        return tree
    table = aliased(state.work(ALIASES), "al")
    on = exp.EQ(this=col(KEY, "al"), expression=key)
    return tree.join(table, on=on, join_type="left", copy=False)


def known_as(spec: ReleaseSpec, key: exp.Expr) -> exp.Expr:
    """The key under which a person was first known."""
    return (
        key
        if spec.aliases is None
        else fragment("coalesce(:first, :key)", first=col(FIRST, "al"), key=key)
    )


def _pairs(spec: ReleaseSpec, relation: Relation) -> exp.Select:
    later, earlier = (_key(spec, relation, name) for name in (NEW, OLD))
    return query(
        "select distinct :later as key, :earlier as earlier from e"
        " where (:later <> :earlier) is not false",
        {"e": relation.name},
        later=later,
        earlier=earlier,
    )


def _key(spec: ReleaseSpec, relation: Relation, name: str) -> exp.Expr:
    column = relation.column(name)
    assert isinstance(column, Column)  # the policy was resolved against the relation
    return key_text_of([column], "e")


def _roots(state: State) -> exp.Expr:
    pairs = state.work(PAIRS)
    return query(
        "with recursive chain as ("
        " select p.key, p.earlier as root, 1 as steps from p where p.key <> p.earlier"
        " union all"
        " select c.key, p.earlier as root, c.steps + 1 as steps from chain as c"
        " join p on p.key = c.root where c.steps < :longest)"
        " select distinct on (c.key) c.key as pganon_key, c.root as pganon_first from chain as c"
        " order by c.key, c.steps desc",
        {"p": pairs},
        longest=num(LONGEST),
    )


def _faults(state: State) -> exp.Expr:
    tables = {"p": state.work(PAIRS), "a": state.work(ALIASES)}
    several = query("select 1 as one from p group by p.key having count(p.earlier) > 1", tables)
    shared = query("select 1 as one from p group by p.earlier having count(p.key) > 1", tables)
    unnamed = query("select 1 as one from p where p.key is null or p.earlier is null", tables)
    endless = query("select 1 as one from a join p on p.key = a.pganon_first", tables)
    tree = exp.select()
    for name, rows in zip(_FAULTS, (several, shared, unnamed, endless), strict=True):
        number = query("select count(*) as n from r", {"r": rows}).subquery()
        tree = tree.select(named(number, name))
    return tree


def both_keys(spec: ReleaseSpec, records: int) -> PreconditionError:
    """For records under a later and an earlier key of one person, who can have only one."""
    assert spec.aliases is not None
    return PreconditionError(
        f"{records} records of {spec.source.name} have a key in"
        f" {', '.join(map(quote, spec.record_key))} whose earlier one, by"
        f" {spec.aliases.name}, it has as well",
        hint=f"take these keys out of {spec.aliases.name}, or the records out with `where`",
        code=ErrorCode.ALIASES,
    )


def _problem(relation: Relation, row: Mapping[str, Any]) -> PreconditionError | None:
    wrong = [text.format(n=row[name]) for name, text in _FAULTS.items() if row[name]]
    if not wrong:
        return None
    return PreconditionError(
        f"{relation.name} does not say who is who: {'; '.join(wrong)}",
        hint=f"give every key in the column {NEW} one key in the column {OLD}, and the other way"
        " round",
        code=ErrorCode.ALIASES,
    )
