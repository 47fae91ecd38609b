"""Whether the cuts of a run are kept by their values."""

from __future__ import annotations

from pganon.encode.axis import axes
from pganon.encode.facts import size
from pganon.resolved.model import ReleaseSpec
from pganon.steps import State

_MOST = 512
"""Values of a column that is cut by frequency: a cut is kept with those on its left."""


def keeps_cuts(spec: ReleaseSpec, state: State) -> bool:
    """Whether a version to which individuals may be added keeps its cuts: always if the policy says
    so, else where it costs little."""
    if not spec.keeps_cuts or spec.growth is not None:
        return spec.keeps_cuts
    sizes = [state.facts.get(size(a.index)) for a in axes(spec.attributes) if a.by_frequency]
    return all(distinct is None or distinct <= _MOST for distinct in sizes)
