"""Load a policy from a file, a text or plain data; all problems are raised at once."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from pganon.errors import PolicyError, Problem
from pganon.policy.columns import ColumnPolicy, column_refusals
from pganon.policy.document import Document, Lines, read_document
from pganon.policy.exclusions import Exclusion
from pganon.policy.model import Policy
from pganon.policy.places import placed
from pganon.policy.policy_class import method_type, model_type, policy_class
from pganon.policy.refusals import Place, Refusal, refusals_of
from pganon.policy.registry import Registry
from pganon.policy.requests import Parameter, parameter_of
from pganon.policy.rules import Written, policy_refusals
from pganon.policy.tables import in_root, root_of, rooted
from pganon.policy.variables import QUOTED
from pganon.policy.variables import filled as with_variables

MAX_BYTES = 1 << 20
STDIN = "-"

_NOT_A_TEXT = ("must be a whole number", "must be a number", "must be true or false")
_FROM_VARIABLE = "what comes from a variable is a text: write the value itself"
_COLUMN = TypeAdapter(ColumnPolicy)
_EXCLUSION = TypeAdapter(Exclusion)


@dataclass(frozen=True)
class LoadedPolicy:
    """A valid policy and where it came from.

    Attributes:
        path: the file, or None for a text.
        base_dir: folder that relative paths in the policy start from.
        written: what was written, with the values of variables, before parameters were filled in;
            None for what never was a text.
        roles: numbers of readers and trusted roles, as they were when it was applied; None: it
            means whoever has the names now.
    """

    policy: Policy
    path: Path | None
    base_dir: Path
    lines: Lines = field(default_factory=Lines, repr=False)
    written: Mapping[str, Any] | None = field(default=None, repr=False)
    roles: Mapping[str, int] | None = field(default=None, repr=False)

    @property
    def file(self) -> str | None:
        """The file's name for messages."""
        return str(self.path) if self.path is not None else None


def load_policy(path_or_text: str | Path, registry: Registry) -> LoadedPolicy:
    """Load a policy from a file's path, or from a text that has a line end or starts with `{`.

    The text `-` is standard input; paths in such a policy start from the current folder. Any path
    of a file of that name is the file.

    Raises:
        PolicyError: with every problem, each with field and line.
    """
    if isinstance(path_or_text, str) and (
        "\n" in path_or_text or path_or_text.lstrip().startswith("{")
    ):
        return _loaded(path_or_text, registry, None, Path.cwd())
    path = Path(path_or_text)
    if path_or_text == STDIN:
        return _loaded(
            _text(sys.stdin.buffer.read(MAX_BYTES + 1), path), registry, path, Path.cwd()
        )
    is_json = True if path.suffix.lower() == ".json" else None
    return _loaded(read_text(path), registry, path, path.parent, is_json=is_json)


def _loaded(
    text: str, registry: Registry, path: Path | None, base_dir: Path, *, is_json: bool | None = None
) -> LoadedPolicy:
    document = with_variables(read_document(text, is_json=is_json))
    policy = _policy(document, registry, None if path is None else str(path))
    return LoadedPolicy(policy, path, base_dir, document.lines, document.data)


def policy_from(
    data: object,
    registry: Registry,
    *,
    file: str | None = None,
    parameters: Mapping[str, Any] = MappingProxyType({}),
) -> Policy:
    """A policy from plain data, e.g. of JSON; PolicyError with every problem.

    Args:
        file: what to call it in messages.
        parameters: of a request, within the bounds that the policy declares.
    """
    return _policy(Document(data=data), registry, file, parameters)


def read_text(path: Path) -> str:
    """Text of the file; PolicyError with one problem if it has none."""
    try:
        if path.is_dir():
            raise _stop(path, "is a folder, not a policy file")
        if not path.exists():
            raise _stop(path, "there is no such file", "write one with `pganon policy init TABLE`")
        if not path.is_file():
            raise _stop(path, "is not a plain file")
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "bad path"
        raise _stop(path, f"cannot be read: {why}") from None
    return _text(raw, path)


def _stop(path: Path, message: str, suggestion: str | None = None) -> PolicyError:
    return PolicyError([Problem(message, suggestion=suggestion)], file=str(path))


def _text(raw: bytes, path: Path) -> str:
    if len(raw) > MAX_BYTES:
        raise _stop(path, "is larger than 1 MiB", "keep large hierarchies in csv files")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _stop(path, "is not a text in UTF-8") from None
    if "\x00" in text:
        raise _stop(path, "is not a text file")
    return text


def _policy(
    document: Document,
    registry: Registry,
    file: str | None,
    parameters: Mapping[str, Any] = MappingProxyType({}),
) -> Policy:
    problems = list(document.problems)
    policy: Policy | None = None
    if isinstance(document.data, dict):
        data = with_parameters(document.data, parameters)
        policy, refusals = _validate(data, registry, document.filled)
        problems += [
            document.lines.problem(
                r.place, r.message, r.suggestion and placed(r.suggestion, registry, r.place)
            )
            for r in (*refusals, *unused(document.data))
        ]
    elif not problems:
        problems.append(
            Problem(
                "a policy is a mapping of keys to values", suggestion="see `pganon policy init`"
            )
        )
    if policy is None or problems:
        raise PolicyError(sorted(problems, key=lambda p: p.line or 0), file=file)
    return policy


def _validate(
    data: dict[str, Any], registry: Registry, filled: Collection[Place]
) -> tuple[Policy | None, list[Refusal]]:
    named = named_method(data, registry)
    root = root_of(data.get("tables"))
    try:
        data = rooted(data)
        return policy_class(registry, *named).model_validate(data), []
    except PydanticCustomError as error:
        return None, (error.context or {})["refusals"]
    except ValidationError as error:
        refusals = [*refusals_of(error), *_across(data, registry, named)]
    unique: dict[tuple[Place, str], Refusal] = {}
    for refusal in refusals:
        placed = replace(refusal, place=in_root(root, refusal.place))
        if placed.place in filled and placed.message.startswith(_NOT_A_TEXT):
            placed = replace(placed, suggestion=_FROM_VARIABLE)
        unique.setdefault((placed.place, placed.message), placed)
    return None, list(unique.values())


def named_method(data: Mapping[str, Any], registry: Registry) -> tuple[str, ...]:
    """The word of the method that a policy names, if there is such a method."""
    written = data.get("method")
    name = written.get("name") if isinstance(written, dict) else getattr(written, "name", None)
    return (name,) if isinstance(name, str) and name in registry.methods else ()


@lru_cache
def _as_model(registry: Registry) -> TypeAdapter[Any]:
    return TypeAdapter(model_type(registry))


@lru_cache
def _as_method(registry: Registry, *named: str) -> TypeAdapter[Any]:
    return TypeAdapter(method_type(registry, *named))


def _across(data: dict[str, Any], registry: Registry, named: tuple[str, ...]) -> list[Refusal]:
    """Refusals across keys, of a policy for which single keys were refused before."""
    raw = data.get("columns")
    if not isinstance(raw, dict):
        return []
    out = [
        refusal.below("columns", name)
        for name, column in raw.items()
        for refusal in (column_refusals(column) if isinstance(column, dict) else ())
    ]
    columns = {name: _try(_COLUMN, column) for name, column in raw.items()}
    privacy = data.get("privacy")
    as_model = _as_model(registry)
    models = [_try(as_model, m) for m in privacy] if isinstance(privacy, list) else [None]
    method = _try(_as_method(registry, *named), data.get("method"))
    rules = data.get("exclusions")
    exclusions = [_try(_EXCLUSION, rule) for rule in rules] if isinstance(rules, list) else ()
    written = Written(registry, columns, models, method, exclusions, data)
    return [*out, *policy_refusals(written)]


def _try(adapter: TypeAdapter[Any], value: object) -> Any:
    try:
        return adapter.validate_python(value)
    except ValidationError:
        return None


# Parameters of a request in a policy: values that stand for what the policy says.
#
# A parameter named like a key of the policy's privacy models takes its place in all of them; so
# does `suppression_limit`. Any other stands in `where` as `:name`, a number, or a day as SQL
# writes it. Where a request gives none, the policy's own key holds; in `where` it is `default`,
# else `min`.

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
        values = {
            name: given.get(name, one.min if one.default is None else one.default)
            for name, one in parameters.items()
        }
        data = {**data, "where": _filled(where, values)}
    for name, value in given.items():
        if name == _LIMIT:
            data = {**data, _LIMIT: value}
        elif isinstance(data.get("privacy"), list):
            models = [
                {**model, name: value} if isinstance(model, Mapping) and name in model else model
                for model in data["privacy"]
            ]
            data = {**data, "privacy": models}
    return data


def unused(data: Mapping[str, Any]) -> list[Refusal]:
    """Parameters that would change nothing, before values were filled in."""
    where = data.get("where")
    pieces = QUOTED.split(where)[::2] if isinstance(where, str) else []
    named = {name for piece in pieces for name in _NAMED.findall(piece)}
    privacy = data.get("privacy")
    models = privacy if isinstance(privacy, list) else []
    keys = {_LIMIT}.union(*(model for model in models if isinstance(model, Mapping)))
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


def _filled(where: str, values: Mapping[str, int | float | str]) -> str:
    def literal(match: re.Match[str]) -> str:
        value = values.get(match[1])
        if value is None:
            return match[0]
        return f"DATE '{value}'" if isinstance(value, str) else f"({value!r})"

    pieces = QUOTED.split(where)
    pieces[::2] = [_NAMED.sub(literal, piece) for piece in pieces[::2]]
    return "".join(pieces)
