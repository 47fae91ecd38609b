"""Data about the groups of a version that outlive its tables."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from pganon.encode.first import compares_with_first
from pganon.encode.people import has_several, identity
from pganon.forms.form import PublishedForm, Tables
from pganon.forms.groups import GROUPS, groups_step
from pganon.forms.growing import growing_parts, growing_steps
from pganon.forms.links import Linked
from pganon.forms.stored_relations import stored
from pganon.privacy.model_scope import Judged
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.presentation import Presentation
from pganon.sqltools import num, query, stacked
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
