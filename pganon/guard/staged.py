"""The version that a run staged, as the guard reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from pganon.encode.people import has_several, population_secret
from pganon.guard import work
from pganon.guard.combinations import compared_sets
from pganon.guard.model import Memory, Version
from pganon.guard.reference import distributed, hierarchical, reference_steps
from pganon.guard.rules import Rule
from pganon.guard.steps import guard_steps
from pganon.guard.told import Tell, Told, columns_after, told_steps
from pganon.guard.told_values import told_values
from pganon.guard.value_sets import row_steps
from pganon.privacy.base import Requirement
from pganon.privacy.judged import OF_COLUMNS, Judged
from pganon.privacy.quasi_sensitive import QSKAnonymity
from pganon.published.form import PublishedForm
from pganon.published.linked import LinkedColumn
from pganon.published.remembered import HISTOGRAM, has_scattered_records, linked
from pganon.spec.model import ReleaseSpec
from pganon.sqltools import col, named, num, query
from pganon.steps import CreateTable, State, Step


def teller(spec: ReleaseSpec, form: PublishedForm) -> Tell:
    """What the staged version tells."""

    def tell(state: State) -> Told:
        found = linked(spec, form, state)
        return Told(
            members=state.stage("members"),
            histogram=state.stage(HISTOGRAM),
            links=found.links,
            columns=tuple((column.name, column.link) for column in found.columns),
            several=has_several(spec),
        )

    return tell


def version_of(
    spec: ReleaseSpec, form: PublishedForm, memory: Memory | None, number: int = 0
) -> Version:
    """What the run adds to a memory, the one of this number."""
    columns = linked(spec, form, State(0)).columns
    names = [column.name for column in columns]
    scattered = has_scattered_records(spec)
    return Version(
        columns=columns_after(memory.columns if memory else (), names),
        published=frozenset(names),
        rules=tuple(_rules(spec, columns)),
        memory=memory,
        invariant=spec.kept_columns,
        several=has_several(spec),
        scattered=not _in_one_group(spec, form),
        # A first version was verified by itself, and there is nothing to judge it beside.
        republication=spec.policy.republication if memory else "allow",
        rounds=None if memory else 0,
        strongest=spec.policy.floor == "strongest",
        part=number,
        number=number,
        bounded=frozenset(c.name for c in columns if scattered or not c.exact),
        distributed=distributed(spec),
        hierarchical=hierarchical(spec),
    )


def _rules(spec: ReleaseSpec, columns: Sequence[LinkedColumn]) -> Iterator[Rule]:
    """What the policy promises: its requirements, with columns by their name in the source."""
    qs_sets = tuple(
        tuple(attribute.column.name for attribute in attributes)
        for attributes in spec.qs_sets.values()
    )
    for requirement in spec.requirements:
        model = requirement.model
        assumed = bool(spec.policy.assume) and model.judged in OF_COLUMNS
        if isinstance(model, QSKAnonymity):
            yield Rule(model, sets=qs_sets, independent=assumed)
        elif model.of_rows:
            for rows in dict.fromkeys(column.rows for column in columns):
                yield Rule(model, sets=(rows,), independent=assumed)
        else:
            yield Rule(model, _column(spec, requirement), independent=assumed)


def _column(spec: ReleaseSpec, requirement: Requirement) -> str | None:
    """The column that the model is about; records are told apart by the one sensitive column."""
    number = requirement.sensitive
    if number is None and requirement.model.judged is Judged.RECORDS and spec.sensitive:
        number = 0
    return None if number is None else spec.sensitive[number].column.name


def staged_steps(spec: ReleaseSpec, form: PublishedForm, version: Version) -> tuple[Step, ...]:
    """From the staged relations to the new memory and the verdict."""
    tell = teller(spec, form)
    plain = not version.scattered
    return (
        *told_steps(tell, version, plain=plain),
        *_compared(spec, version),
        *guard_steps(version, told_values(tell, version, population_secret)),
        *row_steps(version, lambda s: linked(spec, form, s).rows),
    )


def _in_one_group(spec: ReleaseSpec, form: PublishedForm) -> bool:
    """Whether the one group of a person says it all, whatever a run observes."""
    return form.settled(spec) and teller(spec, form)(State(0)).plain


def _compared(spec: ReleaseSpec, version: Version) -> list[Step]:
    """Distributions and combinations that models compare cells with."""
    found = reference_steps(spec, version)
    found += [
        _existing(version, number, len(names))
        for number, names in enumerate(compared_sets(version), start=1)
    ]
    return found


def _existing(version: Version, number: int, width: int) -> Step:
    values = [named(col(f"v{place}", "r"), f"v{place}") for place in range(1, width + 1)]

    def select(state: State) -> exp.Select:
        tree = query(
            "select 1 from r where r.attribute_set = :set",
            {"r": state.stage("reference")},
            set=num(number),
        )
        return tree.select(*values, append=False)

    return CreateTable(
        f"guard_existing{number}",
        "combinations that exist",
        lambda s: s.work(work.existing(version.part, number)),
        select,
    )
