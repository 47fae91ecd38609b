"""Pages of proofs name code and tests that are there: a rename breaks this test."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs/explanation/proofs").glob("*.md"))
SECTIONS = ["Statement", "Adversary", "Proof", "Code", "Tests"]

_NAMED = re.compile(r"`((?:pganon|sql|tests)/[^`\s]+)`")
_MADE = re.compile(r"^CREATE (?:FUNCTION|PROCEDURE|VIEW) ([\w.]+)|^-- (\w+) --$", re.MULTILINE)

every_page = pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])


def sections(page: Path) -> dict[str, str]:
    _, *parts = re.split(r"^## (.+)\n", page.read_text("utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


@cache
def names(path: str) -> frozenset[str]:
    """What a file defines: functions, classes and their methods, or objects and queries of SQL."""
    text = (ROOT / path).read_text("utf-8")
    if path.endswith(".sql"):
        return frozenset(made or query for made, query in _MADE.findall(text))
    return frozenset(_defined(ast.parse(text).body, ""))


def _defined(body: list[ast.stmt], within: str) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield f"{within}{node.name}"
        if isinstance(node, ast.ClassDef):
            yield from _defined(node.body, f"{within}{node.name}.")


def is_there(named: str) -> bool:
    path, _, name = named.partition("::")
    return (ROOT / path).is_file() and name in names(path)


@every_page
def test_what_a_page_names_is_there(page: Path) -> None:
    named = _NAMED.findall(page.read_text("utf-8"))
    assert [one for one in named if not is_there(one)] == []


@every_page
def test_a_page_says_what_holds_where_it_is_done_and_what_tests_it(page: Path) -> None:
    found = sections(page)
    assert list(found) == SECTIONS
    code, tests = (_NAMED.findall(found[title]) for title in ("Code", "Tests"))
    assert code
    assert [one for one in code if one.startswith("tests/")] == []
    assert tests
    assert [one for one in tests if not re.match(r"tests/.+::test_\w+$", one)] == []


def test_the_threat_model_leads_to_every_page() -> None:
    text = (ROOT / "docs/explanation/threat-model.md").read_text("utf-8")
    assert PAGES
    assert [page.name for page in PAGES if f"](proofs/{page.name})" not in text] == []


@pytest.mark.parametrize(
    "named",
    [
        "pganon/publish/transaction.py",
        "pganon/publish/transaction.py::republish",
        "pganon/publish/transactions.py::publish",
        "sql/queries/publish.sql::assert_opened",
    ],
)
def test_what_is_not_there_is_found(named: str) -> None:
    assert not is_there(named)
