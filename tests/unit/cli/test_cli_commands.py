"""Which modules a command line needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from pganon.cli import main
from pganon.methods.registry import OWN
from tests.unit.policy.examples import policy


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
found = [name for name in sys.modules if any((name + ".").startswith(one + ".") for one in heavy)]
print(json.dumps(found))
"""


def _imported(*lines: Sequence[str], among: Sequence[str] = HEAVY) -> list[str]:
    """The modules of these packages that the command lines import."""
    run = [sys.executable, "-c", ENTERED, json.dumps(among), json.dumps(lines)]
    env = {**os.environ, "PGANON_DSN": "host=/nowhere"}
    done = subprocess.run(run, capture_output=True, text=True, env=env, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def test_help_imports_nothing_heavy() -> None:
    """It starts in a third of the time."""
    commands = [command for module in main.MODULES.values() for command in module]
    assert _imported(["--help"], ["--version"], *([name, "--help"] for name in commands)) == []


def test_commands_import_what_they_need() -> None:
    """Until they have reached a server; a status without releases imports no more."""
    assert _imported(["init"], ["status"]) == []


def test_heavy_modules_are_noticed() -> None:
    assert "sqlglot" in _imported(["assess", "t", "--qi", "a"])


SEARCHES = ("joblib", "numpy", "scipy")
"""What only methods need that search in Python."""

METHODS = {name: f"pganon.methods.{place.split(':')[0]}" for name, place in OWN.items()}
"""The modules of all methods, by their names."""


@pytest.mark.parametrize("command", [("policy", "check"), ("plan",), ("run",)])
def test_a_policy_imports_its_method_alone(command: tuple[str, ...], tmp_path: Path) -> None:
    """Until the command has reached a server."""
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(policy()))
    found = _imported((*command, str(file)), among=(*SEARCHES, *METHODS.values()))
    assert {*found} & {*SEARCHES, *METHODS.values()} == {METHODS["mondrian"]}


def test_a_wrong_policy_names_every_method(tmp_path: Path) -> None:
    """Methods are listed without being imported."""
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(policy(method={"name": "mondriaan"})))
    assert _imported(("policy", "check", str(file)), among=[*METHODS.values()]) == []
