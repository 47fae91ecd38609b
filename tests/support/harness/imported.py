"""Modules that command lines import, each time in a new process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence

from pganon.methods.registry import OWN

_ENTERED = """
import json, sys
from pganon.cli.main import main
for line in json.loads(sys.argv[2]):
    main(line)
among = json.loads(sys.argv[1])
print()
found = [name for name in sys.modules if any((name + ".").startswith(one + ".") for one in among)]
print(json.dumps(found))
"""

NOWHERE = "host=/nowhere"

_METHODS = {name: f"pganon.methods.{place.split(':')[0]}" for name, place in OWN.items()}

_SEARCHES = ("joblib", "numpy", "scipy")
"""What only methods need that search in Python."""


def imported(*lines: Sequence[str], among: Sequence[str], dsn: str = NOWHERE) -> list[str]:
    """The modules of the packages `among` that the command lines import."""
    run = [sys.executable, "-c", _ENTERED, json.dumps(among), json.dumps(lines)]
    env = {**os.environ, "PGANON_DSN": dsn}
    done = subprocess.run(run, capture_output=True, text=True, env=env, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def methods_imported(line: Sequence[str], dsn: str = NOWHERE) -> set[str]:
    """The methods that a command line imports, and packages that only some of them need."""
    found = {*imported(line, among=(*_SEARCHES, *_METHODS.values()), dsn=dsn)}
    return {name for name, module in _METHODS.items() if module in found} | found & {*_SEARCHES}
