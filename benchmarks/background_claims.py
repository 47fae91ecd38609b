"""The claims of the paper on beta-likeness against background knowledge, and whether they hold.

Nothing is asserted. The paper's tables are not public, and what its text leaves open had to be
chosen; what does not hold is shown as such, with the figures. A claim about a rank holds by how
many of the runs that differ in nothing but the method agree.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.background_names import AGG, BASELINE, BETA, INC, MIC, SELECTIVITIES, VARIED

Row = dict[str, Any]

PAPER = (INC, AGG, BETA)
GENERALIZED = (INC, AGG)
_SETTING = ("table", "k", "beta", "t", "j", "column", "records")

SMALL = 0.00275
"""Share of the records: 11 of 4,000."""
FLAT = 0.1
"""Part by which what hardly changes may change."""


@dataclass(frozen=True)
class Judged:
    """A claim on one table.

    Attributes:
        of: comparisons, and how many of them agree.
    """

    claim: str
    agree: int
    of: int
    found: str = ""

    @property
    def holds(self) -> str:
        if self.agree == self.of:
            return "yes"
        return "mostly" if self.agree * 2 > self.of else "NO"


def evaluate(found: Row) -> list[Row]:
    """The claims of the parts that were measured, table by table."""
    rows: list[Row] = []
    for table in _tables(found):
        own = {
            part: [row for row in of if row.get("table") == table and "refused" not in row]
            for part, of in found.items()
            if isinstance(of, list) and part != "claims"
        }
        rows += [
            {
                "claim": judged.claim,
                "table": table,
                "holds": judged.holds,
                "found": f"{judged.agree} of {judged.of}"
                + (f": {judged.found}" if judged.found else ""),
            }
            for judge in _JUDGES
            for judged in judge(own)
            if judged.of
        ]
    return sorted(rows, key=lambda row: int(row["claim"].split(" ")[0]))


def _tables(found: Row) -> list[str]:
    parts = [part for name, part in found.items() if isinstance(part, list) and name != "claims"]
    return list(dict.fromkeys(row["table"] for part in parts for row in part if "table" in row))


# -- comparisons ------------------------------------------------------------------------------


def _alike(rows: Iterable[Row], methods: Sequence[str]) -> list[dict[str, Row]]:
    """Rows by method that differ in the method alone, where all of the methods have one."""
    found: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in rows:
        key = tuple(row.get(name) for name in _SETTING)
        found.setdefault(key, {})[row["method"]] = row
    return [by for by in found.values() if all(method in by for method in methods)]


def _ranked(
    claim: str,
    rows: Iterable[Row],
    figure: str,
    methods: Sequence[str],
    holds: Callable[[list[float]], bool],
) -> Judged:
    """Of how many settings the figures of the methods, in their order, satisfy it."""
    values = [[by[m][figure] for m in methods] for by in _alike(rows, methods)]
    means = [sum(column) / len(column) for column in zip(*values, strict=True)]
    shown = ", ".join(f"{m} {mean:.3g}" for m, mean in zip(methods, means, strict=False))
    return Judged(claim, sum(map(holds, values)), len(values), f"mean {shown}" if means else "")


def _last_is_highest(values: list[float]) -> bool:
    return values[-1] >= max(values)


def _last_is_lowest(values: list[float]) -> bool:
    return values[-1] <= min(values)


def _lines(rows: Sequence[Row], by: str, figure: str, method: str) -> list[float]:
    chosen = [row for row in rows if row["method"] == method]
    return [row[figure] for row in sorted(chosen, key=lambda row: row[by])]


def _monotone(claim: str, rows: Sequence[Row], by: str, figure: str, sign: int) -> Iterator[Judged]:
    for method in PAPER:
        line = [sign * value for value in _lines(rows, by, figure, method)]
        steps = list(itertools.pairwise(line))
        shown = ", ".join(f"{sign * value:.3g}" for value in line)
        yield Judged(f"{claim}: {method}", sum(a <= b for a, b in steps), len(steps), shown)


def _varied(own: dict[str, list[Row]]) -> list[Row]:
    return [row for part in VARIED for row in own.get(part, ())]


# -- the claims -------------------------------------------------------------------------------


def _ranks(own: dict[str, list[Row]]) -> Iterator[Judged]:
    rows = _varied(own)
    yield _ranked("1 beta_GE has the highest GCP", rows, "gcp", PAPER, _last_is_highest)
    yield _ranked("1 beta_GE has the lowest RL", rows, "rl", PAPER, _last_is_lowest)
    yield _ranked("2 GCP of kInc_GE is below kAgg_GE", rows, "gcp", (AGG, INC), _last_is_lowest)
    yield _ranked(
        "2 classes of kInc_GE are smaller than of kAgg_GE",
        rows,
        "average",
        (AGG, INC),
        _last_is_lowest,
    )
    yield _ranked("3 kAgg_GE has the highest RL", rows, "rl", (INC, BETA, AGG), _last_is_highest)
    yield _ranked("5 classes of beta_GE are the largest", rows, "average", PAPER, _last_is_highest)
    gaps = [{**row, "gap": row["average"] - row["smallest"]} for row in rows]
    yield _ranked(
        "5 average less smallest class is the largest of beta_GE",
        gaps,
        "gap",
        PAPER,
        _last_is_highest,
    )


def _trends(own: dict[str, list[Row]]) -> Iterator[Judged]:
    by_k, by_j, by_beta = (own.get(part, []) for part in VARIED)
    line = _lines(by_k, "k", "gcp", BETA)
    if line:
        flat = max(line) - min(line) <= FLAT * max(line)
        shown = ", ".join(f"{value:.3g}" for value in line)
        yield Judged("4 GCP of beta_GE hardly changes with k", int(flat), 1, shown)
    yield from _monotone("5 average class grows with k", by_k, "k", "average", 1)
    yield from _monotone("5 average class grows with J", by_j, "j", "average", 1)
    yield from _monotone("6 GCP falls with beta", by_beta, "beta", "gcp", -1)
    yield from _monotone("6 RL grows with beta", by_beta, "beta", "rl", 1)


def _suppressed(own: dict[str, list[Row]]) -> Iterator[Judged]:
    by_j = own.get("left_out", [])
    lost = [*by_j, *own.get("left_out_by_k", ())]
    drawn = [row for row in _varied(own) if row["method"] == BETA]
    all_of = [*lost, *drawn]
    few = [row["suppressed"] <= SMALL * row["records"] for row in lost]
    most = max((row["suppressed"] / row["records"] for row in lost), default=0)
    yield Judged("7 at most 0.275 % are suppressed", sum(few), len(few), f"{most:.1%} at most")
    yield _ranked(
        "7 beta_GE suppresses fewest", all_of, "suppressed", (INC, AGG, BETA), _last_is_lowest
    )
    yield _ranked(
        "7 kInc_GE suppresses fewer than kAgg_GE", lost, "suppressed", (AGG, INC), _last_is_lowest
    )
    for method in (INC, AGG):
        line = _lines(by_j, "j", "suppressed", method)
        steps = list(itertools.pairwise(line))
        yield Judged(
            f"7 more are suppressed at small J: {method}",
            sum(a >= b for a, b in steps),
            len(steps),
            ", ".join(map(str, line)),
        )


def _rgcp(own: dict[str, list[Row]]) -> Iterator[Judged]:
    rows = [row for row in _varied(own) if row["method"] in PAPER]
    held = [row["gcp"] <= row["rgcp"] + 1e-9 for row in rows]
    yield Judged("8 GCP is at most RGCP", sum(held), len(held))
    for method in PAPER:
        chosen = [row for row in own.get("by_j", ()) if row["method"] == method]
        by_j = sorted(chosen, key=lambda row: row["j"])
        gaps = [max(0.0, round(row["rgcp"] - row["gcp"], 9)) for row in by_j]
        if gaps:
            shown = ", ".join(f"{gap:.3g}" for gap in gaps)
            widest = int(gaps[0] >= max(gaps))
            yield Judged(f"8 the gap is largest at the smallest J: {method}", widest, 1, shown)


def _seconds(own: dict[str, list[Row]]) -> Iterator[Judged]:
    rows = [*_varied(own), *own.get("times", ())]
    yield _ranked("9 beta_GE is the fastest", rows, "method_seconds", PAPER, _last_is_lowest)
    yield _ranked(
        "9 kAgg_GE is faster than kInc_GE", rows, "method_seconds", (INC, AGG), _last_is_lowest
    )
    for method in PAPER:
        line = _lines(own.get("by_j", []), "j", "method_seconds", method)
        if line:
            shown = ", ".join(f"{value:.2f}" for value in line)
            small = int(line[0] <= line[-1])
            yield Judged(f"9 the smallest J is faster than the largest: {method}", small, 1, shown)


def _columns(own: dict[str, list[Row]]) -> Iterator[Judged]:
    rows = own.get("columns", [])
    for method in GENERALIZED:
        means = [abs(row["difference"]) for row in rows if row["method"] == method]
        shown = f"{max(means):.3g} at most" if means else ""
        claim = f"10 mean relative difference of {method} is below 0.1"
        yield Judged(claim, sum(mean < 0.1 for mean in means), len(means), shown)
    yield _ranked(
        "10 absolute differences of beta_GE are the largest",
        rows,
        "absolute",
        PAPER,
        _last_is_highest,
    )
    yield _ranked("10 EMD of beta_GE is the largest", rows, "emd", PAPER, _last_is_highest)
    yield _ranked("10 EMD of kAgg_GE is below kInc_GE", rows, "emd", (INC, AGG), _last_is_lowest)
    for mic, method in zip(MIC, GENERALIZED, strict=True):
        for numeric, better, claim in (
            (False, (mic, method), f"10 EMD of texts: {method} is below {mic}"),
            (True, (method, mic), f"10 EMD of numbers: {mic} is below {method}"),
        ):
            for figure in ("emd", "emd_midpoint") if numeric else ("emd",):
                chosen = [
                    # Means have no range whose middle could be taken.
                    {**row, "far": row[figure if row["method"] == method else "emd"]}
                    for row in rows
                    if row["numeric"] is numeric
                ]
                said = f"{claim} ({figure.replace('_', ' ')})" if numeric else claim
                yield _ranked(said, chosen, "far", better, _last_is_lowest)
    by_values = sorted({(row["values"], row["column"]) for row in rows})
    ordered = [
        # The paper has them in units of the column.
        [by[column]["emd"] * by[column]["span"] for _, column in by_values]
        for by in _by_column(rows, [column for _, column in by_values])
    ]
    names = ", ".join(column for _, column in by_values)
    yield Judged(
        "10 EMD is larger for columns with more values",
        sum(values == sorted(values) for values in ordered),
        len(ordered),
        names,
    )


def _by_column(rows: Iterable[Row], columns: Sequence[str]) -> list[dict[str, Row]]:
    found: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in rows:
        key = (row["method"], row["k"], row["j"])
        found.setdefault(key, {})[row["column"]] = row
    return [by for by in found.values() if all(column in by for column in columns)]


def _against_baseline(own: dict[str, list[Row]]) -> Iterator[Judged]:
    rows = own.get("baseline", [])
    for method in GENERALIZED:
        pair = (BASELINE, method)
        yield _ranked(f"11 GCP of {method} is below the baseline", rows, "gcp", pair,
                      _last_is_lowest)  # fmt: skip
        yield _ranked(f"11 RL of {method} is that of the baseline or below", rows, "rl", pair,
                      _last_is_lowest)  # fmt: skip
        for share in SELECTIVITIES:
            asked = [{**row, "error": row["errors"][str(share)]} for row in rows]
            yield _ranked(f"11 query error of {method} is below, selectivity {share:g}", asked,
                          "error", pair, _last_is_lowest)  # fmt: skip
        yield _ranked(f"11 {method} is slower than the baseline", rows, "method_seconds", pair,
                      _last_is_highest)  # fmt: skip
    lost = [row["suppressed"] / row["records"] for row in rows if row["method"] == BASELINE]
    most = max(lost, default=0)
    claim = "11 the baseline suppresses up to 30 % in the paper, here at least 20 % somewhere"
    yield Judged(claim, int(most >= 0.2), int(bool(lost)), f"{most:.1%} at most")


def _by_likeness(own: dict[str, list[Row]]) -> Iterator[Judged]:
    """Methods with beta-likeness against the baseline with t-closeness, k by k."""
    by_k: dict[int, dict[str, Row]] = {}
    for row in own.get("likeness", ()):
        by_k.setdefault(row["k"], {})[row["method"]] = row
    for method in PAPER:
        both = [by for by in by_k.values() if method in by and BASELINE in by]
        for figure, name in (("gcp", "GCP"), ("rgcp", "RGCP"), ("rl", "RL")):
            less = sum(by[method][figure] <= by[BASELINE][figure] for by in both)
            pairs = [f"{by[method][figure]:.3g} / {by[BASELINE][figure]:.3g}" for by in both]
            claim = f"11 {name} of {method} (beta = 4) is at most the baseline's (t = 0.5)"
            yield Judged(claim, less, len(both), ", ".join(pairs))


_JUDGES: tuple[Callable[[dict[str, list[Row]]], Iterator[Judged]], ...] = (
    _ranks,
    _trends,
    _suppressed,
    _rgcp,
    _seconds,
    _columns,
    _against_baseline,
    _by_likeness,
)
