"""Pages of reports, kept as files under `tests/pages/`, without their style and their JSON.

A change of a page is seen in review. After one that is meant,
`python -m tests.support.harness.golden` writes them anew.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.sources.pages import pages

FOLDER = Path(__file__).parents[2] / "pages"

_ELSEWHERE = re.compile(
    r'<style>.*?</style>|<script type="application/json" id="[^"]*">.*?</script>', re.DOTALL
)


def kept(html: str) -> str:
    """What is stored of a page: an element per line, so that a change is a line of a file."""
    text = re.sub(r"\n\s*\n+", "\n", _ELSEWHERE.sub("", html))
    lines = re.sub(r"(?<=>)(?=<(?!/|b>|i>|span|code))", "\n", text).splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


def files() -> dict[Path, str]:
    """What the files should hold."""
    return {FOLDER / f"{name}.html": kept(html) for name, html in pages().items()}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.html"):
        old.unlink()
    for path, text in files().items():
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
