"""Which modules a command line needs."""

from __future__ import annotations

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


def test_commands_that_need_no_method_import_none() -> None:
    """They answer in half the time."""
    code = (
        "from pganon.cli.main import application;"
        " application(('server', 'install', 'release', 'history')); import sys;"
        " print([name for name in sys.modules if name.startswith('pganon.methods')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
