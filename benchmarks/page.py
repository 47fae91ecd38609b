"""The page that holds the experiments of papers against what was measured.

It is made from figures that are kept beside it, part by part: what was just measured takes the
place of those, and what the folder of results has with the settings of the paper. What was not
measured is said, with the command.
"""

from __future__ import annotations

import csv
import json
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
        measured: `x` is a figure, too, by which nothing varies.
    """

    part: str
    x: str
    y: str
    x_label: str
    y_label: str
    only: Mapping[str, object] | None = None
    by: Sequence[str] = ()
    measured: bool = False

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
        differs: in what its measurement differs from the paper's, where the data do not.
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
    differs: str = ""


@dataclass(frozen=True)
class Paper:
    """Experiments of a paper, and the settings of its benchmark with which they are repeated.

    Attributes:
        about: page of the reference.
        data: how the data differ from the paper's.
        elsewhere: what the paper says beside its experiments, and where that is judged.
    """

    title: str
    about: str
    benchmark: str
    data: str
    settings: Mapping[str, Any]
    panels: Sequence[Panel]
    elsewhere: str = ""

    @property
    def parts(self) -> list[str]:
        return list(dict.fromkeys(part for panel in self.panels for part in panel.parts))


@dataclass(frozen=True)
class Found:
    """What was measured, by part.

    Attributes:
        settings: those that are not the benchmark's own.
        seconds: that it took.
    """

    rows: dict[str, list[Row]]
    settings: dict[str, Row]
    seconds: dict[str, int]


Measured = Mapping[str, Collection[str]]
"""Parts of benchmarks."""


def write(
    file: Path,
    papers: Iterable[Paper],
    kinds: Mapping[str, type[Benchmark]],
    results: Path,
    measured: Measured,
) -> None:
    """Write the page, its plots and their numbers; those that it no longer has are removed.

    Args:
        measured: what was just measured, whatever its settings.
    """
    folder = file.parent / IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    for old in (*folder.glob("*.svg"), *folder.glob("*.csv")):
        old.unlink()
    overview: list[str] = []
    sections: list[str] = []
    for paper in papers:
        kind = kinds[paper.benchmark]
        new = measured.get(paper.benchmark, ())
        found = _kept(paper, kind, results, folder / f"{paper.benchmark}.json", new)
        claims = [row for panel in paper.panels for row in _claims(panel, kind, found)]
        verdict = _verdict(claims, _measured(paper.parts, found), paper.parts)
        overview.append(f"- [{paper.title}](#{anchor(paper.title)}): {verdict}")
        sections += _paper(paper, kind, found, folder)
    lines = [_HEAD, *overview, "", *sections]
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"
    file.write_text(text, encoding="utf-8")


def _kept(
    paper: Paper, kind: type[Benchmark], results: Path, file: Path, new: Collection[str]
) -> Found:
    """Parts of the folder of results, and others as the page had them; these are kept for the
    next page."""
    kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    stored = results / f"{paper.benchmark}.json"
    if stored.exists():
        last = json.loads(stored.read_text(encoding="utf-8"))
        seconds = last.get("seconds", {})
        # What was tried with other settings some time ago is not meant for the page.
        usable = seconds if last["settings"] == wanted(paper, kind) else new
        kept |= {
            part: {
                "settings": _own(last["settings"], kind),
                "seconds": seconds[part],
                "rows": _rounded(last[part]),
            }
            for part in paper.parts
            if part in seconds and part in usable
        }
    kept = {part: kept[part] for part in paper.parts if part in kept}
    if kept:
        file.write_text(_one_a_line(kept), encoding="utf-8")
    return Found(*({part: of[name] for part, of in kept.items()} for name in _KEPT))


_KEPT = ("rows", "settings", "seconds")
DIGITS = 9
"""Of the figures that are kept."""


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    return list(map(_rounded, value)) if isinstance(value, list) else value


def _one_a_line(kept: Row) -> str:
    """JSON with a line for every row, so that versions can be compared."""
    parts: list[str] = []
    for part, of in kept.items():
        rows = ",\n".join(map(json.dumps, of["rows"]))
        head = json.dumps({name: of[name] for name in _KEPT[1:]})
        parts.append(f'{json.dumps(part)}: {head[:-1]}, "rows": [\n{rows}\n]}}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


_HEAD = """# What papers claim, measured

`make reproduce` repeats the experiments of five papers and writes this page. Most data of the
papers are not public, so trends and ranks are compared, not numbers. Claims that do not hold, or
mostly, are listed with their figures, and with what is known of the reason; all claims with theirs,
numbers of the plots, and all figures are in files for each paper. Plots show means of the draws
where there are several, and bars from the least to the greatest, with the values of what varies at
equal distances; errors of queries are medians of several seeds where it is said.

Figures are equal where they are apart by at most 10 % of the greater. They differ where they are
apart by more, and nine in ten draws with the same seed (of three, all) agree on which is lower, if
there are several. Along a trend the last figure differs from the first, and none from an earlier
one in the other direction; a flat line is no trend, and one on which all draws agree at every step
but which ends less than 10 % from where it begins holds *slightly*. What grows with the number of
sensitive columns does so without the last of them, too, else it is not decided. Of ranks, every
pair is compared: a claim holds where all pairs agree, *mostly* where three in four do, and not
where more contradict than agree, or more than one in four; pairs that are equal, or on which draws
disagree, count neither for it nor against. What is left is not decided (-). Nor is what is true by
definition or by construction, where it holds, or figures that the paper does not have. Seconds are
the fewest of the draws. Other work ran at the same time, and the same release took up to four times
as long: a difference below that decides nothing.

Who stops `make reproduce` and begins it again goes on with the part that was not finished.
Behind the verdict on an experiment are its parts: `make reproduce BENCH_ARGS="lgb --parts by_l"`
measures one anew, and changes the experiments that show it alone.
"""


def _paper(paper: Paper, kind: type[Benchmark], found: Found, folder: Path) -> Iterator[str]:
    yield f"## {paper.title}\n"
    yield f"[Reference]({paper.about}). {paper.data}\n"
    if paper.elsewhere:
        yield f"Beside its experiments: {paper.elsewhere}\n"
    if own := _settings(_own(wanted(paper, kind), kind)):
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
    if found.rows:
        files.append(f"[all figures]({IMAGES}/{paper.benchmark}.json)")
    yield f"{', '.join(files)}\n"
    for panel in paper.panels:
        yield f"### {panel.shown}\n"
        yield f"*{panel.claim}*\n"
        yield from _panel(paper, panel, kind, found, folder)


_CLAIM = ("experiment", "claim", "holds", "figures")


def _all_claims(paper: Paper, kind: type[Benchmark], found: Found) -> list[Sequence[object]]:
    return [
        (panel.shown, said.claim, said.holds, said.figures)
        for panel in paper.panels
        for said in map(_said, _claims(panel, kind, found))
    ]


def _panel(
    paper: Paper, panel: Panel, kind: type[Benchmark], found: Found, folder: Path
) -> Iterator[str]:
    measured = _measured(panel.parts, found)
    claims = _claims(panel, kind, found)
    doubtful = any(_HOLDS[row["holds"]] != "yes" for row in claims)
    why = f". {panel.why}" if doubtful and panel.why else ""
    verdict = _verdict(claims, measured, panel.parts).capitalize()
    yield f"**{verdict}** (`{' '.join(panel.parts)}`){why}\n"
    if measured:
        told = "; ".join(_of_part(part, found) for part in measured)
        yield f"Differs from the paper in: {panel.differs}. Measured: {told}.\n"
    missing = [part for part in panel.parts if part not in measured]
    wants = _own(wanted(paper, kind), kind)
    others = [part for part in measured if found.settings[part] != wants]
    if others:
        yield "These are other settings than those of `make reproduce`:\n"
        yield _command(paper, others, found.settings[others[0]], kind)
    if missing:
        yield "Not measured:\n"
        yield _command(paper, missing, wants, kind)
    yield from folded([said for said in map(_said, claims) if said.holds != "yes"])
    yield ""
    for _, alike in groupby(panel.figures, lambda figure: (figure.part, figure.x, figure.only)):
        yield from _figures(paper, list(alike), found, folder)


def _of_part(part: str, found: Found) -> str:
    """Of how many records, and in which time."""
    records = sorted({row[n] for row in found.rows[part] for n in ("records", "rows") if n in row})
    said = [f"`{part}`", *([f"{_range(records)} records"] if records else [])]
    seconds = found.seconds[part]
    said.append(f"{seconds} s" if seconds < 120 else f"{round(seconds / 60)} min")
    return ", ".join(said)


_HOLDS: Mapping[Any, str] = {True: "yes", False: "no", None: "-",
                             "yes": "yes", "NO": "no", "-": "-",
                             "mostly": "mostly", "slightly": "slightly"}  # fmt: skip


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
        start, end = _ends(_words(like[0].claim), _words(like[1].claim))
        words = _words(first.claim)
        claim = " ".join([*words[:start], "…", *words[len(words) - end :]])
        parts: list[str] = []
        for each in like:
            words = _words(each.claim)
            name = " ".join(words[start : len(words) - end]).strip(",:")
            name = name.strip("()") if name.count("(") != name.count(")") else name
            parts.append(f"{name}: {each.figures}" if each.figures else name)
        yield f"- {claim}: **{first.holds}**; {'; '.join(parts)}"


def _alike(first: Said, other: Said, claims: Sequence[Said]) -> list[Said]:
    """Claims that differ from the first one where this one does, and nowhere else."""
    words = _words(first.claim)
    start, end = _ends(words, _words(other.claim))
    if first == other or start + end < 0.6 * len(words):
        return [first]
    like = [
        each
        for each in claims
        if each != first and _ends(words, _words(each.claim)) == (start, end)
    ]
    return [first, *like]


def _words(text: str) -> list[str]:
    """What is in brackets is a word."""
    return re.findall(r"\([^()]*\)\S*|\S+", text)


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


def _measured(parts: Sequence[str], found: Found) -> list[str]:
    return [part for part in parts if part in found.rows]


def _claims(panel: Panel, kind: type[Benchmark], found: Found) -> list[Row]:
    own = {part: found.rows[part] for part in _measured(panel.parts, found)}
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
    less = "".join(f", {number[how]} {how}" for how in ("mostly", "slightly") if number[how])
    if number["yes"] == decided:
        of = f"{decided} of {decided} claims, {number['-']} not decided"
        far = f" as far as decided: {of}" if number["-"] else ""
        return f"holds{far}{part}"
    less += f", {number['-']} not decided" if number["-"] else ""
    if number["no"] == decided:
        return f"does not hold{less}{part}"
    return f"holds in part: {number['yes']} of {decided} claims{less}{part}"


def _command(paper: Paper, parts: Sequence[str], own: Row, kind: type[Benchmark]) -> str:
    """That measures these parts with these settings."""
    words = ["python", "-m", "benchmarks", paper.benchmark]
    if own == _own(wanted(paper, kind), kind):
        words += ["--papers", "--parts", *parts]
    else:
        words += ["--parts", *parts, "--set", *_settings(own)]
    return f"```sh no-run\n{shlex.join(words)}\n```\n"


def _own(settings: Row, kind: type[Benchmark]) -> Row:
    """Those that are not the benchmark's own."""
    defaults = json.loads(json.dumps(kind.defaults()))
    return {name: value for name, value in settings.items() if value != defaults.get(name)}


def _settings(own: Row) -> list[str]:
    """As `--set` takes them."""
    return [f"{name}={json.dumps(value, separators=(',', ':'))}" for name, value in own.items()]


# -- figures ----------------------------------------------------------------------------------


def _figures(paper: Paper, figures: Sequence[Figure], found: Found, folder: Path) -> Iterator[str]:
    """Plots of the same rows, in a line."""
    images: list[str] = []
    drawn = ""
    for figure in figures:
        series = figure.series(found.rows)
        points = {
            name: [_point(row, figure) for row in rows if row.get(figure.y) is not None]
            for name, rows in series.items()
        }
        points = {name: each for name, each in points.items() if each}
        if points:
            name = f"{paper.benchmark}-{figure.file}.svg"
            (folder / name).write_text(
                charts.lines(points, figure.x_label, figure.y_label, measured=figure.measured),
                encoding="utf-8",
            )
            images.append(f"![{figure.y_label}]({IMAGES}/{name})")
            drawn = _drawn(series.values(), found.settings[figure.part])
    if images:
        only = "".join(f", {key} {value}" for key, value in (figures[0].only or {}).items())
        yield f"By {figures[0].x_label}{only}{drawn}:\n"
        yield "\n".join(images) + "\n"


_POINT = ("plot", "line", "x", "mean", "least", "greatest")


def write_rows(file: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as opened:
        csv.writer(opened, lineterminator="\n").writerows([columns, *rows])


def _points(paper: Paper, panel: Panel, found: Found) -> Iterator[Sequence[object]]:
    """What plots show, and which runs were refused or came to no release."""
    for figure in panel.figures:
        for line, rows in figure.series(found.rows).items():
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


def _drawn(series: Iterable[Sequence[Row]], own: Row) -> str:
    """How many draws the means are of, where settings do not say so."""
    draws = sorted({number for line in series for row in line if (number := _draws(row))})
    return f"; draws: {_range(draws)}" if draws not in ([], [own.get("draws")]) else ""


def _draws(row: Row) -> int:
    """How many there were; of those of which every figure is stored, at least."""
    if "seeds" in row:  # of queries
        return row.get("draws", 0)
    listed = (len(value) for name, value in row.items() if name.endswith("_drawn"))
    return row.get("draws") or max(listed, default=0)


def _range(values: Sequence[int]) -> str:
    return f"{values[0]:,}" if len(values) == 1 else f"{values[0]:,} to {values[-1]:,}"


def anchor(heading: str) -> str:
    """As the site and repositories make it of a heading."""
    kept = "".join(letter for letter in heading.lower() if letter.isalnum() or letter in " -_")
    return kept.replace(" ", "-")
