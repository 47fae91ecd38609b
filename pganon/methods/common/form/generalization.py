"""Generalized quasi-identifiers of an anatomized release, the same as for equivalence classes."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.extents import group_extents
from pganon.forms.work import EXTENTS, GROUPED_CLASSES
from pganon.methods.common.form.members import code_columns
from pganon.methods.common.form.recode import generalized, preparation_steps
from pganon.policy.options import CLASS_ID
from pganon.privacy.rows import Relation
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, fragment, named, query
from pganon.steps import CreateTable, State, Step, table

GENERALIZED = "generalized"
"""Work table (class_id, published quasi-identifiers): one row per class."""


def classes_step(
    spec: ReleaseSpec, records: Callable[[State], Relation], number: str
) -> CreateTable:
    """Make :data:`GROUPED_CLASSES`.

    Args:
        records: a relation with the codes of all records.
        number: its column with the published number of the class.
    """

    def classes(state: State) -> exp.Expr:
        tree = query("select 1 from r", {"r": records(state)})
        codes = [col(name, "r") for name in code_columns(spec)]
        return tree.select(named(col(number, "r"), CLASS_ID), *codes, append=False)

    return table(GROUPED_CLASSES, "the class of every record", classes)


def generalization_steps(
    spec: ReleaseSpec, sizes: Callable[[State], Relation] | None = None
) -> list[Step]:
    """Make :data:`GENERALIZED` from :data:`GROUPED_CLASSES`.

    Args:
        sizes: where that has not all records, a relation (group_id, n): how many a class has.
    """
    attributes = axes(spec.attributes)

    def extents(state: State) -> exp.Expr:
        tree = group_extents(
            attributes, state, state.work(GROUPED_CLASSES), [CLASS_ID], weighted=False
        )
        if sizes is None:
            return tree.select(named(fragment("count(*)"), "n"))
        sized = {"e": tree, "s": sizes(state)}
        joined = query("select s.n from e join s on s.group_id = e.class_id", sized)
        return joined.select(*[col(name, "e") for name in tree.named_selects])

    return [
        table(EXTENTS, "extent of every class", extents),
        *preparation_steps(attributes),
        table(
            GENERALIZED,
            "generalized quasi-identifiers of every class",
            lambda s: generalized(attributes, s),
        ),
    ]
