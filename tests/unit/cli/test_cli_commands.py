"""Which modules a command line needs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pganon.cli import main
from tests.support.harness.cli import pganon
from tests.support.harness.imported import imported, methods_imported
from tests.unit.policy.examples import policy


@pytest.mark.parametrize("module", main.MODULES)
def test_commands_of_a_module(module: str) -> None:
    expected = {name for name, found in main.COMMANDS.items() if found == module}
    assert set(main.application((module,)).commands) == expected


def test_the_help_has_every_command_in_one_section() -> None:
    shown = pganon("--help").out
    names = re.findall(r"^  ([a-z]+)  +\S", shown, re.MULTILINE)
    assert names == [name for section in main.SECTIONS.values() for name in section]
    assert set(names) == set(main.application().commands)
    assert "..." not in shown.partition("Set up:")[2]


@pytest.mark.parametrize(
    ("line", "modules"),
    [
        (("verify", "r"), ("release",)),
        (("verify", "run"), ("release",)),
        (("--dsn", "verify", "run", "p.yaml"), main.MODULES),
        (("publish", "r"), main.MODULES),
        (("--help",), main.MODULES),
        (("--version",), ()),
        ((), main.MODULES),
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


def test_help_imports_nothing_heavy() -> None:
    """It starts in a third of the time."""
    assert (
        imported(
            ["--help"], ["--version"], *([name, "--help"] for name in main.COMMANDS), among=HEAVY
        )
        == []
    )


def test_commands_import_what_they_need() -> None:
    """Until they have reached a server; a status without releases imports no more."""
    assert imported(["init"], ["status"], among=HEAVY) == []


def test_heavy_modules_are_noticed() -> None:
    assert "sqlglot" in imported(["assess", "t", "--qi", "a"], among=HEAVY)


@pytest.mark.parametrize("command", [("policy", "check"), ("plan",), ("run",)])
@pytest.mark.slow
def test_a_policy_imports_its_method_alone(command: tuple[str, ...], tmp_path: Path) -> None:
    """Until the command has reached a server."""
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(policy()))
    assert methods_imported((*command, str(file))) == {"mondrian"}


def test_a_wrong_policy_names_every_method(tmp_path: Path) -> None:
    """Methods are listed without being imported."""
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(policy(method={"name": "mondriaan"})))
    assert methods_imported(("policy", "check", str(file))) == set()
