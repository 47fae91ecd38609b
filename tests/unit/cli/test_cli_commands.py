"""Which modules a command line needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence

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
    "pganon.policy.columns",
    "pganon.policy.loader",
    "pganon.policy.model",
    "pganon.run",
)
"""Modules that take longer to import than the commands run that can do without them."""

ENTERED = """
import json, sys
from pganon.cli.main import main
for line in json.loads(sys.argv[2]):
    main(line)
heavy = json.loads(sys.argv[1])
print()
print([name for name in sys.modules if any((name + ".").startswith(one + ".") for one in heavy)])
"""


def _imported(*lines: Sequence[str]) -> str:
    """The heavy modules that these command lines import, as a list in a text."""
    run = [sys.executable, "-c", ENTERED, json.dumps(HEAVY), json.dumps(lines)]
    env = {**os.environ, "PGANON_DSN": "host=/nowhere"}
    done = subprocess.run(run, capture_output=True, text=True, env=env, check=True)
    return done.stdout.splitlines()[-1]


def test_help_imports_nothing_heavy() -> None:
    """It starts in a third of the time."""
    commands = [command for module in main.MODULES.values() for command in module]
    assert _imported(["--help"], ["--version"], *([name, "--help"] for name in commands)) == "[]"


def test_commands_import_what_they_need() -> None:
    """Until they have reached a server; a status without releases imports no more."""
    assert _imported(["init"], ["status"]) == "[]"


def test_heavy_modules_are_noticed() -> None:
    assert "sqlglot" in _imported(["assess", "t", "--qi", "a"])
