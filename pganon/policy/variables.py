"""Environment variables in a policy: `${NAME}` in any value, if `variables` declares the name.

Declared, so that a policy cannot pick up whatever an environment happens to hold. `$${NAME}` is the
text `${NAME}` itself. Values are filled in after the file was read: they are texts, whatever is
in them, and never YAML.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from pganon.errors import Problem
from pganon.policy.document import Document, field_path
from pganon.policy.refusals import Place

KEY = "variables"
_REFERENCE = re.compile(r"(\$?)\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def filled(document: Document) -> Document:
    """The document with the values of its variables; problems are added to those it has."""
    if not isinstance(document.data, dict):
        return document
    declared = document.data.get(KEY)
    names = {n for n in declared if isinstance(n, str)} if isinstance(declared, list) else set()
    problems: list[Problem] = []

    def value_of(name: str, place: Place) -> str:
        if name not in names:
            message = f"the variable {name} is not declared"
            advice = f"add variables: [{name}], or write $${{{name}}} for the text itself"
        elif name not in os.environ:
            message = f"the environment variable {name} is not set"
            advice = "set it, or write the value"
        else:
            return os.environ[name]
        problems.append(Problem(message, field_path(place), document.line_of(place), advice))
        return f"${{{name}}}"

    data = {
        key: value if key == KEY else _walk(value, (key,), value_of)
        for key, value in document.data.items()
    }
    return Document(data, document.lines, [*document.problems, *problems])


def _walk(value: Any, place: Place, value_of: Callable[[str, Place], str]) -> Any:
    match value:
        case str():
            return _REFERENCE.sub(
                lambda found: f"${{{found[2]}}}" if found[1] else value_of(found[2], place), value
            )
        case list():
            return [_walk(item, (*place, number), value_of) for number, item in enumerate(value)]
        case dict():
            return {key: _walk(item, (*place, key), value_of) for key, item in value.items()}
        case _:
            return value
