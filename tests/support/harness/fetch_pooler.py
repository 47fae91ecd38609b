"""Fetch PgBouncer where the machine lacks it and takes packages of Debian.

`python -m tests.support.harness.fetch_pooler` downloads the package and the libraries that it names
with apt-get, and unpacks them into the virtual environment; nothing is installed. It says what it
could not get and ends well nevertheless: tests with a pooler are skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NAME = "pgbouncer"
FOLDER = Path(sys.prefix) / NAME


def program() -> str | None:
    """PgBouncer of the machine, else the fetched one."""
    places = (os.environ.get("PATH", ""), "/usr/sbin", str(FOLDER / "usr" / "sbin"))
    return shutil.which(NAME, path=os.pathsep.join(places))


def libraries() -> str:
    """Where the fetched one finds its libraries."""
    return os.pathsep.join(map(str, FOLDER.glob("usr/lib/*/")))


def main() -> None:
    if program() is not None:
        return
    try:
        _fetch()
    except (OSError, subprocess.CalledProcessError) as error:
        # Half of it would look like all.
        shutil.rmtree(FOLDER, ignore_errors=True)
        reason = type(error).__name__
        print(f"PgBouncer could not be fetched, its tests are skipped ({reason})")
    else:
        print(f"PgBouncer is in {FOLDER}")


def _fetch() -> None:
    described = subprocess.run(
        ["apt-cache", "depends", "--important", NAME], check=True, capture_output=True, text=True
    )
    words = [line.split() for line in described.stdout.splitlines()]
    needed = [w[1] for w in words if w[0] == "Depends:" and w[1].startswith("lib")]
    with tempfile.TemporaryDirectory() as folder:
        wanted = [NAME, *(name for name in needed if name != "libc6")]
        subprocess.run(["apt-get", "-qq", "download", *wanted], cwd=folder, check=True)
        for package in Path(folder).glob("*.deb"):
            subprocess.run(["dpkg-deb", "--extract", package, FOLDER], check=True)


if __name__ == "__main__":
    main()
