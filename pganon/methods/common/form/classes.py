"""The published form of equivalence classes: one view of recoded records.

Two stored relations, `classes` (class_id, recoded quasi-identifiers) and `records` (class_id,
sensitive and insensitive columns), joined by the view. Class numbers are a random permutation
under the run's secret key; records are written in an order that depends on published columns
alone, class number first, so neither says anything about the source's order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from pganon.encode.axis import axes, group_extents
from pganon.encode.cuts import keeps_cuts
from pganon.encode.first import first_of
from pganon.encode.records import ties
from pganon.encode.valued import referenced
from pganon.encode.work import CODED
from pganon.forms.elements import attribute_columns, own_values, value_key
from pganon.forms.form import STRUCTURE, Relations, Tables
from pganon.forms.linked import Linked, linked_column
from pganon.forms.stored import key_step, numbers, numbers_step, repeated, stored
from pganon.forms.work import EXTENTS, GROUPED, GROUPED_CLASSES
from pganon.methods.common.form.checked import requirement_check, violations_check
from pganon.methods.common.form.flat import FlatColumn, flat_columns, flattens
from pganon.methods.common.form.members import (
    cell_members,
    code_columns,
    members_step,
    repeated_members,
)
from pganon.methods.common.form.recode import generalized, preparation_steps
from pganon.methods.common.form.reference import (
    SHARES,
    against,
    published,
    reference_checks,
    reference_views,
    released_counts,
    shares_steps,
    source_counts,
    stored_reference,
    with_shares,
)
from pganon.methods.common.form.regions import (
    bound_steps,
    region_check,
    region_losses,
    region_parts,
    region_step,
    regional_classes,
)
from pganon.policy.options import CLASS_ID, FLAT
from pganon.privacy.base import Relation, Requirement
from pganon.resolved.increments import CUTS
from pganon.resolved.model import Carried, ReleaseSpec, Sensitive
from pganon.sqltools import aliased, col, equal, named, num, query, render
from pganon.steps import Chains, CreateTable, Parallel, State, Step
from pganon.steps.relations import (
    DATA_SCHEMA,
    PRIVATE_SCHEMA,
    CheckQuery,
    PublishedView,
    StoredRelation,
    ViewColumn,
)

# -- relations --------------------------------------------------------------------------------


def relations(spec: ReleaseSpec, state: State) -> tuple[StoredRelation, ...]:
    """Tables that a release consists of; those the views read come first."""
    parts = [("classes", DATA_SCHEMA), ("records", DATA_SCHEMA), ("members", PRIVATE_SCHEMA)]
    if published(spec) is not None:
        parts.insert(2, (SHARES, DATA_SCHEMA))
    if referenced(spec):
        parts.append(("reference", PRIVATE_SCHEMA))
    if keeps_cuts(spec, state):
        parts.append((CUTS, PRIVATE_SCHEMA))
    parts += region_parts(spec)
    return stored(state, parts)


Records = Callable[[ReleaseSpec, State], exp.Select]
Extents = Callable[[ReleaseSpec, State, exp.Select], exp.Select]


def staging_steps(
    spec: ReleaseSpec,
    records: Records | None = None,
    extents: Extents = lambda spec, state, found: found,
) -> tuple[Step, ...]:
    """From `grouped` (gid, codes, [rid]) and `coded` to the staged relations.

    Args:
        records: SELECT the record relation; by default :func:`records_of_classes`.
        extents: what classes show, from the extents of their records.
    """
    attributes = axes(spec.attributes)
    return (
        numbers_step(GROUPED, "random numbers for the classes", CLASS_ID),
        CreateTable(
            "grouped_classes",
            "the class of every cell",
            lambda s: s.work(GROUPED_CLASSES),
            lambda s: _grouped_classes(spec, s),
        ),
        Parallel(
            "of_records",
            "relations of records, and the extents of the classes",
            _of_records(spec, records or records_of_classes, extents),
        ),
        *shares_steps(spec),
        *([*bound_steps(spec), region_step(spec)] if spec.shows_regions else []),
        CreateTable(
            "extents",
            "size and extent of every class",
            lambda s: s.work(EXTENTS),
            lambda s: _extents(spec, s),
        ),
        *([] if spec.shows_regions else preparation_steps(attributes)),
        CreateTable(
            "classes",
            "generalized quasi-identifiers of every class",
            lambda s: s.stage("classes"),
            lambda s: _classes(spec, s),
        ),
        key_step("classes", CLASS_ID),
    )


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
        return regional_classes(spec, state).order_by(col(CLASS_ID, "r"))
    return generalized(axes(spec.attributes), state).order_by(col(CLASS_ID, "e"))


def _of_records(spec: ReleaseSpec, records: Records, extents: Extents) -> Chains:
    """What needs nothing but the class of every cell."""
    staged = CreateTable(
        "records",
        "sensitive and insensitive values of every record with its class",
        lambda s: s.stage("records"),
        lambda s: records(spec, s),
    )
    members = members_step(
        "class",
        lambda s: cell_members(
            spec, s, s.work(GROUPED_CLASSES), CLASS_ID, cell_keys(spec), own_values(spec)
        ),
    )
    sizes = CreateTable(
        "sizes",
        "records per class",
        lambda s: s.work("extents_only"),
        lambda s: extents(
            spec,
            s,
            group_extents(
                axes(spec.attributes), s, s.work(GROUPED_CLASSES), [CLASS_ID], weighted=False
            ),
        ),
    )
    reference = CreateTable(
        "reference",
        "distribution of the source that closeness is held against",
        lambda s: s.stage("reference"),
        lambda s: stored_reference(spec, s),
    )
    tables = [staged, members, sizes, *([reference] if referenced(spec) else [])]
    return [[table] for table in tables]


def released(spec: ReleaseSpec, state: State, tables: Tables) -> exp.Select:
    return query("select count(*) as published from records", dict(tables))


def duplicate_keys(spec: ReleaseSpec, state: State) -> list[exp.Select]:
    return [
        repeated(state.work(GROUPED_CLASSES), *cell_keys(spec)),
        *repeated_members(spec, state),
    ]


def cell_keys(spec: ReleaseSpec) -> list[str]:
    """Columns that say which cell a record is in."""
    return ["rid"] if spec.numbers_records else code_columns(spec)


def same_cell(spec: ReleaseSpec, left: str, right: str) -> exp.Expr:
    return equal(cell_keys(spec), left, right)


def _grouped_classes(spec: ReleaseSpec, state: State) -> exp.Expr:
    columns = code_columns(spec)
    columns += ["rid"] if spec.numbers_records else []
    return query(
        "select n.class_id from g join n on n.gid = g.gid",
        {"g": state.work(GROUPED), "n": numbers(state, CLASS_ID)},
    ).select(*[col(name, "g") for name in columns])


def unchanged(spec: ReleaseSpec) -> list[tuple[str, Sensitive | Carried]]:
    """Work column and declaration of every column that is published unchanged."""
    found: list[tuple[str, Sensitive | Carried]] = [
        (f"v{item.index}", item) for item in spec.sensitive
    ]
    return found + [(f"p{item.index}", item) for item in spec.carried]


Owned = tuple[exp.Select, exp.Expr]


def records_of_classes(
    spec: ReleaseSpec, state: State, owned: Callable[[exp.Select], Owned] | None = None
) -> exp.Select:
    """SELECT class_id and the columns that are published unchanged, ordered by published values.

    `owned` adds to the records `c` a column after the class: it returns the SELECT with its joins,
    and the column.
    """
    tree = exp.select(col("class_id", "g")).from_(aliased(state.work(CODED), "c"))
    tree = tree.join(
        aliased(state.work(GROUPED_CLASSES), "g"),
        on=same_cell(spec, "g", "c"),
    )
    order: list[exp.Expr] = [col("class_id", "g")]
    if owned is not None:
        tree, owner = owned(tree)
        tree = tree.select(owner)
        order.append(owner.copy())
    for name, item in unchanged(spec):
        tree = tree.select(named(col(name, "c"), item.published))
    order += [col(name, "c") for name, _ in unchanged(spec)]
    order += [tie for name, item in unchanged(spec) for tie in ties(item, col(name, "c"))]
    return tree.order_by(*order)


# -- verification -----------------------------------------------------------------------------


def checks(spec: ReleaseSpec, state: State, tables: Tables) -> tuple[CheckQuery, ...]:
    """Queries that re-measure every requirement from the relations in `tables` alone."""
    found = [structure_check(tables)]
    found += [region_check(spec, tables)] if spec.shows_regions else []
    for requirement in spec.measured:
        kinds = ("source", "published") if requirement.model.needs_reference else ("",)
        found += [_check(spec, requirement, kind, tables) for kind in kinds]
    return (*found, *reference_checks(spec, tables))


def structure_check(tables: Tables) -> CheckQuery:
    broken = query(
        "select (select count(*) from (select class_id from classes as a group by class_id"
        " having count(*) > 1) as twice)"
        " + (select count(*) from (select r.class_id from records as r group by r.class_id) as h"
        " full join classes as c on c.class_id = h.class_id"
        " where c.class_id is null or h.class_id is null) as measured",
        dict(tables),
    )
    return violations_check(STRUCTURE, broken)


def _check(spec: ReleaseSpec, requirement: Requirement, kind: str, tables: Tables) -> CheckQuery:
    reference: Relation | None = None
    counted = _counted(tables, num(1))
    if requirement.sensitive is not None:
        item = spec.sensitive[requirement.sensitive]
        counted = _counted(tables, value_key(item, "r"))
        reference = _reference_shares(spec, item, kind, tables) if kind else None
    measured = requirement.model.measure(counted, [CLASS_ID], reference)
    return requirement_check(requirement, measured, against(spec, kind))


def histogram(
    spec: ReleaseSpec, state: State, tables: Relations, item: Sensitive
) -> tuple[list[str], exp.Select]:
    return [CLASS_ID], _counted(tables, value_key(item, "r"))


def linked(spec: ReleaseSpec, state: State, tables: Tables) -> Linked:
    """People of a class cannot be told apart."""
    return linked_classes(spec, lambda item: _counted(tables, value_key(item, "r")))


def linked_classes(spec: ReleaseSpec, counted: Callable[[Sensitive], exp.Select]) -> Linked:
    """The same; `counted` has a row (class_id, value, n) per class and value of a column."""
    columns = [
        linked_column(item.column.name, CLASS_ID, counted(item), col(CLASS_ID, "h"))
        for item in spec.sensitive
    ]
    return Linked((CLASS_ID,), tuple(columns))


def _counted(tables: Relations, value: exp.Expr) -> exp.Select:
    return query(
        "select r.class_id, :value as value, count(*) as n from records as r"
        " group by r.class_id, 2",
        dict(tables),
        value=value,
    )


def _reference_shares(spec: ReleaseSpec, item: Sensitive, kind: str, tables: Tables) -> exp.Select:
    if first_of(spec, item) is not None:
        counts = "n" if kind == "source" else "published_n"
        return with_shares(item, source_counts(item, tables, counts))
    counted = source_counts(item, tables)
    if kind == "published":
        path = [] if item.hierarchy is None else ["path"]
        counted = query(
            "select f.value, f.position, coalesce(p.n, 0) as n from f"
            " left join p on p.value = f.value",
            {"f": counted, "p": released_counts(item, tables)},
        ).select(*[col(name, "f") for name in path])
    return with_shares(item, counted)


# -- views ------------------------------------------------------------------------------------


def views(
    spec: ReleaseSpec, state: State, tables: Tables, owner: ViewColumn | None = None
) -> tuple[PublishedView, ...]:
    """The views over the relations in `tables`; `owner` is a column of records."""
    number, *others = view_columns(spec)
    columns = (number, *([owner] if owner else []), *others)
    selected = [col(CLASS_ID, "c"), *([col(owner.name, "r")] if owner else [])]
    for attribute in spec.attributes:
        selected += [col(c.name, "c") for c in attribute_columns(attribute)]
    selected += [col(item.published, "r") for _, item in unchanged(spec)]
    tree = _joined(tables, selected)
    guarantee = "; ".join(requirement.label for requirement in spec.requirements)
    shown = PublishedView(
        name=spec.view,
        select=render(tree),
        columns=columns,
        comment=f"Anonymized release of equivalence classes. Guarantee: {guarantee}.",
    )
    flat = [_flat(spec, tables, owner)] if flattens(spec.attributes) else []
    return (shown, *flat, *reference_views(spec, tables))


def _joined(tables: Tables, columns: Sequence[exp.Expr]) -> exp.Select:
    """Columns of the records `r` with those of their classes `c`."""
    tree = exp.select(*columns).from_(aliased(tables["records"], "r"))
    return tree.join(
        aliased(tables["classes"], "c"),
        on=exp.EQ(this=col(CLASS_ID, "c"), expression=col(CLASS_ID, "r")),
    )


def _flat(spec: ReleaseSpec, tables: Tables, owner: ViewColumn | None) -> PublishedView:
    """The same rows in plain columns."""
    columns = [FlatColumn(class_column(), col(CLASS_ID, "c"))]
    columns += [FlatColumn(owner, col(owner.name, "r"))] if owner else []
    for attribute in spec.attributes:
        hierarchy = spec.policy.columns[attribute.column.name].hierarchy
        columns += flat_columns(attribute, hierarchy)
    columns += [FlatColumn(column, col(column.name, "r")) for column in _unchanged_columns(spec)]
    shown = [named(item.value, item.column.name) for item in columns]
    return PublishedView(
        name=spec.view_of(FLAT),
        select=render(_joined(tables, shown)),
        columns=tuple(item.column for item in columns),
        comment=f"The records of {spec.view}, with plain columns instead of ranges and sets.",
    )


def view_columns(spec: ReleaseSpec) -> tuple[ViewColumn, ...]:
    """Published columns in order; they depend on policy and catalog alone."""
    columns = [class_column()]
    for attribute in spec.attributes:
        columns += attribute_columns(attribute)
    return (*columns, *_unchanged_columns(spec))


def class_column() -> ViewColumn:
    said = "Number of the equivalence class, random per release."
    return ViewColumn(CLASS_ID, "integer", said)


def _unchanged_columns(spec: ReleaseSpec) -> list[ViewColumn]:
    columns: list[ViewColumn] = []
    for item in spec.sensitive:
        models = [r.label for r in spec.requirements if r.sensitive == item.index]
        held = f" Per class: {'; '.join(models)}." if models else ""
        columns.append(
            ViewColumn(item.published, item.column.stored_type, f"Sensitive, unchanged.{held}")
        )
    for item in spec.carried:
        said = "Insensitive, unchanged."
        columns.append(ViewColumn(item.published, item.column.stored_type, said))
    return columns
