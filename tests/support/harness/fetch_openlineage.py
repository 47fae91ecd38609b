"""Install the client library of OpenLineage, which tests alone use, into a virtual environment.

`python -m tests.support.harness.fetch_openlineage` makes one inside the tests' own. It says what it
could not get and ends well nevertheless: the test is skipped.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from pathlib import Path

FOLDER = Path(sys.prefix) / "openlineage"
PYTHON = FOLDER / "bin" / "python"
WANTED = "openlineage-python>=1.54,<2"


def main() -> None:
    if PYTHON.exists():
        return
    try:
        venv.create(FOLDER, with_pip=True, clear=True)
        pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, WANTED], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        # Half of it would look like all.
        shutil.rmtree(FOLDER, ignore_errors=True)
        print(f"{WANTED} could not be installed, its test is skipped ({type(error).__name__})")
    else:
        print(f"{WANTED} is in {FOLDER}")


if __name__ == "__main__":
    main()
