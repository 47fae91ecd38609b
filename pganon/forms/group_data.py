"""Data about the groups of a version that outlive its tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from pganon.encode.coding import suppresses_nulls
from pganon.encode.first import compares_with_first
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
from pganon.forms.form import PublishedForm, Tables
from pganon.forms.growing import growing_parts, growing_steps
from pganon.forms.links import Linked
from pganon.forms.stored_relations import stored
from pganon.identifiers import QualifiedName
from pganon.policy.options import COUNTERFEITS
from pganon.privacy.base import Judged
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.presentation import Presentation
from pganon.sqltools import aliased, cast, col, fragment, named, num, query, stacked
from pganon.steps import CreateTable, Parallel, State, Step
from pganon.steps.relations import PRIVATE_SCHEMA, StoredRelation

HISTOGRAM = "histogram"


def is_remembered(spec: ReleaseSpec, form: PublishedForm) -> bool:
    """Whether versions about the same people can be compared: there are keys, and known links."""
    return form.linkage is not None and identity(spec) is not None


def linked(spec: ReleaseSpec, form: PublishedForm, state: State) -> Linked:
    """How people are linked to the values of the staged relations."""
    assert form.linkage is not None
    tables: Tables = {r.part: r.staged for r in form.staging.relations(spec, state)}
    return form.linkage.linked(spec, state, tables)


def has_scattered_records(spec: ReleaseSpec) -> bool:
    """Whether records of a person may be in different groups."""
    policy = spec.policy
    several = policy.records_per_individual == "many_accepted" and bool(spec.individual)
    return several and not policy.method.encoding.reserves_identity


def reads_values(spec: ReleaseSpec) -> bool:
    """Whether who is left out may follow from values that readers are not taken to know."""
    return any(r.model.judged is not Judged.PEOPLE for r in spec.requirements)


def discloses_left_out(spec: ReleaseSpec) -> bool:
    """Whether a published distribution of all tells, by subtraction, of who is left out.

    That of the first version of a release that grows tells of nobody whom later ones leave out.
    """
    return spec.policy.publish.reference and not compares_with_first(spec)


def shown_columns(spec: ReleaseSpec) -> tuple[str, ...]:
    """Names, in the source, of what is shown of people in groups, in the order of their marks."""
    if spec.qs_sets:
        first = [attribute.column.name for attribute in spec.attributes]
    else:
        first = [item.column.name for item in spec.sensitive]
    carried = [item.column.name for item in spec.carried]
    return (*first, *carried, *[item.remembered for item in spec.microaggregated])


def manner(spec: ReleaseSpec, form: PublishedForm, state: State) -> Presentation:
    """How a version shows groups, but for what publication compares beside."""
    assert form.linkage is not None
    shows = "several" if has_several(spec) else form.linkage.shows(spec, state)
    divided = any(not item.whole for item in spec.microaggregated)
    if shows == "classes" and (spec.background is not None or divided):
        # Such beliefs tell people of a class apart by what they know of them; sums of other groups
        # in the same class, or in a union of classes, may differ by single records.
        shows = "exact"
    columns = shown_columns(spec)
    quasi = tuple(attribute.column.name for attribute in spec.attributes)
    origins = spec.source.origins
    return Presentation(
        state.run_id,
        shows,
        columns,
        quasi,
        invariant=spec.invariant_columns,
        least=spec.minimum_size,
        origins={name: origins[name] for name in (*columns, *quasi) if name in origins},
    )


def relations(spec: ReleaseSpec, form: PublishedForm, state: State) -> tuple[StoredRelation, ...]:
    """All tables of a release."""
    found = form.staging.relations(spec, state)
    if not is_remembered(spec, form):
        return found
    parts = [(HISTOGRAM, PRIVATE_SCHEMA), (GROUPS, PRIVATE_SCHEMA)]
    parts += [] if spec.growth is None else growing_parts(spec.growth, state)
    return (*found, *stored(state, parts))


def staging_steps(spec: ReleaseSpec, form: PublishedForm) -> tuple[Step, ...]:
    """From groups to all of them."""
    if not is_remembered(spec, form):
        return form.staging.steps(spec)
    growing = () if spec.growth is None else growing_steps(spec, spec.growth)
    growing = (
        groups_step(
            spec,
            lambda s: linked(spec, form, s).links[0],
            shown_columns(spec),
            told=discloses_left_out(spec),
        ),
        *growing,
    )
    step = CreateTable(
        HISTOGRAM,
        "the values of every group, which later groups may be compared with",
        lambda s: s.stage(HISTOGRAM),
        lambda s: _histogram(linked(spec, form, s)),
    )
    *before, last = form.staging.steps(spec)
    made_by = form.linkage.made_by if form.linkage is not None else None
    if made_by is None or not isinstance(last, Parallel):
        return (*before, last, step, *growing)
    # What it reads may be there long before the rest.
    read = made_by(spec)
    made = [n for n, chain in enumerate(last.chains) if any(s.name in read for s in chain)]
    assert len(made) == len(read), "each is a step of a chain of its own"
    chains = [*last.chains, [step]]
    after = {**last.after, len(last.chains): made}
    early = [*last.early, len(last.chains)]
    return (*before, replace(last, chains=chains, early=early, after=after), *growing)


def _histogram(found: Linked) -> exp.Expr:
    """(col, link, value, n): columns are numbered from 1."""
    parts = [
        query(
            "select :number as col, (h.link)::bigint as link, h.value, h.n from h",
            {"h": column.histogram},
            number=num(number),
        )
        for number, column in enumerate(found.columns, start=1)
    ]
    if not parts:
        return query(
            "select 1 as col, 1::bigint as link, ''::text as value, 1::bigint as n where false"
        )
    return stacked(parts)


# Who was in a group of a version, in a few numbers, for later versions to be compared with.
#
# grp      number of the group; negative for people who were left out for a value
# people   how many
# who1, who2   XOR of keyed hashes of everybody, so that of a union it is that of its parts. NULL
#          where the group has values that nobody has: it is no other group then
# held     by shown column, XOR of keyed hashes of everybody with the value. NULL where nothing is
#          shown of the group
# of       the run that it is a function of; see :mod:`pganon.resolved.presentation`

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
