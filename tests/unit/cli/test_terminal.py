"""What a terminal takes for a command, and what turns the direction of a line, is never printed."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pganon import database
from pganon.cli import common, main
from pganon.cli.failures import show_error
from pganon.cli.progress import Description, Elapsed, progress
from pganon.errors import DatabaseError, PganonError, PolicyError, Problem, UsageError
from pganon.worker.log import Log
from tests.support.harness.cli import pganon

CODES = [*range(0x20), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F)]
CODES += [*range(0x2066, 0x206A), 0xDFFF, 0xD800]
EVIL = "".join(map(chr, CODES))
RAW = re.compile(f"[{re.escape(EVIL.replace(chr(10), ''))}]")
ESCAPED = "".join(f"\\u{code:04x}" for code in CODES)
FINE = "a\u00e4\u4e2d\U0001f98a\u00a0\u200d[/]:x: \\u001b"


def printed(act: Callable[[], object]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        act()
    return out.getvalue()


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "2000")
    monkeypatch.setattr(database, "reached", lambda: EVIL)


@pytest.mark.parametrize(
    ("act", "times"),
    [
        (lambda: common.line(EVIL, style="bold"), 1),
        (lambda: common.note(EVIL), 1),
        (lambda: common.warn([EVIL]), 1),
        (lambda: common.facts({EVIL: EVIL}), 2),
        (lambda: common.table([EVIL], [[EVIL]], title=EVIL), 3),
        (lambda: show_error(UsageError(EVIL, hint=EVIL), json=False), 2),
        (lambda: show_error(PganonError(EVIL), json=False), 1),
        (lambda: show_error(DatabaseError(EVIL), json=False), 2),
        (lambda: show_error(PolicyError([Problem(EVIL, EVIL, 1, EVIL)]), json=False), 3),
    ],
    ids=range(9),
)
def test_names_and_values_are_one_line_of_what_can_be_seen(
    act: Callable[[], object], times: int
) -> None:
    text = printed(act)
    assert not RAW.search(text)
    assert text.count(ESCAPED) == times
    assert len(text.splitlines()) <= 6


def test_rows_wider_than_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    text = printed(lambda: common.table([EVIL, "b"], [[EVIL, EVIL]], title=EVIL))
    assert not RAW.search(text)
    assert text.count(ESCAPED) == 4


def test_columns_stand_below_each_other() -> None:
    assert printed(lambda: common.facts({"\x1b": 1, "b": 2})) == "\\u001b  1\nb       2\n"


def test_texts_of_several_lines_keep_them() -> None:
    text = printed(lambda: common.block(f"a\n\tb{EVIL}"))
    assert not RAW.search(text)
    assert text.startswith("a\n        b\\u0000")


def test_what_harms_nobody_stays() -> None:
    for act in (common.line, common.note, common.block):
        assert printed(lambda act=act: act(FINE)) == f"{FINE}\n"


def test_every_problem_of_a_policy_has_its_line() -> None:
    error = PolicyError([Problem("one\nhint: rm", line=1), Problem("two")], file="p.yaml")
    assert printed(lambda: show_error(error, json=False)).splitlines() == [
        "error: p.yaml:1: one\\u000ahint: rm",
        "p.yaml: two",
    ]


def test_programs_read_what_was_there() -> None:
    text = printed(lambda: common.emit_json({EVIL: [EVIL, FINE]}))
    assert not RAW.search(text)
    assert json.loads(text) == {EVIL: [EVIL, FINE]}
    text = printed(lambda: Log(common.block, as_json=True)("claimed", release=EVIL))
    assert not RAW.search(text)
    assert json.loads(text)["release"] == EVIL
    text = printed(lambda: Log(common.line)("claimed", release=EVIL))
    assert (bool(RAW.search(text)), text.count("\n")) == (False, 1)


def test_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGANON_PROGRESS", "0.01")
    shown: list[str] = []
    monkeypatch.setattr(common, "note", shown.append)

    def wait() -> None:
        with progress(EVIL) as bar:
            (column,) = [c for c in bar.columns if isinstance(c, Description)]
            assert column.render(bar.tasks[0]).plain == ESCAPED
            while not shown:
                continue

    assert not RAW.search(printed(wait))


def test_progress_says_how_long_the_last_run_took(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGANON_PROGRESS", "0.01")
    shown: list[str] = []
    monkeypatch.setattr(common, "note", shown.append)

    def wait() -> None:
        with progress("visits: recode", expected=44.6) as bar:
            (column,) = [c for c in bar.columns if isinstance(c, Elapsed)]
            assert column.render(bar.tasks[0]).plain == "(0 s; the last run took 45 s)"
            while not shown:
                continue

    printed(wait)
    assert shown[0] == "visits: recode (0 s; the last run took 45 s)"


def test_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(common.typer, "confirm", lambda text, err: not asked.append(text))
    monkeypatch.setattr(common.Console, "is_terminal", True)
    monkeypatch.setattr(sys, "stdin", type("Terminal", (), {"isatty": lambda self: True})())
    text = printed(lambda: common.confirm(f"drop {EVIL}?"))
    assert asked == [f"drop {ESCAPED}?"]
    assert ESCAPED in text


def test_words_that_are_no_command(monkeypatch: pytest.MonkeyPatch) -> None:
    for words in ((EVIL,), ("run", "--" + EVIL), ("show", "x", EVIL), ("assess", EVIL)):
        done = pganon(*words)
        assert not RAW.search(done.out + done.err), words

    def fail(*_: object) -> None:
        raise ZeroDivisionError(EVIL)

    monkeypatch.setenv("PGANON_DEBUG", "1")
    monkeypatch.setattr(main, "application", fail)
    done = pganon("releases")
    assert (done.code, "ZeroDivisionError" in done.err) == (4, True)
    assert not RAW.search(done.err)


def test_one_module_prints() -> None:
    """Text reaches a terminal through `pganon/cli/common.py`, and spinners beside it."""
    root = Path(main.__file__).parents[1]
    allowed = {"cli/common.py", "cli/progress.py", "cli/manual.py"}
    for path in root.rglob("*.py"):
        if str(path.relative_to(root)) in allowed:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                text = ast.unparse(node.func)
                assert not re.fullmatch(
                    r"print|typer\.(echo|secho|confirm|prompt)|sys\.std(out|err)\.write"
                    r"|(common\.)?(stdout|stderr|Console|Text)|.*\bprint_exception",
                    text,
                ), f"{path}:{node.lineno}"
