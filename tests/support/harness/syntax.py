"""Syntax trees of the project's own files, for tests that read them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def tree(path: Path) -> ast.Module:
    """Of one file; not before a test asks, as every process of pytest imports all tests."""
    return ast.parse(path.read_text("utf-8"))
