"""The claims of the paper on beta-likeness against background knowledge, and whether they hold.

Nothing is asserted. The paper's tables are not public, and what its text leaves open had to be
chosen; what does not hold is shown as such, with the figures. A claim about a rank holds by how
many of the runs that differ in nothing but the method agree.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from statistics import fmean
from typing import Any

from benchmarks import judging
from benchmarks.background_names import AGG, BASELINE, BETA, INC, MIC, SELECTIVITIES, VARIED
from benchmarks.judging import (
    EQUAL,
    MOSTLY,
    NOISE,
    Figure,
    Judged,
    Row,
    Verdict,
    agreeing,
    below,
    by_definition,
    equal,
    grows,
    is_lower,
    jointly,
    listed,
    of_all,
)

PAPER = (INC, AGG, BETA)
GENERALIZED = (INC, AGG)
_SETTING = ("table", "k", "beta", "t", "column", "records")

SMALL = 0.00275
"""Share of the records: 11 of 4,000."""
LARGE_J = 0.3
"""From which J on the paper has one cluster."""
MOST_SUPPRESSED = 0.3
"""Share of the records by the baseline in the paper."""
NEAR = 0.1
"""Difference of relative differences that are close."""


def judged(
    claim: str, verdicts: Sequence[Verdict], found: str = "", *, defined: bool = False
) -> Judged:
    """A claim on comparisons that agree, contradict, or cannot tell (None).

    Args:
        defined: whether they agree by definition, so that they can only say no.
    """
    several = len(verdicts) != 1
    holds = of_all(verdicts) if several else verdicts[0]
    shown = filter(None, (agreeing(verdicts) if several else "", found))
    return claim, by_definition(holds) if defined else holds, ": ".join(shown) if verdicts else ""


def evaluate(found: Row) -> list[Row]:
    """The claims of the parts that were measured, table by table."""
    rows: list[Row] = []
    for table in _tables(found):
        own = {
            part: [row for row in of if row.get("table") == table and "refused" not in row]
            for part, of in found.items()
            if isinstance(of, list) and part != "claims"
        }
        said = judging.rows(each for judge in _JUDGES for each in judge(own))
        rows += [{"claim": row.pop("claim"), "table": table, **row} for row in said]
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
    holds: Callable[[Sequence[Figure]], bool | None],
    *,
    defined: bool = False,
) -> Judged:
    """In how many settings the figures of the methods, in their order, satisfy it."""
    lines = [
        judging.line([by[method] for method in methods], figure) for by in _alike(rows, methods)
    ]
    means = (fmean(one.value for one in of) for of in zip(*lines, strict=True))
    shown = ", ".join(f"{m} {mean:.3g}" for m, mean in zip(methods, means, strict=False))
    return judged(claim, list(map(holds, lines)), f"mean {shown}", defined=defined)


def _difference(row: Row, first: str, second: str) -> Figure:
    """Of two figures, and of each draw."""
    a, b = (judging.line([row], name)[0] for name in (first, second))
    draws = tuple(round(x - y, 9) for x, y in zip(a.draws, b.draws, strict=False))
    return Figure(round(a.value - b.value, 9), draws)


def _last_is_lowest(line: Sequence[Figure], part: float = EQUAL) -> bool | None:
    return jointly(is_lower(line[-1], other, part) for other in line[:-1])


def _last_is_highest(line: Sequence[Figure], part: float = EQUAL) -> bool | None:
    return jointly(is_lower(other, line[-1], part) for other in line[:-1])


def _are_equal(line: Sequence[Figure]) -> bool | None:
    differ = is_lower(*line) is not None
    return False if differ else equal([figure.value for figure in line]) or None


_fastest, _slowest = partial(_last_is_lowest, part=NOISE), partial(_last_is_highest, part=NOISE)


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
) -> Iterator[Judged]:
    """Of nothing but 0 there is no more and no less."""
    for method in PAPER:
        line = judging.line(_along(rows, by, method), figure)
        if len(line) > 1:
            holds = grows(line[::sign]) if any(one.value for one in line) else None
            yield judged(f"{claim}: {method}", [holds], listed(line))


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
    gaps = [
        {**row, "gap": gap.value, "gap_drawn": gap.draws}
        for row in rows
        for gap in [_difference(row, "average", "smallest")]
    ]
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
        yield judged("4 GCP of beta_GE hardly changes with k", [flat], listed(line))
        of_j = _lines(by_j, "j", "gcp", BETA)
        if len(of_j) > 1:
            ranges = [max(each) - min(each) for each in (line, of_j)]
            claim = "4 the range of GCP of beta_GE is wider over J than over k"
            yield judged(claim, [below(*ranges)], f"k, J: {listed(ranges)}")
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
            of = [row for row in chosen if row["method"] == method]
            shares = [row.get("suppressed_most", row["suppressed"]) / row["records"] for row in of]
            if shares:
                claim = f"7 at most 0.275 % are suppressed by {method}, {said}"
                held = [max(shares) <= SMALL]
                # It places everybody of a cluster that meets the model, as a whole table does.
                whole = method == BETA and all(row.get("clusters") == 1 for row in of)
                yield judged(claim, held, f"{max(shares):.2%} at most", defined=whole)
    yield _ranked("7 beta_GE suppresses fewest", rows, "suppressed", PAPER, _last_is_lowest)
    yield _ranked(
        "7 kInc_GE suppresses fewer than kAgg_GE", rows, "suppressed", (AGG, INC), _last_is_lowest
    )
    yield from _monotone("7 more are suppressed at small J", by_j, "j", "suppressed", -1)


def _rgcp(own: dict[str, list[Row]]) -> Iterator[Judged]:
    varied = {
        (row["method"], row["k"], row["beta"], _limit(row)): row
        for row in _varied(own)
        if row["method"] in PAPER
    }
    rows = list(varied.values())
    held = [not below(row["rgcp"], row["gcp"]) for row in rows]
    yield judged("8 GCP is at most RGCP", held, "by definition", defined=True)
    for method in PAPER:
        of = [row for row in rows if row["method"] == method]
        # Where everybody is placed, both are the same.
        less = [below(row["gcp"], row["rgcp"]) for row in of if row["suppressed"]]
        placed = f"nobody is left out in {len(of) - len(less)} of {len(of)}"
        # A class that suppressed records join counts twice.
        verdicts = less or [None] if of else []
        yield judged(f"8 GCP is below RGCP: {method}", verdicts, placed, defined=True)
        rows_by_j = _along(own.get("by_j", []), "j", method)
        gaps = [_difference(row, "rgcp", "gcp") for row in rows_by_j]
        if len(gaps) > 1:
            nothing = not any(gap.value for gap in gaps)
            holds = None if nothing else jointly(is_lower(gap, gaps[0]) for gap in gaps[1:])
            claim = f"8 the gap is largest at the smallest J: {method}"
            yield judged(claim, [holds], listed(gaps))


def _seconds(own: dict[str, list[Row]]) -> Iterator[Judged]:
    rows = [*_varied(own), *own.get("times", ())]
    yield _ranked("9 beta_GE is the fastest", rows, "method_seconds", PAPER, _fastest)
    yield _ranked("9 kAgg_GE is faster than kInc_GE", rows, "method_seconds", (INC, AGG), _fastest)
    for method in GENERALIZED:
        chosen = [row for row in own.get("by_j", ()) if row["method"] == method]
        by_j = {row["j"]: row["method_seconds"] for row in sorted(chosen, key=lambda r: r["j"])}
        small = [value for j, value in by_j.items() if j < LARGE_J]
        large = [value for j, value in by_j.items() if j >= LARGE_J]
        if small and large:
            pairs = itertools.product(map(Figure, small), map(Figure, large))
            faster = [is_lower(*pair, NOISE) for pair in pairs]
            shown = f"{listed(small)} / {listed(large)}"
            yield judged(f"9 J below 0.3 is faster than others: {method}", faster, shown)
        if (same := equal(large, NOISE)) is not None:
            claim = f"9 seconds are the same for J from 0.3 on: {method}"
            yield judged(claim, [same], listed(large), defined=True)


def _columns(own: dict[str, list[Row]]) -> Iterator[Judged]:
    rows = own.get("columns", [])
    for method in GENERALIZED:
        means = [abs(row["difference"]) for row in rows if row["method"] == method]
        shown = f"{max(means):.3g} at most" if means else ""
        claim = f"10 mean relative difference of {method} is below 0.1"
        yield judged(claim, [mean < 0.1 for mean in means], shown)
    for mic, method in zip(MIC, GENERALIZED, strict=True):
        pairs = [(by[mic], by[method]) for by in _alike(rows, (mic, method))]
        far = [abs(one["difference"] - other["difference"]) for one, other in pairs]
        claim = f"10 mean relative difference of {mic} is close to {method}"
        close = [each <= NEAR for each in far]
        yield judged(claim, close, f"{max(far, default=0):.3g} apart at most")
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
                    {**row, "far": row[own_figure], "far_drawn": row.get(f"{own_figure}_drawn", ())}
                    for row in rows
                    for own_figure in [figure if row["method"] == method else "emd"]
                    if row["numeric"] is numeric
                ]
                said = f"{claim} ({figure.replace('_', ' ')})" if numeric else claim
                yield _ranked(said, chosen, "far", better, _last_is_lowest)
    sizes = {row["column"]: row["values"] for row in rows}
    columns = sorted(sizes, key=sizes.__getitem__)
    lines = _by_column(rows, columns)
    for unit, span in (("in units of the column", "span"), ("in spans of the column", None)):
        verdicts = [
            jointly(
                is_lower(*(_times(by[name], "emd", by[name][span] if span else 1) for name in pair))
                for pair in itertools.combinations(columns, 2)
                if not equal([sizes[name] for name in pair])
            )
            for by in lines
        ]
        claim = f"10 EMD {unit} is larger for columns with more values"
        # Of spans the paper says nothing.
        shown = f"{', '.join(columns)}{'' if span else ': ' + agreeing(verdicts)}"
        yield judged(claim, verdicts if span else [None][: len(verdicts)], shown)


def _times(row: Row, name: str, factor: float) -> Figure:
    (found,) = judging.line([row], name)
    return Figure(found.value * factor, tuple(draw * factor for draw in found.draws))


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
        yield _ranked(f"11 RL of {method} is that of the baseline", rows, "rl", pair, _are_equal)
        errors = [
            {**row, "column": name, "error": row[name], "error_drawn": row.get(f"{name}_drawn", ())}
            for row in rows
            for name in [f"error_{share}" for share in SELECTIVITIES]
        ]
        claim = f"11 query error of {method} is below the baseline in most cases"
        claim, holds, shown = _ranked(claim, errors, "error", pair, _last_is_lowest)
        yield claim, holds == MOSTLY or holds, shown
        yield _ranked(f"11 {method} is slower than the baseline", rows, "method_seconds", pair,
                      _slowest)  # fmt: skip
    lost = [
        row.get("suppressed_most", row["suppressed"]) / row["records"]
        for row in rows
        if row["method"] == BASELINE
    ]
    if lost:
        up_to = equal([max(lost), MOST_SUPPRESSED])
        claim = f"11 the baseline suppresses up to {MOST_SUPPRESSED:.0%}"
        yield judged(claim, [up_to], f"{max(lost):.1%} at most")


_JUDGES: tuple[Callable[[dict[str, list[Row]]], Iterator[Judged]], ...] = (
    _ranks,
    _trends,
    _suppressed,
    _rgcp,
    _seconds,
    _columns,
    _against_baseline,
)
