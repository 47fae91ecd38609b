"""The page about the experiments of papers, from the folder of results."""

from __future__ import annotations

import dataclasses
import json
import shlex
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from benchmarks import __main__, page
from benchmarks.__main__ import BENCHMARKS
from benchmarks.benchmark import RESULTS, Benchmark, Row, run
from benchmarks.page import Figure, Panel, Paper
from benchmarks.papers import PAPERS

WRITTEN = Path(__file__).parents[3] / "docs/reproduction.md"


@dataclass(frozen=True, kw_only=True)
class Tried(Benchmark):
    rows: int = 100
    ks: tuple[int, ...] = (2, 3)

    parts: ClassVar = ("by_k", "times")
    tables: ClassVar = ()

    @staticmethod
    def judged(found: Row) -> Row:
        losses = [row["loss"] for row in found.get("by_k", ()) if "loss" in row]
        claims = [{"claim": "loss grows with k", "holds": losses == sorted(losses), "found": "x"}]
        return {"claims": claims if losses else []}


PAPER = Paper(
    "A paper",
    "reference/a.md",
    "tried",
    "Its data.",
    {"rows": 10, "ks": (2, 3)},
    (
        Panel("Loss by k", "Loss grows with k.", ("by_k",),
              (Figure("by_k", "k", "loss", "k", "loss"),), why="As it is random.",
              differs="its data"),
        Panel("Time", "It is fast.", ("times",)),
        Panel("Both", "Both.", ("by_k", "times")),
    ),
)  # fmt: skip

ROWS: list[Row] = [
    {"method": "a", "k": 2, "loss": 0.25, "loss_least": 0.2, "loss_most": 0.3, "draws": 3},
    {"method": "a", "k": 3, "loss": 0.5, "draws": 3},
    {"method": "b", "k": 2, "refused": "why"},
]


SETTINGS = {"rows": 10, "ks": [2, 3]}


def stored(file: Path, found: Row) -> None:
    """As a run stores it."""
    seconds = {part: 150 for part, rows in found.items() if isinstance(rows, list)}
    told = {**found, "settings": SETTINGS | found["settings"], "seconds": seconds}
    file.write_text(json.dumps(told))


@pytest.fixture
def made(tmp_path: Path) -> Any:
    results = tmp_path / "results"
    results.mkdir()

    def make(found: Row | None, measured: page.Measured | None = None) -> str:
        if found is not None:
            stored(results / "tried.json", found)
        file = tmp_path / "page.md"
        page.write(file, [PAPER], {"tried": Tried}, results, measured or {})
        return file.read_text()

    return make


def test_nothing_measured(made: Any, tmp_path: Path) -> None:
    text = made(None)
    assert "- [A paper](#a-paper): not measured\n" in text
    assert "\n*Loss grows with k.*\n" in text
    assert "**Not measured** (`by_k`)\n" in text
    assert "\nSettings of `tried`: `rows=10`\n" in text
    assert "\npython -m benchmarks tried --papers --parts by_k\n" in text
    assert not list((tmp_path / page.IMAGES).iterdir())
    assert "Differs" not in text
    assert "As it is random" not in text


def test_measured_as_asked(made: Any, tmp_path: Path) -> None:
    text = made({"settings": {}, "by_k": ROWS})
    assert "- [A paper](#a-paper): holds; not all of it is measured\n" in text
    assert "\n**Holds** (`by_k`)\n" in text
    assert "\n**Holds; not all of it is measured** (`by_k times`)\n" in text
    assert "loss grows with k:" not in text  # as it holds
    assert "\nBy k; draws: 3:\n" in text
    assert "\nDiffers from the paper in: its data. Measured: `by_k`, 2 min.\n" in text
    assert "[all figures](images/reproduction/tried.json)" in text
    assert "[numbers of the plots](images/reproduction/tried.csv)" in text
    assert "[All claims](images/reproduction/tried-claims.csv)" in text
    assert (tmp_path / page.IMAGES / "tried-claims.csv").read_text().splitlines() == [
        "experiment,claim,holds,figures",
        "Loss by k,loss grows with k,yes,x",
        "Both,loss grows with k,yes,x",
    ]
    assert _numbers(tmp_path) == ["a,2,0.25,0.2,0.3", "a,3,0.5", "b,2,refused"]
    assert "These are other settings" not in text
    assert "As it is random" not in text
    drawing = (tmp_path / page.IMAGES / "tried-by-k-k-loss.svg").read_text()
    assert drawing.startswith("<svg")
    assert "a: 2: 0.25, 3: 0.5" in drawing
    assert "--parts times" in text  # the other part


def _numbers(tmp_path: Path) -> list[str]:
    head, *rows = (tmp_path / page.IMAGES / "tried.csv").read_text().splitlines()
    assert head == "plot,line,x,mean,least,greatest"
    return [row.removeprefix("tried-by-k-k-loss,") for row in rows]


def test_lines_without_figures_are_not_shown(made: Any, tmp_path: Path) -> None:
    """Nor rows of a run that was refused before it came to any."""
    rows = [*ROWS, {"method": "c", "k": 2}, {"method": "d", "refused": "why"}]
    made({"settings": {}, "by_k": rows})
    assert _numbers(tmp_path)[3:] == []
    none = {"method": "e", "k": 2, "draws": 0}
    made({"settings": {}, "by_k": [*ROWS, none]})
    assert _numbers(tmp_path)[3:] == ["e,2,no release"]


def test_measured_with_other_settings(made: Any) -> None:
    """What is shown has the command that it was measured by."""
    found = {"settings": {"rows": 20, "ks": [2, 3, 4]}, "by_k": ROWS}
    text = made(found, {"tried": ["by_k"]})
    command = "python -m benchmarks tried --parts by_k --set rows=20 'ks=[2,3,4]'"
    assert f"\n{command}\n" in text
    assert "These are other settings than those of `make reproduce`:\n" in text
    assert "--papers --parts times\n" in text


def test_parts_of_earlier_pages_are_kept(made: Any, tmp_path: Path) -> None:
    """A part that is measured anew changes its own panels alone."""
    before = made({"settings": {}, "by_k": ROWS})
    (tmp_path / "results/tried.json").unlink()
    assert made(None) == before
    text = made({"settings": {}, "times": [{"method": "a", "records": 5}]})
    assert "**Holds** (`by_k`)" in text
    assert "Measured: `times`, 5 records, 2 min." in text
    assert _numbers(tmp_path) == ["a,2,0.25,0.2,0.3", "a,3,0.5", "b,2,refused"]
    assert (tmp_path / page.IMAGES / "tried-by-k-k-loss.svg").exists()
    falling = [{**ROWS[0], "loss": 0.6}, ROWS[1]]
    assert "**Does not hold** (`by_k`)" in made({"settings": {}, "by_k": falling})
    kept = json.loads((tmp_path / page.IMAGES / "tried.json").read_text())
    assert kept["by_k"] == {"settings": {"rows": 10}, "seconds": 150, "rows": falling}
    assert kept["times"]["rows"] == [{"method": "a", "records": 5}]
    file = tmp_path / page.IMAGES / "tried.json"
    file.write_text(json.dumps({**kept, "gone": kept["times"]}))  # no part any more
    made(None)
    assert json.loads(file.read_text()) == kept


def test_what_was_tried_with_other_settings_is_not_shown(made: Any, tmp_path: Path) -> None:
    """Unless it was just measured; what one command measures changes no panels of other papers."""
    falling = [{**ROWS[0], "loss": 0.6}, ROWS[1]]
    before = made({"settings": {}, "by_k": ROWS})
    tried = {"settings": {"rows": 20}, "by_k": falling, "times": ROWS}
    assert made(tried) == before
    assert made(tried, {"other": ["by_k"]}) == before
    text = made(tried, {"tried": ["by_k"]})
    assert "**Does not hold** (`by_k`)" in text
    assert "**Not measured** (`times`)" in text  # not by this command
    other = dataclasses.replace(PAPER, title="Another", benchmark="other")
    kinds = {"tried": Tried, "other": Tried}
    stored(tmp_path / "results/tried.json", {"settings": {}, "by_k": ROWS})
    stored(tmp_path / "results/other.json", {"settings": {"rows": 1000}, "by_k": falling})
    file = tmp_path / "page.md"
    page.write(file, [PAPER, other], kinds, tmp_path / "results", {"tried": ["by_k"]})
    overview = [line for line in file.read_text().splitlines() if line.startswith("- [A")]
    assert overview == [
        "- [A paper](#a-paper): holds; not all of it is measured",
        "- [Another](#another): not measured",
    ]


def test_figures_are_kept_with_nine_digits(made: Any, tmp_path: Path) -> None:
    row = {"method": "a", "k": 2, "loss": 1 / 3, "of": [{"x": 2 / 3}], "n": 12345678901}
    made({"settings": {}, "by_k": [row]})
    kept = json.loads((tmp_path / page.IMAGES / "tried.json").read_text())
    rounded = {**row, "loss": 0.333333333, "of": [{"x": 0.666666667}]}
    assert kept["by_k"]["rows"] == [rounded]


def test_a_claim_that_fails(made: Any) -> None:
    falling = [{**ROWS[0], "loss": 0.6}, ROWS[1]]
    text = made({"settings": {}, "by_k": falling})
    assert "- [A paper](#a-paper): does not hold; not all of it is measured\n" in text
    assert "**Does not hold** (`by_k`). As it is random." in text
    assert "- loss grows with k: **no**; x\n" in text


@pytest.mark.parametrize(
    ("holds", "said"),
    [(["yes"], "holds"), (["NO", "NO"], "does not hold"), (["-"], "measured"),
     (["yes", "-"], "holds as far as decided: 1 of 1 claims, 1 not decided"),
     (["NO", "-", "-"], "does not hold, 2 not decided"),
     (["mostly", "NO"], "holds in part: 0 of 2 claims, 1 mostly"),
     (["yes", "slightly", "-"], "holds in part: 1 of 2 claims, 1 slightly, 1 not decided")],
)  # fmt: skip
def test_what_is_said_of_several_claims(holds: list[str], said: str) -> None:
    claims = [{"claim": str(number), "holds": one} for number, one in enumerate(holds)]
    assert page._verdict(claims, ["by_k"], ["by_k"]) == said


def test_plots_that_are_gone(made: Any, tmp_path: Path) -> None:
    old = [tmp_path / page.IMAGES / name for name in ("old.svg", "old.csv")]
    old[0].parent.mkdir(parents=True)
    for file in old:
        file.write_text("")
    made(None)
    assert [file for file in old if file.exists()] == []


def test_the_page_leaves_nothing_open() -> None:
    """All is measured as `make reproduce` does, and what does not hold has a reason."""
    text = WRITTEN.read_text("utf-8")
    assert "not measured" not in text.lower()
    assert "other settings than those" not in text
    verdicts = [line for line in text.splitlines() if line.startswith("**")]
    assert len(verdicts) == sum(len(paper.panels) for paper in PAPERS)
    said = ("**Holds**", "**Holds, ", "**Holds as far", "**Measured**")
    open_ones = [v for v in verdicts if v.endswith("`)") and not v.startswith(said)]
    assert open_ones == []
    assert all(panel.differs for paper in PAPERS for panel in paper.panels)


def test_the_page_is_what_the_program_writes(tmp_path: Path) -> None:
    """Of the figures that are kept beside it: no verdict is written by hand."""
    folder = tmp_path / page.IMAGES
    folder.mkdir(parents=True)
    kept = WRITTEN.parent / page.IMAGES
    for file in kept.glob("*.json"):
        (folder / file.name).write_bytes(file.read_bytes())
    page.write(tmp_path / "page.md", PAPERS, BENCHMARKS, tmp_path / "nothing", {})
    assert (tmp_path / "page.md").read_text("utf-8") == WRITTEN.read_text("utf-8")
    written = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert written == {file.name: file.read_bytes() for file in kept.iterdir()}


def test_papers_name_what_there_is() -> None:
    """Parts, settings, and headings that no two panels share; commands give these settings."""
    headings = [panel.shown for paper in PAPERS for panel in paper.panels]
    assert len(set(map(page.anchor, headings))) == len(headings)
    for paper in PAPERS:
        kind = BENCHMARKS[paper.benchmark]
        assert set(paper.parts) <= set(kind.parts)
        assert set(paper.settings) <= set(kind.defaults())
        for panel in paper.panels:
            assert {figure.part for figure in panel.figures} <= set(panel.parts)


def test_the_command_only_writes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran: list[Any] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(__main__, "run", lambda *given, resumes: ran.append(given))
    __main__.main(["--page", "page.md"])
    assert not ran
    text = Path("page.md").read_text()
    assert not RESULTS.exists()
    assert text.count("**Not measured**") == sum(len(paper.panels) for paper in PAPERS)
    command = next(line for line in text.splitlines() if line.startswith("python -m"))
    __main__.main(shlex.split(command)[3:])
    first = PAPERS[0]
    assert (ran[0][0], ran[0][2]) == (first.benchmark, first.settings)


def test_papers_are_repeated_with_their_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: dict[str, tuple[Any, Any]] = {}

    resumed: list[bool] = []

    def run(
        name: str, kind: type[Benchmark], settings: Row, parts: list[str], *, resumes: bool
    ) -> Row:
        ran[name] = (settings, parts)
        resumed.append(resumes)
        return {}

    monkeypatch.setattr(__main__, "run", run)
    __main__.main(["--papers"])
    assert ran == {
        paper.benchmark: (
            paper.settings,
            [part for part in BENCHMARKS[paper.benchmark].parts if part in paper.parts],
        )
        for paper in PAPERS
    }
    assert all(resumed)
    __main__.main(["qs", "--papers", "--parts", "by_k", "size", "--set", "draws=1"])
    assert not resumed[-1]
    assert ran["qs"] == ({**PAPERS[-1].settings, "draws": 1}, ["by_k"])
    given: list[Any] = []
    monkeypatch.setattr(page, "write", lambda *arguments: given.append(arguments[-1]))
    __main__.main(["qs", "--papers", "--parts", "by_k", "--page", "page.md"])
    assert given == [{"qs": ["by_k"]}]


def test_a_part_that_is_there_is_not_measured_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Tried, "database", lambda name: nullcontext("dsn"))
    ran: list[str] = []

    def part(name: str, *, fails: bool = False) -> Any:
        def measure(bench: Any) -> Iterator[Row]:
            ran.append(name)
            yield {"method": "a"}
            if fails:
                raise RuntimeError

        return measure

    monkeypatch.setattr(Tried, "by_k", part("by_k"), raising=False)
    monkeypatch.setattr(Tried, "times", part("times", fails=True), raising=False)
    with pytest.raises(RuntimeError):
        run("tried", Tried, {}, Tried.parts, resumes=True)
    monkeypatch.setattr(Tried, "times", part("times"), raising=False)
    found = run("tried", Tried, {}, Tried.parts, resumes=True)
    assert ran == ["by_k", "times", "times"]
    assert set(found["seconds"]) == {"by_k", "times"}
    said = capsys.readouterr().err
    assert "tried: by_k is in bench-results/tried.json\n" in said
    assert "tried: times, 1 of 1\n  0 s: row 1\n" in said
    run("tried", Tried, {}, Tried.parts)
    run("tried", Tried, {"rows": 5}, ["by_k"], resumes=True)  # other settings
    assert ran[3:] == ["by_k", "times", "by_k"]


@pytest.mark.parametrize(
    ("claims", "rows"),
    [
        ([("a b c", "yes", "1")], ["- a b c: **yes**; 1"]),
        (
            [("loss of A, x grows", "yes", "1, 2"), ("loss of B grows", "yes", "3")],
            ["- loss of … grows: **yes**; A, x: 1, 2; B: 3"],
        ),
        (
            [
                ("loss falls here, A", "no", ""),
                ("one", "-", ""),
                ("loss falls here, B", "mostly", "2"),
                ("loss falls here, C", "no", "3"),
            ],
            [
                "- loss falls here, …: **no**; A; C: 3",
                "- one: **-**",
                "- loss falls here, B: **mostly**; 2",
            ],
        ),
        (
            [("it is so for all (a b)", "no", "1"), ("it is so for all (c)", "no", "2")],
            ["- it is so for all …: **no**; (a b): 1; (c): 2"],
        ),
        (  # brackets are not divided
            [("it is so for all (a, b)", "no", "1"), ("it is so for all of c (a, b)", "no", "2")],
            ["- it is so for all …: **no**; (a, b): 1; of c (a, b): 2"],
        ),
        (  # what differs in more than one place, or in most of it
            [("a b c d e", "no", "1"), ("a x c y e", "no", "2"), ("a z z z e", "no", "3")],
            ["- a b c d e: **no**; 1", "- a x c y e: **no**; 2", "- a z z z e: **no**; 3"],
        ),
    ],
)
def test_claims_that_differ_in_one_place(claims: Any, rows: list[str]) -> None:
    assert list(page.folded([page.Said(*claim) for claim in claims])) == rows


def test_draws_that_are_listed(made: Any) -> None:
    row = {"method": "a", "k": 2, "loss": 0.25, "loss_drawn": [0.2, 0.3]}
    text = made({"settings": {}, "by_k": [row]})
    assert "\nBy k; draws: 2:\n" in text
    assert "\nBy k:\n" in made({"settings": {}, "by_k": [{**row, "seeds": 2}]})
