"""A comparison of candidates on the terminal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from pganon.candidates.dominance import TOLERANCE
from pganon.candidates.figures import Compared, Figures, Row
from pganon.candidates.settings import options_of, written
from pganon.cli import common
from pganon.forms.form import STRUCTURE
from pganon.privacy.base import from_below
from pganon.publish.figures import Verified
from pganon.report.comparison.series import Measure, heads_of


def show_compared(compared: Compared) -> None:
    rows = compared.candidates
    tried = f"{len(rows)} candidates" if len(rows) > 1 else "1 candidate"
    records = "" if compared.records is None else f"{compared.records} records of "
    common.line(
        f"{tried} for {compared.release}, dry runs over {records}{compared.source}:"
        " nothing was published"
    )
    _show_table(compared)
    if any(row.figures for row in rows):
        _show_remaining(compared)
        if any(row.verdict == "beaten" for row in rows):
            common.line(
                "beaten: the other one is better in a figure, and in none worse by more than"
                f" {_percent(TOLERANCE)}"
            )
        figures = [row.figures for row in rows if row.figures is not None]
        forms = list(dict.fromkeys(one.form for one in figures))
        if len(forms) > 1:
            common.line(f"the loss of {' and of '.join(forms)} cannot be compared, their error can")
        without = list(dict.fromkeys(one.form for one in figures if one.highest_risk is None))
        if without:
            common.line(f"of {' and '.join(without)} no chance to find a record is measured")
    else:
        common.line("no candidate can be released")
    _show_reasons(rows)


def _show_table(compared: Compared) -> None:
    rows = compared.candidates
    varied = list(dict.fromkeys(label for row in rows for label in row.varied))
    # Requirements, but for those that the highest risk shows, and the heads of their columns.
    found = dict.fromkeys(
        _measure(one)
        for row in rows
        if row.figures is not None
        for one in row.figures.verified
        if one.model != STRUCTURE and not (one.symbol == "k" and row.figures.highest_risk)
    )
    measures = heads_of(found, varied)
    figures = ["highest", "average", "loss", "error", "left out", "groups", *measures.values()]
    columns = ["#", "method", *varied, *figures, "time", "result"]
    left_out = common.table(
        columns,
        [
            (
                row.number,
                _method(row),
                *[written(row.varied[label]) if label in row.varied else "" for label in varied],
                *_cells(row.figures, list(measures)),
                _verdict(row, compared.limit),
            )
            for row in rows
        ],
        right=["#", *varied, *figures, "time"],
        spare=["time", "groups", "left out"],
    )
    if left_out:
        common.line(f"not shown on a narrow terminal: {', '.join(left_out)}")


def _method(row: Row) -> str:
    options = {key: value for key, value in row.method.items() if key not in row.varied}
    return ", ".join(filter(None, [str(options.pop("name")), options_of(options)]))


def _cells(figures: Figures | None, measures: Sequence[Measure]) -> list[str]:
    if figures is None:
        return [""] * (len(measures) + 7)
    verified: dict[Measure, float] = {}
    for one in figures.verified:
        worse = min if from_below(one.bound) else max
        key = _measure(one)
        verified[key] = worse(verified.get(key, one.measured), one.measured)
    shares = (figures.highest_risk, figures.mean_risk, figures.loss, figures.median_error)
    return [
        *map(_share, shares),
        _share(figures.suppressed),
        f"{figures.groups:,}",
        *[f"{verified[key]:.4g}" if key in verified else "-" for key in measures],
        f"{figures.seconds:.1f} s",
    ]


def _measure(one: Verified) -> Measure:
    return one.model, one.column, one.symbol


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _percent(value: float) -> str:
    return f"{100 * value:g}%"


def _verdict(row: Row, limit: float) -> str:
    match row.verdict:
        case "above_limit":
            return f"above {_percent(limit)}"
        case "beaten":
            return f"beaten by {row.beaten_by}"
        case "refused":
            return f"refused: {row.code}"
        case "candidate":
            return "candidate"


def _show_remaining(compared: Compared) -> None:
    """How many remain, and which of them answers queries best."""
    rows = compared.candidates
    left = [row for row in rows if row.verdict == "candidate"]
    asked = compared.workload
    restricted = "quasi-identifiers" + " and a sensitive column" * bool(asked.sensitive)
    common.line(
        "highest, average: chance to find the record of somebody whose quasi-identifiers are known"
    )
    common.line(
        f"error: half of {asked.queries} random counts on {asked.predicates} {restricted} are off"
        " by less"
    )
    limit = _percent(compared.limit)
    common.line(
        f"{len(left)} of {len(rows)} remain, with a highest chance of at most {limit} and not"
        " beaten"
    )
    least = min(left, key=_error, default=None)
    if least is not None and len(left) > 1 and _error(least) != float("inf"):
        error = _share(_error(least))
        common.line(
            f"of these {least.number} answers best: half of the counts are off by less than {error}"
        )


def _error(row: Row) -> float:
    error = row.figures.median_error if row.figures else None
    return float("inf") if error is None else error


def _show_reasons(rows: Sequence[Row]) -> None:
    reasons: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        if row.code is not None and row.reason is not None:
            reasons[row.code, row.reason].append(str(row.number))
    for (code, reason), numbers in reasons.items():
        common.line(f"refused: {', '.join(numbers)} ({code}): {reason}")
