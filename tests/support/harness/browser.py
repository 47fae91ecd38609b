"""Chromium, where there is one."""

from __future__ import annotations

import shutil
import subprocess

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--allow-file-access-from-files",
    "--enable-logging=stderr",
)


def dom(url: str, *flags: str, milliseconds: int = 2000) -> str:
    """The document after that long a time of its own."""
    assert PROGRAM is not None
    command = [PROGRAM, *FLAGS, f"--virtual-time-budget={milliseconds}", "--dump-dom", *flags, url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout
