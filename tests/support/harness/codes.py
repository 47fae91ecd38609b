"""Codes of errors as the documentation lists them: from the enum, and from where they are used.

`python -m tests.support.harness.codes` writes the lists of docs/reference/errors.md anew.
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
from pganon.loading import known
from pganon.policy.places import placed

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "reference" / "errors.md"
_ENUM = ROOT / "pganon" / "error_codes.py"


@cache
def trees() -> tuple[tuple[Path, ast.Module], ...]:
    """Every module of pganon but the one with the enum."""
    paths = sorted((ROOT / "pganon").rglob("*.py"))
    return tuple((path, ast.parse(path.read_text())) for path in paths if path != _ENUM)


def page() -> str:
    """The page with lists as they should be."""
    text = PAGE.read_text()
    for name, rows in (("codes", _codes()), ("states", _states())):
        text = re.sub(
            rf"(?s)(<!-- {name} -->\n\n).*?(\n\n<!-- end -->)",
            lambda match, rows=rows: match[1] + "\n".join(rows) + match[2],
            text,
        )
    return text


def _codes() -> Iterator[str]:
    exits = exit_codes()
    for code in sorted(ErrorCode):
        numbers = f" ({', '.join(map(str, sorted(exits[code])))})" if exits[code] else ""
        remedy = placed(code.remedy, known())
        remedy = "" if remedy == "see the message" else f"; {remedy}"
        yield f"- `{code}`{numbers}: {code.meaning}{remedy}"


def _states() -> Iterator[str]:
    for state in SqlState:
        yield f"- `{state}`, `{state.code}`: {state.meaning}"


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


def _raised(node: ast.AST, inside: str = "") -> Iterator[tuple[str, ErrorCode]]:
    """Every use of a code as `code`, with the class of the error."""
    for child in ast.iter_child_nodes(node):
        within = child.name if isinstance(child, ast.ClassDef) else inside
        if isinstance(child, ast.Call):
            # A class calls the constructor of its base by super().
            called = child.func.id if isinstance(child.func, ast.Name) else within
            for keyword in child.keywords:
                if keyword.arg == "code":
                    yield from ((called, code) for code in named(keyword.value))
        elif isinstance(child, ast.Assign | ast.AnnAssign) and child.value is not None:
            targets = child.targets if isinstance(child, ast.Assign) else [child.target]
            if any(isinstance(target, ast.Name) and target.id == "code" for target in targets):
                yield from ((within, code) for code in named(child.value))
        yield from _raised(child, within)


def named(node: ast.AST) -> Iterator[ErrorCode]:
    """Members of the enum that an expression names."""
    for part in ast.walk(node):
        match part:
            case ast.Attribute(value=ast.Name(id="ErrorCode"), attr=name):
                yield ErrorCode[name]


if __name__ == "__main__":
    PAGE.write_text(page())
