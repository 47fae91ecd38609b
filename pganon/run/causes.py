"""Causes of an error in a step, which are looked for after the step has failed."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg

from pganon.catalog.introspect import read_relation
from pganon.catalog.model import Relation
from pganon.encode.earlier_people import RETURNED
from pganon.encode.facts import respelled
from pganon.encode.population import MISSING, not_contained
from pganon.encode.source import prints_of
from pganon.encode.weights import PRESENCE
from pganon.error_codes import ErrorCode
from pganon.errors import DatabaseError, PganonError, PreconditionError
from pganon.forms.facts import GROUPS_OF_PEOPLE, few_people, withheld_values
from pganon.history.increments.invariant import WAITING
from pganon.identifiers import first_few, quote
from pganon.methods.buckets.exclusions import idle_rules
from pganon.metrics.alike import alike_told
from pganon.metrics.whole import whole_facts
from pganon.plan.build import Plan
from pganon.policy.guess import flag_hints
from pganon.policy.words import NOBODY
from pganon.privacy import lookalikes
from pganon.privacy.requirements import measured_warning
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.warnings import torn, without_key
from pganon.sqlfiles import Connection, ask
from pganon.steps import State

_MOSTLY = 0.5
"""Share of people who are sampled, above which presence is told."""

OUT_OF_RANGE = psycopg.errors.NumericValueOutOfRange.sqlstate


def source_changed(before: Relation, now: Relation) -> PreconditionError:
    """The refusal of a source that is not as the plan found it; names the first column."""
    return PreconditionError(
        f"{_difference(before, now)} changed while the run began",
        hint="run the release again",
        code=ErrorCode.SOURCE_CHANGED,
    )


def changed_meanwhile(conn: Connection, spec: ReleaseSpec) -> PganonError | None:
    """Why the source cannot be read any more; None if it is as the plan found it."""
    try:
        now = read_relation(conn, spec.policy.source)
    except PreconditionError:
        return PreconditionError(
            f"{spec.source.name} was dropped or renamed while the run began",
            hint="correct `source`, or run the release again when it is back",
            code=ErrorCode.SOURCE_CHANGED,
        )
    gone = [name for name in spec.source.column_names if name not in now.column_names]
    if gone:
        return PreconditionError(
            f"column {quote(gone[0])} of {spec.source.name} was dropped or renamed while the run"
            " began",
            hint="correct the policy, or run the release again when it is back",
            code=ErrorCode.SOURCE_CHANGED,
        )
    return source_changed(spec.source, now) if now != spec.source else None


def _difference(before: Relation, now: Relation) -> str:
    columns = {column.name: column for column in now.columns}
    for column in before.columns:
        if columns.get(column.name, column) != column:
            return f"column {quote(column.name)} of {before.name}"
    return f"the definition of {before.name}"


def out_of_range(spec: ReleaseSpec, error: DatabaseError) -> DatabaseError:
    """The same error with the columns of which numbers may be of any size; itself without any."""
    columns = [item.column for item in (*spec.attributes, *spec.sensitive, *spec.carried)]
    columns += [spec.weight] if spec.weight is not None else []
    names = [quote(column.name) for column in columns if column.kind in ("numeric", "float")]
    if not names:
        return error
    return DatabaseError(
        "numbers are too large to compute with, in"
        f" {'the column' if len(names) == 1 else 'one of the columns'} {first_few(names)}"
        f" [{error.sqlstate}] (step {error.step})",
        sqlstate=error.sqlstate,
        step=error.step,
        hint="leave numbers beyond 1e300 out with `where`, or scale the column in a view",
        code=ErrorCode.OUT_OF_RANGE,
    )


def computed(conn: Connection, spec: ReleaseSpec, error: DatabaseError) -> DatabaseError:
    """The same error with what is computed while the source is read, apart from views."""
    names = list(spec.source.column_names)
    rows = ask(conn, "catalog", "virtual_columns", oid=spec.source.oid, columns=names).fetchall()
    places: list[str] = []
    if rows:
        names = first_few([quote(row[0]) for row in rows])
        places.append(f"generated columns of {spec.source.name} ({names})")
    if spec.where is not None:
        places.append("`where` of the policy")
    if any(hidden.when is not None for hidden in spec.hidden):
        places.append("`sensitive_when` of the policy")
    return error.within(" or ".join(places)) if places else error


def warnings_of(plan: Plan, state: State) -> tuple[str, ...]:
    """Warnings of a run that succeeded: sentences with names and counts."""
    return tuple(_warnings(plan, state))


def _warnings(plan: Plan, state: State) -> Iterator[str]:
    spec, facts, publication = plan.spec, state.facts, plan.method.form.publication
    if plan.republication is not None:
        beside = plan.republication.warning(prints_of(spec, facts))
        if beside is not None:  # other versions over the source show other groups
            yield beside
    yield from _several_records(plan, state)
    # Of columns that no model is about, with how many records it matters for.
    shares = alike_told(spec, whole_facts(facts))
    if shares:
        found = {item.column.name: shares[item.published] for item in spec.unprotected}
        yield measured_warning(spec.policy, found, publication.groups)
    for item in spec.sensitive:  # whose values a model or method counts: others have no such fact
        if number := facts.get(respelled(item.index)):
            yield lookalikes.warning(item.column.name, number)
    yield from idle_rules(spec, facts)
    yield from publication.warnings(spec, facts)
    presence = facts.get(PRESENCE)
    if presence is not None and presence > _MOSTLY:
        yield (
            f"weights show classes of which {min(presence, 1):.2f} of the people are in the sample,"
            " as in take-all strata: members are known to be sampled"
        )
    for mean in spec.microaggregated:
        if few := facts.get(withheld_values(mean)):
            yield (
                f"{few} values of {quote(mean.column.name)} are in no mean: their classes have"
                f" fewer than {mean.least_in(spec)}"
            )
    yield from without_key(spec)
    yield from torn(spec)
    if plan.resumed is not None and state[WAITING]:
        yield f"{state[WAITING]} newcomers wait for the next run: others were tested first"
    if returned := facts.get(RETURNED):
        yield f"{returned} people of {spec.source.name} were forgotten and are left out"
    if missing := facts.get(MISSING):
        yield not_contained(spec, missing)
    yield from undeclared(spec)


def _several_records(plan: Plan, state: State) -> Iterator[str]:
    """That people may have several records, with how many groups have too few people."""
    spec, groups = plan.spec, plan.method.form.publication.groups
    every, least = state.facts.get(GROUPS_OF_PEOPLE), spec.least_people
    few = {
        key: number
        for place, key in enumerate(spec.owners)
        if (number := state.facts.get(few_people(place)))
    }
    if spec.policy.records_per_individual == "many_accepted":
        said = "the guarantee counts records; a person with several records is protected less"
        for number in few.values():
            said += f": {number} of {every} {groups} have fewer than {least} people"
        yield said
    elif spec.owners and every is None and least > 1:
        yield (
            f"how many {groups} have fewer than {least} people was not counted; keys of"
            f" {spec.source.name} may lead to people with several records"
        )
    elif few:
        each = [f"{number} by {_key(spec, key)}" for key, number in few.items()]
        yield (
            f"of {every} {groups} some have records of fewer than {least} people, if these are told"
            f" apart so: {'; '.join(each)}. The guarantee counts records. Write individual:"
            " at the top level of the policy, with the column that tells people apart, or"
            f" individual: {NOBODY} if none does"
        )


def _key(spec: ReleaseSpec, key: tuple[str, ...]) -> str:
    names = ", ".join(map(quote, key))
    target = spec.source.refers_to(key[0])
    return f"{names}, which refers to {target}" if target is not None else names


def undeclared(spec: ReleaseSpec) -> Iterator[str]:
    """Columns that are withheld because the policy does not name them."""
    if spec.unreleased:
        names = first_few([quote(name) for name in spec.unreleased])
        yield f"not declared and not released: {names}"
    hints = flag_hints(spec.source.columns, spec.policy.columns, spec.policy.registry)
    yield from (hints[name] for name in spec.unreleased if name in hints)
