"""Tasks as the page on choosing lists them: from the table of tasks and the methods for them.

`python -m tests.support.harness.tasks` writes the table of docs/how-to/choose.md anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from os.path import relpath
from pathlib import Path

from pganon.loading import known
from pganon.policy.first_text import flow
from pganon.policy.tasks import TASKS, Start

DOCS = Path(__file__).parents[3] / "docs"
PAGE = DOCS / "how-to" / "choose.md"


def page() -> str:
    """The page with the table as it should be."""
    return re.sub(
        r"(?s)(<!-- tasks -->\n\n).*?(\n\n<!-- end -->)",
        lambda match: match[1] + "\n".join(_table()) + match[2],
        PAGE.read_text(),
    )


def _table() -> Iterator[str]:
    yield "| task | for | method | starting values | what it costs | more |"
    yield "|---|---|---|---|---|---|"
    for word, what in TASKS.items():
        _, start = known().tasks[word]
        cells = [
            f"`{word}`",
            what,
            f"`{known().method_for(word)}`",
            "<br>".join(f"`{value}`" for value in _values(start)),
            start.costs,
            _link(start.page),
        ]
        yield f"| {' | '.join(cells)} |"


def _values(start: Start) -> Iterator[str]:
    yield from map(flow, start.about_all)
    for model in start.about_each:
        name, *others = model.items()
        yield flow(dict([name, ("column", "each"), *others]))
    for key, (value, _) in start.keys.items():
        yield f"{key}: {value}"
    if start.suppression_limit:
        yield f"suppression_limit: {start.suppression_limit}"


def _link(target: str) -> str:
    path = DOCS / target
    title = path.read_text().partition("\n")[0].removeprefix("# ")
    return f"[{title}]({relpath(path, PAGE.parent)})"


if __name__ == "__main__":
    PAGE.write_text(page())
