"""Install dbt, which wants other versions of libraries than pganon, into a virtual environment.

`python -m tests.support.harness.fetch_dbt` makes one inside the tests' own, with what the extra
`dbt` names. It says what it could not get and ends well nevertheless: tests with dbt are skipped.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

FOLDER = Path(sys.prefix) / "dbt"
PROGRAM = FOLDER / "bin" / "dbt"
PROJECT = Path(__file__).parents[3] / "pyproject.toml"


def main() -> None:
    if PROGRAM.exists():
        return
    try:
        _install()
    except (OSError, subprocess.CalledProcessError) as error:
        # Half of it would look like all.
        shutil.rmtree(FOLDER, ignore_errors=True)
        print(f"dbt could not be installed, its tests are skipped ({type(error).__name__})")
    else:
        print(f"dbt is in {FOLDER}")


def _install() -> None:
    wanted = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["optional-dependencies"]["dbt"]
    venv.create(FOLDER, with_pip=True, clear=True)
    pip = [FOLDER / "bin" / "python", "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "--disable-pip-version-check", *wanted], check=True)


if __name__ == "__main__":
    main()
