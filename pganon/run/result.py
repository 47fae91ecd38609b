"""What a run gives back: plain dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pganon.frames import Frame, frame
from pganon.metrics.report import Metrics


@dataclass(frozen=True)
class Verified:
    """One requirement as measured on the published relations.

    Attributes:
        measured: the worst group's measure.
        against: the distribution it was compared with, for closeness.
    """

    model: str
    column: str | None
    symbol: str
    bound: str
    required: float
    measured: float
    against: str = ""


@dataclass(frozen=True)
class Utility:
    """Utility and risk of a release of classes.

    Attributes:
        gcp: global certainty penalty in [0, 1]: mean weighted NCP over all source records, a
            suppressed record counting 1.
        ncp: mean NCP of every quasi-identifier over the released records.
        discernibility: sum of squared class sizes plus source records per suppressed record.
        average_class: average equivalence class size over the smallest one allowed (AEC).
        highest_risk, mean_risk: prosecutor risk, 1 / class size, highest and mean over records.
    """

    gcp: float
    ncp: dict[str, float]
    discernibility: float
    average_class: float
    classes: int
    smallest_class: int
    largest_class: int
    highest_risk: float
    mean_risk: float


@dataclass(frozen=True)
class StepSeconds:
    """Time of one step; rounds of a repetition are added up."""

    phase: str
    step: str
    seconds: float
    times: int


@dataclass(frozen=True)
class RunResult:
    """A published release; `metrics` if they were asked for."""

    release: str
    version: int
    run_id: int
    view: str
    method: str
    records: int
    released: int
    suppressed: int
    verified: tuple[Verified, ...]
    utility: Utility
    metrics: Metrics | None
    unreleased_columns: tuple[str, ...]
    warnings: tuple[str, ...]
    seconds: float
    steps: tuple[StepSeconds, ...] = field(repr=False, default=())

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def to_frame(self) -> Frame:
        """The verified requirements as a pandas DataFrame, one row each."""
        return frame(self.verified)


def utility_of(facts: Mapping[str, Any], columns: tuple[str, ...], minimum_size: int) -> Utility:
    """The figures of docs/reference/measures.md from what the plan observed."""
    records, suppressed = int(facts["records"]), int(facts["suppressed"])
    released, classes = int(facts["measure_released"]), int(facts["measure_classes"])
    return Utility(
        gcp=(float(facts["measure_weighted_loss"]) + suppressed) / records,
        ncp={column: float(facts[f"measure_ncp{number}"]) for number, column in enumerate(columns)},
        discernibility=float(facts["measure_squares"]) + float(suppressed) * records,
        average_class=released / classes / minimum_size,
        classes=classes,
        smallest_class=int(facts["measure_smallest_class"]),
        largest_class=int(facts["measure_largest_class"]),
        highest_risk=1 / int(facts["measure_smallest_class"]),
        mean_risk=classes / released,
    )
