"""Figures of the candidates, and which of them remain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from pganon.candidates.dominance import Measured, beaten
from pganon.candidates.policies import Candidate, keys_of_model
from pganon.candidates.settings import written
from pganon.errors import PganonError, PolicyError
from pganon.forms.form import STRUCTURE
from pganon.forms.metrics import WorkloadMetrics
from pganon.forms.request import Workload
from pganon.methods.registry import methods
from pganon.privacy.base import from_below
from pganon.publish.figures import Verified
from pganon.run.record import RunResult

LIMIT = 0.09
"""Highest prosecutor's risk that agencies accept in data for the public (EMA policy 0070, Health
Canada)."""

Verdict = Literal["candidate", "above_limit", "beaten", "refused"]


@dataclass(frozen=True)
class Figures:
    """What a dry run measured.

    Attributes:
        form: what it groups records into; losses of different forms cannot be compared.
        highest_risk, mean_risk: prosecutor's; None where the form has none.
        loss: GCP of the form, in [0, 1].
        median_error: of the workload's counts; None where the form answers no queries.
        suppressed: share of the records that are left out.
        groups: their number.
        verified: every requirement as measured.
        seconds: of the dry run, with all measures.
    """

    form: str
    highest_risk: float | None
    mean_risk: float | None
    loss: float
    median_error: float | None
    suppressed: float
    groups: int
    verified: tuple[Verified, ...]
    seconds: float


@dataclass(frozen=True)
class Row:
    """A candidate with its figures, or why it has none.

    Attributes:
        number: from 1.
        method, privacy, suppression_limit: as its policy has them.
        varied: value of every varied parameter, by its label.
        beaten_by: number of a candidate that is better.
        code, reason: of the refusal.
        exit_code: of the command if nothing else had been tried; 0 for a candidate with figures.
    """

    number: int
    method: Mapping[str, Any]
    privacy: tuple[Mapping[str, Any], ...]
    suppression_limit: float
    varied: Mapping[str, Any]
    verdict: Verdict
    policy_hash: str | None = None
    run_id: int | None = None
    figures: Figures | None = None
    beaten_by: int | None = None
    code: str | None = None
    reason: str | None = None
    exit_code: int = 0


@dataclass(frozen=True)
class Compared:
    """The result of a comparison.

    Attributes:
        comparison: number of the run in the ledger that the candidates belong to; None where no
            candidate read anything.
        records: of the source, without people who were forgotten; None likewise.
        limit: highest risk that a candidate may have.
    """

    release: str
    source: str
    comparison: int | None
    records: int | None
    seed: int
    workload: Workload
    limit: float
    candidates: tuple[Row, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def measured_row(number: int, candidate: Candidate, policy_hash: str, result: RunResult) -> Row:
    """The row of a dry run that found a release."""
    utility = result.utility
    assert utility is not None  # only releases that grow have none
    workload: WorkloadMetrics | None = getattr(result.metrics, "workload", None)
    figures = Figures(
        form=methods()[result.method].form.publication.groups,
        highest_risk=utility.risk.highest if utility.risk else None,
        mean_risk=utility.risk.mean if utility.risk else None,
        loss=utility.gcp,
        median_error=workload.count.median if workload else None,
        suppressed=result.suppressed / result.records,
        groups=utility.number_of_groups,
        verified=result.verified,
        seconds=result.seconds,
    )
    return Row(
        number,
        candidate.method,
        tuple(candidate.privacy),
        candidate.suppression_limit,
        candidate.varied,
        "candidate",
        policy_hash=policy_hash,
        run_id=result.run_id,
        figures=figures,
    )


def refused_row(number: int, candidate: Candidate, error: PganonError) -> Row:
    """The row of a candidate that no release could be made of."""
    return Row(
        number,
        candidate.method,
        tuple(candidate.privacy),
        candidate.suppression_limit,
        candidate.varied,
        "refused",
        code=error.code.value,
        reason=_reason(error),
        exit_code=error.exit_code,
    )


def _reason(error: PganonError) -> str:
    """Of a policy the first problem; others follow from it, or are seen when it is mended."""
    if isinstance(error, PolicyError):
        first = error.problems[0]
        return f"{first.field}: {first.message}" if first.field else first.message
    return error.message


def judged(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows with their verdicts."""
    having = [row for row in rows if row.figures is not None]
    better = beaten([_measured(row, row.figures) for row in having if row.figures is not None])
    by = {having[a].number: having[b].number for a, b in better.items()}
    return tuple(_judged(row, by.get(row.number)) for row in rows)


def _judged(row: Row, better: int | None) -> Row:
    if row.figures is None:
        return row
    if better is not None:
        return replace(row, verdict="beaten", beaten_by=better)
    return row if _admissible(row.figures) else replace(row, verdict="above_limit")


def _admissible(figures: Figures) -> bool:
    return figures.highest_risk is None or figures.highest_risk <= LIMIT


def _measured(row: Row, figures: Figures) -> Measured:
    risk: dict[Any, float] = {
        (v.model, v.symbol, v.column, v.against, v.bound, *_measure(row, v)): _inverse(v.measured)
        if from_below(v.bound)
        else v.measured
        for v in figures.verified
        if v.model != STRUCTURE
    }
    if figures.highest_risk is not None and figures.mean_risk is not None:
        risk |= {"highest": figures.highest_risk, "mean": figures.mean_risk}
    loss: dict[Any, float] = {("loss", figures.form): figures.loss}
    if figures.median_error is not None:
        loss["error"] = figures.median_error
    return Measured(risk, loss, {"suppressed": figures.suppressed}, _admissible(figures))


def _measure(row: Row, one: Verified) -> Iterator[str]:
    """Parameters that say how a model measures, such as a distance, and not how much it allows."""
    assert row.figures is not None
    allowed = {v.symbol for v in row.figures.verified}
    for model in row.privacy:
        if (model["model"], model.get("column")) == (one.model, one.column):
            for name in keys_of_model(one.model):
                if name not in allowed and model.get(name) is not None:
                    yield f"{name}={written(model[name])}"


def _inverse(measure: float) -> float:
    return 1 / measure if measure else float("inf")
