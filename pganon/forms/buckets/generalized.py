"""Generalized quasi-identifiers of an anatomized release, the same as for equivalence classes."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pganon.encode.axis import axes, group_extents
from pganon.forms.members import code_columns
from pganon.forms.recode import generalized, preparation_steps
from pganon.policy.options import CLASS_ID
from pganon.privacy.rows import Relation
from pganon.published.work import EXTENTS, GROUPED_CLASSES
from pganon.spec.model import ReleaseSpec
from pganon.sqltools import col, fragment, named, query
from pganon.steps import CreateTable, State, Step

GENERALIZED = "generalized"
"""Work table (class_id, published quasi-identifiers): one row per class."""


def generalization_steps(
    spec: ReleaseSpec, records: Callable[[State], Relation], number: str
) -> list[Step]:
    """Make :data:`GENERALIZED`.

    Args:
        records: a relation with the codes of all records.
        number: its column with the published number of the class.
    """
    attributes = axes(spec.attributes)

    def classes(state: State) -> exp.Expr:
        tree = query("select 1 from r", {"r": records(state)})
        codes = [col(name, "r") for name in code_columns(spec)]
        return tree.select(named(col(number, "r"), CLASS_ID), *codes, append=False)

    def extents(state: State) -> exp.Expr:
        tree = group_extents(
            attributes, state, state.work(GROUPED_CLASSES), [CLASS_ID], weighted=False
        )
        return tree.select(named(fragment("count(*)"), "n"))

    return [
        CreateTable(
            "grouped_classes",
            "the class of every record",
            lambda s: s.work(GROUPED_CLASSES),
            classes,
        ),
        CreateTable("extents", "extent of every class", lambda s: s.work(EXTENTS), extents),
        *preparation_steps(attributes),
        CreateTable(
            "generalized",
            "generalized quasi-identifiers of every class",
            lambda s: s.work(GENERALIZED),
            lambda s: generalized(attributes, s),
        ),
    ]
