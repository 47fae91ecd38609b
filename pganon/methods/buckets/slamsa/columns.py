"""The tables that columns are divided among.

The association matrix of the quasi-identifiers is observed where the policy does not list the
tables that they are divided among.
"""

from __future__ import annotations

from pganon.encode.work import CODED
from pganon.methods.buckets.slamsa.context import SlamsaContext
from pganon.methods.common.arrangement import Arrangement, arranged
from pganon.methods.common.association import association
from pganon.methods.common.association.columns import quasi_columns
from pganon.methods.common.division import (
    divided,
    division_steps,
    sensitive_static,
    sensitive_tables,
    undecided,
)
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import query
from pganon.steps import Check, State, Step
from pganon.steps.facts import label, or_null

_ASSOCIATION = or_null(label("quasi_association"))


def arrangement(spec: ReleaseSpec, state: State) -> Arrangement:
    """The tables of a release; columns are in the order of the policy until they are associated."""
    context = SlamsaContext(spec)
    options = context.options
    return arranged(
        spec,
        divided(
            options.quasi_tables, spec.attributes, state.facts.get(_ASSOCIATION), options.clustering
        ),
        sensitive_tables(spec, state),
        sliced=options.quasi_tables != 1,
        aligned=context.aligned,
        counterfeits=spec.invariant,
    )


def static_columns(spec: ReleaseSpec) -> bool:
    """Whether the policy alone decides the tables of the columns."""
    return sensitive_static(spec) and not _quasi_undecided(SlamsaContext(spec))


def _quasi_undecided(context: SlamsaContext) -> bool:
    return undecided(context.options.quasi_tables, len(context.spec.attributes))


def column_steps(context: SlamsaContext) -> list[Step]:
    """Steps that observe associations, where the policy does not list the tables of columns."""
    steps = division_steps(
        context.spec,
        independent=not context.aligned,
        hint="use profile: aligned, or list them in one of sensitive_tables",
    )
    if _quasi_undecided(context):
        steps.append(_quasi_association(context))
    return steps


def _quasi_association(context: SlamsaContext) -> Check:
    spec, measure = context.spec, context.options.association
    return Check(
        "quasi_association",
        "how much quasi-identifiers have to do with each other",
        lambda s: query(
            "select a.association as quasi_association from a",
            {"a": association(s.work(CODED), quasi_columns(spec, s), measure)},
        ),
        gives=[_ASSOCIATION],
    )
