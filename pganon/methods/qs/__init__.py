"""The methods `qs_greedy` and `qs_efficient`: which steps they add to a plan."""

from __future__ import annotations

from pganon.forms.clusters import CLUSTERS
from pganon.methods.base import Method
from pganon.methods.qs.blocks import block_steps
from pganon.methods.qs.cells import cell_steps
from pganon.methods.qs.clusters import cluster_steps
from pganon.methods.qs.options import QsEfficient, QsGreedy
from pganon.methods.qs.shape import QSShape
from pganon.spec.model import ReleaseSpec
from pganon.steps import Step


def greedy_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    options = spec.policy.method
    assert isinstance(options, QsGreedy)
    shape = QSShape(spec)
    return (
        *cell_steps(shape),
        *block_steps(shape, options.block_size, along_curve=False, bounded=True),
        *cluster_steps(shape, nearest=True),
    )


def efficient_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    options = spec.policy.method
    assert isinstance(options, QsEfficient)
    shape = QSShape(spec)
    return (
        *cell_steps(shape),
        *block_steps(shape, options.block_size, along_curve=True, bounded=False),
        *cluster_steps(shape, nearest=False),
    )


def assumed(spec: ReleaseSpec) -> dict[str, int]:
    """What `explain` supposes of a run."""
    return {"cells": 1000, "blocks": 1, "largest_block": 1000}


GREEDY = Method(QsGreedy, CLUSTERS, greedy_steps, assumed)
EFFICIENT = Method(QsEfficient, CLUSTERS, efficient_steps, assumed)
