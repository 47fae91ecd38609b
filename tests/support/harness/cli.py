"""Runs the command line inside the test process."""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import dataclass
from typing import Any

from pganon.cli.main import main


@dataclass(frozen=True)
class Ran:
    """Exit code and what was written."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def pganon(*arguments: str) -> Ran:
    """`pganon ARGUMENTS`; every failure is an exit code, never an exception."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    return Ran(code, out.getvalue(), err.getvalue())
