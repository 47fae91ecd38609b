"""The method `anatomy`: its steps of a plan, and its form.

Xiao and Tao: Anatomy, simple and effective privacy preservation, VLDB 2006; here in one sort per
block (stripes), in blocks of similar quasi-identifiers, as small as they can be.
"""

from __future__ import annotations

from pganon.forms.stored_relations import repeated
from pganon.identifiers import quote
from pganon.methods.buckets.anatomy.blocks import BLOCKS, block_steps
from pganon.methods.buckets.anatomy.context import AnatomyContext
from pganon.methods.buckets.anatomy.groups import dealt, groups, starts_step, tidy_step
from pganon.methods.buckets.anatomy.options import Anatomy
from pganon.methods.buckets.form import anatomized
from pganon.methods.buckets.invariance import counterfeits, invariant_steps
from pganon.methods.buckets.invariance.groups import COUNTERFEITS
from pganon.methods.common.arrangement import Arrangement, arranged
from pganon.methods.common.base import Method
from pganon.methods.common.form.grouping import Grouping
from pganon.resolved.model import ReleaseSpec
from pganon.steps import Scope, State, Step
from pganon.steps.facts import Facts

FEW = 8
"""Pieces per block from which on groups are much wider than they could be."""


def warnings(spec: ReleaseSpec, facts: Facts) -> list[str]:
    """A warning where the public rule has made only a few large blocks, with the remedy."""
    context = AnatomyContext(spec)
    blocks, pieces = facts[BLOCKS], context.pieces(State(0, facts))
    whole = blocks == 1 and pieces > 1
    if context.division != "public" or not blocks or not (whole or pieces >= FEW * blocks):
        return []
    where = "one block" if blocks == 1 else f"{blocks} blocks"
    return [
        f"the groups follow the quasi-identifiers little or not at all: division: public leaves the"
        f" records in {where}, of up to {pieces}, because of the most frequent values of column"
        f" {quote(context.sensitive.column.name)}; a smaller l makes estimates better, and so does"
        " division: eligible, which lets readers learn something from where it divides"
    ]


def partition_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    """Steps from the encoded records to the blocks of the groups."""
    context = AnatomyContext(spec)
    first = (
        invariant_steps(context.invariance) if context.m_invariant else context.eligibility.steps()
    )
    kept = ["hist_0", "leaves", "placed", "listed", COUNTERFEITS]
    return (Scope("what the blocks were made from", [*first, *block_steps(context)], kept),)


BUCKETS = Grouping(
    groups=lambda spec, state, name: groups(AnatomyContext(spec), state),
    records=lambda spec, state, names, *part: dealt(AnatomyContext(spec), state, names[0], *part),
    duplicate_keys=lambda spec, state: [repeated(state.work("starts"), "piece", "value")],
    beside=lambda spec: [starts_step()],
    after=lambda spec: [tidy_step()],
    parts=3,
    counterfeits=lambda spec, state: counterfeits(state) if spec.signatures else None,
)
"""No work table links records and groups: published columns are carried along the curve."""


def arrangement(spec: ReleaseSpec, state: State) -> Arrangement:
    """One QIT and one ST; a table of counterfeits beside them under m-invariance."""
    return arranged(spec, [spec.attributes], [spec.sensitive], counterfeits=spec.invariant)


METHOD = Method(
    Anatomy,
    anatomized(arrangement, groups="groups", buckets=BUCKETS, warnings=warnings),
    partition_steps,
)
