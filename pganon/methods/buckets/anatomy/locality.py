"""Whether groups of anatomy follow the quasi-identifiers, for who has to choose the division."""

from __future__ import annotations

from pganon.identifiers import quote
from pganon.methods.buckets.anatomy.blocks import BLOCKS
from pganon.methods.buckets.anatomy.shape import AnatomyShape
from pganon.resolved.model import ReleaseSpec
from pganon.steps import State
from pganon.steps.facts import Facts

FEW = 8
"""Pieces per block from which on groups are much wider than they could be."""


def warnings(spec: ReleaseSpec, facts: Facts) -> list[str]:
    """That the public rule has left the records in few blocks, with the remedy."""
    shape = AnatomyShape(spec)
    blocks, pieces = facts[BLOCKS], shape.pieces(State(0, facts))
    whole = blocks == 1 and pieces > 1
    if shape.division != "public" or not blocks or not (whole or pieces >= FEW * blocks):
        return []
    where = "one block" if blocks == 1 else f"{blocks} blocks"
    return [
        f"the groups follow the quasi-identifiers little or not at all: division: public leaves the"
        f" records in {where}, of up to {pieces}, because of the most frequent values of column"
        f" {quote(shape.sensitive.column.name)}; a smaller l makes estimates better, and so does"
        " division: eligible, which lets readers learn something from where it divides"
    ]
