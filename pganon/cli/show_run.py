"""The result of a run on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pganon import plain
from pganon.cli import common
from pganon.cli.metrics import show_metrics
from pganon.forms.utility import Utility
from pganon.metrics.reasons import texts
from pganon.publish.figures import Verified
from pganon.publish.views import dependent_texts
from pganon.run.record import Added, RunResult


def show_result(result: RunResult, *, timing: bool = False) -> None:
    if result.outcome == "dry_run" and result.utility is None:
        common.line(f"dry run of {result.view}: nothing was tested")
        if result.added is not None:
            _show_added(result.added)
    elif result.outcome == "unchanged":
        common.line(f"unchanged: {result.view}, version {result.version}")
        for text in result.applied:
            common.line(f"  {text}")
        if result.added is not None:
            _show_added(result.added)
    else:
        utility = result.utility
        if result.outcome == "dry_run":
            common.line(f"dry run of {result.view}: nothing was published")
        elif result.outcome == "awaiting_approval":
            common.line(f"{result.view} waits for approval, request {result.request}")
        else:
            common.line(f"published {result.view}, version {result.version}")
        common.facts(
            {
                "records": f"{result.released} released, {result.suppressed} suppressed,"
                f" {result.records} in the source",
                **(utility.summary() if utility else {}),
                **(_weighted(result.weighted) if result.weighted else {}),
                "time": f"{result.seconds:.1f} s",
            }
        )
        if result.added is not None:
            _show_added(result.added)
        _show_verified(result.verified, "verified on the published relations")
        if result.reasons:
            _show_reasons(result)
        elif utility:
            _show_loss(utility)
        if result.metrics:
            show_metrics(result.metrics)
        if result.increment:
            statistics = result.increment
            common.line(f"of the {statistics.released} records that were added alone:")
            common.facts(statistics.utility.summary())
            _show_verified(statistics.verified, "verified on what was added")
            _show_loss(statistics.utility)
            if statistics.metrics:
                show_metrics(statistics.metrics)
    if timing:
        common.table(
            ["phase", "step", "seconds", "times"],
            [(s.phase, s.step, f"{s.seconds:.3f}", s.times) for s in result.steps],
            right=["seconds", "times"],
        )
    common.warn((*result.warnings, *dependent_texts(result.dependents)))
    if result.refusal:
        common.note(f"a run would be refused: {result.refusal}")
    if result.refusal_hint:
        common.hint(result.refusal_hint)


def _weighted(risk: Mapping[str, float]) -> dict[str, str]:
    """Of the source, whose values nobody but the steward has."""
    lines: dict[str, str] = {}
    if "expected" in risk:
        found = f"{plain.number(risk['expected'])} records of the source expected to be found"
        lines["by weights"] = f"{found}, {risk['global']:.3g}"
    if "weighted" in risk:
        lines["weights"] = (
            f"{plain.number(risk['weighted'])} people, {risk['left_out']:.3g} of the weights left"
            f" out, design effect {risk['deff']:.2f} (Kish)"
        )
    return lines


def _show_verified(verified: Sequence[Verified], title: str) -> None:
    common.table(
        ["requirement", "column", "required", "measured"],
        [
            (
                f"{v.model} ({v.against})" if v.against else v.model,
                v.column,
                f"{v.symbol} {v.bound} {v.required:g}",
                plain.number(v.measured),
            )
            for v in verified
        ],
        title=title,
        right=["measured"],
    )


def _show_loss(utility: Utility) -> None:
    common.table(
        [utility.columns, "loss (NCP)"],
        [(name, f"{loss:.6f}") for name, loss in utility.ncp.items()],
        right=["loss (NCP)"],
    )


def _show_added(added: Added) -> None:
    common.facts(
        {
            "newcomers": f"{added.newcomers} people, {added.waiting} of them wait",
            "tested": f"{added.tested} people in {added.cohorts} cohorts",
            "added": f"{added.released} records, {added.suppressed} permanently suppressed",
            **({"period": _period(added)} if added.period else {}),
            **({"late": f"{added.late} rows are left out"} if added.late else {}),
            **({"left": _left(added)} if added.left else {}),
            **({"stale": f"{added.stale} people are not as they are shown"} if added.stale else {}),
        }
    )


def _period(added: Added) -> str:
    without = f", without {added.left_out} groups" if added.left_out else ""
    return f"{added.period}{without}"


def _left(added: Added) -> str:
    if not added.withdrawn_groups:
        return f"{added.left} people, whose groups stay"
    return (
        f"{added.left} people; {added.withdrawn_groups} groups with {added.withdrawn_records}"
        f" records of {added.withdrawn_people} people are withdrawn"
    )


def _show_reasons(result: RunResult) -> None:
    assert result.utility is not None
    columns = [result.utility.columns, "loss (NCP)", "GCP without it", "decides"]
    asked = any(reason.gcp_without is not None for reason in result.reasons)
    rows = [
        (
            reason.column,
            "" if reason.loss is None else f"{reason.loss:.6f}",
            *([_gcp(reason.gcp_without)] if asked else []),
            ", ".join(reason.decides),
        )
        for reason in result.reasons
    ]
    shown = columns if asked else [name for name in columns if name != "GCP without it"]
    common.table(shown, rows, right=["loss (NCP)", "GCP without it"])
    for text in texts(result.reasons):
        common.line(text)


def _gcp(value: float | None) -> str:
    return "-" if value is None else f"{value:.6f}"
