"""The files under docker/, and programs that read them without a container engine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

FOLDER = Path(__file__).parents[3] / "docker"
SECRETS = {"POSTGRES_PASSWORD": "of the administrator", "STEWARD_PASSWORD": "it's the steward's"}


def read(program: str, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a program of the virtual environment or the machine; skips the test without it."""
    beside = Path(sys.executable).parent / program
    found = str(beside) if beside.exists() else shutil.which(program)
    if found is None:
        pytest.skip(f"{program} was not found; pip install 'pganon[containers]' has most of them")
    kept = {name: value for name, value in os.environ.items() if name not in SECRETS}
    return subprocess.run(
        [found, *arguments], capture_output=True, text=True, check=False, env=kept | more
    )


def compose(file: str) -> dict[str, Any]:
    return yaml.safe_load((FOLDER / file).read_text("utf-8"))["services"]


def in_order(services: dict[str, Any]) -> list[str]:
    """Names of services, each after those that it waits for."""
    left, done = dict(services), []
    while left:
        ready = [
            name for name, service in left.items() if set(service.get("depends_on", {})) <= {*done}
        ]
        assert ready, f"these wait for each other: {sorted(left)}"
        done += ready
        for name in ready:
            del left[name]
    return done
