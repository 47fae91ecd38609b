"""Parameters of a request in a policy: values that stand for what the policy says.

A parameter named like a key of the policy's privacy models takes its place in all of them; so does
`suppression_limit`. Any other stands in `where` as `:name`, a number, or a day as SQL writes it.
Where a request gives none, the policy's own key holds; in `where` it is `default`, else `min`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pganon.policy.refusals import Refusal
from pganon.policy.requests import Parameter, parameter_of

_PIECES = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/)""", re.DOTALL)
"""Strings, names and comments of SQL, in which nothing is replaced."""
_NAMED = re.compile(r"(?<![:\w]):([A-Za-z_]\w*)")
_LIMIT = "suppression_limit"


def declared(data: Mapping[str, Any]) -> dict[str, Parameter]:
    """The well-formed parameters that a policy declares; validation reports the others."""
    requests = data.get("requests")
    parameters = requests.get("parameters") if isinstance(requests, Mapping) else None
    if not isinstance(parameters, Mapping):
        return {}
    made = {str(name): parameter_of(value) for name, value in parameters.items()}
    return {name: parameter for name, parameter in made.items() if parameter is not None}


def with_parameters(data: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The policy as plain data with the values of a request, which its bounds allow."""
    parameters = declared(data)
    where = data.get("where")
    if isinstance(where, str) and parameters:
        values = {name: given.get(name, _standing(p)) for name, p in parameters.items()}
        data = {**data, "where": _filled(where, values)}
    for name, value in given.items():
        data = _replaced(data, name, value)
    return data


def unused(data: Mapping[str, Any]) -> list[Refusal]:
    """Parameters that would change nothing, before values were filled in."""
    where = data.get("where")
    named = _names(where) if isinstance(where, str) else set[str]()
    keys = {_LIMIT}.union(*(model for model in _models(data)))
    return [
        Refusal(
            ("requests", "parameters", name),
            "is neither a key of the privacy models nor in `where`",
            f"write :{name} in `where`, or name a key such as k",
        )
        for name in declared(data)
        if name not in named and name not in keys
    ]


def fits(data: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """Whether all these parameters are declared and within their bounds."""
    parameters = declared(data)
    return all(name in parameters and parameters[name].takes(v) for name, v in given.items())


def _models(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    privacy = data.get("privacy")
    return [m for m in privacy if isinstance(m, Mapping)] if isinstance(privacy, list) else []


def _standing(parameter: Parameter) -> int | float | str:
    return parameter.min if parameter.default is None else parameter.default


def _replaced(data: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    if name == _LIMIT:
        return {**data, _LIMIT: value}
    privacy = data.get("privacy")
    if not isinstance(privacy, list):
        return data
    models = [
        {**model, name: value} if isinstance(model, Mapping) and name in model else model
        for model in privacy
    ]
    return {**data, "privacy": models}


def _names(where: str) -> set[str]:
    return {name for piece in _PIECES.split(where)[::2] for name in _NAMED.findall(piece)}


def _filled(where: str, values: Mapping[str, int | float | str]) -> str:
    def literal(match: re.Match[str]) -> str:
        value = values.get(match[1])
        if value is None:
            return match[0]
        return f"DATE '{value}'" if isinstance(value, str) else f"({value!r})"

    pieces = _PIECES.split(where)
    pieces[::2] = [_NAMED.sub(literal, piece) for piece in pieces[::2]]
    return "".join(pieces)
