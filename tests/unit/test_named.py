"""Pages and docstrings name files, modules, classes, objects of SQL and commands that are there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pganon.cli.main import application
from tests.support.harness import syntax

ROOT = Path(__file__).parents[2]
PAGES = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("docker/*.md")})
DEVELOPERS = ("CONTRIBUTING.md", "docs/explanation/", "docs/how-to/write-a-method.md")
"""Pages on which a word with a capital letter is a class, and one of capital letters a constant."""
OUTSIDE = {
    *("EXAMPLES", "EXPLAIN", "FLU", "GRANT", "PA", "REPLICATION", "SELECT"),
    *("pganon.control", "pganon comparison 1"),  # a file of an extension, a format
}
CODE = [
    path
    for files in ("pganon/**/*.py", "tests/*.py", "tests/support/**/*.py", "benchmarks/**/*.py")
    for path in sorted(ROOT.glob(files))
]

_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<![`:\w])`([^`\n]+)`")
_OF_FILE = re.compile(
    r"((?:`\w+`(?:, | and | or ))*`\w+`) (?:of |in |\()`((?:pganon|tests)/[^`]+)`"
)
_MADE = re.compile(r"^CREATE (?:OR REPLACE )?\w+ (?:IF NOT EXISTS )?(pganon\w*(?:\.\w+)?)", re.M)


def defined(tree: ast.AST) -> Iterator[str]:
    """What a module has, and what its classes and functions have."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.alias(name=name, asname=other):
                yield other or name
            case _:
                pass


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def names() -> dict[Path, frozenset[str]]:
    return {path: frozenset(defined(syntax.tree(path))) for path in CODE}


@cache
def modules() -> dict[str, frozenset[str]]:
    return {dotted(path): found for path, found in names().items()}


@cache
def anywhere() -> frozenset[str]:
    return frozenset().union(*names().values())


@cache
def classes() -> set[str]:
    nodes = (node for path in CODE for node in ast.walk(syntax.tree(path)))
    return {node.name for node in nodes if isinstance(node, ast.ClassDef)}


@cache
def in_sql() -> set[str]:
    return {
        name
        for folder in ("sql", "migrations")
        for path in ROOT.glob(f"{folder}/**/*.sql")
        for name in _MADE.findall(path.read_text("utf-8"))
    }


@cache
def commands() -> dict[str, set[str]]:
    """Options of every command and of every group of them."""
    found: dict[str, set[str]] = {}

    def walk(command: Any, path: str, given: set[str]) -> None:
        found[path] = given | {name for one in command.params for name in one.opts}
        for name, below in getattr(command, "commands", {}).items():
            walk(below, f"{path} {name}", found[path])

    walk(application(), "pganon", {"--help"})
    return found


def is_there(span: str, *, developers: bool = False) -> bool:
    """Whether there is what a text in backticks names, if it names anything of these."""
    if span in OUTSIDE:
        return True
    if re.fullmatch(r"(?:pganon|sql|tests|benchmarks|migrations|docker)/[\w./-]*", span):
        return (ROOT / span).exists()
    if path := re.fullmatch(r"(pganon(?:\.\w+)+)(?:\(.*\))?", span):
        return exists(path[1])
    if word := re.fullmatch(r"([A-Z][a-z]+(?:[A-Z][a-z]*)+)(?:\.\w+)?(?:\(.*\))?", span):
        return word[1] in anywhere()
    if span.startswith("pganon "):
        return is_command(span.split())
    if developers and re.fullmatch(r"[A-Z][a-z]+", span):
        return span in classes()
    if developers and re.fullmatch(r"[A-Z][A-Z_]+", span):
        return span in anywhere() or span.startswith("PGANON_")
    return True


def exists(path: str) -> bool:
    """A module, something in one, or an object of SQL with its columns."""
    above, _, last = path.rpartition(".")
    holder = above.rpartition(".")[0]
    return (
        path in in_sql()
        or path in modules()
        or above in in_sql() - {"pganon", "pganon_private"}
        or last in modules().get(above, ())
        or last in modules().get(holder, ())
        or (ROOT / path).is_file()
    )


def is_command(words: list[str]) -> bool:
    known = commands()
    path = words[0]
    while len(words) > 1 and f"{path} {words[1]}" in known:
        path, words = f"{path} {words[1]}", words[1:]
    default = known.get(f"{path} write", known.get(f"{path} up", set()))
    options = {word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    group = any(name.startswith(f"{path} ") for name in known)
    wanted = len(words) > 1 and re.fullmatch(r"[a-z]+", words[1]) and path == "pganon"
    return options <= known[path] | (default if group else set()) and not wanted


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_pages_name_what_is_there(page: Path) -> None:
    text = _FENCED.sub("", page.read_text("utf-8"))
    developers = str(page.relative_to(ROOT)).startswith(DEVELOPERS)
    wrong = [one for one in _SPAN.findall(text) if not is_there(one, developers=developers)]
    for named, place in _OF_FILE.findall(text):
        path = ROOT / place
        files = [path] if path.is_file() else path.rglob("*.py")
        there = frozenset().union(*(names().get(file, frozenset()) for file in files))
        if path.is_dir() or path.suffix == ".py":
            wrong += [f"{name} of {place}" for name in re.findall(r"`(\w+)`", named)
                      if name not in there]  # fmt: skip
    assert wrong == []


def test_the_floors_have_every_package() -> None:
    text = (ROOT / "docs/explanation/architecture.md").read_text("utf-8")
    floors = text.split("\n## Floors\n")[1].split("\n## ")[0]
    packages = {name.split(".")[1] for name in modules() if name.startswith("pganon.")}
    assert sorted(packages - {"__main__"} - set(re.findall(r"`([\w]+)", floors))) == []


@pytest.mark.parametrize("folder", ["pganon", "tests/support", "benchmarks"])
def test_docstrings_name_what_is_there(folder: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {span}"
        for path in CODE
        if path.is_relative_to(ROOT / folder)
        for node in ast.walk(syntax.tree(path))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for span in _SPAN.findall(str(node.value.value))
        if not is_there(span, developers=True)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "span",
    [
        "pganon/publish/gone.py",
        "pganon.publish.gone",
        "pganon.policy.options.gone",
        "pganon.gone",
        "PublishedRelations",
        "Gone",
        "GONE",
        "pganon gone NAME",
        "pganon run POLICY --gone",
    ],
)
def test_what_is_gone_is_found(span: str) -> None:
    assert not is_there(span, developers=True)
