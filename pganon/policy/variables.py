"""Environment variables in a policy: `${NAME}` in any value, if `variables` declares the name.

Names are declared so that a policy cannot pick up arbitrary parts of an environment. `$${NAME}` is
the text `${NAME}` itself. Values are filled in after the file was read: they are strings, whatever
they contain, and never YAML. In `where`, which is SQL, they stay within the quotes around them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from pganon.errors import Problem
from pganon.policy.document import Document
from pganon.policy.refusals import Place

KEY = "variables"
CONDITION = "where"
_REFERENCE = re.compile(r"(\$?)\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
QUOTED = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/)""", re.DOTALL)
"""A string of SQL, or a name or comment, which may contain a quote that does not begin a string."""
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def filled(document: Document) -> Document:
    """The document with the values of its variables; problems are added to those it has."""
    if not isinstance(document.data, dict):
        return document
    declared = document.data.get(KEY)
    names = {n for n in declared if isinstance(n, str)} if isinstance(declared, list) else set()
    filling = _Filling(document, names)
    data = {
        key: value if key == KEY else filling.walk(value, (key,))
        for key, value in document.data.items()
    }
    problems = [*document.problems, *filling.problems]
    return Document(data, document.lines, problems, frozenset(filling.places))


class _Unusable(Exception):
    """A variable that cannot be filled in; holds the reason and a remedy."""


@dataclass(frozen=True)
class _Filling:
    """Fills values in; collects the places that got one, and problems."""

    document: Document
    names: Collection[str]
    problems: list[Problem] = field(default_factory=list)
    places: set[Place] = field(default_factory=set)

    def walk(self, value: Any, place: Place) -> Any:
        match value:
            case str():
                pieces = _pieces(value) if place == (CONDITION,) else [(value, "text")]
                return "".join(self._fill(text, kind, place) for text, kind in pieces)
            case list():
                return [self.walk(item, (*place, number)) for number, item in enumerate(value)]
            case dict():
                return {key: self.walk(item, (*place, key)) for key, item in value.items()}
            case _:
                return value

    def _fill(self, text: str, kind: str, place: Place) -> str:
        def value(match: re.Match[str]) -> str:
            escaped, name = match.groups()
            if escaped:
                return f"${{{name}}}"
            self.places.add(place)
            try:
                return _written(name, self._value(name), kind)
            except _Unusable as why:
                self.problems.append(self.document.lines.problem(place, *why.args))
                return match[0]

        return _REFERENCE.sub(value, text)

    def _value(self, name: str) -> str:
        if name not in self.names:
            raise _Unusable(
                f"the variable {name} is not declared",
                f"add variables: [{name}], or write $${{{name}}} for the text itself",
            )
        if name not in os.environ:
            raise _Unusable(
                f"the environment variable {name} is not set", "set it, or write the value"
            )
        try:
            os.environ[name].encode()
        except UnicodeEncodeError:
            raise _Unusable(
                f"the environment variable {name} is not a text in UTF-8", "set it to such a text"
            ) from None
        return os.environ[name]


def _pieces(condition: str) -> Iterator[tuple[str, str]]:
    """SQL in pieces, with the kind of value allowed in each: `string`, or `number`."""
    for piece in QUOTED.split(condition):
        yield piece, "string" if piece.startswith("'") else "number"


def _written(name: str, value: str, kind: str) -> str:
    if kind == "string":
        return value.replace("'", "''")
    if kind == "number" and not _NUMBER.fullmatch(value):
        raise _Unusable(
            f"the variable {name} stands outside of quotes, where it can only be a number",
            f"write '${{{name}}}', or set it to a number",
        )
    return value
