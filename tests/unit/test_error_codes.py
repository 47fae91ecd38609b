"""Codes of errors are in one place, and every one is documented."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

from pganon.error_codes import ErrorCode, SqlState
from tests.support.harness.codes import PAGE, ROOT, named, page, trees

_STATE = re.compile(r"\bPA\d{3}\b")


def test_the_page_lists_the_codes() -> None:
    text = PAGE.read_text()
    assert text == page(), "run python -m tests.support.harness.codes"
    assert "TODO" not in text, "say what the code means, and what to do"


def test_no_code_is_a_literal() -> None:
    wrong = [f"{path}:{node.lineno}" for path, tree in trees() for node in _literals(tree)]
    assert wrong == []


def test_every_code_is_used() -> None:
    used = {code for _, tree in trees() for code in named(tree)} | {s.code for s in SqlState}
    assert set(ErrorCode) - used == set()


def test_sql_raises_the_states_of_the_enum() -> None:
    files = [*ROOT.glob("sql/**/*.sql"), *ROOT.glob("migrations/*.sql")]
    assert {state for file in files for state in _STATE.findall(file.read_text())} == set(SqlState)


def test_a_code_is_a_plain_text_outside() -> None:
    code = ErrorCode.INFEASIBLE
    assert (f"{code}", json.dumps(code), code == "infeasible") == (code.value, '"infeasible"', True)


def _literals(tree: ast.Module) -> Iterator[ast.Constant]:
    """Texts that are given as the code of an error, compared with one, or stand for a SQLSTATE."""
    for node in ast.walk(tree):
        match node:
            case ast.keyword(arg="code", value=value):
                yield from _texts(value)
            case ast.ClassDef():
                yield from (text for part in node.body for text in _defaults(part))
            case ast.Assign(targets=[ast.Attribute(attr="code")], value=value):
                yield from _texts(value)
            case ast.arguments():
                yield from _argument_defaults(node)
            case ast.Compare(left=ast.Attribute(attr="code" | "sqlstate"), comparators=values):
                yield from (text for value in values for text in _texts(value))
            case ast.MatchClass(kwd_attrs=names, kwd_patterns=patterns) if "code" in names:
                yield from (text for pattern in patterns for text in _texts(pattern))
            case ast.Constant(value=str(text)) if _STATE.fullmatch(text):
                yield node


def _defaults(node: ast.stmt) -> Iterator[ast.Constant]:
    match node:
        case ast.Assign(targets=[ast.Name(id="code")], value=value):
            yield from _texts(value)
        case ast.AnnAssign(target=ast.Name(id="code"), value=ast.expr() as value):
            yield from _texts(value)


def _argument_defaults(node: ast.arguments) -> Iterator[ast.Constant]:
    for argument, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
        if argument.arg == "code" and default is not None:
            yield from _texts(default)


def _texts(node: ast.AST) -> Iterator[ast.Constant]:
    """Texts that are the value of an expression, and not arguments of a call in it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node
    elif not isinstance(node, ast.Call | ast.JoinedStr):
        for child in ast.iter_child_nodes(node):
            yield from _texts(child)
