"""Codes of errors as the documentation lists them, with the exit codes where they are used.

`python -m tests.support.harness.codes` adds new ones to docs/reference/errors.md, drops those that
are gone, and writes the exit codes anew. What a code means stands on the page alone.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pganon
from pganon.error_codes import ErrorCode, SqlState
from pganon.errors import PganonError

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "reference" / "errors.md"
_UNSAID = "TODO"
_ENUM = ROOT / "pganon" / "error_codes.py"


@cache
def trees() -> tuple[tuple[Path, ast.Module], ...]:
    """Every module of pganon but the one with the enum."""
    paths = sorted((ROOT / "pganon").rglob("*.py"))
    return tuple((path, ast.parse(path.read_text())) for path in paths if path != _ENUM)


def page() -> str:
    """The page, with every code once and its exit codes; what it says of a code stays."""
    text = PAGE.read_text()
    said = dict(re.findall(r"(?m)^- (`\w+`)[^:\n]*: (.+)$", text))
    exits = exit_codes()
    codes = [
        f"- `{code}`{f' ({numbers})' if numbers else ''}: {said.get(f'`{code}`', _UNSAID)}"
        for code in sorted(ErrorCode)
        for numbers in [", ".join(map(str, sorted(exits[code])))]
    ]
    states = [f"- `{one}`, `{one.code}`: {said.get(f'`{one}`', _UNSAID)}" for one in SqlState]
    for name, rows in (("codes", codes), ("states", states)):
        text = re.sub(
            rf"(?s)(<!-- {name} -->\n\n).*?(\n\n<!-- end -->)",
            lambda match, rows=rows: match[1] + "\n".join(rows) + match[2],
            text,
        )
    return text


def exit_codes() -> dict[ErrorCode, set[int]]:
    """Exit codes by code: of the classes that are raised with it, or that have it by default.

    A code without any is of requests alone, or unused.
    """
    numbers = {cls.__name__: cls.exit_code for cls in _error_classes()}
    found: dict[ErrorCode, set[int]] = {code: set() for code in ErrorCode}
    for state in SqlState:
        if state.startswith("PA4"):
            found[state.code].add(numbers["RequestError"])
    for _, tree in trees():
        for cls, code in _raised(tree):
            if cls in numbers:
                found[code].add(numbers[cls])
    return found


def _error_classes() -> Iterator[type[PganonError]]:
    for module in pkgutil.walk_packages(pganon.__path__, "pganon."):
        if "__main__" not in module.name and ".integrations." not in module.name:
            importlib.import_module(module.name)
    waiting: list[type[PganonError]] = [PganonError]
    while waiting:
        cls = waiting.pop()
        yield cls
        waiting += cls.__subclasses__()


def _raised(
    node: ast.AST, inside: str = "", assigned: frozenset[ErrorCode] = frozenset()
) -> Iterator[tuple[str, ErrorCode]]:
    """Every use of a code as `code`, with the class of the error.

    Args:
        assigned: what the function around assigns to the name `code`.
    """
    for child in ast.iter_child_nodes(node):
        within = child.name if isinstance(child, ast.ClassDef) else inside
        if isinstance(child, ast.FunctionDef):
            assigned = frozenset(code for part in ast.walk(child) for code in _assigned(part))
        if isinstance(child, ast.Call):
            # A class calls the constructor of its base by super().
            called = child.func.id if isinstance(child.func, ast.Name) else within
            for keyword in child.keywords:
                if keyword.arg == "code":
                    given = isinstance(keyword.value, ast.Name)
                    yield from (
                        (called, code) for code in (assigned if given else named(keyword.value))
                    )
        elif isinstance(node, ast.ClassDef):
            yield from ((within, code) for code in _assigned(child))
        yield from _raised(child, within, assigned)


def _assigned(node: ast.AST) -> Iterator[ErrorCode]:
    """Codes of a statement that gives the name `code` a value, alone or among others."""
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [part for target in targets for part in ast.walk(target)]
        if any(isinstance(name, ast.Name) and name.id == "code" for name in names):
            yield from named(node.value)


def named(node: ast.AST) -> Iterator[ErrorCode]:
    """Members of the enum that an expression names."""
    for part in ast.walk(node):
        match part:
            case ast.Attribute(value=ast.Name(id="ErrorCode"), attr=name):
                yield ErrorCode[name]


if __name__ == "__main__":
    PAGE.write_text(page())
