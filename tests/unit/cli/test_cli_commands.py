"""Which modules a command line needs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pganon.cli import main


def test_commands_of_a_module() -> None:
    found = {module: tuple(main.application((module,)).commands) for module in main.MODULES}
    assert found == main.MODULES


@pytest.mark.parametrize(
    ("line", "modules"),
    [
        (("verify", "r"), ("release",)),
        (("verify", "run"), ("release",)),
        (("--dsn", "verify", "run", "p.yaml"), tuple(main.MODULES)),
        (("publish", "r"), tuple(main.MODULES)),
        (("--help",), tuple(main.MODULES)),
        ((), tuple(main.MODULES)),
    ],
)
def test_modules_of_a_command_line(line: tuple[str, ...], modules: tuple[str, ...]) -> None:
    assert main.needed(line) == modules


HEAVY = (
    "joblib",
    "numpy",
    "pandas",
    "sqlglot",
    "yaml",
    "pganon.methods",
    "pganon.policy",
    "pganon.run",
)
"""Modules that take longer to import than the commands run that can do without them."""

ENTERED = """
import sys
from pganon.cli.main import main
try:
    main(sys.argv[2:])
finally:
    heavy = sys.argv[1].split()
    print()
    print([name for name in sys.modules if name.split(".")[0] in heavy
           or ".".join(name.split(".")[:2]) in heavy])
"""


def _imported(*line: str) -> str:
    """The heavy modules that a command line imports, as a list in a text."""
    run = [sys.executable, "-c", ENTERED, " ".join(HEAVY), *line]
    env = {**os.environ, "PGANON_DSN": "host=/nowhere"}
    return subprocess.run(run, capture_output=True, text=True, env=env).stdout.splitlines()[-1]


@pytest.mark.parametrize(
    "line",
    [
        ("--help",),
        ("--version",),
        *((command, "--help") for commands in main.MODULES.values() for command in commands),
        ("init",),
        ("status",),
    ],
    ids=" ".join,
)
def test_commands_import_what_they_need(line: tuple[str, ...]) -> None:
    """Help, and commands until they have reached a server, start in a third of the time."""
    assert _imported(*line) == "[]"


def test_modules_of_all_commands_import_nothing_heavy() -> None:
    assert _imported() == "[]"


def test_heavy_modules_are_noticed() -> None:
    assert "sqlglot" in _imported("run", "no_such_policy.yaml")
