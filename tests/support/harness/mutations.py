"""Small changes to source code that some test ought to notice: one per function, and SQL line.

Python is changed token by token: in the SQL of its strings, or in its own operators and numbers.
Which change a function gets is fixed: the first rule that fits anywhere in it, at the first place.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

SQL = (
    (r"<=", "<"),
    (r">=", ">"),
    (r"<>", "="),
    (r"(?<![<>=:-])<(?![<>=])", "<="),
    (r"(?<![<>=-])>(?![<>=])", ">="),
    (r"\bbool_and\(", "bool_or("),
    (r"\bsum\(", "max("),
    (r"\bmax\(", "min("),
    (r"\bmin\(", "max("),
    (r"\bgreatest\(", "least("),
    (r"\bnot ", ""),
    (r" desc\b", ""),
    (r"\bcoalesce\(", "nullif("),
    (r" \+ 1\b", " + 2"),
    (r" - 1\b", " - 2"),
    (r" - (?=[:\w(])", " + "),
    (r" \* (?=[:\w(])", " + "),
    (r"\band\b(?=.*[=<>(:])", "or"),
)
"""Rules for SQL, in the order in which they are tried: a pattern and what takes its place."""

PYTHON = {
    "<=": "<",
    ">=": ">",
    "<": "<=",
    ">": ">=",
    "==": "!=",
    "!=": "==",
    "and": "or",
    "or": "and",
    "not": "",
    "-": "+",
    "+": "-",
    "*": "+",
    "//": "*",
    "True": "False",
    "False": "True",
    "min": "max",
    "max": "min",
}
"""Tokens of Python and what takes their place, in this order; then a number gets one more."""


@dataclass(frozen=True)
class Mutation:
    """Characters of a file from `start` to `end` (offsets) that become `after`.

    Attributes:
        where: the function, or the line of a file of SQL.
    """

    path: Path
    where: str
    line: int
    start: int
    end: int
    before: str
    after: str

    def of(self, text: str) -> str:
        """The text of the file with the change."""
        return text[: self.start] + self.after + text[self.end :]

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.where}: {self.before!r} -> {self.after!r}"


def mutations(paths: Iterable[Path]) -> list[Mutation]:
    """Of all files, and of the files of all folders, in order."""
    files = [
        file
        for path in paths
        for file in ([path] if path.is_file() else sorted(path.rglob("*.*")))
        if file.suffix in (".py", ".sql")
    ]
    found = (_of_sql(file) if file.suffix == ".sql" else _of_python(file) for file in files)
    return [mutation for each in found for mutation in each]


# -- SQL ----------------------------------------------------------------------------------------


def _of_sql(path: Path) -> Iterator[Mutation]:
    offset = 0
    for number, line in enumerate(path.read_text().splitlines(keepends=True), start=1):
        code = line.partition("--")[0]
        found = None if "COMMENT ON" in line else first_in_sql(code.lower())
        if found:
            start, end, after = found
            yield Mutation(
                path, "SQL", number, offset + start, offset + end, code[start:end], after
            )
        offset += len(line)


def first_in_sql(text: str) -> tuple[int, int, str] | None:
    """Where the first rule that fits changes a text, and to what."""
    for pattern, after in SQL:
        match = re.search(pattern, text)
        if match:
            return match.start(), match.end(), after
    return None


# -- Python -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Change:
    rule: int
    start: int
    end: int
    line: int
    after: str


def _of_python(path: Path) -> Iterator[Mutation]:
    text = path.read_text()
    changes = list(_changes(text))
    for name, first, last in _functions(text):
        here = [change for change in changes if first <= change.line <= last]
        if here:
            best = min(here, key=lambda change: (change.rule, change.start))
            before = text[best.start : best.end]
            yield Mutation(path, name, best.line, best.start, best.end, before, best.after)


def _functions(text: str) -> list[tuple[str, int, int]]:
    """(name, first line, last line) of the functions of a module, without their signatures.

    Functions within functions are a part of them. Module-level strings of SQL have the name of
    what they are assigned to.
    """
    found: list[tuple[str, int, int]] = []

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef) and not _nothing(node):
                found.append((prefix + node.name, node.body[0].lineno, node.end_lineno or 0))
            elif isinstance(node, ast.ClassDef):
                visit(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                target = node.targets[0]
                if isinstance(target, ast.Name) and isinstance(node.value.value, str):
                    found.append((prefix + target.id, node.lineno, node.end_lineno or 0))

    visit(ast.parse(text).body, "")
    return found


def _nothing(node: ast.FunctionDef) -> bool:
    """Whether it does nothing in a run: it is a docstring, or what `plan` supposes of a run."""
    return node.name == "assumed" or all(isinstance(e, ast.Expr | ast.Pass) for e in node.body)


def _changes(text: str) -> Iterator[_Change]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    opens, before = True, ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        start = starts[token.start[0] - 1] + token.start[1]
        end = starts[token.end[0] - 1] + token.end[1]
        if token.type == tokenize.STRING:
            if not opens and token.string[0] in "'\"":
                found = first_in_sql(token.string) if _is_sql(token.string) else None
                if found:
                    rule = [after for _, after in SQL].index(found[2])
                    line = token.start[0] + token.string.count("\n", 0, found[0])
                    yield _Change(rule, start + found[0], start + found[1], line, found[2])
        elif token.string == "*" and before in ("(", "[", "{", ",", ""):
            pass  # of a sequence that is unpacked
        elif token.string in PYTHON and token.type in (tokenize.OP, tokenize.NAME):
            rule = len(SQL) + list(PYTHON).index(token.string)
            yield _Change(rule, start, end, token.start[0], PYTHON[token.string])
        elif token.type == tokenize.NUMBER and token.string.isdecimal():
            after = str(int(token.string) + 1)
            yield _Change(len(SQL) + len(PYTHON), start, end, token.start[0], after)
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            # A string that opens a line is a docstring, unless it is an argument.
            opens = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
            before = token.string.strip()


def _is_sql(text: str) -> bool:
    """Whether a string of Python is SQL, and no message."""
    return re.search(r"\b(select|over|from|where|coalesce|filter)\b|:\w|[a-z]\(", text) is not None
