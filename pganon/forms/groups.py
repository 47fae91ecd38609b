"""Who was in a group of a version, in a few numbers, for later versions to be compared with.

grp      number of the group; negative for people who were left out for a value
people   how many
who1, who2   XOR of keyed hashes of everybody, so that of a union it is that of its parts. NULL
         where the group has values that nobody has: it is no other group then
held     by shown column, XOR of keyed hashes of everybody with the value. NULL where nothing is
         shown of the group
of       the run that it is a function of; see :mod:`pganon.resolved.presentation`
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pganon.encode.coding import suppresses_nulls
from pganon.encode.people import (
    digest,
    has_several,
    identity,
    mark,
    person_hash,
    population_secret,
)
from pganon.encode.work import CODED, LEFT_OUT
from pganon.forms.elements import carried_keys, own_value
from pganon.identifiers import QualifiedName
from pganon.policy.options import COUNTERFEITS
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, cast, col, fragment, named, query, stacked
from pganon.steps import CreateTable, State

GROUPS = "remembered_groups"
"""Part of a release."""

WHO = ("who1", "who2")


def groups_step(
    spec: ReleaseSpec, link: Callable[[State], str], columns: tuple[str, ...], *, told: bool
) -> CreateTable:
    """The part "groups", from the members.

    Args:
        link: the column of the members with the number of the group.
        columns: shown ones, in the order of the marks.
        told: whether a distribution is published that tells of who was left out.
    """
    return CreateTable(
        "remembered groups",
        "who is in a group, in numbers that the next versions are compared by",
        lambda s: s.stage(GROUPS),
        lambda s: _groups(spec, s, link(s), columns, told=told),
        analyze=False,  # see pganon.methods.common.form.members.members_step
    )


def _groups(
    spec: ReleaseSpec, state: State, link: str, columns: tuple[str, ...], *, told: bool
) -> exp.Expr:
    """Of who has several records the marks say nothing, and every group is there once."""
    members: QualifiedName | exp.Select = state.stage("members")
    if has_several(spec):
        members = query("select distinct m.member from m", {"m": members}).select(
            col(link, "m"), named(fragment("null::bigint[]"), "marks")
        )
    secret = population_secret(state)
    hashes = [named(person_hash(col("member", "m"), name, secret), name) for name in WHO]
    each = query(
        "select m.member, :link as grp, m.marks from m", {"m": members}, link=col(link, "m")
    )
    each = query("select m.* from m where m.grp <> 0", {"m": each}).select(*hashes)
    found = query(
        "select e.grp::bigint as grp, count(*) as people from e group by e.grp", {"e": each}
    )
    found = found.select(*[named(fragment("bit_xor(:h)", h=col(name, "e")), name) for name in WHO])
    found = found.select(named(_held(columns, several=has_several(spec)), "held"))
    tree = query("select g.grp, g.people from g", {"g": found})
    held: exp.Expr = col("held", "g")
    if told:
        held = fragment("case when g.grp < 0 then l.held else g.held end")
        tree = tree.join(aliased(_left_out(spec, state, link, columns), "l"), on=exp.true())
    who: list[exp.Expr] = [col(name, "g") for name in WHO]
    if spec.invariant:
        table = aliased(state.stage(COUNTERFEITS), "c")
        tree = tree.join(table, on=fragment("c.group_id = g.grp"), join_type="left")
        who = [fragment("case when c.group_id is null then :w end", w=column) for column in who]
    return tree.select(
        *[named(column, name) for column, name in zip(who, WHO, strict=True)],
        named(held, "held"),
    )


def _held(columns: tuple[str, ...], *, several: bool) -> exp.Expr:
    if several or not columns:
        return fragment("case when e.grp > 0 then array[]::bigint[] end")
    xors = [fragment(f"bit_xor(e.marks[{place}])") for place, _ in enumerate(columns, start=1)]
    array = cast(exp.Array(expressions=xors), "bigint[]")
    return fragment("case when e.grp > 0 then :array end", array=array)


def _left_out(spec: ReleaseSpec, state: State, link: str, columns: tuple[str, ...]) -> exp.Select:
    """SELECT held of who was left out: what the distribution of all tells of them."""
    known = identity(spec)
    assert known is not None
    secret = population_secret(state)
    values = {item.column.name: own_value(item, "c") for item in spec.sensitive}
    beside = [item.column.name for item in spec.carried]
    beside += [item.remembered for item in spec.microaggregated]
    values |= dict(zip(beside, carried_keys(spec, "c"), strict=True))
    told = {
        requirement.sensitive
        for requirement in spec.requirements
        if requirement.model.needs_reference
    }
    names = {spec.sensitive[number].column.name for number in told if number is not None}
    xors: list[exp.Expr] = []
    person = named(digest(col(known, "c"), secret), "person")
    counted = [CODED, *([LEFT_OUT] if suppresses_nulls(spec) else [])]
    people = stacked(
        [
            query("select 1 from c", {"c": state.work(table)}).select(
                person.copy(),
                *[named(value.copy(), name) for name, value in values.items()],
                append=False,
            )
            for table in counted
        ]
    )
    for name in columns:
        if name in names:
            made = mark(col("person", "c"), col(name, "c"), secret)
            xors.append(fragment("bit_xor(:mark)", mark=made))
        else:
            xors.append(fragment("null::bigint"))
    array = cast(exp.Array(expressions=xors), "bigint[]")
    left = query(
        "select m.member from m where :link < 0", {"m": state.stage("members")}, link=col(link, "m")
    )
    tree = query("select :held as held from c", {"c": people}, held=array)
    return tree.join(aliased(left, "m"), on=fragment("m.member = c.person"))
