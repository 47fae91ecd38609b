"""Docstrings name what is there: attributes, parameters, and what they refer to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import pganon
from tests.support.harness import syntax

ROOT = Path(pganon.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = Function | ast.ClassDef

_SECTION = re.compile(r"^( *)(Attributes|Args):[ \n]", re.MULTILINE)
_ENTRY = re.compile(r"^ *\**(\w+(?:, \**\w+)*)(?: \([^)]*\))?:(?: |$)")
_ROLE = re.compile(r":(class|func|meth|mod|attr|data):`~?([\w.]+)`")
_MEMBER = re.compile(r"`([A-Z]\w*[a-z]\w*)\.(\w+)(?:\(\))?`")


@cache
def classes() -> dict[str, list[ast.ClassDef]]:
    found: dict[str, list[ast.ClassDef]] = {}
    for file in FILES:
        for node in ast.walk(syntax.tree(file)):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(node)
    return found


def entries(doc: str, section: str) -> Iterator[str]:
    """The names that a section of a docstring says something of."""
    for start in _SECTION.finditer(doc):
        if start.group(2) != section:
            continue
        indent = len(start.group(1))
        same_line, *lines = doc[start.end() - 1 :].split("\n")
        if same_line.strip():
            yield from _names(same_line)
        depth = 0
        for line in lines:
            deep = len(line) - len(line.lstrip())
            if not line.strip() or (deep <= indent and not same_line.strip() and depth):
                break
            depth = depth or deep
            if deep == depth:
                yield from _names(line)


def _names(line: str) -> list[str]:
    entry = _ENTRY.match(line)
    return [] if entry is None else re.findall(r"\w+", entry.group(1))


def parameters(function: Function) -> set[str]:
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return {one.arg for one in named if one is not None}


def members(node: ast.ClassDef, seen: frozenset[str] = frozenset()) -> set[str]:
    """Names of a class and of its bases, as far as these are here."""
    found = names_of(ast.Module([one for one in node.body if not isinstance(one, Function)], []))
    for one in ast.walk(node):
        match one:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                found |= {one.name} | (parameters(one) if one.name == "__init__" else set())
            case ast.Attribute(attr=name, ctx=ast.Store()):
                found.add(name)
            case _:
                pass
    for base in node.bases:
        inner = base.value if isinstance(base, ast.Subscript) else base
        name = inner.attr if isinstance(inner, ast.Attribute) else getattr(inner, "id", "")
        if name not in seen:
            for parent in classes().get(name, []):
                found |= members(parent, seen | {name})
    return found


def documented(tree: ast.AST) -> Iterator[tuple[Documented, str]]:
    for node in ast.walk(tree):
        if isinstance(node, Documented):
            doc = ast.get_docstring(node, clean=True)
            if doc:
                yield node, doc


def stale(tree: ast.AST) -> list[str]:
    """Attributes and parameters that docstrings describe and nobody has."""
    missing: list[str] = []
    for node, doc in documented(tree):
        if isinstance(node, ast.ClassDef):
            there = members(node)
            named = [*entries(doc, "Attributes"), *entries(doc, "Args")]
        else:
            there, named = parameters(node), list(entries(doc, "Args"))
        missing += [f"{node.name}: {name}" for name in named if name not in there]
    return missing


def texts(tree: ast.AST) -> Iterator[str]:
    """All texts that stand by themselves: docstrings of modules and of constants, too."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield text
            case _:
                pass


def resolves(kind: str, name: str, tree: ast.Module) -> bool:
    path, _, last = name.rpartition(".")
    if not path:
        return last in names_of(tree) | set(classes()) or any(
            last in members(node) for node in tree.body if isinstance(node, ast.ClassDef)
        )
    if kind == "mod":
        return module(name) is not None
    if (inside := module(path)) is not None:
        return last in names_of(syntax.tree(inside))
    holder = path.rpartition(".")[2]
    held = classes().get(holder)
    return (held is None and not path.startswith("pganon.")) or any(
        last in members(node) for node in held or []
    )


def module(name: str) -> Path | None:
    file = ROOT.parent.joinpath(*name.split("."))
    there = [file.with_suffix(".py"), file / "__init__.py"]
    return next((one for one in there if one.is_file()), None)


def names_of(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                found.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.alias(name=name, asname=other):
                found.add(other or name)
            case _:
                pass
    return found


@pytest.mark.parametrize("folder", sorted({f.relative_to(ROOT).parts[0] for f in FILES}))
def test_docstrings_describe_what_is_there(folder: str) -> None:
    found: list[str] = []
    for file in FILES:
        where = file.relative_to(ROOT)
        if where.parts[0] == folder:
            found += [f"{where}: {one}" for one in stale(syntax.tree(file))]
    assert found == []


@pytest.mark.parametrize("folder", sorted({f.relative_to(ROOT).parts[0] for f in FILES}))
def test_docstrings_refer_to_what_is_there(folder: str) -> None:
    found: list[str] = []
    for file in FILES:
        where = file.relative_to(ROOT)
        if where.parts[0] != folder:
            continue
        tree = syntax.tree(file)
        for text in texts(tree):
            found += [
                f"{where}: :{kind}:`{name}`"
                for kind, name in _ROLE.findall(text)
                if not resolves(kind, name, tree)
            ]
            found += [
                f"{where}: `{holder}.{name}`"
                for holder, name in _MEMBER.findall(text)
                if holder in classes() and not any(name in members(c) for c in classes()[holder])
            ]
    assert found == []


@pytest.mark.parametrize(
    ("doc", "missing"),
    [
        ("Of it.\n\n    Attributes:\n        x: one.\n        y: two.", ["A: y"]),
        ("Attributes: z: one.", ["A: z"]),
        ("Attributes:\n    x: one\n    w: two", ["A: w"]),
        ("Of it.\n\n    Attributes:\n        x, w: of\n            both: so", ["A: w"]),
        ("Args: n: one.", []),
        ("Of it.\n\n    Args:\n        m: one\n        v: two", ["A: v"]),
    ],
)
def test_an_attribute_that_is_gone_is_found(doc: str, missing: list[str]) -> None:
    source = f'class A:\n    """{doc}"""\n    x: int\n    def __init__(self, n): self.m = n'
    assert stale(ast.parse(source)) == missing


def test_a_parameter_that_is_gone_is_found() -> None:
    doc = "Do.\n\n    Args:\n        a: one\n            which: so\n        b: two\n\n    c: text"
    assert stale(ast.parse(f'def f(a):\n    """{doc}"""')) == ["f: b"]


def test_what_is_referred_to_is_looked_for() -> None:
    tree = syntax.tree(ROOT / "privacy" / "declaration.py")
    assert resolves("class", "MeasuredModel", tree)
    assert resolves("mod", "pganon.privacy.base", tree)
    assert resolves("func", "pganon.privacy.base.share", tree)
    assert resolves("meth", "pganon.privacy.base.Model.holds", tree)
    assert not resolves("class", "Gone", tree)
    assert not resolves("mod", "pganon.privacy.gone", tree)
    assert not resolves("func", "pganon.privacy.base.gone", tree)
    assert not resolves("meth", "pganon.privacy.base.Model.gone", tree)
