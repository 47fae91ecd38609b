"""The methods `qs_greedy` and `qs_efficient`: their steps of a plan, and their form."""

from __future__ import annotations

from pganon.forms.work import ASSIGNED, QS_CELLS
from pganon.methods.clusters.form import CLUSTERS
from pganon.methods.clusters.qs.blocks import block_steps
from pganon.methods.clusters.qs.cells import cell_steps
from pganon.methods.clusters.qs.clusters import cluster_steps
from pganon.methods.clusters.qs.context import QSContext
from pganon.methods.clusters.qs.options import QsEfficient, QsGreedy
from pganon.methods.common.base import Method
from pganon.resolved.model import ReleaseSpec
from pganon.steps import Scope, Step


def greedy_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    """Steps of `qs_greedy`, from the encoded records to `assigned`."""
    options = spec.policy.method
    assert isinstance(options, QsGreedy)
    context = QSContext(spec)
    steps = [
        *cell_steps(context),
        *block_steps(context, options.block_size, along_curve=False, bounded=True),
        *cluster_steps(context, nearest=True),
    ]
    return (_scope(context, steps),)


def efficient_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    """Steps of `qs_efficient`, from the encoded records to `assigned`."""
    options = spec.policy.method
    assert isinstance(options, QsEfficient)
    context = QSContext(spec)
    steps = [
        *cell_steps(context),
        *block_steps(context, options.block_size, along_curve=True, bounded=False),
        *cluster_steps(context, nearest=False),
    ]
    return (_scope(context, steps),)


def _scope(context: QSContext, steps: list[Step]) -> Scope:
    supports = [f"support{number}" for number in range(1, len(context.set_names) + 1)]
    return Scope("what the clusters were made from", steps, [QS_CELLS, ASSIGNED, *supports])


GREEDY = Method(QsGreedy, CLUSTERS, greedy_steps)
EFFICIENT = Method(QsEfficient, CLUSTERS, efficient_steps)
