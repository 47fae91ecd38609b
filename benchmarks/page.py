"""The page that holds the experiments of papers against what was measured.

It is made from the folder of results alone. What was not measured is said, with the command.
"""

from __future__ import annotations

import csv
import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks import charts
from benchmarks.benchmark import Benchmark, Row

IMAGES = "images/reproduction"


@dataclass(frozen=True)
class Figure:
    """Figures `y` of the rows of a part over `x`, one line per method and whatever `by` names.

    Attributes:
        only: values that columns of the rows must have.
        by: further columns that tell lines apart.
    """

    part: str
    x: str
    y: str
    x_label: str
    y_label: str
    only: Mapping[str, object] | None = None
    by: Sequence[str] = ()

    @property
    def file(self) -> str:
        only = [str(value).replace(" ", "-") for value in (self.only or {}).values()]
        return "-".join([self.part, *only, self.x, self.y]).replace("_", "-")

    def series(self, found: Row) -> dict[str, list[Row]]:
        """Rows by line; those that were refused are among them."""
        series: dict[str, list[Row]] = {}
        only = (self.only or {}).items()
        for row in found.get(self.part, ()):
            if self.x in row and all(row.get(name) == value for name, value in only):
                named = [str(row[name]) for name in ("method", *self.by) if name in row]
                series.setdefault(", ".join(named), []).append(row)
        return series


@dataclass(frozen=True)
class Panel:
    """An experiment of a paper.

    Attributes:
        shown: the paper's figure or table, or the claims by the numbers that claims begin with.
        claim: what the paper says, in a sentence.
        parts: of the benchmark.
        claims: beginnings of the claims that belong to it; all about its parts by default.
        why: what is known of the reason where a claim does not hold.
    """

    shown: str
    claim: str
    parts: Sequence[str]
    figures: Sequence[Figure] = ()
    claims: Sequence[str] = ("",)
    why: str = ""


@dataclass(frozen=True)
class Paper:
    """Experiments of a paper, and the settings of its benchmark with which they are repeated.

    Attributes:
        about: page of the reference.
        data: how the data differ from the paper's.
    """

    title: str
    about: str
    benchmark: str
    data: str
    settings: Mapping[str, Any]
    panels: Sequence[Panel]

    @property
    def parts(self) -> list[str]:
        return list(dict.fromkeys(part for panel in self.panels for part in panel.parts))


def write(
    file: Path, papers: Iterable[Paper], kinds: Mapping[str, type[Benchmark]], results: Path
) -> None:
    """Write the page, its plots and their numbers; those that it no longer has are removed."""
    folder = file.parent / IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    for old in (*folder.glob("*.svg"), *folder.glob("*.csv")):
        old.unlink()
    overview: list[str] = []
    sections: list[str] = []
    for paper in papers:
        stored = results / f"{paper.benchmark}.json"
        found = json.loads(stored.read_text(encoding="utf-8")) if stored.exists() else {}
        kind = kinds[paper.benchmark]
        claims = [row for panel in paper.panels for row in _claims(panel, kind, found)]
        verdict = _verdict(claims, _measured(paper.parts, found), paper.parts)
        overview.append(f"- [{paper.title}](#{anchor(paper.title)}): {verdict}")
        sections += _paper(paper, kind, found, folder)
    lines = [_HEAD, *overview, "", *sections]
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"
    file.write_text(text, encoding="utf-8")


_HEAD = """# What papers claim, measured

`make reproduce` repeats the experiments of five papers and writes this page. Most data of the
papers are not public, so trends and ranks are compared, not numbers. Claims that do not hold, nor
mostly hold, are listed with their figures, and with what is known of the reason; all claims with
theirs, and numbers of the plots, are in files for each paper. Plots show means of the draws where
there are several, and bars from the least to the greatest, with the values of what varies at equal
distances. Other work ran at the same time, so times say little, and their ranks less.

Behind the verdict on an experiment are its parts: `python -m benchmarks lgb --papers --parts by_k`
measures the first one alone.
"""


def _paper(paper: Paper, kind: type[Benchmark], found: Row, folder: Path) -> Iterator[str]:
    yield f"## {paper.title}\n"
    yield f"[Reference]({paper.about}). {paper.data}\n"
    if own := _settings(wanted(paper, kind), kind):
        yield f"Settings of `{paper.benchmark}`: `{' '.join(own)}`\n"
    files: list[str] = []
    for name, file, columns, rows in (
        ("All claims", f"{paper.benchmark}-claims.csv", _CLAIM,
         _all_claims(paper, kind, found)),
        ("numbers of the plots", f"{paper.benchmark}.csv", _POINT,
         [point for panel in paper.panels for point in _points(paper, panel, found)]),
    ):  # fmt: skip
        if rows:
            write_rows(folder / file, columns, rows)
            files.append(f"[{name}]({IMAGES}/{file})")
    yield f"{', '.join(files)}\n"
    for panel in paper.panels:
        yield f"### {panel.shown}\n"
        yield f"*{panel.claim}*\n"
        yield from _panel(paper, panel, kind, found, folder)


_CLAIM = ("experiment", "claim", "holds", "figures")


def _all_claims(paper: Paper, kind: type[Benchmark], found: Row) -> list[Sequence[object]]:
    return [
        (panel.shown, said.claim, said.holds, said.figures)
        for panel in paper.panels
        for said in map(_said, _claims(panel, kind, found))
    ]


def _panel(
    paper: Paper, panel: Panel, kind: type[Benchmark], found: Row, folder: Path
) -> Iterator[str]:
    measured = _measured(panel.parts, found)
    claims = _claims(panel, kind, found)
    failed = any(_HOLDS[row["holds"]] in ("no", "mostly") for row in claims)
    why = f". {panel.why}" if failed and panel.why else ""
    verdict = _verdict(claims, measured, panel.parts).capitalize()
    yield f"**{verdict}** (`{' '.join(panel.parts)}`){why}\n"
    missing = [part for part in panel.parts if part not in measured]
    if measured and found["settings"] != wanted(paper, kind):
        yield "These are other settings than those of `make reproduce`:\n"
        yield _command(paper, measured, found["settings"], kind)
    if missing:
        yield "Not measured:\n"
        yield _command(paper, missing, wanted(paper, kind), kind)
    yield from folded([said for said in map(_said, claims) if said.holds not in ("yes", "mostly")])
    yield ""
    for _, alike in groupby(panel.figures, lambda figure: (figure.part, figure.x, figure.only)):
        yield from _figures(paper, list(alike), found, folder)


_HOLDS: Mapping[Any, str] = {True: "yes", False: "no", "yes": "yes", "NO": "no", "-": "-",
                             "mostly": "mostly"}  # fmt: skip


def _said(row: Row) -> Said:
    about = f", {row['table']}" if "table" in row else ""
    figures = row.get("found", row.get("numbers", ""))
    return Said(f"{row['claim']}{about}", _HOLDS[row["holds"]], str(figures))


@dataclass(frozen=True)
class Said:
    claim: str
    holds: str
    figures: str


def folded(claims: Sequence[Said]) -> Iterator[str]:
    """Items of a list: claims with one verdict that differ in one place share an item, where `…`
    is that place."""
    left = list(claims)
    while left:
        first = left[0]
        judged = [each for each in left if each.holds == first.holds]
        like = max((_alike(first, each, judged) for each in judged), key=len)
        left = [each for each in left if each not in like]
        if len(like) == 1:
            figures = f"; {first.figures}" if first.figures else ""
            yield f"- {first.claim}: **{first.holds}**{figures}"
            continue
        start, end = _ends(like[0].claim.split(), like[1].claim.split())
        words = first.claim.split()
        claim = " ".join([*words[:start], "…", *words[len(words) - end :]])
        parts: list[str] = []
        for each in like:
            words = each.claim.split()
            name = " ".join(words[start : len(words) - end]).strip(",:")
            name = name.strip("()") if name.count("(") != name.count(")") else name
            parts.append(f"{name}: {each.figures}" if each.figures else name)
        yield f"- {claim}: **{first.holds}**; {'; '.join(parts)}"


def _alike(first: Said, other: Said, claims: Sequence[Said]) -> list[Said]:
    """Claims that differ from the first one where this one does, and nowhere else."""
    words = first.claim.split()
    start, end = _ends(words, other.claim.split())
    if first == other or start + end < 0.6 * len(words):
        return [first]
    like = [
        each
        for each in claims
        if each != first and _ends(words, each.claim.split()) == (start, end)
    ]
    return [first, *like]


def _ends(words: Sequence[str], others: Sequence[str]) -> tuple[int, int]:
    """How many words two texts share at their beginnings and at their ends, where they differ."""
    least = min(len(words), len(others)) - 1
    start = next((i for i in range(least) if words[i] != others[i]), least)
    left = least - start
    end = next((i for i in range(left) if words[-1 - i] != others[-1 - i]), left)
    return start, end


def wanted(paper: Paper, kind: type[Benchmark]) -> Row:
    """Settings as results have them."""
    return json.loads(json.dumps({**kind.defaults(), **paper.settings}))


def _measured(parts: Sequence[str], found: Row) -> list[str]:
    return [part for part in parts if part in found]


def _claims(panel: Panel, kind: type[Benchmark], found: Row) -> list[Row]:
    own = {part: found[part] for part in _measured(panel.parts, found)}
    claims = kind.judged(own).get("claims", []) if own else []
    return [row for row in claims if row["claim"].startswith(tuple(panel.claims))]


def _verdict(claims: Sequence[Row], measured: Sequence[str], parts: Sequence[str]) -> str:
    if not measured:
        return "not measured"
    part = "" if len(measured) == len(parts) else "; not all of it is measured"
    number = Counter(_HOLDS[row["holds"]] for row in claims)
    decided = number.total() - number["-"]
    if not decided:
        return f"measured{part}"
    if number["yes"] == decided:
        return f"holds{part}"
    if not number["yes"] and not number["mostly"]:
        return f"does not hold{part}"
    mostly = f", {number['mostly']} mostly" if number["mostly"] else ""
    return f"holds in part: {number['yes']} of {decided} claims{mostly}{part}"


def _command(paper: Paper, parts: Sequence[str], settings: Row, kind: type[Benchmark]) -> str:
    """That measures these parts with these settings."""
    words = ["python", "-m", "benchmarks", paper.benchmark]
    if settings == wanted(paper, kind):
        words += ["--papers", "--parts", *parts]
    else:
        words += ["--parts", *parts, "--set", *_settings(settings, kind)]
    return f"```sh no-run\n{shlex.join(words)}\n```\n"


def _settings(settings: Row, kind: type[Benchmark]) -> list[str]:
    """Those that are not the benchmark's own, as `--set` takes them."""
    defaults = json.loads(json.dumps(kind.defaults()))
    return [
        f"{name}={json.dumps(value, separators=(',', ':'))}"
        for name, value in settings.items()
        if value != defaults.get(name)
    ]


# -- figures ----------------------------------------------------------------------------------


def _figures(paper: Paper, figures: Sequence[Figure], found: Row, folder: Path) -> Iterator[str]:
    """Plots of the same rows, in a line."""
    images: list[str] = []
    drawn = ""
    for figure in figures:
        series = figure.series(found)
        points = {
            name: [_point(row, figure) for row in rows if row.get(figure.y) is not None]
            for name, rows in series.items()
        }
        points = {name: each for name, each in points.items() if each}
        if points:
            name = f"{paper.benchmark}-{figure.file}.svg"
            (folder / name).write_text(
                charts.lines(points, figure.x_label, figure.y_label), encoding="utf-8"
            )
            images.append(f"![{figure.y_label}]({IMAGES}/{name})")
            drawn = _drawn(series.values(), found["settings"])
    if images:
        only = "".join(f", {key} {value}" for key, value in (figures[0].only or {}).items())
        yield f"By {figures[0].x_label}{only}{drawn}:\n"
        yield "\n".join(images) + "\n"


_POINT = ("plot", "line", "x", "mean", "least", "greatest")


def write_rows(file: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as opened:
        csv.writer(opened, lineterminator="\n").writerows([columns, *rows])


def _points(paper: Paper, panel: Panel, found: Row) -> Iterator[Sequence[object]]:
    """What plots show, and which runs were refused or came to no release."""
    for figure in panel.figures:
        for line, rows in figure.series(found).items():
            for row in rows:
                if numbers := _numbers(row, figure.y):
                    plot = f"{paper.benchmark}-{figure.file}"
                    yield (plot, line, charts.shown(row[figure.x]), *numbers)


def _numbers(row: Row, name: str) -> Sequence[object]:
    if "refused" in row:
        return ("refused",)
    if row.get(name) is None:
        return ("no release",) if row.get("draws") == 0 else ()
    ends = [row[key] for end in ("least", "most") if (key := f"{name}_{end}") in row]
    return [f"{value:.4g}" if isinstance(value, float) else value for value in (row[name], *ends)]


def _point(row: Row, figure: Figure) -> charts.Point:
    least, most = (row.get(f"{figure.y}_{end}") for end in ("least", "most"))
    return charts.Point(row[figure.x], row[figure.y], least, most)


def _drawn(series: Iterable[Sequence[Row]], settings: Row) -> str:
    """How many draws the means are of, and of how many records, where settings do not say so."""
    rows = [row for line in series for row in line]
    draws = sorted({number for row in rows if (number := _draws(row))})
    records = sorted({row[name] for row in rows for name in ("records", "rows") if name in row})
    said = f"; draws: {_range(draws)}" if draws not in ([], [settings.get("draws")]) else ""
    known = ([], [settings.get("rows")])
    return said + (f"; records: {_range(records)}" if records not in known else "")


def _draws(row: Row) -> int:
    """How many there were; of those of which every figure is stored, at least."""
    listed = (len(value) for name, value in row.items() if name.endswith("_drawn"))
    return row.get("draws") or max(listed, default=0)


def _range(values: Sequence[int]) -> str:
    return f"{values[0]:,}" if len(values) == 1 else f"{values[0]:,} to {values[-1]:,}"


def anchor(heading: str) -> str:
    """As the site and repositories make it of a heading."""
    kept = "".join(letter for letter in heading.lower() if letter.isalnum() or letter in " -_")
    return kept.replace(" ", "-")
