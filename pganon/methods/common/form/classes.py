"""The published form of equivalence classes: one view of recoded records.

Two stored relations, `classes` (class_id, recoded quasi-identifiers) and `records` (class_id,
sensitive and insensitive columns), joined by the view. Class numbers are a random permutation
under the run's secret key; records are written in an order that depends on published columns
alone, class number first, so neither says anything about the source's order.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.combination import COMBINATION, combination, combined
from pganon.encode.cuts import keeps_cuts
from pganon.encode.extents import group_extents
from pganon.encode.people import owner_columns
from pganon.encode.records import PART
from pganon.encode.value_codes import referenced
from pganon.forms.elements import own_values
from pganon.forms.shape import PublishedRelation, Shape
from pganon.forms.stored_relations import (
    distinct_groups,
    drawn_numbers,
    key_step,
    numbers,
    repeated,
    stored,
)
from pganon.forms.work import EXTENTS, GROUPED, GROUPED_CLASSES, class_groups
from pganon.methods.common.form.averages import average_steps, group_steps, with_averages
from pganon.methods.common.form.class_records import (
    cell_keys,
    classes_of_cells,
    different_check,
    encoded_records,
    may_repeat,
    placed_steps,
    records_of_classes,
    same_cell,
)
from pganon.methods.common.form.label_values import label_steps
from pganon.methods.common.form.members import (
    cell_members,
    code_columns,
    members_step,
    people_steps,
    repeated_members,
)
from pganon.methods.common.form.population import POPULATION, population_steps
from pganon.methods.common.form.profit import (
    LOSSES,
    leaves_unprofitable_out,
    loss_steps,
    profitable,
    profitable_steps,
)
from pganon.methods.common.form.recode import generalized, preparation_steps
from pganon.methods.common.form.reference import (
    SHARES,
    published,
    shares_steps,
    stored_reference,
)
from pganon.methods.common.form.regions.classes import (
    bound_steps,
    region_losses,
    region_parts,
    region_step,
    regional_classes,
)
from pganon.policy.options import CLASS_ID, LABELS
from pganon.resolved.increments import CUTS
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, col, named, query
from pganon.steps import Chains, Parallel, State, Step, staged, table
from pganon.steps.relations import (
    DATA_SCHEMA,
    PRIVATE_SCHEMA,
    StoredRelation,
)

# -- relations --------------------------------------------------------------------------------


def shape(spec: ReleaseSpec, state: State) -> Shape:
    return (
        PublishedRelation(
            "classes",
            "group",
            (CLASS_ID,),
            spec.attributes,
            beside=further_numbers(spec),
            averaged=spec.averaged,
        ),
        PublishedRelation(
            "records",
            "record",
            (CLASS_ID,),
            sensitive=spec.sensitive,
            carried=spec.carried,
            microaggregated=spec.microaggregated,
        ),
    )


def further_numbers(spec: ReleaseSpec) -> tuple[str, ...]:
    """Columns of classes with the numbers of groups that their events are in."""
    return tuple(p.number for p in spec.related.partitions) if spec.related is not None else ()


def relations(spec: ReleaseSpec, state: State) -> tuple[StoredRelation, ...]:
    """Tables that a release consists of; those the views read come first."""
    parts = [("classes", DATA_SCHEMA), ("records", DATA_SCHEMA), ("members", PRIVATE_SCHEMA)]
    if published(spec) is not None:
        parts.insert(2, (SHARES, DATA_SCHEMA))
    if spec.labelled:
        parts.insert(2, (LABELS, DATA_SCHEMA))
    if referenced(spec):
        parts.append(("reference", PRIVATE_SCHEMA))
    if spec.population is not None:
        parts.append((POPULATION, PRIVATE_SCHEMA))
    if spec.profits:
        parts.append((LOSSES, PRIVATE_SCHEMA))
    if keeps_cuts(spec, state):
        parts.append((CUTS, PRIVATE_SCHEMA))
    parts += region_parts(spec)
    return stored(state, parts)


Records = Callable[[ReleaseSpec, State], exp.Select]
Extents = Callable[[ReleaseSpec, State, exp.Select], exp.Select]


def staging_steps(
    spec: ReleaseSpec,
    records: Records | None = None,
    extents: Extents = lambda spec, state, records: records,
) -> tuple[Step, ...]:
    """From `grouped` (gid, codes, [rid]) and `coded` to the staged relations.

    Args:
        records: SELECT the record relation; by default :func:`records_of_classes`.
        extents: what classes show, from the extents of their records.
    """
    attributes = axes(spec.attributes)
    counts = records is None and may_repeat(spec) and not spec.counted
    return (
        *profitable_steps(spec),
        drawn_numbers(lambda s: _groups(spec, s), "random numbers for the classes", CLASS_ID),
        *([different_check(spec)] if counts else []),
        table(GROUPED_CLASSES, "the class of every cell", lambda s: _grouped_classes(spec, s)),
        *placed_steps(spec),
        Parallel(
            "of_records",
            "relations of records, and the extents of the classes",
            _of_records(spec, records or records_of_classes, extents),
        ),
        *shares_steps(spec),
        *([*bound_steps(spec), region_step(spec)] if spec.shows_regions else []),
        table(EXTENTS, "size and extent of every class", lambda s: _extents(spec, s)),
        *([] if spec.shows_regions else preparation_steps(attributes)),
        staged(
            "classes", "generalized quasi-identifiers of every class", lambda s: _classes(spec, s)
        ),
        key_step("classes", CLASS_ID),
        *average_steps(spec),
        *group_steps(spec),
        *loss_steps(spec),
        *label_steps(spec),
        *population_steps(spec),
    )


def _groups(spec: ReleaseSpec, state: State) -> exp.Select:
    """SELECT gid: the groups that are released."""
    if leaves_unprofitable_out(spec):
        return profitable(state)
    if spec.tests_once:
        return query("select g.gid from g", {"g": state.work(class_groups(0))})
    return distinct_groups(state, GROUPED, "gid")


def _extents(spec: ReleaseSpec, state: State) -> exp.Select:
    sized = query(
        "select e.*, r.n from e join r on r.class_id = e.class_id",
        {
            "e": state.work("extents_only"),
            "r": query(
                "select t.class_id, count(*) as n from t group by t.class_id",
                {"t": state.stage("records")},
            ),
        },
    )
    return region_losses(spec, state, sized) if spec.shows_regions else sized


def _classes(spec: ReleaseSpec, state: State) -> exp.Select:
    if spec.shows_regions:
        found = regional_classes(spec, state).order_by(col(CLASS_ID, "r"))
    else:
        found = generalized(axes(spec.attributes), state)
        for place, number in enumerate(further_numbers(spec)):
            groups = query(
                "select n.class_id, :number from n join g on g.gid = n.gid join d on d.gid = g.grp",
                {
                    "n": numbers(state, CLASS_ID),
                    "g": state.work(class_groups(place)),
                    "d": numbers(state, class_groups(place).name),
                },
                number=col(class_groups(place).name, "d"),
            )
            name = f"further{place}"
            same = exp.EQ(this=col(CLASS_ID, name), expression=col(CLASS_ID, "e"))
            found = found.join(aliased(groups, name), on=same)
            found = found.select(named(col(class_groups(place).name, name), number))
        found = found.order_by(col(CLASS_ID, "e"))
    return with_averages(spec, state, found)


def _of_records(spec: ReleaseSpec, records: Records, extents: Extents) -> Chains:
    """Steps that need nothing but the class of every cell."""
    published_records = staged(
        "records",
        "sensitive and insensitive values of every record with its class",
        lambda s: records(spec, s),
    )
    members = members_step(
        "class",
        lambda s: cell_members(
            spec,
            s,
            encoded_records(spec, s),
            classes_of_cells(spec, s),
            CLASS_ID,
            cell_keys(spec, s),
            own_values(spec),
        ),
    )
    sizes = table(
        "sizes",
        "records per class",
        lambda s: extents(
            spec,
            s,
            group_extents(
                axes(spec.attributes), s, s.work(GROUPED_CLASSES), [CLASS_ID], weighted=False
            ),
        ),
        into="extents_only",
        inline=True,
    )
    reference = staged(
        "reference",
        "distribution of the source that closeness is held against",
        lambda s: stored_reference(spec, s),
    )
    tables = [published_records, members, sizes, *([reference] if referenced(spec) else [])]
    people = people_steps(spec, lambda s: _owned(spec, s), lambda s: [CLASS_ID])
    return [*[[step] for step in tables], *([people] if people else [])]


def _owned(spec: ReleaseSpec, state: State) -> exp.Select:
    """SELECT class_id, and whose every record may be."""
    tree = query("select g.class_id from c", {"c": encoded_records(spec, state)})
    tree = tree.join(
        aliased(classes_of_cells(spec, state), "g"), on=same_cell(spec, state, "g", "c")
    )
    return tree.select(*[col(name, "c") for name in owner_columns(spec)])


def duplicate_keys(spec: ReleaseSpec, state: State) -> list[exp.Select]:
    return [
        repeated(state.work(GROUPED_CLASSES), *cell_keys(spec, state)),
        *repeated_members(spec, state),
    ]


def _grouped_classes(spec: ReleaseSpec, state: State) -> exp.Expr:
    columns = code_columns(spec)
    columns += ["rid"] if spec.numbers_records else []
    columns += [PART] if spec.divides_cells else []
    tree = query(
        "select n.class_id from g join n on n.gid = g.gid",
        {"g": state.work(GROUPED), "n": numbers(state, CLASS_ID)},
    ).select(*[col(name, "g") for name in columns])
    if not combined(spec, state):
        return tree
    number = combination(spec, state, lambda attribute: col(f"c{attribute.index}", "g"))
    return tree.select(named(number, COMBINATION))
