"""The claims of the paper on beta-likeness against background knowledge, and whether they hold.

Nothing is asserted. The paper's tables are not public, and what its text leaves open had to be
chosen; what does not hold is shown as such, with the figures. A claim about a rank holds by how
many of the runs that differ in nothing but the method agree.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from benchmarks import judging
from benchmarks.background_names import AGG, BASELINE, BETA, INC, MIC, SELECTIVITIES, VARIED
from benchmarks.judging import Row, below, equal, grows, listed

PAPER = (INC, AGG, BETA)
GENERALIZED = (INC, AGG)
_SETTING = ("table", "k", "beta", "t", "column", "records")

MOSTLY = 0.75
"""Share of the comparisons that agree."""
SMALL = 0.00275
"""Share of the records: 11 of 4,000."""
LARGE_J = 0.3
"""From which J on the paper has one cluster."""
MOST_SUPPRESSED = 0.3
"""Share of the records by the baseline in the paper."""
NEAR = 0.1
"""Difference of relative differences that are close."""


@dataclass(frozen=True)
class Judged:
    """A claim on one table.

    Attributes:
        of: comparisons, and how many of them agree.
        defined: whether they agree by definition, so that they can only say no.
    """

    claim: str
    agree: int
    of: int
    found: str = ""
    defined: bool = False

    @property
    def holds(self) -> str:
        if self.agree == self.of and self.defined:
            return "-"
        if self.agree == self.of:
            return "yes"
        return "mostly" if self.agree >= MOSTLY * self.of else "NO"


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


def _limit(row: Row) -> tuple[str, Any]:
    """What tells apart J: two of them that leave the same clusters are one setting."""
    name = "clusters" if row.get("clusters") is not None else "j"
    return name, row.get(name)


def _alike(rows: Iterable[Row], methods: Sequence[str]) -> list[dict[str, Row]]:
    """Rows by method that differ in the method alone, where all of the methods have one."""
    found: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in rows:
        key = (_limit(row), *(row.get(name) for name in _SETTING))
        found.setdefault(key, {})[row["method"]] = row
    return [by for by in found.values() if all(method in by for method in methods)]


def _ranked(
    claim: str,
    rows: Iterable[Row],
    figure: str,
    methods: Sequence[str],
    holds: Callable[[Sequence[float]], bool],
) -> Judged:
    """Of how many settings the figures of the methods, in their order, satisfy it."""
    values = [[by[m][figure] for m in methods] for by in _alike(rows, methods)]
    means = map(fmean, zip(*values, strict=True))
    shown = ", ".join(f"{m} {mean:.3g}" for m, mean in zip(methods, means, strict=False))
    ties = sum(equal(line, 0) or False for line in values)
    same = f", {ties} of them equal" if ties else ""
    found = f"mean {shown}{same}" if values else ""
    return Judged(claim, sum(map(holds, values)), len(values), found)


def _last_is_highest(values: Sequence[float]) -> bool:
    return below(max(values[:-1]), values[-1])


def _last_is_lowest(values: Sequence[float]) -> bool:
    return below(values[-1], min(values[:-1]))


def _last_is_at_most(values: Sequence[float]) -> bool:
    return not _last_is_highest(values) or bool(equal(values))


def _along(rows: Sequence[Row], by: str, method: str) -> list[Row]:
    """Of J, one of those that leave the same clusters."""
    chosen = sorted((row for row in rows if row["method"] == method), key=lambda row: row[by])
    if by == "j":
        chosen = list({_limit(row): row for row in reversed(chosen)}.values())[::-1]
    return chosen


def _lines(rows: Sequence[Row], by: str, figure: str, method: str) -> list[float]:
    return [row[figure] for row in _along(rows, by, method)]


def _monotone(
    claim: str,
    rows: Sequence[Row],
    by: str,
    figure: str,
    sign: int,
    methods: Sequence[str] = PAPER,
) -> Iterator[Judged]:
    for method in methods:
        line = judging.line(_along(rows, by, method), figure)
        holds = grows(line[::sign])
        if holds is not None:
            yield Judged(f"{claim}: {method}", int(holds), 1, listed(line))


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
    if (flat := equal(line)) is not None:
        yield Judged("4 GCP of beta_GE hardly changes with k", int(flat), 1, listed(line))
        of_j = _lines(by_j, "j", "gcp", BETA)
        if len(of_j) > 1:
            ranges = [max(each) - min(each) for each in (line, of_j)]
            claim = "4 the range of GCP of beta_GE is wider over J than over k"
            yield Judged(claim, int(below(*ranges)), 1, f"k, J: {listed(ranges)}")
    yield from _monotone("5 average class grows with k", by_k, "k", "average", 1)
    yield from _monotone("5 average class grows with J", by_j, "j", "average", 1)
    yield from _monotone("6 GCP falls with beta", by_beta, "beta", "gcp", -1)
    yield from _monotone("6 RL grows with beta", by_beta, "beta", "rl", 1)


def _suppressed(own: dict[str, list[Row]]) -> Iterator[Judged]:
    """Of the paper's three methods, each of which leaves out whom it does not place."""
    by_j, by_k = own.get("by_j", []), own.get("by_k", [])
    rows = [*by_j, *by_k]
    for said, chosen in (
        (f"J >= {LARGE_J:g}", [row for row in by_j if row["j"] >= LARGE_J]),
        (f"J < {LARGE_J:g}", [row for row in by_j if row["j"] < LARGE_J]),
        ("whatever k", by_k),
    ):
        for method in PAPER:
            shares = [
                row.get("suppressed_most", row["suppressed"]) / row["records"]
                for row in chosen
                if row["method"] == method
            ]
            if shares:
                claim = f"7 at most 0.275 % are suppressed by {method}, {said}"
                yield Judged(claim, int(max(shares) <= SMALL), 1, f"{max(shares):.2%} at most")
    fewest = _ranked("7 beta_GE suppresses fewest", rows, "suppressed", PAPER, _last_is_lowest)
    # It places everybody of a cluster that meets the model as a whole.
    yield replace(fewest, defined=True)
    yield _ranked(
        "7 kInc_GE suppresses fewer than kAgg_GE", rows, "suppressed", (AGG, INC), _last_is_lowest
    )
    yield from _monotone(
        "7 more are suppressed at small J", by_j, "j", "suppressed", -1, GENERALIZED
    )


def _rgcp(own: dict[str, list[Row]]) -> Iterator[Judged]:
    varied = {
        (row["method"], row["k"], row["beta"], _limit(row)): row
        for row in _varied(own)
        if row["method"] in PAPER
    }
    rows = list(varied.values())
    held = [not below(row["rgcp"], row["gcp"]) for row in rows]
    yield Judged("8 GCP is at most RGCP", sum(held), len(held), "by definition", defined=True)
    less = sum(below(row["gcp"], row["rgcp"]) for row in rows)
    yield Judged("8 GCP is below RGCP", less, len(held))
    for method in PAPER:
        gaps = [
            max(0.0, round(row["rgcp"] - row["gcp"], 9))
            for row in _along(own.get("by_j", []), "j", method)
        ]
        if len(gaps) > 1:
            widest = below(max(gaps[1:]), gaps[0]) and not equal([max(gaps[1:]), gaps[0]])
            claim = f"8 the gap is largest at the smallest J: {method}"
            yield Judged(claim, int(widest), 1, listed(gaps))


def _seconds(own: dict[str, list[Row]]) -> Iterator[Judged]:
    rows = [*_varied(own), *own.get("times", ())]
    yield _ranked("9 beta_GE is the fastest", rows, "method_seconds", PAPER, _last_is_lowest)
    yield _ranked(
        "9 kAgg_GE is faster than kInc_GE", rows, "method_seconds", (INC, AGG), _last_is_lowest
    )
    for method in GENERALIZED:
        chosen = [row for row in own.get("by_j", ()) if row["method"] == method]
        by_j = {row["j"]: row["method_seconds"] for row in sorted(chosen, key=lambda r: r["j"])}
        small = [value for j, value in by_j.items() if j < LARGE_J]
        large = [value for j, value in by_j.items() if j >= LARGE_J]
        if small and large:
            faster = int(below(max(small), min(large)))
            shown = f"{listed(small)} / {listed(large)}"
            yield Judged(f"9 J below 0.3 is faster than others: {method}", faster, 1, shown)
        if (same := equal(large)) is not None:
            claim = f"9 seconds are the same for J from 0.3 on: {method}"
            yield Judged(claim, int(same), 1, listed(large))


def _columns(own: dict[str, list[Row]]) -> Iterator[Judged]:
    rows = own.get("columns", [])
    for method in GENERALIZED:
        means = [abs(row["difference"]) for row in rows if row["method"] == method]
        shown = f"{max(means):.3g} at most" if means else ""
        claim = f"10 mean relative difference of {method} is below 0.1"
        yield Judged(claim, sum(mean < 0.1 for mean in means), len(means), shown)
    for mic, method in zip(MIC, GENERALIZED, strict=True):
        pairs = [(by[mic], by[method]) for by in _alike(rows, (mic, method))]
        far = [abs(one["difference"] - other["difference"]) for one, other in pairs]
        claim = f"10 mean relative difference of {mic} is close to {method}"
        close = sum(each <= NEAR for each in far)
        yield Judged(claim, close, len(far), f"{max(far, default=0):.3g} apart at most")
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
    sizes = {row["column"]: row["values"] for row in rows}
    columns = sorted(sizes, key=sizes.__getitem__)
    lines = _by_column(rows, columns)
    for unit, span in (("in units of the column", "span"), ("in spans of the column", None)):
        ordered = [
            [by[column]["emd"] * (by[column][span] if span else 1) for column in columns]
            for by in lines
        ]
        yield Judged(
            f"10 EMD {unit} is larger for columns with more values",
            sum(all(itertools.starmap(below, itertools.pairwise(line))) for line in ordered),
            len(ordered),
            ", ".join(columns),
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
                      _last_is_at_most)  # fmt: skip
        for share in SELECTIVITIES:
            yield _ranked(f"11 query error of {method} is below, selectivity {share:g}", rows,
                          f"error_{share}", pair, _last_is_lowest)  # fmt: skip
        yield _ranked(f"11 {method} is slower than the baseline", rows, "method_seconds", pair,
                      _last_is_highest)  # fmt: skip
    lost = [row["suppressed"] / row["records"] for row in rows if row["method"] == BASELINE]
    if lost:
        up_to = int(equal([max(lost), MOST_SUPPRESSED]) or False)
        claim = f"11 the baseline suppresses up to {MOST_SUPPRESSED:.0%}"
        yield Judged(claim, up_to, 1, f"{max(lost):.1%} at most")


_JUDGES: tuple[Callable[[dict[str, list[Row]]], Iterator[Judged]], ...] = (
    _ranks,
    _trends,
    _suppressed,
    _rgcp,
    _seconds,
    _columns,
    _against_baseline,
)
