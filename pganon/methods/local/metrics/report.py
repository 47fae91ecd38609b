"""Metrics of local generalization and bucketization on request: steps, and results of facts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pganon.encode.facts import KEPT
from pganon.forms.facts import SQUARES, SUPPRESSED
from pganon.forms.form import Tables
from pganon.forms.metrics import Grid, Metrics, Pairs, Shown, WorkloadMetrics, figure
from pganon.forms.request import Request, Workload
from pganon.forms.shape import Shape, shown
from pganon.methods.local.local_facts import CELLS, LOSS, SUPPRESSED_CELLS
from pganon.methods.local.metrics import relations, workload
from pganon.methods.local.metrics.relations import added, always_hidden
from pganon.methods.local.metrics.workload import bound_facts
from pganon.metrics import coverage
from pganon.metrics.answers import errors_of, finite
from pganon.metrics.source import place_steps
from pganon.resolved.model import ReleaseSpec
from pganon.steps import State, Step
from pganon.steps.facts import RECORDS, Facts


@dataclass(frozen=True)
class Bounds:
    """Widths of the bounds of sums, as shares of the exact sums.

    Attributes:
        mean, median, mean_of_enough: of the paper's bounds (R_error); the latter over the queries
            whose exact sum is at least a hundredth of the sum over all records.
        certain_mean, certain_median: of the certain bounds.
        outside: share of the queries whose exact sum lies outside the paper's bounds.
        beyond: share outside the certain bounds, which only suppressed records make possible.
        empty: queries whose exact sum is 0, which have no width.
    """

    mean: float | None
    median: float | None
    mean_of_enough: float | None
    certain_mean: float | None
    certain_median: float | None
    outside: float | None
    beyond: float | None
    empty: int


@dataclass(frozen=True)
class LocalMetrics(Metrics):
    """Metrics of local generalization and bucketization; see docs/reference/measures.md.

    Attributes:
        discernibility: C_DM; a suppressed record counts as many as the source has.
        ncp: sum over the records and the values that they show; withheld ones cost 1, those in
            buckets nothing, those of suppressed records 1 where they were quasi-identifying.
        ncp_relative: as a share of the values that count; None if there are none.
        bounds: widths of the bounds of sums, by published column.
    """

    discernibility: float | None = None
    ncp: float | None = None
    ncp_relative: float | None = None
    workload: WorkloadMetrics | None = None
    bounds: dict[str, Bounds] | None = None

    def shown(self) -> list[Shown]:
        shown: list[Shown] = []
        if self.discernibility is not None:
            shown.append(
                Pairs(
                    {
                        "discernibility": figure(self.discernibility),
                        "NCP": figure(self.ncp),
                        "NCP (share)": figure(self.ncp_relative),
                    }
                )
            )
        if self.workload:
            shown.append(self.workload.shown())
        if self.bounds:
            names = ["mean width", "median width", "certain bounds", "sums outside"]
            rows = [
                (
                    f"sum of {column}",
                    *map(figure, (b.mean, b.median, b.certain_median, b.outside)),
                )
                for column, b in self.bounds.items()
            ]
            shown.append(Grid(["bounds of the", *names], rows, names))
        return shown


def measure_steps(
    spec: ReleaseSpec,
    shape: Callable[[ReleaseSpec, State], Shape],
    tables: Callable[[State], Tables],
    request: Request,
) -> tuple[Step, ...]:
    """Steps whose facts :func:`metrics_of` reads, besides those of every run."""
    if request.workload is None:
        return ()
    return (
        *place_steps(spec),
        *coverage.steps(spec, lambda s: shown(shape(spec, s), tables(s))),
        *relations.steps(spec, lambda s: shape(spec, s), tables),
        *workload.steps(spec, workload_of(spec, request.workload)),
    )


def metrics_of(spec: ReleaseSpec, request: Request, state: State) -> LocalMetrics:
    """The metrics that :func:`measure_steps` observed."""
    measured: dict[str, Any] = {}
    if request.everything:
        # Discernibility and NCP, from facts that every run observes.
        # Records that are not encoded count as if they hid nothing.
        gone = (state[RECORDS] - state[KEPT]) * len(spec.attributes) + state[SUPPRESSED_CELLS]
        lost, cells = state[LOSS] + gone, state[CELLS] + gone
        measured = {
            "discernibility": state[SQUARES] + float(state[SUPPRESSED]) * state[RECORDS],
            "ncp": lost,
            "ncp_relative": lost / cells if cells else None,
        }
    if request.workload is not None:
        facts, items = state.facts, added(spec)
        measured["workload"] = WorkloadMetrics(
            workload_of(spec, request.workload),
            errors_of("n", facts),
            {item.published: errors_of(f"t{item.index}", facts) for item in items},
        )
        measured["bounds"] = {item.published: _bounds(item.index, facts) for item in items}
    return LocalMetrics(**measured)


def workload_of(spec: ReleaseSpec, asked: Workload) -> Workload:
    """The workload, without a sensitive predicate if all sensitive columns are attributes."""
    return replace(asked, sensitive=bool(asked.sensitive and always_hidden(spec)))


def _bounds(index: int, facts: Facts) -> Bounds:
    read: dict[str, Any] = {fact.column: finite(facts[fact]) for fact in bound_facts(index)}
    return Bounds(**read)
