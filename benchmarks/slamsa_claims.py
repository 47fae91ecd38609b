"""What the paper of SLAMSA says and the project asks of the heart data. Nothing is asserted.

The paper has errors by the number of quasi-identifiers that are asked about (r), the privacy degree
(p) and the number of sensitive columns (m), and seconds by the number of records and by m.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

Row = dict[str, Any]
Judged = tuple[str, bool, str]
"""A claim, whether it holds, and by what figures."""

MOST_OF_BASE = 0.6
"""The project's target for the objective with fireflies at p = 3, as a share of that without."""
COMPARED = ("SLAMSA", "MSB", "SLOMS")
ASKED = ("r1", "r2", "r3", "r4")
NOISE = 0.1
"""Part by which seconds may go against a trend."""


def evaluate(found: Row) -> list[Row]:
    """Claims about the parts that were measured."""
    judges = {
        "by_column": _of_column,
        "by_tuple": _of_tuple,
        "by_number": lambda rows: _of_number(rows, "two"),
        "by_size": lambda rows: _of_size(rows, "two"),
        "pooled": _of_pooled,
        "pooled_by_number": lambda rows: _of_number(rows, "four"),
        "pooled_by_size": lambda rows: _of_size(rows, "four"),
    }
    said = [one for part, judge in judges.items() if part in found for one in judge(found[part])]
    return [
        {"claim": claim, "holds": "yes" if holds else "NO", "found": figures}
        for claim, holds, figures in said
    ]


def _of_column(rows: Sequence[Row]) -> Iterator[Judged]:
    yield from _of_degrees(rows, ("r1", "r2"), "two")
    searched = [row for row in _done(rows, "SLAMSA") if row["baseline"]]
    shares = [row["objective"] / row["baseline"] for row in searched]
    most = max(shares, default=0.0)
    yield "objective never above the median tree's", most <= 1 + 1e-9, f"{most:.0%} at most"
    for row, share in zip(searched, shares, strict=True):
        if row["p"] == 3:
            claim = f"objective at most {MOST_OF_BASE} of the median tree's at p = 3"
            yield claim, share <= MOST_OF_BASE, f"{share:.0%}"


def _of_tuple(rows: Sequence[Row]) -> Iterator[Judged]:
    degrees = ", ".join(str(row["p"]) for row in rows)
    yield "twelve columns as one value are published for every p", bool(rows), f"p: {degrees}"
    worst = [row["highest_probability"] for row in rows]
    held = all(row["highest_probability"] <= 1 / row["p"] + 1e-9 for row in rows)
    yield "twelve columns: a value of one has a probability of at most 1 / p", held, _listed(worst)


def _of_pooled(rows: Sequence[Row]) -> Iterator[Judged]:
    yield from _of_degrees(rows, ASKED, "four")


def _of_degrees(rows: Sequence[Row], asked: Sequence[str], quasi: str) -> Iterator[Judged]:
    """Of errors by p, with so many quasi-identifiers."""
    of = f"({quasi} quasi-identifiers)"
    done = [row for row in rows if row["draws"]]
    pairs = [(row[a], row[b]) for row in done for a, b in pairwise(asked)]
    rising = sum(low < high for low, high in pairs)
    yield (
        f"error grows with the quasi-identifiers that are asked about {of}",
        rising == len(pairs),
        f"{rising} of {len(pairs)} steps",
    )
    for method in COMPARED:
        line = [row[asked[-1]] for row in _by(_done(rows, method), "p")]
        if len(line) > 1:
            yield f"error of {method} grows with p {of}", _rises(line), _listed(line)
    yield from _ranked(done, "p", asked[-1], of)


def _ranked(rows: Sequence[Row], by: str, figure: str, of: str) -> Iterator[Judged]:
    """Whether SLAMSA has a lower error than both others, and MSB than SLOMS."""
    met: dict[Any, dict[str, float]] = {}
    for row in _by(rows, by):
        met.setdefault(row[by], {})[row["method"]] = row[figure]
    for low, high in (("SLAMSA", "MSB"), ("SLAMSA", "SLOMS"), ("MSB", "SLOMS")):
        both = [one for one in met.values() if low in one and high in one]
        if both:
            less = sum(one[low] < one[high] for one in both)
            shown = ", ".join(f"{one[low]:.3g} / {one[high]:.3g}" for one in both)
            claim = f"error of {low} is below {high} at every {by} {of}"
            yield claim, less == len(both), shown


def _of_number(rows: Sequence[Row], quasi: str) -> Iterator[Judged]:
    of = f"({quasi} quasi-identifiers)"
    asked = "r2" if quasi == "two" else "r4"
    for method in COMPARED:
        done = _by(_done(rows, method), "sensitive")
        if len(done) > 1:
            error = [row[asked] for row in done]
            yield f"error of {method} grows with m {of}", _rises(error), _listed(error)
            seconds = [row["seconds"] for row in done]
            claim = f"seconds of {method} grow with m {of}"
            yield claim, _rises(seconds, NOISE), _listed(seconds)
    yield from _fastest(rows, "sensitive", of)


def _of_size(rows: Sequence[Row], quasi: str) -> Iterator[Judged]:
    of = f"({quasi} quasi-identifiers)"
    for method in COMPARED:
        done = _by(_done(rows, method), "records")
        if len(done) > 1:
            seconds = [row["seconds"] for row in done]
            claim = f"seconds of {method} grow slightly with n, less than n does {of}"
            times, more = seconds[-1] / seconds[0], done[-1]["records"] / done[0]["records"]
            shown = f"x{times:.2f} for x{more:.2f} records; {_listed(seconds)}"
            yield claim, times < more, shown
    yield from _fastest(rows, "records", of)


def _fastest(rows: Sequence[Row], by: str, of: str) -> Iterator[Judged]:
    for other in COMPARED[1:]:
        ours, theirs = (
            {row[by]: row["seconds"] for row in _done(rows, method)} for method in ("SLAMSA", other)
        )
        both = [(ours[at], theirs[at]) for at in ours if at in theirs]
        if both:
            faster = sum(mine < their for mine, their in both)
            shown = ", ".join(f"{mine:.2f} / {their:.2f}" for mine, their in both)
            name = "m" if by == "sensitive" else "n"
            yield f"SLAMSA is faster than {other} at every {name} {of}", faster == len(both), shown


def _done(rows: Iterable[Row], method: str) -> list[Row]:
    return [row for row in rows if row["method"] == method and row["draws"]]


def _by(rows: Iterable[Row], name: str) -> list[Row]:
    return sorted(rows, key=lambda row: row[name])


def _rises(values: Sequence[float], noise: float = 0.0) -> bool:
    return all(later >= earlier * (1 - noise) for earlier, later in pairwise(values))


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.3g}" for value in values)
