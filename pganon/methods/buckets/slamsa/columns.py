"""Which columns are in a table together.

The association matrix of the quasi-identifiers is observed where the policy does not list the
tables that they are divided among.
"""

from __future__ import annotations

from pganon.encode.work import CODED
from pganon.methods.buckets.slamsa.shape import SlamsaShape
from pganon.methods.common.arrangement import Arrangement, arranged
from pganon.methods.common.association import association
from pganon.methods.common.association.columns import quasi_columns
from pganon.methods.common.division import (
    divided,
    division_steps,
    sensitive_settled,
    sensitive_tables,
    undecided,
)
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import query
from pganon.steps import Check, State, Step
from pganon.steps.facts import label, or_null

_ASSOCIATION = or_null(label("quasi_association"))


def arrangement(spec: ReleaseSpec, state: State) -> Arrangement:
    """Before the associations are known: columns in the order of the policy."""
    shape = SlamsaShape(spec)
    options = shape.options
    return arranged(
        spec,
        divided(
            options.quasi_tables, spec.attributes, state.facts.get(_ASSOCIATION), options.clustering
        ),
        sensitive_tables(spec, state),
        sliced=options.quasi_tables != 1,
        aligned=shape.aligned,
        counterfeits=spec.invariant,
    )


def settled(spec: ReleaseSpec) -> bool:
    """Whether the policy alone says which columns are together."""
    return sensitive_settled(spec) and not _quasi_undecided(SlamsaShape(spec))


def _quasi_undecided(shape: SlamsaShape) -> bool:
    return undecided(shape.options.quasi_tables, len(shape.spec.attributes))


def column_steps(shape: SlamsaShape) -> list[Step]:
    steps = division_steps(
        shape.spec,
        independent=not shape.aligned,
        hint="use profile: aligned, or list them in one of sensitive_tables",
    )
    if _quasi_undecided(shape):
        steps.append(_quasi_association(shape))
    return steps


def _quasi_association(shape: SlamsaShape) -> Check:
    spec, measure = shape.spec, shape.options.association
    return Check(
        "quasi_association",
        "how much quasi-identifiers have to do with each other",
        lambda s: query(
            "select a.association as quasi_association from a",
            {"a": association(s.work(CODED), quasi_columns(spec, s), measure)},
        ),
        gives=[_ASSOCIATION],
    )
