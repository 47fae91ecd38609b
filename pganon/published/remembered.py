"""What a version keeps of its histograms, which outlive its tables."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from pganon.encode.people import identity
from pganon.published.form import PublishedForm, Tables
from pganon.published.growing import growing_parts, growing_steps
from pganon.published.linked import Linked
from pganon.published.stored import stored
from pganon.spec.model import ReleaseSpec
from pganon.sqltools import num, query, stacked
from pganon.steps import CreateTable, Parallel, State, Step
from pganon.steps.relations import PRIVATE_SCHEMA, StoredRelation

HISTOGRAM = "histogram"


def is_remembered(spec: ReleaseSpec, form: PublishedForm) -> bool:
    """Whether versions about the same people can be compared: there are keys, and known links."""
    return form.linked is not None and identity(spec) is not None


def linked(spec: ReleaseSpec, form: PublishedForm, state: State) -> Linked:
    """How people are linked to the values of the staged relations."""
    assert form.linked is not None
    tables: Tables = {r.part: r.staged for r in form.relations(spec, state)}
    return form.linked(spec, state, tables)


def is_plain(spec: ReleaseSpec, form: PublishedForm) -> bool:
    """Whether a person is in one group of a version, whatever runs observe.

    With several partitions, or several records that may be in different groups, a cell is of the
    people with the same groups: fewer than were promised from the first version on, so that no
    later one could be held against the promise.
    """
    return len(linked(spec, form, State(0)).links) == 1 and not has_scattered_records(spec)


def has_scattered_records(spec: ReleaseSpec) -> bool:
    """Whether records of a person may be in different groups."""
    policy = spec.policy
    several = policy.records_per_individual == "many_accepted" and bool(spec.individual)
    return several and not policy.method.reserves_identity


def is_deferred(spec: ReleaseSpec, form: PublishedForm) -> bool:
    """Whether what is remembered of a first version waits until something is judged beside it.

    With several partitions nearly everybody is a cell alone, which takes longer to remember than to
    release, and is never asked for unless a later policy accepts what cannot be judged.
    """
    keeps = spec.growth is not None or bool(spec.invariant)
    return is_remembered(spec, form) and not keeps and not is_plain(spec, form)


def relations(spec: ReleaseSpec, form: PublishedForm, state: State) -> tuple[StoredRelation, ...]:
    """All tables of a release."""
    found = form.relations(spec, state)
    if not is_remembered(spec, form):
        return found
    parts = [(HISTOGRAM, PRIVATE_SCHEMA)]
    parts += [] if spec.growth is None else growing_parts(spec.growth, state)
    return (*found, *stored(state, parts))


def staging_steps(spec: ReleaseSpec, form: PublishedForm) -> tuple[Step, ...]:
    """From groups to all of them."""
    if not is_remembered(spec, form):
        return form.staging_steps(spec)
    growing = () if spec.growth is None else growing_steps(spec, spec.growth)
    step = CreateTable(
        HISTOGRAM,
        "the values of every group, which the next versions are judged by",
        lambda s: s.stage(HISTOGRAM),
        lambda s: _histogram(linked(spec, form, s)),
    )
    *before, last = form.staging_steps(spec)
    if form.linked_by is None or not isinstance(last, Parallel):
        return (*before, last, step, *growing)
    # What it reads may be there long before the rest.
    read = form.linked_by(spec)
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
