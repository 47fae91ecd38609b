"""What the paper of SLAMSA says and the project asks of the heart data. Nothing is asserted.

The paper has errors by the number of quasi-identifiers that are asked about (r), the privacy degree
(p) and the number of sensitive columns (m), and seconds by the number of records and by m.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from benchmarks import judging
from benchmarks.judging import (
    EQUAL,
    NOISE,
    Figure,
    Judged,
    Row,
    apart,
    by_definition,
    equal,
    every,
    grows,
    is_lower,
    line,
    listed,
)

COMPARED = ("SLAMSA", "MSB", "SLOMS")
ASKED = ("r1", "r2", "r3", "r4")


def evaluate(found: Row) -> list[Row]:
    """Claims about the parts that were measured."""
    two, four = "two quasi-identifiers", "four quasi-identifiers"
    judges = {
        "by_column": _of_column,
        "by_tuple": _of_tuple,
        "by_number": lambda rows: _of_number(rows, "r2", two),
        "by_size": lambda rows: _of_size(rows, two),
        "by_degree": lambda rows: _of_degrees(rows, ASKED[:2], f"{two}, m = 2"),
        "pooled": lambda rows: _of_degrees(rows, ASKED, four),
        "pooled_by_number": lambda rows: _of_number(rows, "r4", four),
        "pooled_by_size": lambda rows: _of_size(rows, four),
        "pooled_by_degree": lambda rows: _of_degrees(rows, ASKED, f"{four}, m = 1"),
        "optimum": _of_optimum,
        "spaces": _of_spaces,
    }
    return judging.rows(
        one for part, judge in judges.items() if part in found for one in judge(found[part])
    )


def _of_column(rows: Sequence[Row]) -> Iterator[Judged]:
    yield from _of_degrees(rows, ASKED[:2], "two quasi-identifiers")
    searched = [row for row in _done(rows, "SLAMSA") if row["baseline"]]
    shares = [row["objective"] / row["baseline"] for row in searched]
    yield (
        "objective is never above the median tree's",
        by_definition(every(share <= 1 + judging.ROUNDED for share in shares)),
        "by construction: the better of the two is taken",
    )
    shown = ", ".join(f"{share:.0%}" for share in shares)
    yield "objective by p, as a share of the median tree's", None, shown


def _of_optimum(rows: Sequence[Row]) -> Iterator[Judged]:
    found = sum(row["objective"] <= row["optimum"] * (1 + judging.ROUNDED) for row in rows)
    over = [row["objective"] / row["optimum"] for row in rows if row["optimum"]]
    most = f", {max(over):.2f} times at most" if over else ""
    yield (
        "objective of the fireflies is the least that there is",
        found == len(rows) if rows else None,
        f"{found} of {len(rows)}{most}",
    )


def _of_spaces(rows: Sequence[Row]) -> Iterator[Judged]:
    """What it changes that fireflies fly among sensitive values, as in the paper."""
    for figure, said in (
        ("objective", "distance of quasi-identifiers to their mean"),
        ("range", "range of the sensitive values of a bucket"),
    ):
        by_space: dict[str, list[float]] = {}
        for row in _by(rows, "p"):
            by_space.setdefault(row["space"], []).append(row[figure])
        shown = "; ".join(f"{space}: {listed(line)}" for space, line in by_space.items())
        yield f"{said}, by what fireflies search", None, shown


def _of_tuple(rows: Sequence[Row]) -> Iterator[Judged]:
    refused = [row["p"] for row in rows if not row["draws"]]
    degrees = ", ".join(str(row["p"]) for row in rows if row["draws"])
    # All records have different ones.
    published = by_definition(not refused if rows else None)
    yield (
        "twelve columns as one value are published for every p",
        published,
        f"p: {degrees or 'none'}",
    )
    done = [row for row in rows if row["draws"]]
    yield (
        "twelve columns: a value of one has a probability of at most 1 / p",
        every(row["highest_probability"] <= 1 / row["p"] + judging.ROUNDED for row in done),
        listed(row["highest_probability"] for row in done),
    )


def _of_degrees(rows: Sequence[Row], asked: Sequence[str], of: str) -> Iterator[Judged]:
    """Of errors by p, with so many quasi-identifiers."""
    of = f"({of})"
    done = [row for row in rows if row["draws"]]
    lines = [line(done, number) for number in asked]
    pairs = [pair for each in zip(*lines, strict=True) for pair in pairwise(each)]
    # Cells of fewer columns are sums of cells of more, so that the divergence cannot fall but by
    # which columns are drawn, and where estimates are left out.
    back = sum(apart(high, low) for low, high in pairs)
    yield (
        f"error grows with the quasi-identifiers that are asked about {of}",
        by_definition(not back if pairs else None),
        f"by definition; falls in {back} of {len(pairs)} steps",
    )
    for method in COMPARED:
        error = line(_by(_done(rows, method), "p"), asked[-1])
        yield f"error of {method} grows with p {of}", grows(error), listed(error)
    yield from _lowest(rows, "p", asked[-1], of)


def _lowest(rows: Sequence[Row], by: str, figure: str, of: str) -> Iterator[Judged]:
    """Whether SLAMSA has less than each of the others."""
    said = "is faster than" if figure == "seconds" else "has a lower error than"
    name = {"sensitive": "m", "records": "n"}.get(by, by)
    for other in COMPARED[1:]:
        claim = f"SLAMSA {said} {other} at every {name} {of}"
        ours, theirs = (
            dict(zip((row[by] for row in done), line(done, figure), strict=True))
            for done in (_done(rows, "SLAMSA"), _done(rows, other))
        )
        pairs = [(ours[at], theirs[at]) for at in sorted(ours) if at in theirs]
        holds, shown = judging.ranked(pairs, NOISE if figure == "seconds" else EQUAL)
        if rows and all(row["method"] != other for row in rows):
            shown = f"there are no figures of {other}"
        yield claim, holds, shown


def _of_number(rows: Sequence[Row], asked: str, of: str) -> Iterator[Judged]:
    of = f"({of})"
    for method in COMPARED:
        done = _by(_done(rows, method), "sensitive")
        error = line(done, asked)
        growing = grows(error)
        if growing is True and grows(error[:-1]) is not True:
            growing = None  # by the last column, not by their number
        yield f"error of {method} grows with m {of}", growing, listed(error)
        seconds = line(done, "seconds")
        yield f"seconds of {method} grow with m {of}", grows(seconds, NOISE), listed(seconds)
    yield from _lowest(rows, "sensitive", asked, of)
    yield from _lowest(rows, "sensitive", "seconds", of)
    one = [row["seconds"] for row in rows if row["sensitive"] == 1 and row["draws"]]
    same = by_definition(equal(one, NOISE))
    yield f"seconds are the same for all methods at m = 1 {of}", same, listed(one)


def _of_size(rows: Sequence[Row], of: str) -> Iterator[Judged]:
    of = f"({of})"
    for method in COMPARED:
        done = _by(_done(rows, method), "records")
        seconds = line(done, "seconds")
        holds, shown = grows(seconds, NOISE), listed(seconds)
        if len(done) > 1:
            times = seconds[-1].value / seconds[0].value
            more = done[-1]["records"] / done[0]["records"]
            holds = holds and is_lower(Figure(times), Figure(more), NOISE)
            shown = f"times {times:.2f} for {more:.2f} times the records; {shown}"
        yield f"seconds of {method} grow slightly with n, less than n does {of}", holds, shown
    yield from _lowest(rows, "records", "seconds", of)


def _done(rows: Iterable[Row], method: str) -> list[Row]:
    return [row for row in rows if row["method"] == method and row["draws"]]


def _by(rows: Iterable[Row], name: str) -> list[Row]:
    return sorted(rows, key=lambda row: row[name])
