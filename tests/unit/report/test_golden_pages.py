"""Pages of three releases, as they are kept."""

from __future__ import annotations

from tests.support.harness.golden import FOLDER, files


def test_pages_are_as_they_are_kept() -> None:
    assert {path: path.read_text("utf-8") for path in FOLDER.iterdir()} == files(), (
        "if the change is meant: python -m tests.support.harness.golden"
    )
