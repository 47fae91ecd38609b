"""The common part of every form's metrics on request: how they are stored and shown.

A form returns its output as texts and tables, so that the command line does not depend on forms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pganon.forms.request import Workload
from pganon.forms.utility import Recorded


@dataclass(frozen=True)
class Pairs:
    """Labels with one text each."""

    pairs: Mapping[str, str]


@dataclass(frozen=True)
class Grid:
    """A table of texts.

    Attributes:
        right: columns of numbers.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    right: Sequence[str] = ()
    title: str | None = None


Shown = Pairs | Grid


@dataclass(frozen=True)
class Metrics(Recorded, ABC):
    """Requested metrics. A form adds its own fields, which must be representable in JSON."""

    @abstractmethod
    def shown(self) -> list[Shown]:
        """Their printed form; metrics that were not measured are omitted."""


@dataclass(frozen=True)
class Errors:
    """Relative errors of the queries whose exact answer is not 0; the others are `empty`.

    Attributes:
        quarter, three_quarters, most: below which 25 %, 75 % and 95 % of them are.
    """

    median: float | None
    mean: float | None
    empty: int
    quarter: float | None = None
    three_quarters: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class Bounds:
    """Bounds of counts that the release proves.

    Attributes:
        width: median distance, as a share of the exact answer; None if all of these are 0.
        outside: exact answers that are not within, whatever is suppressed. There should be none.
    """

    width: float | None
    outside: int


@dataclass(frozen=True)
class WorkloadMetrics:
    """Errors of random queries: `count`, and `sums` by published column.

    Attributes:
        bounds: of the counts; None where no bounds are computed.
    """

    workload: Workload
    count: Errors
    sums: dict[str, Errors]
    bounds: Bounds | None = None

    def shown(self) -> Grid:
        rows: list[tuple[str, Errors, Bounds | None]] = [("count", self.count, self.bounds)]
        rows += [(f"sum of {column}", errors, None) for column, errors in self.sums.items()]
        asked = self.workload
        restricted = "quasi-identifiers" + " and a sensitive column" * bool(asked.sensitive)
        figures = ["median error", "mean error", "width of bounds", "without answer"]
        return Grid(
            ["answer", *figures],
            [
                (name, figure(e.median), figure(e.mean), figure(b and b.width), e.empty)
                for name, e, b in rows
            ],
            figures,
            f"{asked.queries} random queries on {asked.predicates} {restricted},"
            f" selectivity {asked.selectivity:g}, seed {asked.seed}",
        )


def figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
